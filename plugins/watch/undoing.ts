/**
 * Data for undoing the marking of a whole channel or playlist within a day: the marks before it, and the positions that
 * it has removed.
 */
import { DAY_SECONDS, epochSeconds } from 'archivolt'
import type { Marking } from './bulk-marks.ts'
import type { WatchState } from './state.ts'
import type { Watch } from './types.ts'

export const undoTables = {
  number: 5,
  sql: `
-- marked: the time that the marking has given (epoch seconds); null: it has removed the mark. was_at: the time of the
-- mark before. position, duration, updated_at: as in watch_position; null: there was none.
CREATE TABLE watch_undo (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  number INTEGER NOT NULL,
  video_id TEXT NOT NULL,
  marked INTEGER,
  was_at INTEGER,
  position REAL,
  duration INTEGER,
  updated_at INTEGER,
  at INTEGER NOT NULL,
  PRIMARY KEY (user_id, number, video_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX watch_undo_at ON watch_undo (at);
`,
}

/** Number of rows that one write changes. */
const TOGETHER = 200
/** Number of expired rows that one marking deletes. */
const FORGOTTEN = 2000

interface Row {
  id: string
  marked: number | null
  was_at: number | null
  position: number | null
  duration: number | null
  updated_at: number | null
}

/** Call inside the write that sets the marks, before anything changes. */
export function noteBefore(
  { ledger, clock }: Pick<WatchState['app'], 'ledger' | 'clock'>,
  { userId, number, isWatched, at }: Marking,
  ids: readonly string[],
): void {
  ledger
    .sql(
      `INSERT OR IGNORE INTO watch_undo
         SELECT @userId, @number, v.value, @marked, m.watched_at, p.position, p.duration, p.updated_at, @now
         FROM json_each(@ids) v
           LEFT JOIN watch_mark m ON m.user_id = @userId AND m.video_id = v.value
           LEFT JOIN watch_position p ON p.user_id = @userId AND p.video_id = v.value
         WHERE (m.video_id IS NULL) = @isWatched`,
    )
    .run({
      userId,
      number,
      isWatched: Number(isWatched),
      marked: isWatched ? at : null,
      now: epochSeconds(clock),
      ids: JSON.stringify(ids),
    })
}

export function openUndoing({ app, marks, positions, indexer }: WatchState) {
  const { ledger } = app

  function next(userId: number, number: number): Row[] {
    return ledger
      .sql<Row>(
        `SELECT video_id AS id, marked, was_at, position, duration, updated_at FROM watch_undo
           WHERE user_id = ? AND number = ? LIMIT ?`,
      )
      .all(userId, number, TOGETHER)
  }

  /** Restores the former marks and positions, except for videos that the account has marked or watched since. */
  function takeBack(userId: number, rows: readonly Row[], known: ReadonlySet<string>): number {
    const now = marks.among(
      userId,
      rows.map(({ id }) => id),
    )
    let count = 0
    for (const { id, marked, was_at: wasAt, position, duration, updated_at: ms } of rows) {
      const isSame = marked === null ? !now.has(id) : now.get(id) === marked
      if (!known.has(id) || !isSame) continue
      marks.noteUnindexed(userId, marked === null ? marks.add(userId, [id], wasAt) : marks.remove(userId, [id]))
      if (position !== null && !positions.get(userId, id))
        positions.set(userId, id, { position, duration: duration! }, ms!)
      count++
    }
    return count
  }

  return {
    hasUndo: (userId, number) =>
      ledger.sql('SELECT 1 FROM watch_undo WHERE user_id = ? AND number = ? LIMIT 1').get(userId, number) !== undefined,

    async undo(userId, number) {
      await app.index.writable()
      let count = 0
      for (let rows = next(userId, number); rows.length > 0; rows = next(userId, number)) {
        const ids = rows.map(({ id }) => id)
        const known = await app.videos.known(ids)
        await ledger.write(() => {
          count += takeBack(userId, rows, known)
          ledger
            .sql(
              'DELETE FROM watch_undo WHERE user_id = ? AND number = ? AND video_id IN (SELECT value FROM json_each(?))',
            )
            .run(userId, number, JSON.stringify(ids))
        })
      }
      await indexer.run()
      return count
    },

    async forgetUndo() {
      const before = epochSeconds(app.clock) - DAY_SECONDS
      await ledger.write(
        () =>
          void ledger
            .sql(
              `DELETE FROM watch_undo WHERE (user_id, number, video_id) IN (
                 SELECT user_id, number, video_id FROM watch_undo WHERE at < ? LIMIT ?)`,
            )
            .run(before, FORGOTTEN),
      )
    },
  } satisfies Partial<Watch>
}
