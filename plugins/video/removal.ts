/** Removes the data of videos: first that of other plugins, by the hook `video.remove`, then this plugin's own. */
import { chunksOf, type Step } from 'archivolt'
import type { App } from './app.ts'
import { tellRemoved } from './removal-tasks.ts'
import type { VideoState } from './state.ts'
import type { Removed, VideoRemoval, Videos } from './types.ts'

/** Pictures that are removed at the same time, because each waits for the disk. */
const ART_TOGETHER = 20

/** Throws the first error after all removals have ended. */
async function eachOf(videos: readonly Removed[], remove: VideoRemoval, step: Step): Promise<void> {
  const removals = await Promise.allSettled(videos.map((video) => remove(video, step)))
  for (const removal of removals) if (removal.status === 'rejected') throw removal.reason
}

const removalOf = (remove: (ids: readonly string[], step: Step) => Promise<void>): VideoRemoval =>
  Object.assign(({ id }: Removed, step: Step) => remove([id], step), {
    many: (videos: readonly Removed[], step: Step) =>
      remove(
        videos.map(({ id }) => id),
        step,
      ),
  })

/** Removes videos together, so that a plugin can write its data once. */
export async function removeAllWith({ hook }: App, videos: readonly Removed[], step: Step): Promise<void> {
  for (const remove of hook('video.remove'))
    await step('video.removeWith', () => (remove.many ? remove.many(videos, step) : eachOf(videos, remove, step)))
}

export function openRemoval({ app, collection, comments, subtitles }: VideoState) {
  async function dropAll(ids: readonly string[]): Promise<void> {
    for (const some of chunksOf(ids, ART_TOGETHER))
      await Promise.all(some.map((id) => app.media.removeArt('video', id)))
    await subtitles.removeWhere({ in: ['platform_id', ids] })
    await comments.remove(ids)
    await app.media.places.forget(ids)
    await app.media.missing.drop(ids)
    await collection.remove(ids, { visible: true })
  }

  return {
    dropAll,
    removal: removalOf,

    async removeWith(video, step) {
      for (const remove of app.hook('video.remove')) await step('video.removeWith', () => remove(video, step))
    },

    async removeOfChannel(channelId, step) {
      const filter = { eq: ['channel_id', channelId] as ['channel_id', string] }
      for await (const batch of collection.scan({ filter, batch: 100 })) {
        const ids = batch.map(({ id }) => id)
        await removeAllWith(
          app,
          ids.map((id) => ({ id, channelId })),
          step,
        )
        await step('video.note', () => app.jobs.start(tellRemoved, { channelId, ids }))
        await step('video.drop', () => dropAll(ids))
      }
    },
  } satisfies Partial<Videos>
}
