/** The removal of a video, and who is told of it: jobs, so that an interruption is finished by the next start. */
import { defineTask, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export const removeVideo = defineTask({
  name: 'video.remove',
  title: 'Remove a video',
  payload: Type.Object({ id: Type.String({ pattern: ID_PATTERN }) }),
  lane: 'light',
  unique: ({ id }) => id,
  internal: true,
  resumable: true,
  async run({ id: jobId, payload: { id }, step, log }, app: App): Promise<void> {
    await app.videos.exclusive(id, async () => {
      const doc = await app.videos.get(id)
      if (!doc) return // an earlier run has come to the last step
      const channelId = doc.channel_id
      await step('video.trash', () => app.media.trash(jobId, { channelId, videoId: id }))
      try {
        await app.videos.removeWith({ id, channelId }, step)
        await step('video.note', () => app.jobs.start(tellRemoved, { channelId, ids: [id] }))
        await step('video.drop', () => app.videos.dropAll([id]))
      } catch (thrown) {
        await app.media.putBack(jobId)
        throw thrown
      }
    })
    await step('video.release', () => app.media.release(jobId))
    try {
      await step('video.emptyTrash', () => app.media.emptyTrash(jobId))
    } catch (err) {
      log.warn({ err, id }, 'the removed files could not be unlinked: tried again in an hour')
    }
  },
})

/**
 * Added before the documents go, so that no interruption loses it: it waits until the removal has ended, and tells of
 * those that are gone then.
 */
export const tellRemoved = defineTask({
  name: 'video.tellRemoved',
  title: 'Tell of removed videos',
  payload: Type.Object({ channelId: Type.String(), ids: Type.Array(Type.String()) }),
  lane: 'light',
  internal: true,
  resumable: true,
  async run({ payload: { channelId, ids }, step }, app: App): Promise<void> {
    for (const id of ids) {
      const isGone = await app.videos.exclusive(id, async () => !(await app.videos.has(id)), channelId)
      if (isGone) await step('video.removed', () => app.emit('video.removed', { id, channelId }))
    }
  },
})
