/** Playlists of a face: `.m3u8` beside the shows, with relative paths, in the order of the playlist. */
import type { PlaylistDoc, PlaylistEntry } from '../playlist/schema.ts'
import { markOf } from './mark.ts'
import { ENDING_BYTES, withId } from './names.ts'
import type { WantedUnit } from './types.ts'

export const playlistUnitOf = (id: string): string => `playlist ${id}`

const oneLine = (text: string): string => text.toWellFormed().replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')

/** @param paths  by video, only of videos in the face */
export function playlistUnit(
  { playlist_id: id, playlist_name: name }: PlaylistDoc,
  entries: readonly PlaylistEntry[],
  paths: ReadonlyMap<string, string>,
): WantedUnit {
  const lines = entries.flatMap(({ platform_id, title }) => {
    const path = paths.get(platform_id)
    return path === undefined ? [] : [`#EXTINF:-1,${oneLine(title)}`, path]
  })
  const text = ['#EXTM3U', `#PLAYLIST:${oneLine(name)}`, ...lines, ''].join('\n')
  return {
    unit: playlistUnitOf(id),
    files: [{ path: `${withId('', name, id, 255 - ENDING_BYTES)}.m3u8`, kind: 'text', mark: markOf(text), text }],
  }
}
