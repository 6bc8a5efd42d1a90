/**
 * What each account has watched: these rows are the source of truth. The index repeats them for its filters; a change
 * that it may not have yet is recorded in the same transaction as the mark.
 */
import { isAmong } from 'archivolt'
import type { App } from './app.ts'

export const markTables = {
  number: 2,
  sql: `
-- watched_at: epoch seconds; null: nobody knows when. A removed account's rows go in pieces, not with its own row.
CREATE TABLE watch_mark (
  user_id INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  watched_at INTEGER,
  PRIMARY KEY (user_id, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_mark_video ON watch_mark (video_id);

-- Marks that were made or taken, and that the index may not know yet. A further change is a further number.
CREATE TABLE watch_unindexed (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  UNIQUE (user_id, video_id)
) STRICT;

-- Accounts that have played or marked something themselves.
CREATE TABLE watch_viewer (
  user_id INTEGER PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE
) STRICT;
INSERT INTO watch_viewer SELECT DISTINCT user_id FROM watch_position;

-- What is still to be done once (settling.ts). A new data folder has no documents to look through.
CREATE TABLE watch_pending (what TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
INSERT INTO watch_pending VALUES ('shared marks');
INSERT INTO watch_pending SELECT 'upgrade' WHERE EXISTS (SELECT 1 FROM users);
`,
}

/** Records that an account has watched a video, and when, in epoch seconds; null: unknown. */
export interface Mark {
  userId: number
  videoId: string
  at: number | null
}

/** A mark that was added or removed. */
export interface Unindexed {
  number: number
  userId: number
  videoId: string
  isWatched: boolean
}

export type Marks = ReturnType<typeof openMarks>

export function openMarks({ ledger }: Pick<App, 'ledger'>) {
  return {
    /** Those of these videos that the account has watched. */
    among(userId: number, ids: readonly string[]): Map<string, number | null> {
      const [isOne, value] = isAmong('video_id', ids)
      const rows = ledger
        .sql<{ id: string; at: number | null }>(
          `SELECT video_id AS id, watched_at AS at FROM watch_mark WHERE user_id = ? AND ${isOne}`,
        )
        .all(userId, value)
      return new Map(rows.map(({ id, at }) => [id, at]))
    },

    /** The marks of all accounts for these videos. */
    ofVideos: (ids: readonly string[]): Mark[] =>
      ledger
        .sql<Mark>(
          'SELECT user_id AS userId, video_id AS videoId, watched_at AS at FROM watch_mark WHERE video_id IN (SELECT value FROM json_each(?))',
        )
        .all(JSON.stringify(ids)),

    /** Accounts with marks, including removed accounts. The cost depends on the number of accounts, not of marks. */
    *accounts(): Generator<number> {
      const next = ledger.sql<{ id: number | null }>('SELECT min(user_id) AS id FROM watch_mark WHERE user_id > ?')
      for (let id = next.get(0)!.id; id !== null; id = next.get(id)!.id) yield id
    },

    /** Some videos that the account has marked. */
    someOf: (userId: number, limit: number): string[] =>
      ledger
        .sql<{ id: string }>('SELECT video_id AS id FROM watch_mark WHERE user_id = ? LIMIT ?')
        .all(userId, limit)
        .map(({ id }) => id),

    /** Accounts whose users have played or marked something themselves. */
    viewers: (): number[] =>
      ledger
        .sql<{ id: number }>('SELECT user_id AS id FROM watch_viewer')
        .all()
        .map(({ id }) => id),

    /** Changes that the index may not have yet, oldest first. */
    unindexed(limit: number): Unindexed[] {
      const rows = ledger.sql<Omit<Unindexed, 'isWatched'> & { isWatched: number }>(
        `SELECT u.number, u.user_id AS userId, u.video_id AS videoId, m.video_id IS NOT NULL AS isWatched
         FROM watch_unindexed u LEFT JOIN watch_mark m ON m.user_id = u.user_id AND m.video_id = u.video_id
         ORDER BY u.number LIMIT ?`,
      )
      return rows.all(limit).map((row) => ({ ...row, isWatched: row.isWatched === 1 }))
    },

    /** The same for these videos. */
    unindexedOf: (ids: readonly string[]): Array<Pick<Unindexed, 'userId' | 'videoId'>> =>
      ledger
        .sql<Pick<Unindexed, 'userId' | 'videoId'>>(
          'SELECT user_id AS userId, video_id AS videoId FROM watch_unindexed WHERE video_id IN (SELECT value FROM json_each(?))',
        )
        .all(JSON.stringify(ids)),

    /** Whether the one-time task is pending (`settling.ts`). */
    isPending: (what: string): boolean =>
      ledger.sql('SELECT 1 FROM watch_pending WHERE what = ?').get(what) !== undefined,

    /** @returns the videos that were not marked before; the others keep their date. Call inside a write. */
    add: (userId: number, ids: readonly string[], at: number | null): string[] =>
      ledger
        .sql<{ id: string }>(
          `INSERT INTO watch_mark (user_id, video_id, watched_at) SELECT ?, value, ? FROM json_each(?) WHERE true
           ON CONFLICT DO NOTHING RETURNING video_id AS id`,
        )
        .all(userId, at, JSON.stringify(ids))
        .map(({ id }) => id),

    /** Adds marks with individual dates. Marked videos keep theirs, unless `isNewDate`. Call inside a write. */
    addDated(
      userIds: readonly number[],
      dated: ReadonlyArray<[id: string, at: number | null]>,
      isNewDate = false,
    ): void {
      ledger
        .sql(
          `INSERT INTO watch_mark (user_id, video_id, watched_at)
           SELECT a.value, v.value ->> 0, v.value ->> 1 FROM json_each(?) a, json_each(?) v WHERE true
           ON CONFLICT ${isNewDate ? 'DO UPDATE SET watched_at = excluded.watched_at' : 'DO NOTHING'}`,
        )
        .run(JSON.stringify(userIds), JSON.stringify(dated))
    },

    /** @returns the videos that were marked before. Call inside a write. */
    remove: (userId: number, ids: readonly string[]): string[] =>
      ledger
        .sql<{ id: string }>(
          'DELETE FROM watch_mark WHERE user_id = ? AND video_id IN (SELECT value FROM json_each(?)) RETURNING video_id AS id',
        )
        .all(userId, JSON.stringify(ids))
        .map(({ id }) => id),

    /** Removes the marks of all accounts for videos that are also removed from the index. Call inside a write. */
    removeVideos(ids: readonly string[]): void {
      const list = JSON.stringify(ids)
      ledger.sql('DELETE FROM watch_mark WHERE video_id IN (SELECT value FROM json_each(?))').run(list)
      ledger.sql('DELETE FROM watch_unindexed WHERE video_id IN (SELECT value FROM json_each(?))').run(list)
    },

    /**
     * Records which marks were added or removed, unless the document itself records that it is outdated. Call inside a
     * write.
     */
    noteUnindexed(userId: number, ids: readonly string[]): void {
      if (ids.length === 0) return
      ledger
        .sql('INSERT OR REPLACE INTO watch_unindexed (user_id, video_id) SELECT ?, value FROM json_each(?)')
        .run(userId, JSON.stringify(ids))
    },

    /** Records that the index has these changes; later ones stay recorded. Call inside a write. */
    noteIndexed(changes: readonly Unindexed[]): void {
      ledger
        .sql('DELETE FROM watch_unindexed WHERE number IN (SELECT value FROM json_each(?))')
        .run(JSON.stringify(changes.map(({ number }) => number)))
    },

    /** Records that the account's user has played or marked something. Call inside a write. */
    noteViewer(userId: number): void {
      ledger.sql('INSERT OR IGNORE INTO watch_viewer (user_id) VALUES (?)').run(userId)
    },

    /** Call inside a write. */
    noteDone(what: string): void {
      ledger.sql('DELETE FROM watch_pending WHERE what = ?').run(what)
    },
  }
}
