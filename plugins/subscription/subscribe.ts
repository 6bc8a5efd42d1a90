/** subscribe_to: channels and playlists are fetched and indexed where they are unknown, and their flag is set (contract 9.4). */
import { defineTask, errors, isAppError, Type, type App, type JobContext, type Static } from 'archivolt'

const Wanted = Type.Object({
  /** A video stands for its channel. */
  type: Type.Enum(['channel', 'video', 'playlist']),
  /** Of a channel also a handle, or the path of its page. */
  id: Type.String(),
})

export const subscribeTo = defineTask({
  name: 'subscribe_to',
  title: 'Add Subscription',
  group: 'subscription:add',
  payload: Type.Object({ targets: Type.Array(Wanted) }),
  lane: 'platform',
  resumable: true, // what is subscribed to already is only set again
  retries: { times: 3, delaySeconds: 60 },
  async run(job, app) {
    const { targets } = job.payload
    const unanswered: string[] = []
    for (const [index, target] of targets.entries()) {
      job.progress(index / targets.length, `Subscribing to ${target.id} (${index + 1}/${targets.length})`)
      try {
        await subscribe(target, job, app)
      } catch (error) {
        const failure = app.platform.failureOf(error)
        if (!failure) throw error
        job.log.warn({ id: target.id, failure: failure.failure }, failure.message)
        if (failure.failure === 'network' || failure.isDeferred) unanswered.push(target.id)
        else await app.jobs.notify({ title: subscribeTo.title, group: 'subscription:add', level: 'error', messages: [`${target.id}: ${failure.message}`] })
      }
    }
    if (unanswered.length) throw errors.unavailable(`The platform did not answer for ${unanswered.slice(0, 5).join(', ')}${unanswered.length > 5 ? ' …' : ''}`)
  },
})

async function subscribe({ type, id }: Static<typeof Wanted>, job: JobContext<object>, app: App): Promise<void> {
  const asked = { asker: job.id, signal: job.signal }
  if (type === 'playlist') {
    await app.playlists.index(await app.platform.playlist(id, asked), { ...asked, subscribed: true })
    return
  }
  const channelId = type === 'channel' ? id : ((await app.videos.get(id))?.channel_id ?? (await app.platform.video(id, asked)).channelId)
  const channel = await app.channels.ensure(channelId, asked)
  try {
    await app.channels.change(channel.channel_id, { channel_subscribed: true })
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    job.log.warn({ id: channel.channel_id }, 'the channel was removed meanwhile')
  }
}
