/** The removal of a channel: one job, so that an interruption is finished by the next start. */
import { defineTask, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export const removeChannel = defineTask({
  name: 'channel.remove',
  title: 'Remove a channel',
  payload: Type.Object({ channelId: Type.String({ pattern: ID_PATTERN }) }),
  lane: 'light',
  unique: ({ channelId }) => channelId,
  internal: true,
  resumable: true,
  async run({ id: jobId, payload: { channelId }, step, log }, app: App): Promise<void> {
    await app.channels.exclusive(channelId, async () => {
      // No document: an earlier run has come to its last step.
      if (!(await app.channels.known([channelId])).has(channelId)) return
      await step('channel.trash', () => app.media.trash(jobId, { channelFolder: channelId }))
      try {
        for (const removeWith of app.hook('channel.remove'))
          await step('channel.removeWith', () => removeWith(channelId, step))
        await step('channel.drop', () => app.channels.drop(channelId))
      } catch (thrown) {
        await app.media.putBack(jobId)
        throw thrown
      }
    })
    await step('channel.release', () => app.media.release(jobId))
    try {
      await step('channel.emptyTrash', () => app.media.emptyTrash(jobId))
    } catch (err) {
      log.warn({ err, channelId }, 'the removed files could not be unlinked: tried again in an hour')
    }
  },
})
