/** Counts the rows of a plan by kind. There may be many rows, so counts are cached until rows change. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { App } from 'archivolt'
import type { ItemRow } from './rows.ts'

/** Number of rows that are counted at a time. */
export const COUNTED = 5000
/** Number of plans with cached counts. */
const MOST_REMEMBERED = 200

export interface Count extends Pick<ItemRow, 'outcome' | 'code' | 'state' | 'ending'> {
  count: number
  bytes: number
}

interface Counted {
  counts: Promise<Count[]>
  /** The number of changes when the rows were counted. */
  changes: number
  atMs: number
}

type Parts = Pick<App, 'ledger' | 'clock'>

export function openCounting({ ledger, clock }: Parts) {
  const counted = new Map<number, Counted>()
  let changes = 0
  const changedAt = new Map<number, number>()

  return {
    /** Must be called before and after a change of rows. */
    change: (id: number): void => void changedAt.set(id, ++changes),

    /** @param maxAgeMs  accept cached counts up to this age even if rows have changed */
    of(id: number, maxAgeMs: number): Promise<Count[]> {
      const last = counted.get(id)
      const isAsTheyAre = last !== undefined && last.changes >= (changedAt.get(id) ?? 0)
      if (last && (isAsTheyAre || clock.steady() - last.atMs < maxAgeMs)) return last.counts
      const now = { counts: count(ledger, id), changes, atMs: clock.steady() }
      now.counts.catch(() => counted.get(id) === now && counted.delete(id))
      counted.delete(id)
      counted.set(id, now)
      if (counted.size > MOST_REMEMBERED) counted.delete(counted.keys().next().value!)
      return now.counts
    },
  }
}

/** Counts the rows in pieces. */
async function count(ledger: Parts['ledger'], id: number): Promise<Count[]> {
  const sums = new Map<string, Count>()
  for (let from = 0; ; from += COUNTED) {
    const rows = ledger
      .sql<Count>(
        `SELECT outcome, code, state, ending, count(*) AS count, sum(size_bytes) AS bytes
         FROM library_adoption_item WHERE adoption_id = ? AND number >= ? AND number < ? GROUP BY 1, 2, 3, 4`,
      )
      .all(id, from, from + COUNTED)
    if (rows.length === 0) return [...sums.values()]
    for (const { outcome, code, state, ending, count, bytes } of rows) {
      const key = [outcome, code, state, ending].join()
      const sum = sums.get(key) ?? { outcome, code, state, ending, count: 0, bytes: 0 }
      sums.set(key, { ...sum, count: sum.count + count, bytes: sum.bytes + bytes })
    }
    await nextTurn()
  }
}
