/**
 * A round that requests data about videos from a community service again: every three hours until three days after
 * publication, when most contributions arrive, and monthly from then on.
 */
import { randomInt } from 'node:crypto'
import { type App, type AppOf, DAY_SECONDS, epochSeconds, type JobContext, localDay } from 'archivolt'
import type { VideoFilter, VideoNames } from '../video/listing.ts'
import { TooMany } from './ask.ts'

/** Seconds from the start of a round to the next one. */
export const ROUND_SECONDS = 3600
const NEW_DAYS = 3
const NEW_AGAIN_SECONDS = 3 * 3600
const AGAIN_SECONDS = 30 * DAY_SECONDS
const PAUSE_MS = 1000
const AT_ONCE = 100
/** Maximum number of requests in one round, which allows 24,000 a day. */
const MOST_ASKED = 1000
/** Number of failures in a row after which a round ends. */
const MOST_FAILURES = 3

interface Round {
  /** The field with the time of the last answer, epoch seconds. */
  readAt: VideoNames
  /** Requests data about a video, and stores the answer and its time. @throws the error that prevents an answer */
  read: (videoId: string, signal: AbortSignal) => Promise<void>
  /** The filter of videos to request; undefined: none. Called again before each batch of due videos. */
  wanted: () => Promise<VideoFilter | undefined> | VideoFilter | undefined
}

/**
 * Requests data about all due videos, one after the other. Ends early if the service fails; the next round continues.
 */
export async function askAboutDue({ readAt, read, wanted }: Round, job: JobContext<object>, app: AppOf<'video'>) {
  const asked = new Set<string>()
  let failures = 0
  for (;;) {
    const filter = await wanted()
    if (filter === undefined || job.isStopping()) return
    const ids = await dueIds(readAt, filter, app)
    const fresh = ids.filter((id) => !asked.has(id))
    // All videos that are still due have failed in this round.
    if (fresh.length === 0) return
    for (const id of fresh) {
      if (job.isStopping() || asked.size >= MOST_ASKED) return
      asked.add(id)
      try {
        await read(id, job.signal)
        failures = 0
      } catch (err) {
        job.signal.throwIfAborted()
        job.log.warn({ err, id }, 'no answer about a video; a later round tries again')
        if (err instanceof TooMany || ++failures >= MOST_FAILURES) return
      }
      await app.clock.sleep(PAUSE_MS, job.stopSignal).catch(() => undefined)
    }
  }
}

/** Starts the rounds at a random time within the next hour, if they are wanted and have not begun. */
export async function beginRounds(
  task: { name: string },
  isWanted: () => Promise<boolean> | boolean,
  { jobs }: Pick<App, 'jobs'>,
): Promise<void> {
  if (jobs.open(task.name).length > 0 || !(await isWanted())) return
  await jobs.start(task, {}, { afterSeconds: randomInt(1, ROUND_SECONDS) })
}

async function dueIds(readAt: VideoNames, wanted: VideoFilter, app: AppOf<'video'>): Promise<string[]> {
  const now = epochSeconds(app.clock)
  /**
   * Matches videos without an answer in this time. Includes those whose answer is from the future, because the clock
   * was wrong.
   */
  const notSince = (seconds: number): VideoFilter => ({ not: { range: [readAt, { gte: now - seconds, lte: now }] } })
  const isNew: VideoFilter = { range: ['published', { gte: localDay(now - NEW_DAYS * DAY_SECONDS) }] }
  const { hits } = await app.videos.collection.find({
    filter: { and: [wanted, { or: [{ and: [isNew, notSince(NEW_AGAIN_SECONDS)] }, notSince(AGAIN_SECONDS)] }] },
    sort: [{ by: 'published', order: 'desc' }],
    size: AT_ONCE,
    withoutTotal: true,
    withoutTexts: true,
  })
  return hits.map(({ id }) => id)
}
