/** Records in the history whether something is available on the platform, and to whom. */
import { epochSeconds } from 'archivolt'
import type { App } from './app.ts'
import type { Kind } from './rows.ts'

/** Call inside `ledger.write`. Without an earlier value, the subject counts as having been public. */
export function noteAvailability(kind: Kind, subject: string, after: string, app: App): void {
  const { rows } = app.history
  const seen = rows.seen(kind, subject) ?? {}
  const before = seen['availability'] ?? 'public'
  rows.add({ kind, subject, part: 'availability', seenAt: epochSeconds(app.clock), before, after })
  rows.setSeen(kind, subject, { ...seen, availability: after })
}
