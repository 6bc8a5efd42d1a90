/** update_subscribed: queues the new videos of subscribed channels and playlists (contract 9.4). */
import { defineTask, inEnglish, isStop, type JobContext, say, Type, untilStop, type Words } from 'archivolt'
import type { ChannelDoc } from '../channel/schema.ts'
import type { NewItem, Origin } from '../download/add.ts'
import type { ListEntry, PlaylistEntryMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { beginningOf, CHANNEL_TABS, numberOf, PLAYLIST_TAB, type Take } from './beginning.ts'
import { openDepth } from './depth.ts'
import { markWhereGone } from './gone.ts'
import { followedPlaylist } from './playlists.ts'

type Run = JobContext<object>

/**
 * Number of known videos in a row after which no new videos are expected, if the listing is sorted by newest and an
 * earlier scan read it to its end.
 */
const RUN_OF_KNOWN = 10
/** Number of skipped videos in a row after which a scan ends: a single one may have moved up. */
const RUN_OF_PASSED = 3
/**
 * Number of the newest existing videos that are stored as skipped when a channel is subscribed: no scan reads beyond
 * them.
 */
const MOST_PASSED = 50
export const scanTables = {
  number: 1,
  sql: 'CREATE TABLE subscription_scanned (job_id TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (job_id, id)) STRICT, WITHOUT ROWID',
}

export const updateSubscribed = defineTask({
  name: 'update_subscribed',
  title: 'Rescan your Subscriptions',
  group: 'download:scan',
  payload: Type.Object({}),
  lane: 'platform',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
  outgoing: true,
  schedule: { auto: '0 8 *', initially: { hour: '8', isFirstStartOnly: true } },
  async run(job, app: App) {
    const scanned = openScanned(job.id, app)
    const isResumed = scanned.any()
    const all = [
      ...(await subscribedChannels(app)),
      ...(await app.playlists.subscribed()).map((id) => ({ kind: 'playlist' as const, id })),
    ]
    const waiting = all.filter(({ id }) => !scanned.has(id))
    const deferred = new Set<string>()
    let found = 0
    let number = all.length - waiting.length
    for (const target of waiting) {
      if (job.isStopping()) break
      number = Math.min(number + 1, all.length)
      job.progress(
        (number - 1) / all.length,
        target.kind === 'channel'
          ? say`Scanning channel ${{ number }}/${{ all: all.length }}`
          : say`Scanning playlist ${{ number }}/${{ all: all.length }}`,
      )
      try {
        found += await (target.kind === 'channel'
          ? scanChannel(target.id, untilStop(job), app)
          : scanPlaylist(target.id, untilStop(job), app))
      } catch (error) {
        if (isStop(error, job)) break
        const failure = await markWhereGone(target, error, job, app)
        if (failure?.isDeferred && !deferred.has(target.id)) {
          deferred.add(target.id)
          waiting.push(target) // other targets are scanned first
          continue
        }
      }
      await scanned.add(target.id)
    }
    if (app.preferences.section('subscriptions').auto_start && (found || isResumed))
      await app.jobs.start('download_pending', { autoOnly: true })
    await scanned.clear()
    if (found === 0) return null
    return found === 1 ? say`${{ count: found }} new video found` : say`${{ count: found }} new videos found`
  },
})

/** The targets that an interrupted run of this job has already scanned. */
function openScanned(jobId: string, { ledger }: App) {
  return {
    any: () => ledger.sql('SELECT 1 FROM subscription_scanned WHERE job_id = ? LIMIT 1').get(jobId) !== undefined,
    has: (id: string) =>
      ledger.sql('SELECT 1 FROM subscription_scanned WHERE job_id = ? AND id = ?').get(jobId, id) !== undefined,
    add: (id: string) =>
      ledger.write(() =>
        ledger.sql('INSERT INTO subscription_scanned (job_id, id) VALUES (?, ?) ON CONFLICT DO NOTHING').run(jobId, id),
      ),
    // there is one such job at a time
    clear: () => ledger.write(() => ledger.sql('DELETE FROM subscription_scanned').run()),
  }
}

export async function subscribedChannels(app: App): Promise<Array<{ kind: 'channel'; id: string }>> {
  const found: Array<{ kind: 'channel'; id: string }> = []
  for await (const batch of app.channels.collection.scan({
    filter: { and: [{ eq: ['channel_subscribed', true] }, { eq: ['channel_active', true] }] },
  })) {
    found.push(...batch.map(({ id }) => ({ kind: 'channel' as const, id })))
  }
  return found
}

/** undefined: the channel was removed or unsubscribed during the scan, so its videos are not wanted. */
async function followedChannel(id: string, app: App): Promise<ChannelDoc | undefined> {
  const channel = await app.channels.get(id)
  return channel?.channel_subscribed && channel.channel_active ? channel : undefined
}

export async function scanChannel(id: string, job: Run, app: App): Promise<number> {
  const channel = await followedChannel(id, app)
  if (!channel) return 0
  const { channel_size, live_channel_size, shorts_channel_size } = app.preferences.section('subscriptions')
  const own = channel.channel_overwrites
  const sizes = {
    videos: own.subscriptions_channel_size ?? channel_size,
    streams: own.subscriptions_live_channel_size ?? live_channel_size,
    shorts: own.subscriptions_shorts_channel_size ?? shorts_channel_size,
  }
  let found = 0
  for (const tab of CHANNEL_TABS) {
    if (sizes[tab] <= 0 || job.isStopping()) continue
    const take = beginningOf(id, tab, app).take()
    found += await (take === undefined
      ? scanTab(channel, tab, sizes[tab], job, app)
      : firstScan(channel, tab, { take, size: sizes[tab] }, job, app))
  }
  return found
}

/** First scan: takes the videos requested with the subscription, stores the next ones as skipped, and downloads. */
async function firstScan(
  channel: ChannelDoc,
  tab: ListEntry['vidType'],
  { take, size }: { take: Take; size: number },
  job: Run,
  app: App,
): Promise<number> {
  const id = channel.channel_id
  const passed: string[] = []
  const fetchArt = app.listings.artAhead(job)
  let left = numberOf(take)
  let [found, skipped] = [0, 0]
  for await (const page of app.platform.list(id, tab, { asker: job.id, signal: job.signal })) {
    if (!(await followedChannel(id, app))) return found
    const entries = page.filter(({ isPending }) => !isPending) // pending videos count as new once they can be played
    const origin = { kind: 'channel', id } as const
    let at = 0
    while (at < entries.length && left > 0) {
      const wanted = entries.slice(at, at + left)
      at += wanted.length
      const { added, leftOut } = await queue(app.listings.ofChannel(outlineOf(channel), wanted), app, {
        origin,
        fetchArt,
        isNow: true,
      })
      found += added.size
      // Videos that rules leave out do not count: the next ones replace them.
      left -= wanted.length - leftOut.size
      skipped += leftOut.size
    }
    passed.push(...entries.slice(at).map((entry) => entry.id))
    if (passed.length >= MOST_PASSED || (take !== 'all' && skipped >= MOST_PASSED)) break
    if (job.isStopping()) return found
  }
  await openDepth(id, tab, app).write(size)
  await beginningOf(id, tab, app).done(take, passed.slice(0, MOST_PASSED))
  return found
}

async function scanTab(
  channel: ChannelDoc,
  tab: ListEntry['vidType'],
  size: number,
  job: Run,
  app: App,
): Promise<number> {
  const depth = openDepth(channel.channel_id, tab, app)
  const whole = depth.read()
  const passed = beginningOf(channel.channel_id, tab, app).passed()
  const fetchArt = app.listings.artAhead(job)
  let inARow = 0
  let found = 0
  let left = size
  for await (const page of app.platform.list(channel.channel_id, tab, { asker: job.id, signal: job.signal })) {
    if (!(await followedChannel(channel.channel_id, app))) return found
    const entries: ListEntry[] = []
    for (const entry of page.slice(0, left)) {
      if (entry.isPending) continue
      inARow = passed.has(entry.id) ? inARow + 1 : 0
      entries.push(entry)
      if (inARow >= RUN_OF_PASSED) break
    }
    const wanted = entries.filter(({ id }) => !passed.has(id))
    // If this scan is interrupted after its newest videos were queued, the next one would find them known and end too
    // early.
    if (whole > 0 && (await app.queue.missing(wanted.map(({ id }) => id))).size > 0) await depth.write(0)
    const origin = { kind: 'channel', id: channel.channel_id } as const
    const { added, leftOut } = await queue(app.listings.ofChannel(outlineOf(channel), wanted), app, {
      origin,
      fetchArt,
    })
    found += added.size
    left -= page.length
    const tail = entries.slice(-RUN_OF_KNOWN)
    if (whole >= size && tail.length && !tail.some(({ id }) => added.has(id) || leftOut.has(id))) {
      await depth.write(whole)
      return found
    }
    if (left <= 0 || inARow >= RUN_OF_PASSED) break
    if (job.isStopping()) return found
  }
  await depth.write(size)
  return found
}

const outlineOf = ({ channel_id, channel_name }: ChannelDoc) => ({ id: channel_id, name: channel_name })

export async function scanPlaylist(id: string, job: Run, app: App): Promise<number> {
  if (!(await followedPlaylist(id, app))) return 0
  const metadata = await app.platform.playlist(id, { asker: job.id, signal: job.signal })
  const cut: Words[] = []
  const asked = { asker: job.id, signal: job.signal }
  await app.playlists.index(metadata, { ...asked, mustExist: true, onCut: (told) => cut.push(told) })
  for (const told of cut) job.log.warn({ playlist: id }, inEnglish(told))
  const playlist = await followedPlaylist(id, app)
  const size = app.preferences.section('subscriptions').playlist_size
  if (!playlist || !size) return 0
  const beginning = beginningOf(id, PLAYLIST_TAB, app)
  const take = beginning.take()
  const fetchArt = app.listings.artAhead(job)
  const origin = { kind: 'playlist', id } as const
  const isCut = cut.length > 0
  // The newest videos are in the part that is missing.
  if (isCut && playlist.playlist_sort_order === 'bottom') return 0
  if (take === undefined) {
    const passed = beginning.passed()
    // The whole list is read anyway, so new videos are found at any position.
    const newest = newestOf(
      metadata.entries.filter((entry) => !passed.has(entry.id)),
      size,
      playlist.playlist_sort_order,
    )
    return (await queue(app.listings.ofPlaylist(newest), app, { origin, fetchArt })).added.size
  }
  const wanted = newestOf(
    metadata.entries.filter(app.listings.canBeQueued),
    numberOf(take),
    playlist.playlist_sort_order,
  )
  const { added } = await queue(app.listings.ofPlaylist(wanted), app, { origin, fetchArt, isNow: true })
  // Later scans would count the missing videos as new, so the next scan is a first one again.
  if (isCut) return added.size
  await beginning.done(
    take,
    metadata.entries.filter(({ isPending }) => !isPending).map((entry) => entry.id),
  )
  return added.size
}

/** The newest entries: this number of different videos, even if the playlist repeats them. */
function newestOf(entries: PlaylistEntryMetadata[], count: number, order: 'top' | 'bottom'): PlaylistEntryMetadata[] {
  if (order === 'bottom') return newestOf(entries.toReversed(), count, 'top').toReversed()
  const seen = new Set<string>()
  return entries.filter(({ id }) => !seen.has(id) && seen.size < count && seen.add(id))
}

interface QueueOptions {
  origin: Origin
  fetchArt: (items: readonly NewItem[]) => Promise<void>
  /** Downloads at once, regardless of the setting for scans. */
  isNow?: boolean
}

/** @returns ids that were not archived, queued or ignored before: now queued, or left out by a rule */
async function queue(
  items: NewItem[],
  app: App,
  { origin, fetchArt, isNow = false }: QueueOptions,
): Promise<{ added: Set<string>; leftOut: Set<string> }> {
  const status = isNow || app.preferences.section('subscriptions').auto_start ? 'priority' : 'pending'
  const leftOut = new Set<string>()
  const added = new Set(await app.queue.add(items, status, { origin, leftOut }))
  // Even if nothing was added, because an earlier run may have been interrupted right before this.
  if (isNow && items.length) await app.jobs.start('download_pending', { autoOnly: true })
  await fetchArt(items.filter(({ id }) => added.has(id)))
  return { added, leftOut }
}
