/**
 * subscribe_to: indexes unknown channels and playlists, sets their flag, and scans them at once if requested (contract
 * 9.4).
 */
import {
  defineTask,
  errors,
  isAppError,
  isStop,
  type JobContext,
  joined,
  type Static,
  say,
  Type,
  untilStop,
} from 'archivolt'
import type { App } from './app.ts'
import { begin, CHANNEL_TABS, forgetBeginning, isScanned, PLAYLIST_TAB, Take } from './beginning.ts'
import { isDamage } from './gone.ts'
import { scanChannel, scanPlaylist } from './scan.ts'
import { Wishes } from './wishes.ts'
import { isWithdrawn, withdraw } from './withdrawals.ts'

const Wanted = Type.Object({
  /** A video stands for its channel. */
  type: Type.Enum(['channel', 'video', 'playlist']),
  /** An id; for a channel also a handle, or the path of its page. */
  id: Type.String(),
  /** Omitted: no scan now, and the next scan uses its own sizes. */
  take: Type.Optional(Take),
  wishes: Type.Optional(Wishes),
})
type Wanted = Static<typeof Wanted>

export const subscribeTo = defineTask({
  name: 'subscribe_to',
  title: 'Add Subscription',
  group: 'subscription:add',
  payload: Type.Object({ targets: Type.Array(Wanted) }),
  lane: 'platform',
  apiStop: true,
  resumable: true, // for existing subscriptions, the flag is only set again
  retries: { times: 3, delaySeconds: 60 },
  async run(job, app: App) {
    const { targets } = job.payload
    const unanswered: string[] = []
    const refused: string[] = []
    for (const [index, target] of targets.entries()) {
      if (job.isStopping()) break
      job.progress(
        index / targets.length,
        say`Subscribing to ${{ title: await app.media.titleOf(target.type, target.id) }} (${{ number: index + 1 }}/${{ all: targets.length }})`,
      )
      try {
        await subscribe(target, untilStop(job), app)
      } catch (error) {
        if (isStop(error, job)) break
        const failure = app.platform.failureOf(error)
        if (!failure) {
          if (!isDamage(error, target, job)) throw error
          refused.push(`${target.id}: ${error.message}`)
          continue
        }
        job.log.warn({ id: target.id, failure: failure.failure }, failure.message)
        if (app.platform.failures[failure.failure].isUnanswered || failure.isDeferred) unanswered.push(target.id)
        else refused.push(`${target.id}: ${failure.message}`)
      }
    }
    if (refused.length === 0 && unanswered.length === 0) return
    // The task reports that some targets failed; the other subscriptions are complete.
    const said = joined(
      [
        ...firstOf(refused),
        ...(unanswered.length
          ? [say`${{ platform: app.platform.name }} did not answer for ${{ names: firstOf(unanswered).join(', ') }}`]
          : []),
      ],
      '; ',
    )
    throw unanswered.length ? errors.unavailable(said) : errors.unprocessable(said)
  },
})

const MOST_NAMED = 5
const firstOf = (all: readonly string[]): string[] =>
  all.length > MOST_NAMED ? [...all.slice(0, MOST_NAMED), '…'] : [...all]

async function subscribe({ type, id, take, wishes }: Wanted, job: JobContext<object>, app: App): Promise<void> {
  const asked = { asker: job.id, signal: job.signal }
  const isUnwanted = (ownId: string) => isWithdrawn(ownId, job.id, app)
  // The beginning is written first, because a scan in between would take unwanted videos.
  const prepare = async (ownId: string, tabs: readonly string[], isSubscribed: boolean) => {
    await withdraw(ownId, app, job.id)
    if (isUnwanted(ownId)) return
    const kind = type === 'playlist' ? 'playlist' : 'channel'
    if (wishes) for (const ask of app.hook('download.wishes')) await ask({ kind, id: ownId }, wishes)
    if (take !== undefined) await begin(ownId, tabs, { take, jobId: job.id }, app)
    else if (!isSubscribed) await forgetBeginning(ownId, app)
  }
  if (isUnwanted(id)) return
  if (type === 'playlist') {
    if (take !== undefined && isScanned(id, job.id, app)) return
    const known = await app.playlists.get(id)
    // The scan reads the current entries of a playlist that is known.
    const isRead = known?.playlist_type === 'regular' && known.playlist_active
    const metadata = isRead ? undefined : await app.platform.playlist(id, asked)
    const ownId = metadata?.id ?? id
    await prepare(ownId, [PLAYLIST_TAB], (await app.playlists.get(ownId))?.playlist_subscribed ?? false)
    if (metadata && !isUnwanted(ownId)) await app.playlists.index(metadata, asked)
    if (isUnwanted(ownId) || !(await app.playlists.setSubscribed(ownId, true)) || take === undefined) return
    job.progress(0, say`Checking the videos of ${{ name: metadata?.name ?? known?.playlist_name ?? ownId }}`)
    await scanPlaylist(ownId, job, app)
    return
  }
  const channelId =
    type === 'channel'
      ? id
      : ((await app.videos.get(id))?.channel_id ?? (await app.platform.video(id, asked)).channelId)
  if (isUnwanted(channelId)) return
  const channel = await app.channels.ensure(channelId, asked)
  // Only the platform knows whether the channel exists again; scans skip it until then.
  if (!channel.channel_active)
    await app.channels.refreshWith(await app.platform.channel(channel.channel_id, asked), asked)
  await prepare(channel.channel_id, CHANNEL_TABS, channel.channel_subscribed)
  if (isUnwanted(channel.channel_id)) return
  try {
    await app.channels.change(channel.channel_id, { channel_subscribed: true })
  } catch (error) {
    if (!isAppError(error, 'not_found')) throw error
    job.log.warn({ id: channel.channel_id }, 'the channel was removed meanwhile')
  }
  // A repeated job continues with the remaining targets of a long list.
  if (take === undefined || isScanned(channel.channel_id, job.id, app)) return
  job.progress(0, say`Checking the videos of ${{ name: channel.channel_name }}`)
  await scanChannel(channel.channel_id, job, app)
}
