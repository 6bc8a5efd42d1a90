/** Tokens and sessions. What clients hold is derived from the secret key; the ledger has generations and hashes. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { chmod, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../clock.ts'
import { writeWhole } from '../whole-file.ts'
import type { Ledger } from './sqlite.ts'

const KEY_BYTES = 32
const TOKEN = /^[0-9a-f]{40}$/
const SESSION = /^([\w-]{43})\.([\w-]{43})$/
const DAY_SECONDS = 86_400
const SESSION_SECONDS = 2 * DAY_SECONDS
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
export interface Tokens {
  /** The user's token, made if there is none. Inside a write. */
  make(userId: number): string
  /** The user's token as it is now. */
  show(userId: number): string | undefined
  /** Inside a write. */
  revoke(userId: number): void
  ownerOf(token: string): number | undefined
  /** Inside a write. */
  openSession(userId: number, isRemembered: boolean): NewSession
  /** The session that a cookie's value stands for, if it has not ended. */
  session(cookie: string): Session | undefined
  /** Inside a write. */
  endSession(hash: string): void
  /** All of a user but one. Inside a write. */
  endSessions(userId: number, keep?: string): void
}

/** `<data>/secret.key`: made at the first start, complete or not at all, for its owner's eyes only. */
export async function openSecretKey(dataDir: string): Promise<Buffer> {
  const path = join(dataDir, 'secret.key')
  const known = await readFile(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (!known) return rotateSecretKey(dataDir)
  if (known.length !== KEY_BYTES)
    throw new Error(
      `${path} is damaged: it must have ${KEY_BYTES} bytes. Remove it to get a new one; all sessions and tokens end then`,
    )
  await chmod(path, 0o600)
  return known
}

/** A new key: every session and token ends with the old one. */
export async function rotateSecretKey(dataDir: string): Promise<Buffer> {
  const key = randomBytes(KEY_BYTES)
  await writeWhole(join(dataDir, 'secret.key'), key)
  return key
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

export function openTokens({ ledger, clock, secretKey }: { ledger: Ledger; clock: Clock; secretKey: Buffer }): Tokens {
  const hmac = (text: string) => createHmac('sha256', secretKey).update(text)
  const tokenOf = (userId: number, generation: number) =>
    hmac(`token:${userId}:${generation}`).digest('hex').slice(0, 40)
  const now = () => Math.floor(clock.now() / 1000)

  const selectToken = ledger.sql<{ generation: number; hash: string | null }>(
    'SELECT generation, hash FROM tokens WHERE user_id = ?',
  )
  const selectOwner = ledger.sql<{ user_id: number; generation: number }>(
    'SELECT user_id, generation FROM tokens WHERE hash = ?',
  )
  const upsertToken = ledger.sql(
    'INSERT INTO tokens (user_id, generation, hash) VALUES (?, ?, ?) ON CONFLICT (user_id) DO UPDATE SET generation = excluded.generation, hash = excluded.hash',
  )
  const selectSession = ledger.sql<{ user_id: number; expires_at: number }>(
    'SELECT user_id, expires_at FROM sessions WHERE hash = ? AND expires_at > ?',
  )
  const insertSession = ledger.sql('INSERT INTO sessions (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)')
  const deleteSession = ledger.sql('DELETE FROM sessions WHERE hash = ?')
  const deleteSessions = ledger.sql('DELETE FROM sessions WHERE user_id = ? AND hash <> ?')
  const deleteEnded = ledger.sql('DELETE FROM sessions WHERE expires_at <= ?')
  const deleteOldest = ledger.sql(
    'DELETE FROM sessions WHERE hash IN (SELECT hash FROM sessions WHERE user_id = ? ORDER BY created_at DESC LIMIT -1 OFFSET ?)',
  )

  return {
    make(userId) {
      const row = selectToken.get(userId)
      const generation = row?.generation ?? 0
      const token = tokenOf(userId, generation)
      const hash = sha256(token)
      // After a new secret key the stored hash is the old token's.
      if (row?.hash !== hash) upsertToken.run(userId, generation, hash)
      return token
    },

    show(userId) {
      const row = selectToken.get(userId)
      if (!row?.hash) return undefined
      const token = tokenOf(userId, row.generation)
      return row.hash === sha256(token) ? token : undefined
    },

    revoke(userId) {
      upsertToken.run(userId, (selectToken.get(userId)?.generation ?? 0) + 1, null)
    },

    ownerOf(token) {
      if (!TOKEN.test(token)) return undefined
      const row = selectOwner.get(sha256(token))
      // A token of an earlier secret key still has its hash here.
      return row && tokenOf(row.user_id, row.generation) === token ? row.user_id : undefined
    },

    openSession(userId, isRemembered) {
      const maxAgeSeconds = isRemembered ? REMEMBERED_SECONDS : SESSION_SECONDS
      const id = randomBytes(KEY_BYTES).toString('base64url')
      deleteEnded.run(now())
      deleteOldest.run(userId, MOST_SESSIONS_PER_USER - 1)
      insertSession.run(sha256(id), userId, now(), now() + maxAgeSeconds)
      return {
        sessionId: `${id}.${hmac(`session:${id}`).digest('base64url')}`,
        csrfToken: hmac(`csrf:${id}`).digest('base64url'),
        maxAgeSeconds,
      }
    },

    session(cookie) {
      const [, id, proof] = SESSION.exec(cookie) ?? []
      if (!id || !proof) return undefined
      const expected = hmac(`session:${id}`).digest()
      const given = Buffer.from(proof, 'base64url')
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      const hash = sha256(id)
      const row = selectSession.get(hash, now())
      return (
        row && {
          userId: row.user_id,
          hash,
          csrfToken: hmac(`csrf:${id}`).digest('base64url'),
          expiresAt: row.expires_at * 1000,
        }
      )
    },

    endSession: (hash) => void deleteSession.run(hash),
    endSessions: (userId, keep = '') => void deleteSessions.run(userId, keep),
  }
}
