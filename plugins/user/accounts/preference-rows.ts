/** The rows of user preferences. */
import type { Ledger } from 'archivolt'

export type UserPreferences = Readonly<Record<string, unknown>>

/** Maximum number of cached lookups; beyond it the cache is cleared. */
const MOST_CACHED = 1000

export function openPreferenceRows(ledger: Ledger) {
  const select = ledger.sql<{ settings: string }>('SELECT settings FROM users WHERE id = ?')
  const update = ledger.sql('UPDATE users SET settings = ? WHERE id = ?')
  // Every request for a page needs the preferences.
  const cache = new Map<number, UserPreferences>()

  const read = (userId: number): UserPreferences =>
    ledger.json<UserPreferences>(select.get(userId)?.settings ?? '{}', `users.settings of ${userId}`, {})

  return {
    /** The preferences of an account; empty if the account does not exist. */
    of(userId: number): UserPreferences {
      const known = cache.get(userId)
      if (known) return known
      const found = Object.freeze(read(userId))
      if (cache.size >= MOST_CACHED) cache.clear()
      cache.set(userId, found)
      return found
    },
    /** Call inside a write. */
    change(userId: number, changes: UserPreferences): UserPreferences {
      const changed = { ...read(userId), ...changes }
      update.run(JSON.stringify(changed), userId)
      return changed
    },
    /** Clears the cache, because rows may have changed. */
    forget: () => cache.clear(),
  }
}
