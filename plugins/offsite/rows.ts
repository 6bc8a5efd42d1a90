/** The last runs of the second site, shown in Health and Safety. */
import { createHash } from 'node:crypto'
import { inEnglish, type Words } from 'archivolt'
import type { App } from './app.ts'

export const offsiteTables = {
  number: 1,
  sql: `CREATE TABLE offsite_run (
    kind TEXT PRIMARY KEY CHECK (kind IN ('backup', 'check')),
    -- epoch seconds: the last that succeeded; 0: none
    succeeded_at INTEGER NOT NULL DEFAULT 0,
    files INTEGER NOT NULL DEFAULT 0,
    bytes INTEGER NOT NULL DEFAULT 0,
    -- files that could not be read
    unread INTEGER NOT NULL DEFAULT 0,
    -- why the last run failed, and since when runs have failed; '', 0: it succeeded
    failure TEXT NOT NULL DEFAULT '',
    failing_since INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID`,
}

export const repositoryTable = {
  number: 2,
  sql: `CREATE TABLE offsite_repository (
    -- SHA-256, because an address may contain a password
    address BLOB PRIMARY KEY
  ) STRICT, WITHOUT ROWID`,
}

export const translatable = {
  number: 3,
  sql: `-- Since then a reason is JSON: a sentence, or its template and values.
UPDATE offsite_run SET failure = json_quote(failure) WHERE failure <> '';`,
}

export const ofRepository = {
  number: 4,
  sql: `-- SHA-256 of the address of the repository that the run was about; NULL: from before this column existed
ALTER TABLE offsite_run ADD COLUMN address BLOB;`,
}

export type Kind = 'backup' | 'check'
export interface Run {
  kind: Kind
  succeeded_at: number
  files: number
  bytes: number
  unread: number
  /** Why the last run failed; '': it succeeded. */
  failure: string
  words: Words
  failing_since: number
}

export type Rows = ReturnType<typeof openRows>

export function openRows({ ledger, preferences }: Pick<App, 'ledger' | 'preferences'>) {
  const { sql, write, json } = ledger
  const hashOf = (address: string): Buffer => createHash('sha256').update(address).digest()
  const address = (): Buffer => hashOf(preferences.section('offsite').repository)
  return {
    /** The last runs with the present repository. */
    get(kind: Kind): Run | undefined {
      const row = sql<Omit<Run, 'words'>>(
        'SELECT * FROM offsite_run WHERE kind = @kind AND coalesce(address, @address) = @address',
      ).get({ kind, address: address() })
      const words = row?.failure ? json<Words>(row.failure, 'offsite_run.failure', '') : ''
      return row && { ...row, failure: inEnglish(words), words }
    },

    /** Whether there was ever a repository at this address: if it is missing then, its disk is not connected. */
    wasOpened: (address: string): boolean =>
      sql('SELECT 1 FROM offsite_repository WHERE address = ?').get(hashOf(address)) !== undefined,

    opened: (address: string): Promise<void> =>
      write(() => void sql('INSERT OR IGNORE INTO offsite_repository (address) VALUES (?)').run(hashOf(address))),

    /** @param at  epoch seconds */
    succeeded: (kind: Kind, at: number, counts = { files: 0, bytes: 0, unread: 0 }): Promise<void> =>
      write(
        () =>
          void sql(
            `INSERT OR REPLACE INTO offsite_run (kind, succeeded_at, files, bytes, unread, address)
             VALUES (@kind, @at, @files, @bytes, @unread, @address)`,
          ).run({ kind, at, address: address(), ...counts }),
      ),

    /** @param at  epoch seconds; a stored time after it comes from a clock that was ahead */
    failed: (kind: Kind, why: Words, at: number): Promise<void> =>
      write(() => {
        const of = { kind, address: address() }
        sql('DELETE FROM offsite_run WHERE kind = @kind AND address <> @address').run(of)
        sql(
          `INSERT INTO offsite_run (kind, failure, failing_since, address) VALUES (@kind, @failure, @at, @address)
           ON CONFLICT DO UPDATE SET failure = @failure, address = @address,
             failing_since = CASE WHEN failing_since BETWEEN 1 AND @at THEN failing_since ELSE @at END`,
        ).run({ ...of, failure: JSON.stringify(why), at })
      }),

    /** Called when a new repository was created. */
    forget: (): Promise<void> => write(() => void sql('DELETE FROM offsite_run').run()),
  }
}
