/**
 * Creates the playlists of a face: `.m3u8` files next to the shows, with relative paths, in the order of the playlist.
 */
import { chunksOf, Slice } from 'archivolt'
import type { PlaylistDoc, PlaylistEntry } from '../playlist/schema.ts'
import { unitOf } from './forms.ts'
import { markOf } from './mark.ts'
import { ENDING_BYTES, withId } from './names.ts'
import type { Rows } from './tables.ts'
import type { WantedUnit } from './types.ts'

const UNIT = 'playlist '
const PATHS_AT_ONCE = 200
export const playlistUnitOf = (id: string): string => `${UNIT}${id}`

/** The paths of films in a face, by video. */
export async function filmPaths(
  rows: Pick<Rows, 'pathsOf'>,
  faceId: number,
  ids: readonly string[],
): Promise<Map<string, string>> {
  const found = new Map<string, string>()
  const slice = new Slice()
  for (const some of chunksOf(ids, PATHS_AT_ONCE)) {
    if (slice.isOver) await slice.next()
    const asked = new Map(some.map((id) => [unitOf(id), id]))
    for (const { unit, path } of rows.pathsOf(faceId, [...asked.keys()])) found.set(asked.get(unit)!, path)
  }
  return found
}

/** The marks of the files of playlists in a face, by playlist. */
export const listMarks = (rows: Pick<Rows, 'lists'>, faceId: number): Array<[id: string, mark: string]> =>
  rows.lists(faceId).flatMap(({ unit, files: [file] }) => (file ? [[unit.slice(UNIT.length), file[1]]] : []))

const oneLine = (text: string): string => text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

/** @param paths  paths by video, only of videos in the face */
export function playlistUnit(
  { playlist_id: id, playlist_name: name }: PlaylistDoc,
  entries: readonly PlaylistEntry[],
  paths: ReadonlyMap<string, string>,
): WantedUnit {
  const lines = entries.flatMap(({ platform_id, title }) => {
    const path = paths.get(platform_id)
    // A line that begins with # is a comment.
    return path === undefined ? [] : [`#EXTINF:-1,${oneLine(title)}`, path.replace(/^#/, './#')]
  })
  const text = ['#EXTM3U', `#PLAYLIST:${oneLine(name)}`, ...lines, ''].join('\n')
  return {
    unit: playlistUnitOf(id),
    files: [{ path: `${withId('', name, id, 255 - ENDING_BYTES)}.m3u8`, kind: 'text', mark: markOf(text), text }],
  }
}
