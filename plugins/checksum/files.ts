/** Lists the files of the archive, and finds the path of each. */
import { isAppError } from 'archivolt'
import type { ArtKind, KnownKind } from '../media/types.ts'
import type { App } from './app.ts'
import type { FileKey } from './rows.ts'

const OWNERS: Record<ArtKind, KnownKind> = {
  video: 'video',
  channel_thumb: 'channel',
  channel_banner: 'channel',
  channel_tvart: 'channel',
  playlist: 'playlist',
}
export const ART_KINDS = Object.keys(OWNERS) as ArtKind[]
const BATCH = 500

export const isArtKind = (part: string): part is ArtKind => Object.hasOwn(OWNERS, part)

/** The kind of document to which a file belongs. */
export const ownerOf = ({ kind, part }: FileKey): KnownKind =>
  kind === 'picture' && isArtKind(part) ? OWNERS[part] : 'video'

/** Yields all files that the documents know, in batches. */
export async function* filesOf({ videos, media }: App): AsyncGenerator<FileKey[]> {
  for await (const batch of videos.collection.scan({ batch: BATCH }))
    yield batch.flatMap(({ id, doc }): FileKey[] => [
      { kind: 'video', id, part: '' },
      ...doc.subtitles.flatMap(({ lang }): FileKey[] =>
        media.isLanguage(lang) ? [{ kind: 'subtitle', id, part: lang }] : [],
      ),
    ])
  for (const part of ART_KINDS) {
    const some: FileKey[] = []
    for await (const id of media.artIds(part)) {
      some.push({ kind: 'picture', id, part })
      if (some.length === BATCH) yield some.splice(0)
    }
    yield some
  }
}

/** The location of a file. `away`: its disk is offline; `unknown`: no document in the archive needs it. */
export type Location = { path: string; isInPlace: boolean } | 'away' | 'unknown'

export async function locate(key: FileKey, app: App): Promise<Location> {
  const { media, videos } = app
  const { kind, id, part } = key
  if (!(await media.isKnown(ownerOf(key), id))) return 'unknown'
  if (kind === 'picture') return isArtKind(part) ? { path: media.artPathOf(part, id), isInPlace: false } : 'unknown'
  const doc = await videos.get(id)
  if (!doc) return 'unknown'
  if (kind === 'subtitle')
    return doc.subtitles.some(({ lang }) => lang === part) && media.isLanguage(part)
      ? ours(media.subtitlePathOf(doc.channel_id, id, part), app)
      : 'unknown'
  if (media.isOurs(id)) return ours(await media.filmPath(doc.channel_id, id), app)
  try {
    return { path: await media.filmPath(doc.channel_id, id), isInPlace: true }
  } catch (thrown) {
    if (isAppError(thrown, 'unavailable')) return 'away'
    throw thrown
  }
}

async function ours(path: string, { media }: App): Promise<Location> {
  return (await media.absence()) === undefined ? { path, isInPlace: false } : 'away'
}
