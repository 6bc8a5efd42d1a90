/** What follows a download run: auto-delete, comments of the new videos, and whatever later plugins add. */
import { epochSeconds, isAppError, type JobContext } from 'archivolt'
import type { VideoOutline } from '../video/videos.ts'
import type { App } from './app.ts'

const DAY_SECONDS = 86_400

export type AfterDownload = ReturnType<typeof openAfterDownload>

export function openAfterDownload(app: App) {
  const { ledger } = app
  const due = () => ledger.sql<{ video_id: string }>('SELECT video_id FROM download_comments ORDER BY rowid').all()

  async function deleteWatched(job: JobContext<object>): Promise<void> {
    if ((await app.media.absence()) !== undefined) return // the next run does it
    const everywhere = app.preferences.section('downloads').autodelete_days
    const channels = await app.channels.withOverwrite('autodelete_days')
    const own = new Map(channels.map(({ id, value }) => [id, Number(value)]))
    const watchedBefore = (days: number) => epochSeconds(app.clock) - days * DAY_SECONDS
    const groups = [
      ...[...own].map(([id, days]) => ({ days, where: { eq: ['channel_id', id] } as const })),
      ...(everywhere ? [{ days: everywhere, where: { not: { in: ['channel_id', [...own.keys()]] } } as const }] : []),
    ]
    for (const { days, where } of groups) {
      if (!days) continue // 0 of a channel: never
      for (const video of await app.videos.watchedBefore(watchedBefore(days), where)) {
        if (job.isStopping()) return
        // The list may be long: somebody may have changed their mind meanwhile.
        if ((await app.videos.get(video.id))?.player.watched) await removeAndIgnore(video, job)
      }
    }
  }

  async function removeAndIgnore(video: VideoOutline, job: JobContext<object>): Promise<void> {
    const { id } = video
    await app.queue.add([video], 'ignore', { force: true })
    try {
      await app.videos.remove(id)
      job.log.info({ id }, 'watched long ago: removed and ignored')
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      // The next run tries again; what else is due does not wait for it.
      job.log.warn({ id, reason: error.message }, 'watched long ago, but cannot be removed')
    }
  }

  /** Videos without comments yet, also those of a run that was cut off. */
  async function fetchComments(job: JobContext<object>): Promise<void> {
    for (const { video_id: id } of due()) {
      const { comment_max: max, comment_sort: sort } = app.preferences.section('downloads')
      if (max && (await app.videos.known([id])).has(id)) {
        if (job.isStopping()) return
        job.progress(1, `Comments of ${id}`)
        try {
          await app.videos.setComments(
            id,
            await app.platform.comments(id, { max, sort }, { asker: job.id, signal: job.signal }),
          )
        } catch (error) {
          const failure = app.platform.failureOf(error)
          // Somebody has removed the video while it was asked for: there is nothing left to do.
          if (!failure && !isAppError(error, 'not_found')) throw error
          if (failure) job.log.warn({ id, failure: failure.failure }, `no comments: ${failure.message}`)
        }
      }
      await ledger.write(() => ledger.sql('DELETE FROM download_comments WHERE video_id = ?').run(id))
    }
  }

  return {
    /** Its comments are fetched after the run, also where the run is cut off before. */
    async remember(id: string): Promise<void> {
      if (app.preferences.section('downloads').comment_max === false) return
      await ledger.write(() =>
        ledger.sql('INSERT INTO download_comments (video_id) VALUES (?) ON CONFLICT DO NOTHING').run(id),
      )
    },

    async run(ingested: readonly string[], job: JobContext<object>): Promise<void> {
      await job.step('download.autodelete', () => deleteWatched(job))
      for (const later of app.hook('download.after')) await later(ingested, job)
      await job.step('download.comments', () => fetchComments(job))
    },
  }
}

export const afterDownloadTables = {
  number: 1,
  sql: 'CREATE TABLE download_comments (video_id TEXT PRIMARY KEY) STRICT',
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked after each download run, with the ids that it brought: does what else is due. It may be done twice. */
    'download.after': (ingested: readonly string[], job: JobContext<object>) => Promise<void>
  }
}
