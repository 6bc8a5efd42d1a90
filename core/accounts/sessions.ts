/** Sessions of browsers: how long they last, and what their two cookies hold. The ledger has hashes alone. */
import { createHmac } from 'node:crypto'
import { type Clock, DAY_SECONDS, epochSeconds } from '../clock.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import { openSignedIds } from './signed-id.ts'

const SESSION_SECONDS = 2 * DAY_SECONDS
/** With `remember_me`. */
const REMEMBERED_SECONDS = 365 * DAY_SECONDS
const MOST_SESSIONS_PER_USER = 200

export interface Session {
  userId: number
  /** What the ledger holds of its id. */
  hash: string
  csrfToken: string
  /** Epoch milliseconds. */
  expiresAt: number
}

export interface NewSession {
  sessionId: string
  csrfToken: string
  maxAgeSeconds: number
}

/** Methods that say so change rows: call them inside `ledger.write`. */
export interface Sessions {
  /** Inside a write. */
  open(userId: number, isRemembered: boolean): NewSession
  /** The session that a cookie's value stands for, if it has not ended. */
  find(cookie: string): Session | undefined
  /** Whose it is, if it has not ended. */
  holder(hash: string): number | undefined
  /** Inside a write. */
  end(hash: string): void
  /** All of a user but one. Inside a write. */
  endAll(userId: number, keep?: string): void
}

export function openSessions({
  ledger,
  clock,
  secretKey,
}: {
  ledger: Ledger
  clock: Clock
  secretKey: Buffer
}): Sessions {
  const ids = openSignedIds('session', secretKey)
  const csrfTokenOf = (id: string) => createHmac('sha256', secretKey).update(`csrf:${id}`).digest('base64url')
  const now = () => epochSeconds(clock)

  const select = ledger.sql<{ user_id: number; expires_at: number }>(
    'SELECT user_id, expires_at FROM sessions WHERE hash = ? AND expires_at > ?',
  )
  const insert = ledger.sql('INSERT INTO sessions (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)')
  const deleteOne = ledger.sql('DELETE FROM sessions WHERE hash = ?')
  const deleteOthers = ledger.sql('DELETE FROM sessions WHERE user_id = ? AND hash <> ?')
  const deleteEnded = ledger.sql('DELETE FROM sessions WHERE expires_at <= ?')
  const deleteOldest = ledger.sql(
    'DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE user_id = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)',
  )

  return {
    open(userId, isRemembered) {
      const maxAgeSeconds = isRemembered ? REMEMBERED_SECONDS : SESSION_SECONDS
      const { id, hash, cookie } = ids.make()
      deleteEnded.run(now())
      deleteOldest.run(userId, MOST_SESSIONS_PER_USER - 1)
      insert.run(hash, userId, now(), now() + maxAgeSeconds)
      return { sessionId: cookie, csrfToken: csrfTokenOf(id), maxAgeSeconds }
    },

    find(cookie) {
      const known = ids.read(cookie)
      if (!known) return undefined
      const { id, hash } = known
      const row = select.get(hash, now())
      return row && { userId: row.user_id, hash, csrfToken: csrfTokenOf(id), expiresAt: row.expires_at * 1000 }
    },

    holder: (hash) => select.get(hash, now())?.user_id,
    end: (hash) => void deleteOne.run(hash),
    endAll: (userId, keep = '') => void deleteOthers.run(userId, keep),
  }
}
