/** The task that removes a channel, in one job, so that the next start completes an interrupted removal. */
import { defineTask, ID_PATTERN, Type } from 'archivolt'
import type { App } from './app.ts'

export const removeChannel = defineTask({
  name: 'channel.remove',
  title: 'Remove a channel',
  payload: Type.Object({
    channelId: Type.String({ pattern: ID_PATTERN }),
    /** The id in the bin of everything that this job removes. */
    removal: Type.Optional(Type.String()),
    by: Type.Optional(Type.Integer()),
  }),
  lane: 'light',
  unique: ({ channelId }) => channelId,
  internal: true,
  resumable: true,
  async run({ id: jobId, payload: { channelId, removal = jobId, by }, step, log }, app: App): Promise<void> {
    const bin = app.hook('channel.bin').find(({ isOn }) => isOn())
    const isArtKept = bin !== undefined
    await app.channels.exclusive(channelId, async () => {
      // The document is missing, so an earlier run has reached the last step.
      if (!(await app.channels.known([channelId])).has(channelId))
        return bin && step('channel.keep', () => bin.keep(jobId, channelId, removal, by))
      await step('channel.trash', () => app.media.trash(jobId, { channelFolder: channelId }))
      try {
        if (bin) await step('channel.hold', () => bin.hold(jobId, channelId))
        for (const removeWith of app.hook('channel.remove'))
          await step('channel.removeWith', () => removeWith(channelId, step))
        await step('channel.drop', () => app.channels.drop(channelId, { isArtKept }))
      } catch (thrown) {
        await bin?.takeBack(jobId, channelId)
        await app.media.putBack(jobId)
        throw thrown
      }
      if (bin) await step('channel.keep', () => bin.keep(jobId, channelId, removal, by))
    })
    if (bin) return
    await step('channel.release', () => app.media.release(jobId))
    try {
      await step('channel.emptyTrash', () => app.media.emptyTrash(jobId))
    } catch (err) {
      log.warn({ err, channelId }, 'the removed files could not be deleted; another attempt follows in an hour')
    }
  },
})
