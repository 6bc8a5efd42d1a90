/** The rows of positions: how far each account has watched each video, and when it has removed a position or mark. */
import { isAmong } from 'archivolt'
import type { App } from './app.ts'

export const positionTables = {
  number: 1,
  sql: `
-- Seconds; the duration is the video's when the position was stored, so that a list needs no documents.
-- updated_at: epoch milliseconds.
CREATE TABLE watch_position (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  position REAL NOT NULL,
  duration INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (user_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_position_newest ON watch_position (user_id, updated_at DESC);
CREATE INDEX watch_position_video ON watch_position (video_id);
`,
}

export const removalTables = {
  number: 6,
  sql: `
-- When an account has last removed its position or mark: reports of players that were offline before are outdated.
-- at: epoch milliseconds.
CREATE TABLE watch_position_removed (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (user_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_position_removed_video ON watch_position_removed (video_id);
`,
}

export interface Position {
  position: number
  duration: number
}

export function openPositions({ ledger, clock }: Pick<App, 'ledger' | 'clock'>) {
  return {
    get(userId: number, videoId: string): Position | undefined {
      return ledger
        .sql<Position>('SELECT position, duration FROM watch_position WHERE user_id = ? AND video_id = ?')
        .get(userId, videoId)
    },

    /** Those of these videos that have a position. */
    among(userId: number, ids: readonly string[]): Array<Position & { id: string }> {
      const [isOne, value] = isAmong('video_id', ids)
      return ledger
        .sql<Position & { id: string }>(
          `SELECT video_id AS id, position, duration FROM watch_position WHERE user_id = ? AND ${isOne}`,
        )
        .all(userId, value)
    },

    /** The positions of all accounts for these videos. `updatedAt`: epoch milliseconds. */
    ofVideos: (ids: readonly string[]) =>
      ledger
        .sql<Position & { userId: number; videoId: string; updatedAt: number }>(
          `SELECT user_id AS userId, video_id AS videoId, position, duration, updated_at AS updatedAt FROM watch_position
           WHERE video_id IN (SELECT value FROM json_each(?)) ORDER BY video_id, user_id`,
        )
        .all(JSON.stringify(ids)),

    /** Videos by the last change of their position, newest first. */
    newest(userId: number, limit: number): string[] {
      const found = ledger.sql<{ id: string }>(
        'SELECT video_id AS id FROM watch_position WHERE user_id = ? ORDER BY updated_at DESC, video_id LIMIT ?',
      )
      return found.all(userId, limit).map(({ id }) => id)
    },

    /** The next videos with a position of any account, in order of their ids. */
    videosAfter(id: string, limit: number): string[] {
      const found = ledger.sql<{ id: string }>(
        'SELECT DISTINCT video_id AS id FROM watch_position WHERE video_id > ? ORDER BY video_id LIMIT ?',
      )
      return found.all(id, limit).map((row) => row.id)
    },

    /** Whether the position was stored, changed or removed after this time. @param ms  epoch milliseconds */
    isNewer(userId: number, videoId: string, ms: number): boolean {
      const found = ledger.sql(
        `SELECT 1 FROM watch_position WHERE user_id = @userId AND video_id = @videoId AND updated_at > @ms
         UNION ALL
         SELECT 1 FROM watch_position_removed WHERE user_id = @userId AND video_id = @videoId AND at > @ms`,
      )
      return found.get({ userId, videoId, ms }) !== undefined
    },

    /** Call inside a write of the ledger. @param ms  the time of the position, in epoch milliseconds */
    set(userId: number, videoId: string, { position, duration }: Position, ms = clock.now()): void {
      const put = ledger.sql(
        `INSERT INTO watch_position (user_id, video_id, position, duration, updated_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET position = excluded.position, duration = excluded.duration, updated_at = excluded.updated_at`,
      )
      put.run(userId, videoId, position, duration, ms)
    },

    /** Call inside a write of the ledger. */
    remove(userId: number, ids: readonly string[]): void {
      const remove = ledger.sql(
        'DELETE FROM watch_position WHERE user_id = ? AND video_id IN (SELECT value FROM json_each(?))',
      )
      remove.run(userId, JSON.stringify(ids))
    },

    /**
     * Makes reports from before outdated after a person has removed a position or mark. Call inside a write of the
     * ledger.
     * @param ms  when, in epoch milliseconds
     */
    noteRemoved(userId: number, ids: readonly string[], ms = clock.now()): void {
      const note = ledger.sql(
        `INSERT INTO watch_position_removed SELECT users.id, value, ? FROM users, json_each(?) WHERE users.id = ?
         ON CONFLICT DO UPDATE SET at = excluded.at`,
      )
      note.run(ms, JSON.stringify(ids), userId)
    },

    /** Removes the positions of all accounts. Call inside a write of the ledger. */
    removeVideos(ids: readonly string[]): void {
      for (const table of ['watch_position', 'watch_position_removed'])
        ledger.sql(`DELETE FROM ${table} WHERE video_id IN (SELECT value FROM json_each(?))`).run(JSON.stringify(ids))
    },
  }
}
