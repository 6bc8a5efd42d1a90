/** Sessions of browsers: their duration, and the content of their two cookies. The ledger stores only hashes. */
import { type CredentialsParts, DAY_SECONDS, epochSeconds, errors, isoTime } from 'archivolt'
import type { Origin } from './known-devices.ts'

const SESSION_SECONDS = 2 * DAY_SECONDS
/** Duration of a session with `remember_me`. */
const REMEMBERED_SECONDS = 365 * DAY_SECONDS
const MOST_SESSIONS_PER_USER = 200
/** The precision of the stored last use. */
const USE_STEP_SECONDS = 300
/** How long a proof is sufficient for changes that outlive the session. */
const PROOF_SECONDS = 15 * 60
/** Maximum number of cached proofs; beyond it the cache is cleared. */
const MOST_PROVED = 1000
/** Length of a session's id in lists: enough of its hash to be unique within an account. */
const NAME_LENGTH = 16

/**
 * How the user has signed in. With `provider` and `proxy`, that program is responsible for the identity; with `code`,
 * an account on another device is. `code_by_pin`: it had to send the user's PIN for that, so the session ends with it.
 */
export type Way = 'password' | 'pin' | 'provider' | 'proxy' | 'code' | 'code_by_pin'

export interface Session {
  userId: number
  /** The stored hash of the session's id. */
  hash: string
  csrfToken: string
  /** Epoch seconds. */
  expiresAt: number
  /** Epoch seconds, accurate to some minutes. */
  usedAt: number
  way: Way
  /** Hash of the device's id. */
  device: string | null
}

/** A session as its account sees it. */
export interface SessionRecord extends Origin {
  id: string
  is_current: boolean
  way: Exclude<Way, 'code_by_pin'>
  created: string
  /** Accurate to five minutes. */
  last_used: string
  expires: string
}

export interface NewSession {
  sessionId: string
  csrfToken: string
  maxAgeSeconds: number
}

/** The client that opens a session. */
export interface Opening extends Origin {
  way: Way
  device: string
}

interface Row {
  hash: string
  user_id: number
  created_at: number
  expires_at: number
  used_at: number
  browser: string
  system: string
  address: string
  way: Way
  device: string | null
}

/** @param idleSeconds  time without use after which a session ends */
export function openSessions({
  ledger,
  clock,
  log,
  signing,
  idleSeconds,
}: CredentialsParts & { idleSeconds: () => number }) {
  const csrfTokenOf = (id: string) => signing.sign('csrf', id).toString('base64url')
  const now = () => epochSeconds(clock)
  const since = () => now() - idleSeconds()
  /** When the account last proved its identity in a session (epoch seconds), by the session's hash. */
  const proved = new Map<string, number>()

  const select = ledger.sql<Row>(
    'SELECT * FROM sessions WHERE hash = ? AND expires_at > ? AND max(used_at, created_at) > ?',
  )
  const selectAll = ledger.sql<Row>(
    'SELECT * FROM sessions WHERE user_id = ? AND expires_at > ? AND max(used_at, created_at) > ? ORDER BY max(used_at, created_at) DESC, created_at DESC',
  )
  const insert = ledger.sql(
    'INSERT INTO sessions (hash, user_id, created_at, expires_at, used_at, browser, system, address, way, device) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const updateUse = ledger.sql('UPDATE sessions SET used_at = ? WHERE hash = ?')
  const deleteOne = ledger.sql('DELETE FROM sessions WHERE hash = ?')
  const deleteNamed = ledger.sql<{ device: string | null }>(
    `DELETE FROM sessions WHERE user_id = ? AND substr(hash, 1, ${NAME_LENGTH}) = ? RETURNING device`,
  )
  const deleteOthers = ledger.sql('DELETE FROM sessions WHERE user_id = ? AND hash <> ?')
  const deleteByPin = ledger.sql(
    "DELETE FROM sessions WHERE user_id = ? AND hash <> ? AND way IN ('pin', 'code_by_pin')",
  )
  const deleteEnded = ledger.sql('DELETE FROM sessions WHERE expires_at <= ? OR max(used_at, created_at) <= ?')
  const deleteOldest = ledger.sql(
    'DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE user_id = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)',
  )

  return {
    /** Call inside a write. */
    open(userId: number, isRemembered: boolean, from?: Opening): NewSession {
      const maxAgeSeconds = isRemembered ? REMEMBERED_SECONDS : SESSION_SECONDS
      const { id, hash, cookie } = signing.makeId('session')
      deleteEnded.run(now(), since())
      deleteOldest.run(userId, MOST_SESSIONS_PER_USER - 1)
      const { browser = '', system = '', address = '', way = 'password', device = null } = from ?? {}
      insert.run(hash, userId, now(), now() + maxAgeSeconds, now(), browser, system, address, way, device)
      return { sessionId: cookie, csrfToken: csrfTokenOf(id), maxAgeSeconds }
    },

    /** The session behind a cookie's value, if it has not ended. */
    find(cookie: string): Session | undefined {
      const known = signing.readId('session', cookie)
      if (!known) return undefined
      const { id, hash } = known
      const row = select.get(hash, now(), since())
      return (
        row && {
          ...{ userId: row.user_id, hash, csrfToken: csrfTokenOf(id), expiresAt: row.expires_at },
          ...{ usedAt: Math.max(row.used_at, row.created_at), way: row.way, device: row.device },
        }
      )
    },

    hasEnded: ({ expiresAt, usedAt }: Session) => expiresAt <= now() || usedAt <= since(),

    /** Writes the last use at most every five minutes; the request does not wait for it. */
    noteUse(session: Session): void {
      const at = now()
      if (at - session.usedAt < USE_STEP_SECONDS) return
      session.usedAt = at
      ledger
        .write(() => updateUse.run(at, session.hash))
        .catch((error: unknown) => log.warn({ err: error }, 'the last use of a session could not be stored'))
    },

    /** The account of a session, if it has not ended. */
    holder: (hash: string) => select.get(hash, now(), since())?.user_id,
    /** The sessions of an account, the last used first. @param current  hash of the requesting session */
    list: (userId: number, current: string | undefined): SessionRecord[] =>
      selectAll.all(userId, now(), since()).map((row) => ({
        ...{ id: row.hash.slice(0, NAME_LENGTH), is_current: row.hash === current },
        ...{ browser: row.browser, system: row.system, address: row.address },
        way: row.way === 'code_by_pin' ? 'code' : row.way,
        ...{ created: isoTime(row.created_at), last_used: isoTime(Math.max(row.used_at, row.created_at)) },
        expires: isoTime(row.expires_at),
      })),
    /** Records that the user has proved their identity again: until the server stops, the session counts as new. */
    prove(hash: string): void {
      if (proved.size >= MOST_PROVED) proved.clear()
      proved.set(hash, now())
    },
    /**
     * Whether the user has proved their identity in this session within `PROOF_SECONDS`, or a proxy is responsible for
     * it.
     */
    isProvenLately(hash: string): boolean {
      const row = select.get(hash, now(), since())
      if (!row) return false
      // A time far in the future was stored while the clock was ahead.
      const isRecent = (at = -Infinity) => Math.abs(now() - at) < PROOF_SECONDS
      return row.way === 'proxy' || isRecent(beganProven(row)) || isRecent(proved.get(hash))
    },
    deviceOf: (hash: string) => select.get(hash, now(), since())?.device ?? undefined,
    /** Call inside a write. */
    end: (hash: string) => void deleteOne.run(hash),
    /** Ends the session with this id in lists. Call inside a write. @returns its device @throws not_found */
    endNamed(userId: number, id: string): string | null {
      const row = deleteNamed.get(userId, id)
      if (!row) throw errors.notFound('session')
      return row.device
    },
    /** Ends all sessions of a user except one. Call inside a write. */
    endAll: (userId: number, keep = '') => void deleteOthers.run(userId, keep),
    /** Ends all sessions of a user that began with the PIN, except one. Call inside a write. */
    endByPin: (userId: number, keep = '') => void deleteByPin.run(userId, keep),
  }
}

/** When a session began with a proof of identity: never if it was approved on another device. */
const beganProven = ({ way, created_at }: Row): number | undefined =>
  way === 'code' || way === 'code_by_pin' ? undefined : created_at
