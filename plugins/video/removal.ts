/** What goes with videos that are removed: what other plugins bring by the hook `video.remove`, then what is ours. */
import { chunksOf, type Step } from 'archivolt'
import { tellRemoved } from './removal-tasks.ts'
import type { VideoState } from './state.ts'
import type { Removed, VideoRemoval } from './types.ts'

/** So many pictures are removed at once: each waits for the disk. */
const ART_TOGETHER = 20

/** What one of them throws is thrown once all have ended. */
async function eachOf(videos: readonly Removed[], remove: VideoRemoval, step: Step): Promise<void> {
  const removals = await Promise.allSettled(videos.map((video) => remove(video, step)))
  for (const removal of removals) if (removal.status === 'rejected') throw removal.reason
}

export const removalOf = (remove: (ids: readonly string[], step: Step) => Promise<void>): VideoRemoval =>
  Object.assign(({ id }: Removed, step: Step) => remove([id], step), {
    many: (videos: readonly Removed[], step: Step) =>
      remove(
        videos.map(({ id }) => id),
        step,
      ),
  })

/** As `Videos.removeWith` says. */
export async function removeWith({ app }: VideoState, video: Removed, step: Step): Promise<void> {
  for (const remove of app.hook('video.remove')) await step('video.removeWith', () => remove(video, step))
}

/** Together: what a plugin keeps of many videos it can then write once. */
export async function removeAllWith({ app }: VideoState, videos: readonly Removed[], step: Step): Promise<void> {
  for (const remove of app.hook('video.remove'))
    await step('video.removeWith', () => (remove.many ? remove.many(videos, step) : eachOf(videos, remove, step)))
}

/** As `Videos.dropAll` says. */
export async function dropAll(
  { app, collection, comments, subtitles }: VideoState,
  ids: readonly string[],
): Promise<void> {
  for (const some of chunksOf(ids, ART_TOGETHER)) await Promise.all(some.map((id) => app.media.removeArt('video', id)))
  await subtitles.removeWhere({ in: ['platform_id', ids] })
  await comments.remove(ids)
  await app.media.places.forget(ids)
  await app.media.missing.drop(ids)
  await collection.remove(ids, { visible: true })
}

/** As `Videos.removeOfChannel` says. */
export async function removeOfChannel(state: VideoState, channelId: string, step: Step): Promise<void> {
  const filter = { eq: ['channel_id', channelId] as ['channel_id', string] }
  for await (const batch of state.collection.scan({ filter, batch: 100 })) {
    const ids = batch.map(({ id }) => id)
    await removeAllWith(
      state,
      ids.map((id) => ({ id, channelId })),
      step,
    )
    await step('video.note', () => state.app.jobs.start(tellRemoved, { channelId, ids }))
    await step('video.drop', () => dropAll(state, ids))
  }
}
