/** Encrypts values with AES-256-GCM: a ledger without the key file reveals none. Valid only for their column. */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'

const PREFIX = 'sealed:1:'
const ALGORITHM = 'aes-256-gcm'
const PURPOSE = 'archivolt: secrets in the ledger'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** @param column  `table.column`, declared in `secretColumns` */
export interface Seal {
  seal(column: string, plain: string): string
  /** undefined: sealed with another secret key, or for another column. */
  unseal(column: string, sealed: string): string | undefined
}

export const isSealed = (text: string): boolean => text.startsWith(PREFIX)

/** The SQL condition. @param column  a quoted name */
export const isSealedSql = (column: string): string => `substr(${column}, 1, ${PREFIX.length}) = '${PREFIX}'`

export function openSeal(secretKey: Buffer): Seal {
  const key = Buffer.from(hkdfSync('sha256', secretKey, '', PURPOSE, KEY_BYTES))
  return {
    seal(column, plain) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(column))
      const text = Buffer.concat([cipher.update(plain, 'utf8'), cipher.final()])
      return PREFIX + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64url')
    },

    unseal(column, sealed) {
      const parts = isSealed(sealed) ? Buffer.from(sealed.slice(PREFIX.length), 'base64url') : Buffer.alloc(0)
      if (parts.length < NONCE_BYTES + TAG_BYTES) return undefined
      const [nonce, rest] = [parts.subarray(0, NONCE_BYTES), parts.subarray(NONCE_BYTES)]
      const decipher = createDecipheriv(ALGORITHM, key, nonce, { authTagLength: TAG_BYTES })
        .setAAD(Buffer.from(column))
        .setAuthTag(rest.subarray(0, TAG_BYTES))
      try {
        return Buffer.concat([decipher.update(rest.subarray(TAG_BYTES)), decipher.final()]).toString('utf8')
      } catch {
        return undefined
      }
    },
  }
}
