/** User preferences: what each account has chosen for itself. Which there are, the plugin `user` says. */
import type { Ledger } from '../ledger/sqlite.ts'

export type UserPreferences = Readonly<Record<string, unknown>>

/** Kept look-ups; past this they are thrown away and read anew. */
const MOST_KEPT = 1000

export interface UserPreferenceRows {
  /** None for an account that is not there. */
  of(userId: number): UserPreferences
  /** Inside a write. */
  change(userId: number, changes: UserPreferences): UserPreferences
  /** What is kept may have changed. */
  forget(): void
}

export function openUserPreferences(ledger: Ledger): UserPreferenceRows {
  const select = ledger.sql<{ settings: string }>('SELECT settings FROM users WHERE id = ?')
  const update = ledger.sql('UPDATE users SET settings = ? WHERE id = ?')
  // Every request for a page asks for them.
  const kept = new Map<number, UserPreferences>()

  const read = (userId: number): UserPreferences =>
    ledger.json<UserPreferences>(select.get(userId)?.settings ?? '{}', `users.settings of ${userId}`, {})

  return {
    of(userId) {
      const known = kept.get(userId)
      if (known) return known
      const found = Object.freeze(read(userId))
      if (kept.size >= MOST_KEPT) kept.clear()
      kept.set(userId, found)
      return found
    },
    change(userId, changes) {
      const changed = { ...read(userId), ...changes }
      update.run(JSON.stringify(changed), userId)
      return changed
    },
    forget: () => kept.clear(),
  }
}
