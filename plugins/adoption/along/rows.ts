/** Rows in the ledger for imported marks, lists and subscriptions, so that an undo can revert them. */
import type { Ledger } from 'archivolt'
import type { Along } from '../catalogs/types.ts'

export interface AlongRow {
  number: number
  kind: Along['kind'] | 'queue'
  data: string
  is_done: 0 | 1
}

export function openAlongRows(ledger: Ledger) {
  /** The existing rows of these numbers. */
  function of(id: number, numbers: readonly number[]): Map<number, AlongRow> {
    const rows = ledger
      .sql<AlongRow>(
        `SELECT number, kind, data, is_done FROM library_adoption_along
         WHERE adoption_id = ? AND number IN (SELECT value FROM json_each(?))`,
      )
      .all(id, JSON.stringify(numbers))
    return new Map(rows.map((row) => [row.number, row]))
  }

  function add(id: number, rows: ReadonlyArray<Omit<AlongRow, 'is_done'>>): Promise<void> {
    return ledger.write(() => {
      const add = ledger.sql(
        'INSERT OR IGNORE INTO library_adoption_along (adoption_id, number, kind, data) VALUES (?, ?, ?, ?)',
      )
      for (const { number, kind, data } of rows) add.run(id, number, kind, data)
    })
  }

  /** Yields rows in pieces, the last first. The caller deletes each piece before the next is read. */
  function* pieces(id: number, most: number, signal?: AbortSignal): Generator<AlongRow[]> {
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      signal?.throwIfAborted()
      const rows = ledger
        .sql<AlongRow>(
          `SELECT number, kind, data, is_done FROM library_adoption_along WHERE adoption_id = ? AND number < ?
           ORDER BY number DESC LIMIT ?`,
        )
        .all(id, before, most)
      if (rows.length === 0) return
      yield rows
      before = rows.at(-1)!.number
    }
  }

  /** @param job  the job that continues the work */
  async function setDone(id: number, numbers: readonly number[], job?: string): Promise<void> {
    await ledger.write(() =>
      ledger
        .sql(
          `UPDATE library_adoption_along SET is_done = 1, data = json_patch(data, ?)
           WHERE adoption_id = ? AND number IN (SELECT value FROM json_each(?))`,
        )
        .run(JSON.stringify({ job }), id, JSON.stringify(numbers)),
    )
  }

  async function drop(id: number, numbers: readonly number[]): Promise<void> {
    await ledger.write(() =>
      ledger
        .sql('DELETE FROM library_adoption_along WHERE adoption_id = ? AND number IN (SELECT value FROM json_each(?))')
        .run(id, JSON.stringify(numbers)),
    )
  }

  return {
    of,
    add,
    pieces,
    setDone,
    drop,
  }
}
