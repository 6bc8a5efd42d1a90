/**
 * The service `dislikes`: the queue of videos whose estimated dislikes are requested, one after the other, within the
 * limits of the public service.
 */
import type { RunResult } from 'better-sqlite3'
import type { App } from './app.ts'
import { askForDislikes } from './estimates.ts'

/** Pause between two requests: 85 a minute, because the service allows 100. */
const PAUSE_MS = 700
/** Number of attempts for one video, after which it waits for the next refresh. */
const MOST_ATTEMPTS = 3

export const dislikeTables = {
  number: 1,
  sql: 'CREATE TABLE dislike_due (video_id TEXT PRIMARY KEY, attempts INTEGER NOT NULL DEFAULT 0) STRICT',
}

interface Dislikes {
  /** Whether estimates are switched on. */
  isWanted(): boolean
  /**
   * Queues a video whose estimate is to be requested again, if estimates are switched on. Returns before the request.
   */
  note(videoId: string): Promise<void>
  /** Continues with videos that an earlier run has left. */
  goOn(): Promise<void>
  /** The video that has waited longest. */
  next(): string | undefined
  /** Removes a video from the queue; without an id, all of them. */
  forget(videoId?: string): Promise<RunResult>
  /** Moves a failed video behind the others; after some attempts it waits for the next refresh. */
  putOff(videoId: string): Promise<void>
  /** Requests the estimate, and stores it in the video's document. @throws the error that prevents an answer */
  read(videoId: string, signal: AbortSignal): Promise<void>
}

export function openDislikes(app: App): Dislikes {
  const { ledger } = app
  let lastAskedAt = -Infinity
  const isWanted = () => app.preferences.section('downloads').integrate_ryd
  // A further video does not shorten the pause after a failure of the service.
  const start = () => app.jobs.start('dislike.read', {}, { isPatient: true })

  return {
    isWanted,
    async note(videoId) {
      if (!isWanted()) return
      await ledger.write(() =>
        ledger.sql('INSERT INTO dislike_due (video_id) VALUES (?) ON CONFLICT DO UPDATE SET attempts = 0').run(videoId),
      )
      await start()
    },

    async goOn() {
      if (this.next() !== undefined) await start()
    },

    next: () =>
      ledger.sql<{ video_id: string }>('SELECT video_id FROM dislike_due ORDER BY rowid LIMIT 1').get()?.video_id,

    forget: (videoId) =>
      ledger.write(() =>
        videoId === undefined
          ? ledger.sql('DELETE FROM dislike_due').run()
          : ledger.sql('DELETE FROM dislike_due WHERE video_id = ?').run(videoId),
      ),

    putOff: (videoId) =>
      ledger.write(() => {
        const row = ledger
          .sql<{ attempts: number }>('DELETE FROM dislike_due WHERE video_id = ? RETURNING attempts')
          .get(videoId)
        if (row && row.attempts + 1 < MOST_ATTEMPTS)
          ledger.sql('INSERT INTO dislike_due (video_id, attempts) VALUES (?, ?)').run(videoId, row.attempts + 1)
      }),

    async read(videoId, signal) {
      if (!(await app.videos.known([videoId])).has(videoId)) return
      const wait = lastAskedAt + PAUSE_MS - app.clock.steady()
      if (wait > 0) await app.clock.sleep(Math.min(wait, PAUSE_MS), signal)
      lastAskedAt = app.clock.steady()
      const dislikes = await askForDislikes(app.settings.dislikesUrl, videoId, signal)
      if (dislikes !== undefined)
        await app.videos.collection.patch(videoId, { set: { stats: { dislike_count: dislikes } } }, { visible: true })
    },
  }
}

declare module 'archivolt' {
  interface Services {
    dislike: {
      dislikes: Dislikes
    }
  }
  interface Settings {
    /** Base URL of the service that estimates dislikes, without a trailing slash. */
    dislikesUrl: string
  }
}
