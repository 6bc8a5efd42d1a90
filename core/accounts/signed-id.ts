/** Ids that browsers keep in cookies: random, signed by the secret key. The ledger has their hashes alone. */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { sha256 } from './tokens.ts'

const ID_BYTES = 32
const COOKIE = /^([\w-]{43})\.([\w-]{43})$/

interface SignedId {
  id: string
  /** What the ledger holds of it. */
  hash: string
  /** What the cookie holds of it. */
  cookie: string
}

/** @param purpose  an id that was signed for one does not hold for another */
export function openSignedIds(purpose: string, secretKey: Buffer) {
  const sign = (id: string) => createHmac('sha256', secretKey).update(`${purpose}:${id}`).digest()
  return {
    make(): SignedId {
      const id = randomBytes(ID_BYTES).toString('base64url')
      return { id, hash: sha256(id), cookie: `${id}.${sign(id).toString('base64url')}` }
    },
    /** The id of a cookie that was signed here. */
    read(cookie: string): SignedId | undefined {
      const [, id, proof] = COOKIE.exec(cookie) ?? []
      if (!id || !proof) return undefined
      const [expected, given] = [sign(id), Buffer.from(proof, 'base64url')]
      if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined
      return { id, hash: sha256(id), cookie }
    },
  }
}
