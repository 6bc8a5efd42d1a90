/** Views, likes and subscribers over time: one point per day at first, and fewer the older they are. */
import { DAY_SECONDS } from 'archivolt'
import type { App } from './app.ts'
import { KINDS, type Kind } from './rows.ts'

export interface Point {
  seen_at: number
  views: number | null
  second: number | null
}

/** Points older than `after` days are at least `apart` days apart. */
const STEPS = [
  { after: 365, apart: 30 },
  { after: 30, apart: 7 },
  { after: 0, apart: 1 },
]

/** Which of these points (oldest first) are no longer needed. The first and the last stay. */
export function thinned(points: readonly number[], now: number): number[] {
  const gone: number[] = []
  let last = points[0] ?? 0
  for (const at of points.slice(1, -1)) {
    const age = (now - at) / DAY_SECONDS
    const { apart } = STEPS.find(({ after }) => age >= after) ?? STEPS.at(-1)!
    if (at - last < apart * DAY_SECONDS) gone.push(at)
    else last = at
  }
  return gone
}

export function openNumbers({ ledger: { sql } }: Pick<App, 'ledger'>) {
  const all = (kind: Kind, subject: string): Point[] =>
    sql<Point>('SELECT seen_at, views, second FROM history_number WHERE kind = ? AND subject = ? ORDER BY seen_at').all(
      KINDS.indexOf(kind),
      subject,
    )

  return {
    all,
    /** Call inside `ledger.write`. */
    add(kind: Kind, subject: string, { seen_at: at, views, second }: Point): void {
      if (views === null && second === null) return
      sql(
        `INSERT INTO history_number (kind, subject, seen_at, views, second) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET views = excluded.views, second = excluded.second`,
      ).run(KINDS.indexOf(kind), subject, at, views, second)
      const gone = thinned(
        all(kind, subject).map(({ seen_at }) => seen_at),
        at,
      )
      for (const old of gone)
        sql('DELETE FROM history_number WHERE kind = ? AND subject = ? AND seen_at = ?').run(
          ...[KINDS.indexOf(kind), subject, old],
        )
    },
  }
}
