/**
 * Handles videos whose film is neither in the library nor where the ledger says, for example after a restore of an
 * older ledger or index. If such a film is found in a place, the ledger records it there.
 */
import { pathOf } from '../film-kit/names.ts'
import type { FoundFile } from '../film-kit/types.ts'
import type { App } from './app.ts'

/** The videos among these whose film is missing. */
export async function homelessAmong(ids: readonly string[], { media, videos }: App): Promise<Set<string>> {
  const homeless = new Set<string>()
  for (const [id, { channel_id: channelId }] of await videos.collection.getMany(ids))
    if (await media.isMissing(channelId, id)) homeless.add(id)
  return homeless
}

/** Records films that were found in a place, and updates their documents. */
export async function takeHome(
  found: ReadonlyArray<{ id: string; file: FoundFile }>,
  placeId: number,
  app: App,
): Promise<void> {
  const docs = await app.videos.collection.getMany(found.map(({ id }) => id))
  const offered = found.flatMap(({ id, file }) => {
    const { ending, sizeBytes, changedMs } = file
    const channelId = docs.get(id)?.channel_id
    return channelId === undefined
      ? []
      : [{ videoId: id, channelId, placeId, path: pathOf(file), ending, sizeBytes, changedMs }]
  })
  const { recordedPath } = app.media
  const locked = offered.map(({ videoId: id, channelId }) => ({ id, channelId }))
  const { films, oldPaths } = await app.videos.exclusiveAll(locked, async () => {
    // A download may have restored a film since.
    const homeless = await homelessAmong(
      locked.map(({ id }) => id),
      app,
    )
    const films = offered.filter(({ videoId }) => homeless.has(videoId))
    const oldPaths = films.map(({ videoId, channelId }) => recordedPath(channelId, videoId))
    await app.media.places.keep(films)
    await app.media.missing.drop(films.map(({ videoId }) => videoId))
    return { films, oldPaths }
  })
  for (const [at, { videoId: id, channelId }] of films.entries()) {
    await app.videos.correctPaths(id)
    await app.emit('video.moved', { id, channelId, path: recordedPath(channelId, id), oldPath: oldPaths[at]! })
  }
}
