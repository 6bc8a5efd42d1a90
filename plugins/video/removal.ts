/** Removes the data of videos: first that of other plugins, by the hook `video.remove`, then this plugin's own. */
import { chunksOf, type Step } from 'archivolt'
import { binOf, removeAllWith } from './removal-hooks.ts'
import { leavingOf, tellRemoved } from './removal-tasks.ts'
import type { VideoState } from './state.ts'
import type { Removed, VideoRemoval, Videos } from './types.ts'

/** Number of pictures that are removed concurrently, because each waits for the disk. */
const ART_TOGETHER = 20

const removalOf = (remove: (ids: readonly string[], step: Step) => Promise<void>): VideoRemoval =>
  Object.assign(({ id }: Removed, step: Step) => remove([id], step), {
    many: (videos: readonly Removed[], step: Step) =>
      remove(
        videos.map(({ id }) => id),
        step,
      ),
  })

export function openRemoval({ app, collection, comments, commentTexts, subtitles }: VideoState) {
  async function dropAll(ids: readonly string[], { isArtKept = false } = {}): Promise<void> {
    for (const some of isArtKept ? [] : chunksOf(ids, ART_TOGETHER))
      await Promise.all(some.map((id) => app.media.removeArt('video', id)))
    await subtitles.removeWhere({ in: ['platform_id', ids] })
    await commentTexts.removeWhere({ in: ['platform_id', ids] })
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
        const videos = ids.map((id) => leavingOf(id, channelId, app))
        await removeAllWith(app, videos, step)
        await step('video.note', () => app.jobs.start(tellRemoved, { videos }))
        await step('video.drop', () => dropAll(ids, { isArtKept: binOf(app) !== undefined }))
      }
    },
  } satisfies Partial<Videos>
}
