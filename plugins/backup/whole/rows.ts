/** Records the last whole backup and the last rehearsal in the ledger; the pages Safety and Health show them. */
import type { Words } from 'archivolt'
import type { App } from '../app.ts'

export const wholeTables = {
  number: 1,
  sql: `CREATE TABLE backup_run (
    kind TEXT PRIMARY KEY CHECK (kind IN ('backup', 'rehearsal')),
    file TEXT NOT NULL DEFAULT '',
    -- epoch seconds: the last that succeeded; 0: none
    succeeded_at INTEGER NOT NULL DEFAULT 0,
    seconds REAL NOT NULL DEFAULT 0,
    -- of the last that succeeded, by collection; JSON
    documents TEXT NOT NULL DEFAULT '{}',
    -- why the last run failed (JSON), and since when runs have failed; '', 0: it succeeded
    failure TEXT NOT NULL DEFAULT '',
    failing_since INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
}

export type RunKind = 'backup' | 'rehearsal'

export interface LastRun {
  file: string
  /** Epoch seconds; 0: no run has succeeded yet. */
  succeededAt: number
  seconds: number
  documents: Record<string, number>
  /** undefined: the last run succeeded. */
  failure: Words | undefined
  failingSince: number
}

interface Row {
  file: string
  succeeded_at: number
  seconds: number
  documents: string
  failure: string
  failing_since: number
}

export type Runs = ReturnType<typeof openRuns>

export function openRuns({ ledger }: Pick<App, 'ledger'>) {
  const { sql, write, json } = ledger
  return {
    last(kind: RunKind): LastRun {
      const row = sql<Row>('SELECT * FROM backup_run WHERE kind = ?').get(kind)
      return {
        file: row?.file ?? '',
        succeededAt: row?.succeeded_at ?? 0,
        seconds: row?.seconds ?? 0,
        documents: json(row?.documents ?? '{}', 'backup_run.documents', {}),
        failure: row?.failure ? json<Words>(row.failure, 'backup_run.failure', row.failure) : undefined,
        failingSince: row?.failing_since ?? 0,
      }
    },

    succeeded: (kind: RunKind, run: Pick<LastRun, 'file' | 'succeededAt' | 'seconds' | 'documents'>): Promise<void> =>
      write(
        () =>
          void sql(
            `INSERT OR REPLACE INTO backup_run (kind, file, succeeded_at, seconds, documents)
             VALUES (@kind, @file, @succeededAt, @seconds, @documents)`,
          ).run({ ...run, kind, documents: JSON.stringify(run.documents) }),
      ),

    /**
     * @param at  epoch seconds; if the stored beginning of the failures is later, the clock was ahead, and it is
     * replaced
     */
    failed: (kind: RunKind, why: Words, at: number): Promise<void> =>
      write(
        () =>
          void sql(
            `INSERT INTO backup_run (kind, failure, failing_since) VALUES (@kind, @failure, @at)
             ON CONFLICT DO UPDATE SET failure = @failure,
               failing_since = CASE WHEN failing_since BETWEEN 1 AND @at THEN failing_since ELSE @at END`,
          ).run({ kind, failure: JSON.stringify(why), at }),
      ),
  }
}
