/** Stores each account's own picture in the ledger. */
import { createHash } from 'node:crypto'
import type { Ledger } from 'archivolt'

export interface UserPicture {
  /** Differs for each picture. */
  version: string
  jpeg: Buffer
}

/** Long enough that no two pictures of an account have the same version. */
const VERSION_LENGTH = 16

const versionOf = (jpeg: Buffer): string =>
  createHash('sha256').update(jpeg).digest('base64url').slice(0, VERSION_LENGTH)

export function openUserPictures(ledger: Ledger) {
  const selectVersion = ledger.sql<{ version: string }>('SELECT version FROM user_pictures WHERE user_id = ?')
  const select = ledger.sql<UserPicture>('SELECT version, jpeg FROM user_pictures WHERE user_id = ?')
  const upsert = ledger.sql('INSERT OR REPLACE INTO user_pictures (user_id, version, jpeg) VALUES (?, ?, ?)')
  const deleteOne = ledger.sql('DELETE FROM user_pictures WHERE user_id = ?')
  return {
    /** null: no picture. */
    version: (userId: number) => selectVersion.get(userId)?.version ?? null,
    get: (userId: number) => select.get(userId),
    /** Call inside a write. */
    set: (userId: number, jpeg: Buffer) => void upsert.run(userId, versionOf(jpeg), jpeg),
    /** Call inside a write. */
    remove: (userId: number) => void deleteOne.run(userId),
  }
}
