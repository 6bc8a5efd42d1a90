/** Signs texts and the ids in cookies with the secret key. A signature is valid only for its purpose. */
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

const ID_BYTES = 32
const COOKIE = /^([\w-]{43})\.([\w-]{43})$/

export interface SignedId {
  id: string
  /** Stored in the ledger. */
  hash: string
  /** Stored in the cookie. */
  cookie: string
}

export interface Signing {
  sign(purpose: string, text: string): Buffer
  /** Compares in constant time. */
  isSigned(purpose: string, text: string, signature: string): boolean
  makeId(purpose: string): SignedId
  /** The id in a cookie's value; undefined: not signed by this server for this purpose. */
  readId(purpose: string, cookie: string): SignedId | undefined
}

export function openSigning(secretKey: Buffer): Signing {
  const sign = (purpose: string, text: string) => createHmac('sha256', secretKey).update(`${purpose}:${text}`).digest()
  const isSigned = (purpose: string, text: string, signature: string) => {
    const [expected, given] = [sign(purpose, text), Buffer.from(signature, 'base64url')]
    return given.length === expected.length && timingSafeEqual(given, expected)
  }
  return {
    sign,
    isSigned,
    makeId(purpose) {
      const id = randomBytes(ID_BYTES).toString('base64url')
      return { id, hash: hashOf(id), cookie: `${id}.${sign(purpose, id).toString('base64url')}` }
    },
    readId(purpose, cookie) {
      const [, id, signature] = COOKIE.exec(cookie) ?? []
      if (!id || !signature || !isSigned(purpose, id, signature)) return undefined
      return { id, hash: hashOf(id), cookie }
    },
  }
}

const hashOf = (id: string): string => createHash('sha256').update(id).digest('base64url')
