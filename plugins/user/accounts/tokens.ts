/** Each account's own token: derived from the secret key; the ledger stores only generations and hashes. */
import { createHash, randomInt } from 'node:crypto'
import type { Ledger, Signing } from 'archivolt'

const TOKEN = /^[0-9a-f]{40}$/

export const sha256 = (text: string) => createHash('sha256').update(text).digest('base64url')

/** Random: if an older ledger is put back, counting on from its number would bring back a token that was revoked. */
const newGeneration = () => randomInt(2 ** 48 - 1)

export function openTokens({ ledger, signing }: { ledger: Ledger; signing: Signing }) {
  const tokenOf = (userId: number, generation: number) =>
    signing.sign('token', `${userId}:${generation}`).toString('hex').slice(0, 40)

  const selectToken = ledger.sql<{ generation: number; hash: string | null }>(
    'SELECT generation, hash FROM tokens WHERE user_id = ?',
  )
  const selectOwner = ledger.sql<{ user_id: number; generation: number }>(
    'SELECT user_id, generation FROM tokens WHERE hash = ?',
  )
  const upsertToken = ledger.sql(
    'INSERT INTO tokens (user_id, generation, hash) VALUES (?, ?, ?) ON CONFLICT (user_id) DO UPDATE SET generation = excluded.generation, hash = excluded.hash',
  )
  return {
    /** The user's token; created if the user has none. Call inside a write. */
    make(userId: number): string {
      const row = selectToken.get(userId)
      const generation = row?.generation ?? newGeneration()
      const token = tokenOf(userId, generation)
      const hash = sha256(token)
      // After a key rotation, the stored hash belongs to the old token.
      if (row?.hash !== hash) upsertToken.run(userId, generation, hash)
      return token
    },

    /** The user's current token. */
    show(userId: number): string | undefined {
      const row = selectToken.get(userId)
      if (!row?.hash) return undefined
      const token = tokenOf(userId, row.generation)
      return row.hash === sha256(token) ? token : undefined
    },

    /** Call inside a write. */
    revoke: (userId: number) => void upsertToken.run(userId, newGeneration(), null),

    ownerOf(token: string): number | undefined {
      if (!TOKEN.test(token)) return undefined
      const row = selectOwner.get(sha256(token))
      // The hash of a token from an earlier secret key is still stored.
      return row && tokenOf(row.user_id, row.generation) === token ? row.user_id : undefined
    },
  }
}
