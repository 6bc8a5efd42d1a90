/**
 * Finds new videos within minutes: polls the platform's feed of each subscribed channel every ten minutes, and scans
 * the channels whose feed contains an unknown video. The scan decides what is taken; the feed only decides when to
 * scan.
 */
import { randomInt } from 'node:crypto'
import { defineTask, type JobContext, say, Type, untilStop } from 'archivolt'
import type { FeedTag } from '../platform/feed.ts'
import type { App } from './app.ts'
import { markWhereGone } from './gone.ts'
import { scanChannel, subscribedChannels } from './scan.ts'

const EVERY_SECONDS = 600
/** Pause after the platform has refused feeds. */
const REST_SECONDS = 3600
/** The part of the interval over which requests are spread. */
const SPREAD_MS = 0.8 * EVERY_SECONDS * 1000
const LONGEST_PAUSE_MS = 2000
/** Maximum number of consecutive failures before a round is aborted. */
const MOST_FAILURES = 3

export const feedTables = {
  number: 6,
  sql: `CREATE TABLE subscription_feed (
    channel_id TEXT PRIMARY KEY, etag TEXT, modified TEXT, seen TEXT NOT NULL
  ) STRICT, WITHOUT ROWID`,
}

interface Row {
  etag: string | null
  modified: string | null
  /** JSON: the ids in the last version of the feed. */
  seen: string
}

const isWanted = ({ preferences }: App): boolean => preferences.section('subscriptions').feeds

/** Starts the rounds at a random time, if any channel is subscribed and they have not begun. */
export async function beginFeeds(app: App): Promise<void> {
  if (!isWanted(app) || !(await isAnySubscribed(app)) || app.jobs.open(pollFeeds.name).length > 0) return
  await app.jobs.start(pollFeeds, {}, { afterSeconds: randomInt(1, EVERY_SECONDS) })
}

const isAnySubscribed = async ({ channels }: App): Promise<boolean> =>
  (await channels.collection.count({ eq: ['channel_subscribed', true] }, 1)) > 0

/** Makes the next round scan the channel for its new videos again. */
const forgetSeen = async (channelId: string, { ledger }: App): Promise<void> => {
  await ledger.write(() =>
    ledger
      .sql("UPDATE subscription_feed SET etag = NULL, modified = NULL, seen = '[]' WHERE channel_id = ?")
      .run(channelId),
  )
}

export const forgetFeed = async ({ ledger }: App, channelId: string): Promise<void> => {
  await ledger.write(() => ledger.sql('DELETE FROM subscription_feed WHERE channel_id = ?').run(channelId))
}

export const pollFeeds = defineTask({
  name: 'subscription.feeds',
  title: 'Look for new videos',
  payload: Type.Object({}),
  lane: 'feeds',
  internal: true,
  silent: true,
  unique: true,
  resumable: true,
  // Retried, so that a failed round is not the last one.
  retries: { times: 1000, delaySeconds: EVERY_SECONDS, always: true },
  async run(job, app: App) {
    const startedAt = app.clock.steady()
    const isRefused = await pollAll(job, app)
    if (!isWanted(app) || !(await isAnySubscribed(app))) return
    const took = Math.round((app.clock.steady() - startedAt) / 1000)
    const pause = isRefused ? REST_SECONDS : Math.max(60, EVERY_SECONDS - took)
    await app.jobs.start(pollFeeds, {}, { afterSeconds: pause + randomInt(0, 60) })
  },
})

/** @returns whether the platform has refused feeds */
async function pollAll(job: JobContext<object>, app: App): Promise<boolean> {
  const channels = await subscribedChannels(app)
  const pauseMs = Math.min(LONGEST_PAUSE_MS, SPREAD_MS / Math.max(1, channels.length))
  let failures = 0
  for (const { id } of channels) {
    if (job.isStopping() || !isWanted(app) || app.platform.state().state !== 'open') return false
    try {
      await poll(id, job.signal, app)
      failures = 0
    } catch (error) {
      job.signal.throwIfAborted()
      const status = error instanceof Error && 'status' in error ? error.status : undefined
      // The channel has no feed. The scan finds out whether the channel still exists.
      if (status === 404 || status === 410) continue
      job.log.warn({ err: error, channel: id }, 'the feed of a channel could not be read')
      if (status === 429 || status === 403) return true
      if (++failures >= MOST_FAILURES) return false
    }
    await app.clock.sleep(Math.round((pauseMs * randomInt(50, 150)) / 100), job.stopSignal).catch(() => undefined)
  }
  return false
}

async function poll(id: string, signal: AbortSignal, app: App): Promise<void> {
  const { ledger } = app
  const row = ledger.sql<Row>('SELECT etag, modified, seen FROM subscription_feed WHERE channel_id = ?').get(id)
  const tag: FeedTag = {
    ...(row?.etag != null && { etag: row.etag }),
    ...(row?.modified != null && { modified: row.modified }),
  }
  const feed = await app.platform.feed(id, tag, signal)
  if (feed === undefined || feed === 'same') return
  // The first time, all videos count as seen, because scans have read the channel before.
  const seen = new Set(row ? ledger.json(row.seen, `subscription_feed.seen of ${id}`, feed.ids) : feed.ids)
  const fresh = feed.ids.filter((one) => !seen.has(one))
  const known = new Set([...(await app.videos.known(fresh)), ...app.queue.known(fresh).keys()])
  if (fresh.some((one) => !known.has(one))) await app.jobs.start(scanNew, { ids: [id] })
  // Written last, so that an interruption loses no new video.
  await ledger.write(() =>
    ledger
      .sql(
        `INSERT INTO subscription_feed (channel_id, etag, modified, seen) VALUES (?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET etag = excluded.etag, modified = excluded.modified, seen = excluded.seen
         WHERE (subscription_feed.etag, subscription_feed.modified, subscription_feed.seen)
           IS NOT (excluded.etag, excluded.modified, excluded.seen)`,
      )
      .run(id, feed.etag ?? null, feed.modified ?? null, JSON.stringify(feed.ids)),
  )
}

export const scanNew = defineTask({
  name: 'subscription.new',
  title: 'Look for new videos',
  payload: Type.Object({ ids: Type.Array(Type.String()) }),
  lane: 'platform',
  internal: true,
  // One job for each channel: a common job would scan all channels again for each one that is added while it runs.
  unique: ({ ids }) => ids.join(' '),
  resumable: true,
  async run(job, app: App) {
    let found = 0
    for (const [at, id] of job.payload.ids.entries()) {
      if (job.isStopping()) break
      job.progress(
        at / job.payload.ids.length,
        say`Scanning channel ${{ number: at + 1 }}/${{ all: job.payload.ids.length }}`,
      )
      try {
        found += await scanChannel(id, untilStop(job), app)
      } catch (error) {
        job.signal.throwIfAborted()
        const failure = await markWhereGone({ kind: 'channel', id }, error, job, app)
        if (failure && (failure.isDeferred || app.platform.failures[failure.failure].isUnanswered))
          await forgetSeen(id, app)
      }
    }
    if (found > 0 && app.preferences.section('subscriptions').auto_start)
      await app.jobs.start('download_pending', { autoOnly: true })
  },
})
