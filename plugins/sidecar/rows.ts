/** The sidecars that must be written: rows of the ledger. */
import type { App } from './app.ts'

export const dueTables = {
  number: 1,
  sql: `
-- kind all: every sidecar is compared with what it should say. times: what is noted again while it is written stays.
CREATE TABLE sidecar_due (
  kind TEXT NOT NULL CHECK (kind IN ('all', 'archive', 'channel', 'playlist', 'video')),
  id TEXT NOT NULL,
  times INTEGER NOT NULL DEFAULT 1,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;
INSERT INTO sidecar_due (kind, id) VALUES ('all', '');
-- epoch seconds: when all sidecars were last compared
CREATE TABLE sidecar_compared (only INTEGER PRIMARY KEY CHECK (only = 1), at INTEGER NOT NULL) STRICT;
`,
}

export type DueKind = 'all' | 'archive' | 'channel' | 'playlist' | 'video'

export interface Due {
  kind: DueKind
  id: string
  times: number
}

const CHUNK = 500

export type Rows = ReturnType<typeof openRows>

export function openRows({ ledger }: Pick<App, 'ledger'>) {
  const { sql, write } = ledger

  return {
    async note(kind: DueKind, ids: readonly string[]): Promise<void> {
      for (let from = 0; from < ids.length; from += CHUNK)
        await write(
          () =>
            void sql(
              `INSERT INTO sidecar_due (kind, id) SELECT ?, value FROM json_each(?) WHERE true
               ON CONFLICT DO UPDATE SET times = times + 1`,
            ).run(kind, JSON.stringify(ids.slice(from, from + CHUNK))),
        )
    },

    /** The next rows of this kind after an id, in order. */
    after: (kind: DueKind, id: string, limit: number): Due[] =>
      sql<Due>('SELECT kind, id, times FROM sidecar_due WHERE kind = ? AND id > ? ORDER BY id LIMIT ?').all(
        kind,
        id,
        limit,
      ),

    /** All rows of a kind that has few. */
    all: (kind: 'all' | 'archive'): Due[] =>
      sql<Due>('SELECT kind, id, times FROM sidecar_due WHERE kind = ?').all(kind),

    count: (): number => sql<{ count: number }>('SELECT count(*) AS count FROM sidecar_due').get()!.count,
    isAny: (): boolean => sql('SELECT 1 FROM sidecar_due LIMIT 1').get() !== undefined,

    /** Removes written sidecars, except those that have become due again since. */
    done: (rows: readonly Due[]): Promise<void> =>
      write(() => {
        const drop = sql('DELETE FROM sidecar_due WHERE kind = ? AND id = ? AND times = ?')
        for (const { kind, id, times } of rows) drop.run(kind, id, times)
      }),

    comparedAt: (): number | undefined => sql<{ at: number }>('SELECT at FROM sidecar_compared').get()?.at,

    /** @param at  epoch seconds */
    noteCompared: (at: number): Promise<void> =>
      write(
        () => void sql('INSERT INTO sidecar_compared VALUES (1, ?) ON CONFLICT DO UPDATE SET at = excluded.at').run(at),
      ),
  }
}
