/**
 * Handles videos whose film is neither in the library nor where the ledger says, for example after a restore of an
 * older ledger or index. If such a film is found in a place, the ledger records it there.
 */

import { isAppError } from 'archivolt'
import { pathOf } from '../film-kit/names.ts'
import type { FoundFile } from '../film-kit/types.ts'
import type { App } from './app.ts'

/**
 * The videos among these whose film is missing. While the library or their place is offline, videos do not count as
 * missing.
 */
export async function homelessAmong(ids: readonly string[], { media, videos }: App): Promise<Set<string>> {
  const homeless = new Set<string>()
  const isHere = (await media.absence()) === undefined
  for (const [id, { channel_id: channelId }] of await videos.collection.getMany(ids)) {
    if (media.isOurs(id) && !isHere) continue
    const isThere = await media.filmPath(channelId, id).then(media.isThere, (thrown: unknown) => {
      if (isAppError(thrown, 'not_found')) return false
      if (isAppError(thrown, 'unavailable')) return true
      throw thrown
    })
    if (!isThere) homeless.add(id)
  }
  return homeless
}

/** Records films that were found in a place, and updates their documents. */
export async function takeHome(
  found: ReadonlyArray<{ id: string; file: FoundFile }>,
  placeId: number,
  app: App,
): Promise<void> {
  const docs = await app.videos.collection.getMany(found.map(({ id }) => id))
  const films = found.flatMap(({ id, file }) => {
    const { ending, sizeBytes, changedMs } = file
    const channelId = docs.get(id)?.channel_id
    return channelId === undefined
      ? []
      : [{ videoId: id, channelId, placeId, path: pathOf(file), ending, sizeBytes, changedMs }]
  })
  const { recordedPath } = app.media
  const oldPaths = films.map(({ videoId, channelId }) => recordedPath(channelId, videoId))
  await app.media.places.keep(films)
  await app.media.missing.drop(films.map(({ videoId }) => videoId))
  for (const [at, { videoId: id, channelId }] of films.entries()) {
    await app.videos.correctPaths(id)
    await app.emit('video.moved', { id, channelId, path: recordedPath(channelId, id), oldPath: oldPaths[at]! })
  }
}
