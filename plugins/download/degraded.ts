/** Judges whether a download is worse than what was available, and why (contract 5.1). */
import { DAY_SECONDS, epochSeconds } from 'archivolt'
import type { Downloaded, QualityWish } from '../platform/types.ts'
import type { VideoFilter } from '../video/listing.ts'
import type { Degraded, DegradedReason } from '../video/receipt.ts'
import type { App } from './app.ts'

/** A degraded video is downloaded again after this time, or as soon as yt-dlp or the cookie has changed. */
const AGAIN_AFTER_SECONDS = 7 * DAY_SECONDS
const MOST_TRIES = 3
/** Minimum number of videos from which the usual quality of a channel is known. */
const FEWEST_OF_CHANNEL = 5
/** Maximum distance in publication time to the videos of the channel that are compared, in both directions. */
const AROUND_MS = 183 * DAY_SECONDS * 1000
/** Share of the usual height up to which a download is degraded: 720p instead of 1080p is normal, 360p is not. */
const FAR_BELOW = 0.5

type Fetched = Pick<Downloaded, 'metadata' | 'receipt'>

/**
 * @param wish  undefined: a custom format
 * @param tries  the number of earlier repetitions
 */
export async function judge(
  fetched: Fetched,
  wish: QualityWish | undefined,
  tries: number,
  app: App,
): Promise<Degraded | undefined> {
  const reasons = await reasonsOf(fetched, wish, app)
  if (reasons.length === 0) return undefined
  const next = nextTry(tries, app)
  return {
    reasons,
    since: epochSeconds(app.clock),
    tries,
    ...(next !== undefined && { next_try: next }),
    tried_with: fetched.receipt.downloader,
  }
}

/** When to try again; undefined: never, after too many tries. @param tries  the number of earlier repetitions */
export const nextTry = (tries: number, { clock }: Pick<App, 'clock'>): number | undefined =>
  tries < MOST_TRIES ? epochSeconds(clock) + AGAIN_AFTER_SECONDS : undefined

export interface DegradedVideos {
  /** Makes degraded videos due at once, because something has changed, such as the cookie. */
  fetchSoon(): Promise<void>
}

export const openDegraded = (app: App): DegradedVideos => ({
  async fetchSoon() {
    const waiting: VideoFilter = { exists: 'degraded_next' }
    if ((await app.videos.collection.count(waiting, 1)) === 0) return
    const now = { degraded: { next_try: epochSeconds(app.clock) } }
    await app.videos.collection.patchWhere(waiting, { set: now }, { visible: true })
    await app.jobs.start('redownload_degraded')
  },
})

async function reasonsOf(fetched: Fetched, wish: QualityWish | undefined, app: App): Promise<DegradedReason[]> {
  const { got, allowedHeight, isForeign, doubts } = fetched.receipt
  return [
    ...(allowedHeight !== undefined && got.height < allowedHeight ? (['below_allowed'] as const) : []),
    ...(wish && (await isBelowChannel(fetched, wish, app)) ? (['below_channel'] as const) : []),
    ...(isForeign ? (['language'] as const) : []),
    ...doubts,
  ]
}

async function isBelowChannel({ metadata, receipt }: Fetched, wish: QualityWish, app: App): Promise<boolean> {
  const { height } = receipt.got
  const usual = height > 0 ? await usualHeight(metadata, app) : undefined
  // What the settings exclude does not count as missing.
  return usual !== undefined && height <= FAR_BELOW * Math.min(usual, wish.height ?? usual)
}

/** The best quality that the channel usually offers around this video; undefined: too few videos. */
async function usualHeight(
  { id, channelId, vidType, published }: Fetched['metadata'],
  app: App,
): Promise<number | undefined> {
  const day = (ms: number) => new Date(ms).toISOString().slice(0, 10)
  if (published === undefined) return undefined
  const at = Date.parse(published)
  const rows = await app.videos.collection.aggregate({
    filter: {
      and: [
        { eq: ['channel_id', channelId] },
        { eq: ['vid_type', vidType] },
        { range: ['published', { gte: day(at - AROUND_MS), lte: day(at + AROUND_MS) }] },
        { exists: 'offered_height' },
        { not: { eq: ['platform_id', id] } },
      ],
    },
    groupBy: ['offered_height'],
  })
  const counts = rows.map(({ key, count }) => ({ height: Number(key[0]), count })).sort((a, b) => a.height - b.height)
  const all = counts.reduce((sum, { count }) => sum + count, 0)
  if (all < FEWEST_OF_CHANNEL) return undefined
  let seen = 0
  return counts.find(({ count }) => (seen += count) * 2 > all)?.height
}
