/**
 * Markings of a whole channel or playlist, in the order of the requests. They are rows of the ledger until they are
 * done, so that the last one wins, also after a restart. Videos that the account marks individually meanwhile are
 * recorded, too: earlier markings skip them.
 */
import { openLocks } from 'archivolt'
import type { App } from './app.ts'
import type { MarkedTogether } from './types.ts'

export const markingTables = {
  number: 4,
  sql: `
-- at: epoch seconds. The rows of an account are worked off by number.
CREATE TABLE watch_marking (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('channel', 'playlist')),
  target TEXT NOT NULL,
  is_watched INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX watch_marking_of ON watch_marking (user_id, number);

-- Videos that markings up to this number leave alone.
CREATE TABLE watch_marked_since (
  user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
  video_id TEXT NOT NULL,
  up_to INTEGER NOT NULL,
  PRIMARY KEY (user_id, video_id)
) STRICT, WITHOUT ROWID;

-- What was accepted before this table was there.
INSERT INTO watch_marking (user_id, kind, target, is_watched, at)
  SELECT payload ->> 'userId', payload ->> 'kind', payload ->> 'id', payload ->> 'isWatched', payload ->> 'at' FROM jobs
    WHERE task = 'watch.mark' AND state IN ('PENDING', 'STARTED', 'RETRY')
      AND payload ->> 'kind' IN ('channel', 'playlist') AND payload ->> 'userId' IN (SELECT id FROM users)
    ORDER BY seq;
`,
}

export interface Marking extends MarkedTogether {
  number: number
  userId: number
  isWatched: boolean
  /** Epoch seconds. */
  at: number
}

interface Row {
  number: number
  user_id: number
  kind: Marking['kind']
  target: string
  is_watched: number
  at: number
}

export function openMarkings({ ledger, log }: Pick<App, 'ledger' | 'log'>) {
  const locks = openLocks()

  const next = (userId: number, upTo: number): Marking | undefined => {
    const row = ledger
      .sql<Row>('SELECT * FROM watch_marking WHERE user_id = ? AND number <= ? ORDER BY number LIMIT 1')
      .get(userId, upTo)
    if (!row) return undefined
    const { number, kind, target: id, is_watched, at } = row
    return { number, userId, kind, id, isWatched: is_watched === 1, at }
  }

  const done = ({ number, userId }: Marking): Promise<void> =>
    ledger.write(() => {
      ledger.sql('DELETE FROM watch_marking WHERE number = ?').run(number)
      ledger
        .sql(
          `DELETE FROM watch_marked_since WHERE user_id = ?
             AND up_to < (SELECT coalesce(min(number), up_to + 1) FROM watch_marking WHERE user_id = ?)`,
        )
        .run(userId, userId)
    })

  return {
    /** Adds a marking; it is stored on disk when the promise resolves. @returns its number */
    add: ({ userId, kind, id, isWatched, at }: Omit<Marking, 'number'>): Promise<number> =>
      ledger.write(() =>
        Number(
          ledger
            .sql('INSERT INTO watch_marking (user_id, kind, target, is_watched, at) VALUES (?, ?, ?, ?, ?)')
            .run(userId, kind, id, Number(isWatched), at).lastInsertRowid,
        ),
      ),

    /** Accounts with pending markings. */
    accounts: (): number[] =>
      ledger
        .sql<{ id: number }>('SELECT DISTINCT user_id AS id FROM watch_marking')
        .all()
        .map(({ id }) => id),

    /**
     * Carries out an account's markings up to a number (all without a number), one after the other; concurrent calls
     * wait. A failed marking is dropped, and reported to its caller.
     * @param work  may be repeated
     * @throws the error of the work for that number; the signal's reason
     */
    workOff: (
      userId: number,
      { upTo = Number.MAX_SAFE_INTEGER, signal }: { upTo?: number | undefined; signal: AbortSignal },
      work: (marking: Marking) => Promise<void>,
    ): Promise<void> =>
      locks.exclusive(String(userId), async () => {
        for (let marking = next(userId, upTo); marking; marking = next(userId, upTo)) {
          signal.throwIfAborted()
          const failed = await work(marking).then(
            () => undefined,
            (error: unknown) => ({ error, number: marking!.number }),
          )
          signal.throwIfAborted()
          await done(marking)
          if (failed && failed.number < upTo) log.warn({ err: failed.error, userId }, 'an earlier marking has failed')
          else if (failed) throw failed.error
        }
      }),

    /** Records videos that the account marks individually: its earlier markings skip them. Call inside a write. */
    noteOwn(userId: number, ids: readonly string[]): void {
      ledger
        .sql(
          `INSERT INTO watch_marked_since (user_id, video_id, up_to)
             SELECT m.user_id, v.value, max(m.number) FROM watch_marking m, json_each(?) v WHERE m.user_id = ? GROUP BY v.value
             ON CONFLICT DO UPDATE SET up_to = excluded.up_to`,
        )
        .run(JSON.stringify(ids), userId)
    },

    /** Those of these videos that a marking skips. */
    leftAloneBy({ number, userId }: Marking, ids: readonly string[]): Set<string> {
      const rows = ledger.sql<{ id: string }>(
        `SELECT video_id AS id FROM watch_marked_since
           WHERE user_id = ? AND up_to >= ? AND video_id IN (SELECT value FROM json_each(?))`,
      )
      return new Set(rows.all(userId, number, JSON.stringify(ids)).map(({ id }) => id))
    },
  }
}
