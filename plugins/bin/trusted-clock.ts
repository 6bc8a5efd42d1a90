/**
 * Decides whether the clock is trusted for permanent deletions. A clock that is suddenly far ahead, for example after
 * an empty battery, would delete everything at once. So after a long pause the bin waits for a day, in which people
 * notice and time servers correct the clock.
 */
import { DAY_MS } from 'archivolt'
import type { App } from './app.ts'
import type { Rows } from './rows.ts'

export const clockTables = {
  number: 4,
  sql: `
-- One row, epoch milliseconds. seen_at: the last time that was trusted, or 0; doubted_at: since then it is not.
CREATE TABLE bin_clock (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  seen_at INTEGER NOT NULL,
  doubted_at INTEGER
) STRICT;
INSERT INTO bin_clock VALUES (1, 0, NULL);`,
}

interface Seen {
  seen_at: number
  doubted_at: number | null
}

/** If more time has passed since the last check, the clock is doubted. A server that was off for longer waits, too. */
const LONGEST_PAUSE_MS = 7 * DAY_MS

export function openTrustedClock({ ledger, clock }: Pick<App, 'ledger' | 'clock'>, rows: Rows) {
  const last = rows.lastId()
  /** How far the clock was ahead of the steady clock at the last check. */
  let aheadMs = clock.now() - clock.steady()

  /**
   * Corrects the times of entries that this process has made while the clock was wrong: a machine without a battery for
   * its clock starts with an old date, and entries of that date would be deleted as soon as the date is right.
   */
  async function followClock(): Promise<void> {
    const now = clock.now()
    const setBy = now - clock.steady() - aheadMs
    // A machine that sleeps at night is no wrong clock.
    if (Math.abs(setBy) > DAY_MS) await rows.redate(last, setBy, now)
    aheadMs += setBy
  }

  const store = (seenAt: number, doubtedAt: number | null) =>
    ledger.write(() =>
      ledger.sql('INSERT OR REPLACE INTO bin_clock (id, seen_at, doubted_at) VALUES (1, ?, ?)').run(seenAt, doubtedAt),
    )

  /** Must be called at least once a day. */
  async function isTrusted(): Promise<boolean> {
    await followClock()
    const now = clock.now()
    // A salvaged ledger may lack this row.
    const { seen_at: seenAt = 0, doubted_at: doubtedAt = null } =
      ledger.sql<Partial<Seen>>('SELECT * FROM bin_clock').get() ?? {}
    if (seenAt > 0 && now - seenAt > LONGEST_PAUSE_MS) {
      const since = doubtedAt === null || doubtedAt > now ? now : doubtedAt
      if (now - since < DAY_MS) {
        await store(seenAt, since)
        return false
      }
    }
    await store(now, null)
    return true
  }

  return { isTrusted }
}
