/** update_subscribed: what is new in subscribed channels and playlists goes into the queue (contract 9.4). */
import { defineTask, Type, type App, type JobContext, type Services } from 'archivolt'
import { openDepth } from './depth.ts'
import { markWhereGone } from './gone.ts'
import { followedPlaylist } from './playlists.ts'

type Platform = Services['platform']
type ListEntry = ReturnType<Platform['list']> extends AsyncIterable<Array<infer Entry>> ? Entry : never
type Channel = NonNullable<Awaited<ReturnType<Services['channels']['get']>>>
type NewItem = Parameters<Services['queue']['add']>[0][number]
type Run = JobContext<object>

/** A listing that is sorted by newest and was read to its end before: after so many known ones in a row nothing new is to be expected. */
const RUN_OF_KNOWN = 10
/** So many pictures of one listing are fetched ahead; the others show a placeholder until they are downloaded. */
const ART_AHEAD = 30

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
  single: true,
  resumable: true,
  outgoing: true,
  schedule: { auto: '0 8 *' },
  async run(job, app) {
    const scanned = openScanned(job.id, app)
    const isResumed = scanned.any()
    const all = [...(await subscribedChannels(app)), ...(await app.playlists.subscribed()).map((id) => ({ kind: 'playlist' as const, id }))]
    const waiting = all.filter(({ id }) => !scanned.has(id))
    const deferred = new Set<string>()
    let found = 0
    let number = all.length - waiting.length
    for (const target of waiting) {
      if (job.isStopping()) break
      number = Math.min(number + 1, all.length)
      job.progress((number - 1) / all.length, `Scanning ${target.kind} ${number}/${all.length}`)
      try {
        found += await (target.kind === 'channel' ? scanChannel(target.id, job, app) : scanPlaylist(target.id, job, app))
      } catch (error) {
        const failure = await markWhereGone(target, error, job, app)
        if (failure.isDeferred && !deferred.has(target.id)) {
          deferred.add(target.id)
          waiting.push(target) // another one goes first
          continue
        }
      }
      await scanned.add(target.id)
    }
    if (app.preferences.section('subscriptions').auto_start && (found || isResumed)) await app.jobs.start('download_pending', { autoOnly: true })
    await scanned.clear()
    return found ? `${found} new ${found === 1 ? 'video' : 'videos'} found` : null
  },
})

/** What an earlier run of this job has done, before it was cut off. */
function openScanned(jobId: string, { ledger }: App) {
  return {
    any: () => ledger.sql('SELECT 1 FROM subscription_scanned WHERE job_id = ? LIMIT 1').get(jobId) !== undefined,
    has: (id: string) => ledger.sql('SELECT 1 FROM subscription_scanned WHERE job_id = ? AND id = ?').get(jobId, id) !== undefined,
    add: (id: string) => ledger.write(() => ledger.sql('INSERT INTO subscription_scanned (job_id, id) VALUES (?, ?) ON CONFLICT DO NOTHING').run(jobId, id)),
    clear: () => ledger.write(() => ledger.sql('DELETE FROM subscription_scanned').run()), // there is one such job at a time
  }
}

async function subscribedChannels(app: App): Promise<Array<{ kind: 'channel'; id: string }>> {
  const found: Array<{ kind: 'channel'; id: string }> = []
  for await (const batch of app.channels.collection.scan({ filter: { and: [{ eq: ['channel_subscribed', true] }, { eq: ['channel_active', true] }] } })) {
    found.push(...batch.map(({ id }) => ({ kind: 'channel' as const, id })))
  }
  return found
}

/** Removed or unsubscribed while others were read: then what it has is not wanted. */
async function followedChannel(id: string, app: App): Promise<Channel | undefined> {
  const channel = await app.channels.get(id)
  return channel?.channel_subscribed && channel.channel_active ? channel : undefined
}

async function scanChannel(id: string, job: Run, app: App): Promise<number> {
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
  for (const tab of ['videos', 'streams', 'shorts'] as const) {
    if (sizes[tab] > 0 && !job.isStopping()) found += await scanTab(channel, tab, sizes[tab], job, app)
  }
  return found
}

async function scanTab(channel: Channel, tab: ListEntry['vidType'], size: number, job: Run, app: App): Promise<number> {
  const depth = openDepth(channel.channel_id, tab, app)
  const whole = depth.read()
  let found = 0
  let left = size
  for await (const page of app.platform.list(channel.channel_id, tab, { asker: job.id, signal: job.signal })) {
    if (!(await followedChannel(channel.channel_id, app))) return found
    // Once its newest are queued, a scan that is cut off would look like one that has come to what was known.
    if (left === size && whole > 0) await depth.write(0)
    const entries = page.slice(0, left).filter(({ isPending }) => !isPending)
    const added = await queue(entries.map((entry) => listItem(entry, channel)), job, app, found < ART_AHEAD)
    found += added.size
    left -= page.length
    const tail = entries.slice(-RUN_OF_KNOWN)
    if (whole >= size && tail.length && !tail.some((entry) => added.has(entry.id))) {
      await depth.write(whole)
      return found
    }
    if (left <= 0) break
    if (job.isStopping()) return found
  }
  await depth.write(size)
  return found
}

async function scanPlaylist(id: string, job: Run, app: App): Promise<number> {
  if (!(await followedPlaylist(id, app))) return 0
  const facts = await app.platform.playlist(id, { asker: job.id, signal: job.signal })
  await app.playlists.index(facts, { asker: job.id, signal: job.signal, mustExist: true })
  const playlist = await followedPlaylist(id, app)
  const size = app.preferences.section('subscriptions').channel_size
  if (!playlist || !size) return 0
  const newest = playlist.playlist_sort_order === 'bottom' ? facts.entries.slice(-size) : facts.entries.slice(0, size)
  const items = newest.filter(({ isThere, isPending }) => isThere && !isPending).map((entry): NewItem => ({
    id: entry.id,
    title: entry.title,
    channelId: entry.channelId ?? '',
    channelName: entry.uploader ?? '',
    durationSeconds: entry.durationSeconds ?? 0,
    published: '',
    vidType: 'unknown',
    ...(entry.thumbnail && { art: entry.thumbnail }),
  }))
  return (await queue(items, job, app, true)).size
}

/** @returns the ids that were neither archived nor queued nor ignored */
async function queue(items: NewItem[], job: Run, app: App, hasArtAhead: boolean): Promise<Set<string>> {
  const status = app.preferences.section('subscriptions').auto_start ? 'priority' : 'pending'
  const added = new Set(await app.queue.add(items, status))
  const pictured = hasArtAhead ? items.filter(({ id, art }) => art && added.has(id)).slice(0, ART_AHEAD) : []
  try {
    for (const { id, art } of pictured) if (!(await app.media.hasArt('video', id))) await app.media.fetchArt('video', id, art!, job.signal)
  } catch (error) {
    job.signal.throwIfAborted()
    job.log.warn({ err: error }, 'the pictures of new items were left out') // an extra: a missing ffmpeg must not end the scan
  }
  return added
}

function listItem({ id, title, durationSeconds = 0, vidType, thumbnail }: ListEntry, channel: Channel): NewItem {
  return { id, title, channelId: channel.channel_id, channelName: channel.channel_name, durationSeconds, published: '', vidType, ...(thumbnail && { art: thumbnail }) }
}
