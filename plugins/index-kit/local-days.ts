/** The changes of the local UTC offset, for statistics by local day. */

import { timeZone } from './days.ts'

/**
 * From `from` (epoch seconds) on, local time is UTC plus `offset` seconds. Ascending; the first also applies to all
 * earlier times.
 */
export type ZoneChange = [from: number, offset: number]

const FIRST = Date.UTC(1990, 0, 1) / 1000
const LAST = Date.UTC(2060, 0, 1) / 1000
const STEP = 20 * 86_400

const offsetAt = (epoch: number): number => -60 * new Date(epoch * 1000).getTimezoneOffset()

let cached: { zone: string | undefined; changes: ZoneChange[] } | undefined

/** All changes of this process's time zone (`TZ`) from 1990 to 2060, to the second. */
export function zoneChanges(): ZoneChange[] {
  const zone = timeZone()
  if (cached && cached.zone === zone) return cached.changes
  const changes: ZoneChange[] = [[FIRST, offsetAt(FIRST)]]
  for (let at = FIRST; at < LAST; at += STEP) {
    if (offsetAt(at) === offsetAt(at + STEP)) continue
    let [before, after] = [at, at + STEP]
    while (after - before > 1) {
      const middle = Math.floor((before + after) / 2)
      if (offsetAt(middle) === offsetAt(at)) before = middle
      else after = middle
    }
    changes.push([after, offsetAt(after)])
  }
  cached = { zone, changes }
  return changes
}

/** The first day, as `YYYY-MM-DD`, of the span that contains a day counted from 1970-01-01. Weeks begin on Monday. */
export function spanOf(day: number, interval: 'day' | 'week' | 'month'): string {
  // 1970-01-01 was a Thursday.
  const first = interval === 'week' ? day - ((((day + 3) % 7) + 7) % 7) : day
  const text = new Date(first * 86_400_000).toISOString().slice(0, 10)
  return interval === 'month' ? `${text.slice(0, 7)}-01` : text
}
