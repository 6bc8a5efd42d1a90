/**
 * The service `extras`: comments and subtitles of a video, according to the preferences of downloads. They are fetched
 * after a download run (after-download.ts), for a film found in the library (library/rescan.ts), and when a video is
 * refreshed (refresh/item.ts) or its file replaced (checksum/mend.ts). A video is complete without them, so a failure of
 * the platform is only logged; while the platform cannot be asked, they stay due.
 */
import { isAppError, type JobContext, say } from 'archivolt'
import type { App } from './app.ts'

type Run = JobContext<object>

/**
 * Maximum number of attempts to fetch a video's postponed subtitles that fail without a final reason; the same number
 * as for a job.
 */
const MOST_TRIES = 7

export interface Extras {
  /**
   * Fetches the subtitles and comments of an archived video now, or later if the platform cannot be asked.
   * @throws not_found: it was removed meanwhile
   */
  fetch(id: string, job: Run): Promise<void>
  /** Records that the comments of this video are due. The record survives an interrupted run. */
  remember(id: string): Promise<void>
  /** Records that the subtitles of this video are still to be fetched, because the platform currently refuses them. */
  putOffSubtitles(id: string): Promise<void>
  /** Starts fetching postponed subtitles once the platform offers subtitles again. */
  startPutOff(): Promise<void>
  /** The next video with postponed subtitles: those with a failed attempt come after all others. */
  nextPutOff(): string | undefined
  /**
   * Fetches postponed subtitles of a video.
   * @returns an error that a retry may solve; they then stay postponed, behind those of all other videos
   */
  fetchPutOff(id: string, job: Run): Promise<unknown>
  /** Whether comments of some videos are still to be fetched. */
  areCommentsDue(): boolean
  /** Fetches the comments of all recorded videos. */
  fetchDue(job: Run): Promise<void>
}

export function openExtras(app: App): Extras {
  const { ledger } = app
  const preferences = () => app.preferences.section('downloads')
  const askedBy = (job: Run) => ({ asker: job.id, signal: job.signal })

  /** The table of videos whose comments or subtitles are still to be fetched. */
  const due = (table: 'download_comments' | 'download_subtitles') => ({
    async add(id: string): Promise<void> {
      await ledger.write(() => ledger.sql(`INSERT INTO ${table} (video_id) VALUES (?) ON CONFLICT DO NOTHING`).run(id))
    },
    async remove(id: string): Promise<void> {
      await ledger.write(() => ledger.sql(`DELETE FROM ${table} WHERE video_id = ?`).run(id))
    },
  })
  const [dueComments, dueSubtitles] = [due('download_comments'), due('download_subtitles')]

  async function startPutOff(): Promise<void> {
    if (nextPutOff() !== undefined) await app.jobs.start('fetch_subtitles', {}, { isPatient: true })
  }

  const nextPutOff = (): string | undefined =>
    ledger.sql<{ video_id: string }>('SELECT video_id FROM download_subtitles ORDER BY rowid LIMIT 1').get()?.video_id

  /** @returns whether the subtitles are given up; otherwise the video moves behind all others */
  async function isGivenUp(id: string, error: unknown): Promise<boolean> {
    const failure = app.platform.failureOf(error)
    const row = failure && app.platform.failures[failure.failure]
    const saysNothing = failure?.isDeferred === true || row?.isUnanswered === true
    if (isAppError(error, 'not_found') || (row?.item === 'final' && !saysNothing)) return true
    const tried = await ledger.write(() =>
      ledger
        .sql<{ tries: number }>(
          `INSERT OR REPLACE INTO download_subtitles (video_id, tries)
            SELECT video_id, tries + ? FROM download_subtitles WHERE video_id = ? RETURNING tries`,
        )
        .get(saysNothing ? 0 : 1, id),
    )
    return tried !== undefined && tried.tries >= MOST_TRIES
  }

  /** @param except  languages to leave out. @returns whether some were postponed */
  async function subtitles(id: string, job: Run, except: readonly string[] = []): Promise<boolean> {
    const { subtitle: languages, subtitle_source: source, subtitle_index: isIndexed } = preferences()
    // A queued video gets its subtitles with its download.
    if (!languages || app.queue.known([id]).has(id)) return false
    return app.media.scratch(async (folder) => {
      const wanted = { folder, languages, source: source || 'user', except } as const
      const { subtitles: staged, arePutOff } = await app.platform.subtitles(id, wanted, askedBy(job))
      if (staged.length > 0) await app.videos.setSubtitles(id, staged, { isIndexed })
      return arePutOff
    })
  }

  async function remember(id: string): Promise<void> {
    if (preferences().comment_max !== false) await dueComments.add(id)
  }

  /** @returns whether the comments are still to be fetched */
  const comments = (id: string, job: Run): Promise<boolean> =>
    orLog(app, 'comments', id, job, async () => {
      const { comment_max: max, comment_sort: sort } = preferences()
      if (max) await app.videos.setComments(id, await app.platform.comments(id, { max, sort }, askedBy(job)))
      return false
    })

  return {
    async fetch(id, job) {
      if (await orLog(app, 'subtitles', id, job, () => subtitles(id, job))) {
        await dueSubtitles.add(id)
        await startPutOff()
      }
      if (await comments(id, job)) await remember(id)
    },

    putOffSubtitles: dueSubtitles.add,
    startPutOff,
    nextPutOff,

    async fetchPutOff(id, job) {
      const video = await app.videos.get(id)
      const had = video?.subtitles.map(({ lang }) => lang)
      try {
        if (had && (await subtitles(id, job, had))) return undefined
      } catch (error) {
        // The cause is on our side: the index is unavailable, or the server is closing.
        if (job.signal.aborted || isAppError(error, 'unavailable')) throw error
        const failure = app.platform.failureOf(error)
        job.log.warn(
          { id, failure: failure?.failure, err: failure ? undefined : error },
          failure ? `no subtitles: ${failure.message}` : 'no subtitles',
        )
        if (!(await isGivenUp(id, error))) return error
      }
      await dueSubtitles.remove(id)
      return undefined
    },

    remember,

    areCommentsDue: () => ledger.sql('SELECT 1 FROM download_comments LIMIT 1').get() !== undefined,

    async fetchDue(job) {
      const rows = ledger.sql<{ video_id: string }>('SELECT video_id FROM download_comments ORDER BY rowid').all()
      for (const { video_id: id } of rows) {
        if (preferences().comment_max && (await app.videos.known([id])).has(id)) {
          if (job.isStopping()) return
          job.progress(1, say`Comments of ${{ title: await app.media.titleOf('video', id) }}`)
          try {
            if (await comments(id, job)) continue
          } catch (error) {
            // The video was removed meanwhile: nothing is left to do.
            if (!isAppError(error, 'not_found')) throw error
          }
        }
        await dueComments.remove(id)
      }
    },
  }
}

/** A refusal of the platform is only logged. @returns whether the work is still to be done, later */
async function orLog(
  app: App,
  what: 'subtitles' | 'comments',
  id: string,
  job: Run,
  work: () => Promise<boolean>,
): Promise<boolean> {
  try {
    return await work()
  } catch (error) {
    const failure = app.platform.failureOf(error)
    if (!failure) throw error
    job.log.warn({ id, failure: failure.failure }, `no ${what}: ${failure.message}`)
    return failure.isDeferred === true
  }
}

export const extrasTables = {
  number: 1,
  sql: 'CREATE TABLE download_comments (video_id TEXT PRIMARY KEY) STRICT',
}

export const putOffTables = {
  number: 3,
  sql: 'CREATE TABLE download_subtitles (video_id TEXT PRIMARY KEY) STRICT',
}

export const putOffTries = {
  number: 6,
  sql: 'ALTER TABLE download_subtitles ADD COLUMN tries INTEGER NOT NULL DEFAULT 0',
}
