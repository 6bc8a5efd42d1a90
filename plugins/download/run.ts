/**
 * The task `download_pending`: downloads the items of the queue and archives them, then does what follows a run
 * (contract 9.3).
 */
import {
  defineTask,
  isAppError,
  isStop,
  type JobContext,
  joined,
  say,
  sentenceOf,
  Type,
  untilStop,
  type Words,
  wordsOf,
} from 'archivolt'
import type { AskOptions } from '../platform/types.ts'
import type { VideoDoc } from '../video/schema.ts'
import { type ActiveItem, ItemTakenAway } from './active.ts'
import type { App } from './app.ts'
import { judge } from './degraded.ts'
import { downloadOptions } from './download-options.ts'
import { type ItemFailure, isFinal, isRechecked, tellFailed, toItemFailure } from './item-failure.ts'
import { DEFERRED_MS, LIBRARY_CHECK_MS, RETRY_DELAYS_MS, ROOM_CHECK_MS } from './retries.ts'
import type { DownloadDoc } from './schema.ts'
import { openWorkers, type Worker, type Workers } from './workers.ts'

interface PutOff {
  attempts: number
  /** When the item is retried, by the steady clock. */
  at: number
  /** What this machine lacks; then the item is not at fault. */
  waitsFor?: Words
  /** When that wait began, in epoch milliseconds. */
  since?: number
  /** The free space, in bytes, that is required before the item begins. */
  needBytes?: number
}

/** The state that the parts of a run share. */
interface Run {
  readonly job: JobContext<{ autoOnly?: boolean }>
  readonly app: App
  readonly workers: Workers
  /** Items that are retried later in this run. */
  readonly putOff: Map<string, PutOff>
  readonly ingested: string[]
  /** Subtitles that were not available, as `id language`. */
  readonly leftOut: string[]
}

export const downloadPending = defineTask({
  name: 'download_pending',
  title: 'Downloading',
  group: 'download:run',
  payload: Type.Object({ autoOnly: Type.Optional(Type.Boolean()) }),
  lane: 'download',
  apiStart: true,
  apiStop: true,
  unique: true,
  merge: (before, asked) => ({ autoOnly: before.autoOnly === true && asked.autoOnly === true }),
  resumable: true,
  outgoing: true,
  schedule: { auto: '0 16 *', initially: { hour: '9', isFirstStartOnly: true } }, // after the scan at 8
  async run(job, app: App) {
    const run: Run = { job, app, workers: openWorkers(job), putOff: new Map(), ingested: [], leftOut: [] }
    const { workers, ingested } = run
    const unwatch = app.jobs.watch(({ job: changed }) => {
      if (changed?.id === job.id && (changed.again || changed.command)) workers.wake()
    })
    try {
      await app.queue.planRechecks()
      while (!job.isStopping()) {
        await workers.slot(() => app.preferences.section('platform').downloads_at_once)
        if (job.isStopping()) break
        const item = await nextItem(run)
        if (!item && !workers.areBusy()) break
        if (!item) await workers.change()
        else
          workers.begin(item, async (worker) => {
            if (await downloadItem(run, item, worker)) ingested.push(item.platform_id)
          })
      }
      await workers.ended()
      job.signal.throwIfAborted()
    } catch (error) {
      await workers.ended().catch(() => undefined) // the interruption has already been reported
      if (isKilled(run)) for (const id of run.putOff.keys()) await app.media.clearStaging(id)
      throw error
    } finally {
      unwatch()
    }
    await restOf(run)
    await app.afterDownload.run(ingested, job)
    return ingested.length ? joined([downloaded(ingested.length), ...withoutSubtitles(run.leftOut)], '; ') : null
  },
})

const MOST_NAMED = 10

const downloaded = (count: number): Words =>
  count === 1 ? say`${{ count }} video downloaded` : say`${{ count }} videos downloaded`

function withoutSubtitles(leftOut: readonly string[]): Words[] {
  if (!leftOut.length) return []
  const names = leftOut.slice(0, MOST_NAMED).join(', ')
  const more = leftOut.length - MOST_NAMED
  return more > 0
    ? [say`these subtitles could not be fetched or converted: ${{ names }} and ${{ more }} more`]
    : [say`these subtitles could not be fetched or converted: ${{ names }}`]
}

/** Whether the run was killed. A kill discards downloads that have begun; a restart of the server continues them. */
const isKilled = ({ job, app }: Run): boolean => app.jobs.get(job.id)?.command === 'KILL'

/** The next item. If all remaining items are put off, waits for the first of them, a command, or another start. */
async function nextItem(run: Run): Promise<DownloadDoc | undefined> {
  const { job, app, workers, putOff } = run
  let triedComments = false
  for (;;) {
    const news = new AbortController()
    const unwatch = app.jobs.watch((change) => change.job?.id === job.id && news.abort())
    try {
      const now = app.clock.steady()
      const waiting = [...putOff].filter(([, { at }]) => at > now)
      const item = app.queue.next({
        isAutoOnly: job.current().autoOnly === true,
        except: [...waiting.map(([id]) => id), ...workers.ids()],
      })
      const absence = item && (await app.media.absence())
      if (absence !== undefined && !job.isStopping()) {
        job.progress(0, absence)
        await waitFor(LIBRARY_CHECK_MS, news.signal)
        continue
      }
      if (item || !waiting.length || workers.areBusy() || job.isStopping()) return item
      if (!triedComments && app.extras.areCommentsDue()) {
        triedComments = true
        await commentsMeanwhile(run)
        continue
      }
      const stillQueued = app.queue.known(waiting.map(([id]) => id))
      for (const [id] of waiting) if (!stillQueued.has(id)) putOff.delete(id)
      if (!stillQueued.size) return undefined
      const { waitsFor, since = 0 } = waiting.find(([, one]) => one.waitsFor)?.[1] ?? {}
      const waitMs = Math.min(...waiting.map(([, { at }]) => at)) - now
      job.progress(
        0,
        waitsFor ? say`Waiting to try again: ${{ reason: sentenceOf(waitsFor) }}` : say`Waiting to try again`,
      )
      app.queue.halted =
        waitsFor === undefined
          ? undefined
          : {
              reason: waitsFor,
              since: Math.floor(since / 1000),
              nextAttempt: Math.ceil((app.clock.now() + waitMs) / 1000),
            }
      await waitFor(waitMs, news.signal)
    } finally {
      app.queue.halted = undefined
      unwatch()
    }
  }

  async function waitFor(ms: number, news: AbortSignal): Promise<void> {
    await app.clock.sleep(ms, AbortSignal.any([job.signal, news])).catch(() => job.signal.throwIfAborted())
  }
}

/** Fetches comments of archived videos while all remaining items wait for a retry. */
async function commentsMeanwhile({ job, app }: Run): Promise<void> {
  try {
    await app.extras.fetchDue(untilStop(job))
  } catch (thrown) {
    if (isStop(thrown, job)) return
    job.signal.throwIfAborted()
    job.log.warn({ err: thrown }, 'comments could not be fetched; another attempt follows after the run')
  }
}

/** @returns whether the video was downloaded and archived; a failure is recorded on the item */
async function downloadItem(run: Run, item: DownloadDoc, worker: Worker): Promise<boolean> {
  const { job, app, putOff, leftOut } = run
  const id = item.platform_id
  const archived = item.force ? undefined : await app.videos.get(id)
  if (archived && !(await isLost(archived, app))) {
    // An earlier run archived it, but was interrupted before it updated the queue: repeat what follows an ingest.
    await app.emit('video.added', { id, channelId: archived.channel_id, why: 'new' })
    await settle(run, id, archived.channel_id)
    return false
  }
  const waiting = putOff.get(id)
  if (waiting?.needBytes !== undefined && (await app.media.space()).free < waiting.needBytes) {
    putOff.set(id, { ...waiting, at: app.clock.steady() + ROOM_CHECK_MS })
    return false
  }
  const turn = app.queue.begin(id)
  try {
    // The item may have been removed or ignored since it was chosen. From now on, either event aborts its download.
    if (!app.queue.isWanted(id)) return false
    if (!(await isStillWanted(run, item, turn))) return false
    leftOut.push(...(await fetchAndIngest(run, item, worker, turn)))
    putOff.delete(id)
    return true
  } catch (error) {
    if (turn.signal.aborted || error instanceof ItemTakenAway) {
      await app.media.clearStaging(id)
      return false
    }
    if (isStop(error, job)) return false
    if (job.signal.aborted) {
      if (isKilled(run)) await app.media.clearStaging(id)
      throw error
    }
    await noteFailure(run, item, error)
    return false
  } finally {
    turn.end()
  }
}

/**
 * Whether the film of an archived video is missing. It may have come back since the rescan that did not find it, which
 * cannot be known while its disk is offline.
 */
async function isLost({ platform_id: id, channel_id: channelId }: VideoDoc, { media }: App): Promise<boolean> {
  if (media.missing.of([id]).size === 0) return false
  const path = await media.filmPath(channelId, id).catch((thrown) => {
    if (!isAppError(thrown)) throw thrown
  })
  if (path === undefined || (await media.sizeOf(path)) === undefined) return true
  await media.missing.drop([id])
  return false
}

/** Asks plugins what the listing could not tell. An unwanted video leaves the queue, or is ignored. */
async function isStillWanted({ job, app }: Run, item: DownloadDoc, { signal }: ActiveItem): Promise<boolean> {
  const id = item.platform_id
  for (const ask of app.hook('download.begin')) {
    const asked = { asker: job.id, signal: AbortSignal.any([job.signal, job.stopSignal, signal]) }
    const outcome = await ask(item, asked)
    if (outcome === 'take') continue
    job.log.info({ id }, `a rule of this server decided: ${outcome}`)
    if (outcome === 'ignore') await app.queue.setStatus(id, 'ignore')
    else await app.queue.remove(id)
    return false
  }
  return true
}

/** @returns the subtitles that were left out, as `id language` */
async function fetchAndIngest(run: Run, item: DownloadDoc, worker: Worker, turn: ActiveItem): Promise<string[]> {
  const { job, app } = run
  const id = item.platform_id
  const signal = AbortSignal.any([job.signal, turn.signal])
  // A stop waits for a download that has begun, but not for one that still waits for its turn at the platform.
  const waiting = new AbortController()
  const endWait = () => waiting.abort(job.stopSignal.reason)
  job.stopSignal.addEventListener('abort', endWait, { once: true })
  const hasBegun = () => job.stopSignal.removeEventListener('abort', endWait)
  job.stopSignal.throwIfAborted()
  const folder = await job.step('download.stage', () => app.media.staging(id))
  const wanted = { ...(await downloadOptions(item.channel_id, folder, app, id)), firstSeen: item.timestamp }
  const downloaded = await job
    .step('download.fetch', () =>
      app.platform.download(id, wanted, {
        asker: job.id,
        signal: AbortSignal.any([signal, waiting.signal]),
        progress(progress) {
          hasBegun()
          turn.report(progress)
          worker.report(progress.fraction)
        },
        fetched: () => worker.fetched(),
      }),
    )
    .finally(hasBegun)
  const { channelId } = downloaded.metadata
  await job.step('download.channel', () =>
    app.channels.ensure(channelId, { asker: job.id, signal, name: downloaded.metadata.channelName }),
  )
  await job.step('download.note', async () => {
    await app.extras.remember(id)
    if (downloaded.areSubtitlesPutOff) await app.extras.putOffSubtitles(id)
  })
  const degraded = await judge(downloaded, wanted.quality, 0, app)
  await job.step('download.ingest', () =>
    app.videos.ingest(
      { downloaded, degraded, isSubtitleIndexed: app.preferences.section('downloads').subtitle_index },
      job.step,
    ),
  )
  await settle(run, id, channelId)
  if (downloaded.areSubtitlesPutOff) {
    await app.extras.startPutOff()
    return []
  }
  const languages = downloaded.subtitlesLeftOut ?? []
  if (languages.length > 0)
    job.log.warn(
      { id, languages },
      `subtitles of ${id} could not be fetched or converted and are left out: ${languages.join(', ')}`,
    )
  return languages.map((language) => `${id} ${language}`)
}

/** Removes an item from the queue once its video is in the library. */
async function settle({ job, app }: Run, id: string, channelId: string): Promise<void> {
  await job.step('download.mark', () => app.queue.markChannel(channelId, true))
  await job.step('download.done', () => app.queue.done(id))
  await job.step('download.clear', () => app.media.clearStaging(id))
}

/** Records a final failure at once, and any other after the last attempt. A failing item never ends the run. */
async function noteFailure({ job, app, putOff }: Run, item: DownloadDoc, error: unknown): Promise<void> {
  const id = item.platform_id
  const failure = app.platform.failureOf(error)
  if (failure?.isDeferred) {
    putOff.set(id, { attempts: putOff.get(id)?.attempts ?? 0, at: app.clock.steady() + DEFERRED_MS })
    return
  }
  const message = error instanceof Error ? error.message : String(error)
  job.log.warn({ id, failure: failure?.failure, err: failure ? undefined : error }, `not downloaded: ${message}`)
  // The library is unavailable, and the item is not at fault: it is retried once the library is back.
  if ((await app.media.absence()) !== undefined) return
  const needBytes = failure?.needBytes
  if (failure && needBytes === undefined && isFinal(failure, app)) {
    putOff.delete(id)
    await app.media.clearStaging(id)
    return giveUp(item, toItemFailure(failure, app), app)
  }
  // While this machine lacks something, such as disk space, the item is not at fault and is retried without limit.
  const isOurs = isAppError(error, 'unavailable') || needBytes !== undefined
  const before = putOff.get(id)
  const attempts = (before && isOurs === (before.waitsFor !== undefined) ? before.attempts : 0) + 1
  const delay = RETRY_DELAYS_MS[attempts - 1] ?? (isOurs ? RETRY_DELAYS_MS.at(-1) : undefined)
  if (delay !== undefined) {
    const since = before?.since ?? app.clock.now()
    putOff.set(id, {
      attempts,
      at: app.clock.steady() + delay,
      ...(isOurs && { waitsFor: wordsOf(error), since }),
      needBytes,
    })
    return
  }
  putOff.delete(id)
  const known = failure
    ? toItemFailure(failure, app)
    : {
        errorClass: 'unknown' as const,
        message: isAppError(error) ? message : 'The video could not be added to the library; the log says why',
      }
  await giveUp(item, known, app)
}

async function giveUp(item: DownloadDoc, failure: ItemFailure, app: App): Promise<void> {
  const { platform_id: id, title, channel_id: channelId } = item
  // People were notified of the first failure, so a failed retry is not reported again.
  if (item.noted_at === undefined || !isRechecked(failure.errorClass, app))
    await tellFailed({ id, title, channelId }, failure, app)
  await app.queue.fail(id, failure)
}

/**
 * Moves the remaining priority items back to their position, unless another run was requested meanwhile, which then
 * downloads them.
 */
async function restOf({ job, app }: Run): Promise<void> {
  const isAskedAgain = () => app.jobs.get(job.id)?.again === true
  if (isAskedAgain()) return
  const demoted = await app.queue.demote()
  if (isAskedAgain()) await app.queue.promote(demoted)
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked before a queued video is downloaded: returns whether it is still wanted. It may ask the platform, whose
     * errors it passes on.
     */
    'download.begin': (item: DownloadDoc, asked: AskOptions) => Promise<'take' | 'skip' | 'ignore'>
  }
}
