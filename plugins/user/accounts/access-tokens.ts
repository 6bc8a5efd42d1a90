/**
 * Access tokens: each account may have several, with a name, a scope and an expiry. The ledger stores only their
 * hashes.
 */
import { randomBytes } from 'node:crypto'
import {
  type AccessTokenRecord,
  type CredentialsParts,
  epochSeconds,
  errors,
  isoTime,
  type Scope,
  say,
} from 'archivolt'

/** Maximum number of tokens per account: enough for a household's apps and scripts, and few enough to read the list. */
const MOST_OF_USER = 50
/** The precision of the stored last use. */
const USE_STEP_SECONDS = 60
/** Length of a token: the same as an account's own token, because apps check its form. */
const TOKEN_BYTES = 20

export interface NewAccessToken {
  name: string
  scope: Scope
  /** Epoch seconds; null: never. */
  expiresAt: number | null
}

export interface KnownAccessToken {
  id: number
  userId: number
  scope: Scope
  /** Epoch seconds. */
  expiresAt: number | null
}

interface Row {
  id: number
  user_id: number
  name: string
  scope: Scope
  created_at: number
  expires_at: number | null
  used_at: number | null
}

export function openAccessTokens({ ledger, clock, log, signing }: CredentialsParts) {
  const hashOf = (token: string) => signing.sign('access-token', token).toString('base64url')
  const now = () => epochSeconds(clock)
  /** When the last use was last written since the start, by token id. */
  const notedAt = new Map<number, number>()

  const selectAll = ledger.sql<Row>('SELECT * FROM access_tokens WHERE user_id = ? ORDER BY id')
  const selectOne = ledger.sql<Row>('SELECT * FROM access_tokens WHERE hash = ?')
  const count = ledger.sql<{ held: number }>('SELECT count(*) AS held FROM access_tokens WHERE user_id = ?')
  const insert = ledger.sql(
    'INSERT INTO access_tokens (user_id, name, scope, hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const deleteOne = ledger.sql('DELETE FROM access_tokens WHERE user_id = ? AND id = ?')
  const deleteAll = ledger.sql('DELETE FROM access_tokens WHERE user_id = ?')
  const updateUse = ledger.sql('UPDATE access_tokens SET used_at = ? WHERE id = ?')

  const hasEnded = ({ expiresAt }: Pick<KnownAccessToken, 'expiresAt'>) => expiresAt !== null && expiresAt <= now()

  return {
    hasEnded,
    list: (userId: number) => selectAll.all(userId).map(toRecord),

    /** Call inside a write. @throws conflict: too many */
    make(userId: number, { name, scope, expiresAt }: NewAccessToken): AccessTokenRecord & { token: string } {
      if (count.get(userId)!.held >= MOST_OF_USER)
        throw errors.conflict(
          say`An account can have at most ${{ most: MOST_OF_USER }} access tokens; revoke one that you no longer use`,
        )
      const token = randomBytes(TOKEN_BYTES).toString('hex')
      const { lastInsertRowid } = insert.run(userId, name, scope, hashOf(token), now(), expiresAt)
      const id = Number(lastInsertRowid)
      const row = { id, user_id: userId, name, scope, created_at: now(), expires_at: expiresAt, used_at: null }
      return { ...toRecord(row), token }
    },

    /** Call inside a write. @throws not_found */
    revoke(userId: number, id: number): void {
      if (deleteOne.run(userId, id).changes === 0) throw errors.notFound('access token')
      notedAt.delete(id)
    },

    /** Call inside a write. */
    revokeAll: (userId: number) => void deleteAll.run(userId),

    /** Finds a token that has not expired. */
    find(token: string): KnownAccessToken | undefined {
      const row = selectOne.get(hashOf(token))
      if (!row) return undefined
      const known = { id: row.id, userId: row.user_id, scope: row.scope, expiresAt: row.expires_at }
      return hasEnded(known) ? undefined : known
    },

    /** Writes the last use at most once a minute; the request does not wait for it. */
    noteUse(id: number): void {
      const at = now()
      if (Math.abs(at - (notedAt.get(id) ?? -Infinity)) < USE_STEP_SECONDS) return
      notedAt.set(id, at)
      ledger
        .write(() => updateUse.run(at, id))
        .catch((error: unknown) => log.warn({ err: error }, 'the last use of an access token could not be stored'))
    },
  }
}

const toRecord = (row: Row): AccessTokenRecord => ({
  id: row.id,
  name: row.name,
  scope: row.scope,
  created: isoTime(row.created_at),
  expires: row.expires_at === null ? null : isoTime(row.expires_at),
  last_used: row.used_at === null ? null : isoTime(row.used_at),
})
