/** Whether the platform has something, and for whom, as the history shows it. */
import { epochSeconds } from 'archivolt'
import type { App } from './app.ts'
import type { Kind } from './rows.ts'

/** Within `ledger.write`. What was never told was for all. */
export function noteAvailability(kind: Kind, subject: string, after: string, app: App): void {
  const { rows } = app.history
  const seen = rows.seen(kind, subject) ?? {}
  const before = seen['availability'] ?? 'public'
  rows.add({ kind, subject, part: 'availability', seenAt: epochSeconds(app.clock), before, after })
  rows.setSeen(kind, subject, { ...seen, availability: after })
}
