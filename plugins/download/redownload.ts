/**
 * redownload_degraded: downloads degraded videos again, a few a day, while nothing else is to be downloaded, and keeps
 * the better file (contract 9.15).
 */
import {
  DAY_SECONDS,
  defineTask,
  epochSeconds,
  isAppError,
  isStop,
  type JobContext,
  localDay,
  type MergePatch,
  say,
  Type,
  untilStop,
} from 'archivolt'
import type { Downloaded, LeftAlone } from '../platform/types.ts'
import type { VideoFilter } from '../video/listing.ts'
import type { Degraded } from '../video/receipt.ts'
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import { judge, nextTry } from './degraded.ts'
import { downloadOptions } from './download-options.ts'
import { downloadPending } from './run.ts'

const MOST_A_DAY = 5
/** Maximum difference in duration: a film whose duration differs more is a different film. */
const LEEWAY_SECONDS = 2
const LEEWAY_SHARE = 0.03

type Run = JobContext<object>
type Receipted = VideoDoc & Required<Pick<VideoDoc, 'receipt' | 'degraded'>>

/** Ends the task because requested downloads take precedence. */
class GivesWay extends Error {}

export const redownloadDegraded = defineTask({
  name: 'redownload_degraded',
  title: 'Fetching degraded videos again',
  description:
    'Some videos arrived in lower quality than usual. Downloads a few of them again, and keeps the better version.',
  group: 'download:again',
  payload: Type.Object({}),
  lane: 'download',
  apiStart: true,
  apiStop: true,
  unique: true,
  resumable: true,
  schedule: { auto: '30 4 *', initially: 'random' },
  async run(given, app: App) {
    // A stop may abort a download at any time, because the present file is unchanged.
    const job = untilStop(given)
    const isAskedFor = () => app.jobs.active(downloadPending.name) !== undefined
    const tried = new Set<string>()
    let better = 0
    while (!job.isStopping() && !isAskedFor() && triesOf(app) < MOST_A_DAY) {
      const video = await nextDegraded(tried, app)
      if (!video) break
      tried.add(video.platform_id)
      job.progress(0, say`Looking for a better file of ${{ title: video.title }}`)
      try {
        if (await fetchAgain(video, job, app)) better++
      } catch (error) {
        if (!(error instanceof GivesWay) && !isStop(error, job)) throw error
        break
      }
    }
    if (better === 0) return null
    return better === 1 ? say`${{ count: better }} video upgraded` : say`${{ count: better }} videos upgraded`
  },
})

/** The degraded video that has waited longest, among those that are due or were last downloaded with another yt-dlp. */
async function nextDegraded(tried: ReadonlySet<string>, app: App): Promise<Receipted | undefined> {
  // Most libraries have no degraded videos; then no process is started to read the version.
  if ((await app.videos.collection.count({ exists: 'degraded_next' }, 1)) === 0) return undefined
  const version = await app.platform.downloaderVersion()
  const due: VideoFilter[] = [{ range: ['degraded_next', { lte: epochSeconds(app.clock) }] }]
  if (version) due.push({ not: { eq: ['degraded_with', version] } })
  const { hits } = await app.videos.collection.find({
    filter: { and: [{ exists: 'degraded_next' }, { eq: ['active', true] }, { or: due }] },
    sort: [{ by: 'degraded_next', order: 'asc' }],
    size: tried.size + MOST_A_DAY,
    withoutTotal: true,
    withoutTexts: true,
  })
  const queued = app.queue.known(hits.map(({ id }) => id))
  for (const { id } of hits) {
    // Queued videos are downloaded anyway.
    const doc = tried.has(id) || queued.has(id) ? undefined : await app.videos.get(id)
    if (doc?.receipt && doc.degraded) return doc as Receipted
  }
  return undefined
}

/** @returns whether the file was replaced by a better one. @throws GivesWay */
async function fetchAgain(video: Receipted, job: Run, app: App): Promise<boolean> {
  const id = video.platform_id
  const asked = new AbortController()
  const unwatch = app.jobs.watch(({ job: changed }) => {
    if (changed?.task === downloadPending.name && app.jobs.active(downloadPending.name)) asked.abort(new GivesWay())
  })
  try {
    await countTry(app)
    const signal = AbortSignal.any([job.signal, asked.signal])
    return await app.media.scratch((folder) => takeIfBetter(video, folder, signal, job, app))
  } catch (error) {
    if (asked.signal.aborted) throw asked.signal.reason
    if (job.signal.aborted) throw error
    const failure = app.platform.failureOf(error)
    // The disk lacks space for this video, but a smaller one may fit.
    const isTooLarge = failure?.needBytes !== undefined
    if (isTooLarge || failure?.isDeferred) await putBehindOthers(video, app)
    if (isTooLarge) return false
    // The platform was not asked about this video, or this machine lacks something.
    if (failure?.isDeferred || isAppError(error, 'unavailable')) throw new GivesWay()
    job.log.warn({ id, failure: failure?.failure, err: failure ? undefined : error }, 'could not be fetched again')
    await noteTry(video, video.degraded.tried_with, app)
    return false
  } finally {
    unwatch()
  }
}

async function takeIfBetter(
  video: Receipted,
  folder: string,
  signal: AbortSignal,
  job: Run,
  app: App,
): Promise<boolean> {
  const id = video.platform_id
  const wanted = await downloadOptions(video.channel_id, folder, app, video.platform_id)
  const there = {
    // Somebody may have put a better film in the place of the downloaded one.
    height: Math.max(video.receipt.got.height, Math.min(video.width, video.height)),
    isForeign: video.degraded.reasons.includes('language'),
    seconds: video.player.duration,
  }
  const got = await job.step('download.fetch', () =>
    app.platform.downloadBetter(
      id,
      { ...wanted, there },
      {
        asker: job.id,
        signal,
        progress: ({ fraction }) => job.progress(fraction, say`Fetching a better file of ${{ title: video.title }}`),
      },
    ),
  )
  if ('isLeft' in got) {
    await leave(video, got, app)
    return false
  }
  const probe = await app.media.probe(got.mediaPath)
  if (!isSameLength(probe.durationSeconds, there.seconds)) {
    job.log.warn({ id, before: there.seconds, now: probe.durationSeconds }, 'the duration differs: the old file stays')
    await noteTry(video, got.receipt.downloader, app)
    return false
  }
  signal.throwIfAborted()
  const degraded = await judge(got, wanted.quality, video.degraded.tries + 1, app)
  const isReplaced = await job.step('download.ingest', () =>
    app.videos.ingest(
      {
        ...{ downloaded: got, probe, degraded, onlyIf: (now) => hasFilmOf(video, now) },
        isSubtitleIndexed: app.preferences.section('downloads').subtitle_index,
      },
      job.step,
    ),
  )
  if (isReplaced && got.areSubtitlesPutOff) {
    await app.extras.putOffSubtitles(id)
    await app.extras.startPutOff()
  }
  return isReplaced
}

/**
 * Whether the video still has the film that should be replaced. While another one is fetched, somebody may remove the
 * video, or give it another film, which is not degraded if it was restored from the bin.
 */
const hasFilmOf = ({ media_size, receipt }: Receipted, now: VideoDoc | undefined): boolean =>
  now?.degraded !== undefined && now.media_size === media_size && now.receipt?.date === receipt.date

/** Records something about the film that should be replaced. */
const record = (video: Receipted, change: () => Promise<unknown>, { videos }: App): Promise<void> =>
  videos.exclusive(video.platform_id, async () => {
    if (hasFilmOf(video, await videos.get(video.platform_id))) await change()
  })

const isSameLength = (one: number, other: number): boolean =>
  Math.abs(one - other) <= Math.max(LEEWAY_SECONDS, LEEWAY_SHARE * other)

/**
 * Keeps the present file, because the offered quality is no better. If the offered one is not degraded, neither is the
 * file.
 */
async function leave(video: Receipted, left: LeftAlone, app: App): Promise<void> {
  const { receipt, degraded } = video
  // The offered film has another duration, or another temporary limit of the platform.
  if (left.receipt.got.height !== receipt.got.height) return noteTry(video, left.receipt.downloader, app)
  const { quality } = await downloadOptions(video.channel_id, '', app, video.platform_id)
  const still = await judge(left, quality, degraded.tries + 1, app)
  const renewed = still && { ...still, since: degraded.since }
  await record(video, () => app.videos.renewReceipt(video.platform_id, left.receipt, renewed), app)
}

async function noteTry(video: Receipted, version: Downloaded['receipt']['downloader'], app: App): Promise<void> {
  const tries = video.degraded.tries + 1
  const next_try = nextTry(tries, app) ?? null
  await changeDegraded(video, { tries, next_try, tried_with: version }, app)
}

/** Makes the video due again tomorrow, after those that have waited longer, without counting a try. */
async function putBehindOthers(video: Receipted, app: App): Promise<void> {
  const tried_with = (await app.platform.downloaderVersion()) ?? video.degraded.tried_with
  const next_try = epochSeconds(app.clock) + DAY_SECONDS
  await changeDegraded(video, { next_try, tried_with }, app)
}

const changeDegraded = (video: Receipted, degraded: MergePatch<Degraded>, app: App): Promise<void> =>
  record(video, () => app.videos.change(video.platform_id, { set: { degraded } }), app)

/** Number of downloads today. */
const triesOf = ({ ledger, clock }: App): number =>
  ledger.sql<{ tries: number }>('SELECT tries FROM download_again WHERE day = ?').get(localDay(epochSeconds(clock)))
    ?.tries ?? 0

async function countTry({ ledger, clock }: App): Promise<void> {
  const day = localDay(epochSeconds(clock))
  await ledger.write(() => {
    ledger.sql('DELETE FROM download_again WHERE day < ?').run(day)
    ledger
      .sql('INSERT INTO download_again (day, tries) VALUES (?, 1) ON CONFLICT (day) DO UPDATE SET tries = tries + 1')
      .run(day)
  })
}

export const redownloadTables = {
  number: 2,
  sql: 'CREATE TABLE download_again (day TEXT PRIMARY KEY, tries INTEGER NOT NULL) STRICT',
}
