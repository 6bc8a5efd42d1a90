/**
 * The refresh queue: three ordered queues without duplicates, in the ledger, so that they survive a restart (contract
 * 9.8).
 */
import { chunksOf } from 'archivolt'
import type { App } from './app.ts'

/** In the order of processing. */
export const KINDS = ['video', 'channel', 'playlist'] as const
export type Kind = (typeof KINDS)[number]

export interface Item {
  kind: Kind
  id: string
  /** Number of attempts. */
  attempts: number
}

interface Row {
  kind: number
  id: string
  attempts: number
}

const MOST_IN_A_WRITE = 500

export const refreshTables = {
  number: 1,
  sql: `CREATE TABLE refresh_queue (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    kind INTEGER NOT NULL,
    id TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX refresh_queue_order ON refresh_queue (kind, position);
  CREATE TABLE refresh_selected (job_id TEXT PRIMARY KEY) STRICT`,
}

export const selectedStarts = {
  number: 2,
  sql: 'ALTER TABLE refresh_selected ADD COLUMN starts INTEGER NOT NULL DEFAULT 1',
}

const numberOf = (kind: Kind): number => KINDS.indexOf(kind)

interface RefreshQueue {
  /** Adds ids that are not queued yet, in the given order. */
  add(kind: Kind, ids: readonly string[]): Promise<void>
  /** The next entry. It stays queued until `done`, so that a power cut loses nothing. */
  next(): Item | undefined
  /** Marks an entry as being refreshed, until `end`. */
  begin(item: Item): undefined
  end(): undefined
  /** Removes an entry after its refresh. */
  done(item: Item): Promise<void>
  /** Moves an entry to the end of its queue. @param isTried  counts as an attempt */
  putOff(item: Item, isTried: boolean): Promise<void>
  /** The next entries of a kind, in order of their ids. */
  idsAfter(kind: Kind, id: string): string[]
  forget(kind: Kind, ids: readonly string[]): Promise<void>
  /** The number of waiting entries, without the one that is being refreshed. */
  waiting(kind?: Kind): number
  stateOf(kind?: Kind): 'running' | 'empty'
  stateOfItem(kind: Kind, id: string): 'running' | 'in_queue' | 'empty'
  /**
   * The number of scheduled starts of this job for which documents were selected. Each selection is made only once,
   * even if the run is interrupted or retried, or somebody also starts the job while it waits.
   */
  selectedFor(jobId: string): number
  noteSelected(jobId: string, starts: number): Promise<void>
}

export function openRefreshQueue(app: App): RefreshQueue {
  const { ledger } = app
  let current: Item | undefined
  const isCurrent = (kind: Kind, id: string) => current?.kind === kind && current.id === id
  const isOneRunning = (kind?: Kind) => current !== undefined && (kind === undefined || current.kind === kind)
  /** @returns whether it was queued */
  const remove = ({ kind, id }: Item): boolean =>
    ledger.sql('DELETE FROM refresh_queue WHERE kind = ? AND id = ?').run(numberOf(kind), id).changes > 0

  return {
    async add(kind, ids) {
      for (const some of chunksOf(ids, MOST_IN_A_WRITE)) {
        await ledger.write(() => {
          const put = ledger.sql('INSERT INTO refresh_queue (kind, id) VALUES (?, ?) ON CONFLICT DO NOTHING')
          for (const id of some) put.run(numberOf(kind), id)
        })
      }
    },

    next() {
      const row = ledger.sql<Row>('SELECT kind, id, attempts FROM refresh_queue ORDER BY kind, position LIMIT 1').get()
      return row && { kind: KINDS[row.kind]!, id: row.id, attempts: row.attempts }
    },

    begin: (item) => void (current = item),
    end: () => void (current = undefined),
    done: (item) => ledger.write(() => void remove(item)),

    async putOff(item, isTried) {
      const { kind, id, attempts } = item
      await ledger.write(() => {
        if (remove(item))
          ledger
            .sql('INSERT INTO refresh_queue (kind, id, attempts) VALUES (?, ?, ?)')
            .run(numberOf(kind), id, attempts + (isTried ? 1 : 0))
      })
    },

    idsAfter(kind, id) {
      const found = ledger.sql<{ id: string }>(
        'SELECT id FROM refresh_queue WHERE kind = ? AND id > ? ORDER BY id LIMIT ?',
      )
      return found.all(numberOf(kind), id, MOST_IN_A_WRITE).map((row) => row.id)
    },

    async forget(kind, ids) {
      const forget = ledger.sql('DELETE FROM refresh_queue WHERE kind = ? AND id IN (SELECT value FROM json_each(?))')
      await ledger.write(() => forget.run(numberOf(kind), JSON.stringify(ids)))
    },

    waiting(kind) {
      const row =
        kind === undefined
          ? ledger.sql<{ count: number }>('SELECT count(*) AS count FROM refresh_queue').get()
          : ledger
              .sql<{ count: number }>('SELECT count(*) AS count FROM refresh_queue WHERE kind = ?')
              .get(numberOf(kind))
      return Math.max(0, (row?.count ?? 0) - (isOneRunning(kind) ? 1 : 0))
    },

    stateOf(kind) {
      return isOneRunning(kind) || this.waiting(kind) > 0 ? 'running' : 'empty'
    },

    stateOfItem(kind, id) {
      if (isCurrent(kind, id)) return 'running'
      return ledger.sql('SELECT 1 FROM refresh_queue WHERE kind = ? AND id = ?').get(numberOf(kind), id)
        ? 'in_queue'
        : 'empty'
    },

    selectedFor: (jobId) =>
      ledger.sql<{ starts: number }>('SELECT starts FROM refresh_selected WHERE job_id = ?').get(jobId)?.starts ?? 0,

    async noteSelected(jobId, starts) {
      await ledger.write(() => {
        ledger.sql('DELETE FROM refresh_selected').run() // only one such job runs
        ledger.sql('INSERT INTO refresh_selected (job_id, starts) VALUES (?, ?)').run(jobId, starts)
      })
    },
  }
}

declare module 'archivolt' {
  interface Services {
    refresh: {
      refreshQueue: RefreshQueue
    }
  }
}
