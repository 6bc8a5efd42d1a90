/** Password hashes: scrypt on the thread pool, two at a time, with a bounded queue. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { errors } from 'archivolt'
import { openFairQueue } from './fair-queue.ts'

/** The memory and time of a hash. */
export interface PasswordCost {
  log2N: number
  r: number
  p: number
}

/** The client that asks for a check. */
export interface Asker {
  address: string
  /** Aborted when the client disconnects. */
  signal?: AbortSignal | undefined
}

/** Cost of new hashes, 16 MB and about 0.1 s each: OWASP's setting for small machines (N = 2^14, r = 8, p = 5). */
const COST: PasswordCost = { log2N: 14, r: 8, p: 5 }
const KEY_BYTES = 32
const NO_SALT = 'AAAAAAAAAAAAAAAAAAAAAA'
const NO_KEY = Buffer.alloc(KEY_BYTES).toString('base64url')
const AT_ONCE = 2
const MOST_WAITING = 200
/** The shared asker of hashes for admins who add accounts, and for the first start. */
const OURS: Asker = { address: '' }

/** @param cost  cost of new hashes */
export function openPasswords(cost = COST) {
  // Addresses take turns.
  const hashing = openFairQueue(AT_ONCE, MOST_WAITING, tooManyLogins)

  function derive(password: string, salt: Buffer, { log2N, r, p }: PasswordCost, asker: Asker): Promise<Buffer> {
    const options: ScryptOptions = { N: 2 ** log2N, r, p, maxmem: 256 * 2 ** log2N * r }
    const work = () =>
      new Promise<Buffer>((resolve, reject) => {
        scrypt(password.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
          error ? reject(error) : resolve(key),
        )
      })
    return hashing.run(asker.address, work, asker.signal)
  }

  const toText = (salt: string, key: string): string => ['scrypt', cost.log2N, cost.r, cost.p, salt, key].join('$')

  return {
    /** Returns `scrypt$<log2 N>$<r>$<p>$<salt>$<key>`: the cost may be raised, and old hashes can still be checked. */
    async hash(password: string): Promise<string> {
      const salt = randomBytes(16)
      const key = await derive(password, salt, cost, OURS)
      return toText(salt.toString('base64url'), key.toString('base64url'))
    },

    /** @param stored  undefined: an unknown name; the check fails and takes the same time */
    async isRight(password: string, stored: string | undefined, asker: Asker): Promise<boolean> {
      const [, log2N, r, p, salt, key] = (stored ?? toText(NO_SALT, NO_KEY)).split('$')
      const itsCost = { log2N: Number(log2N), r: Number(r), p: Number(p) }
      const derived = await derive(password, Buffer.from(salt!, 'base64url'), itsCost, asker)
      return timingSafeEqual(derived, Buffer.from(key!, 'base64url')) && stored !== undefined
    },
  }
}

export const tooManyLogins = () =>
  errors.throttled('Too many logins at once; try again in a few seconds', { retryAfterSeconds: 5 })
