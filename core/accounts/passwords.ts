/** Passwords: scrypt on the thread pool, two at once, a bounded number waiting. */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { FairQueue } from '../concurrency/fair-queue.ts'

/** 16 MB and about a tenth of a second each: OWASP's setting for small machines (N = 2^14, r = 8, p = 5). */
const COST = { log2N: 14, r: 8, p: 5 }
const KEY_BYTES = 32
const AT_ONCE = 2
const MOST_WAITING = 200

/** Turns go round by address. Our own work, such as an admin adding an account, waits among them as one more. */
const hashing = new FairQueue(AT_ONCE, MOST_WAITING)
const OURS: Asker = { address: '' }

/** For whom a password is checked. */
export interface Asker {
  address: string
  /** Ends when the client goes away. */
  signal?: AbortSignal | undefined
}

function derive(password: string, salt: Buffer, cost: typeof COST, { address, signal }: Asker): Promise<Buffer> {
  const options: ScryptOptions = { N: 2 ** cost.log2N, r: cost.r, p: cost.p, maxmem: 256 * 2 ** cost.log2N * cost.r }
  const work = () =>
    new Promise<Buffer>((resolve, reject) => {
      scrypt(password.normalize('NFC'), salt, KEY_BYTES, options, (error, key) =>
        error ? reject(error) : resolve(key),
      )
    })
  return hashing.run(address, work, signal)
}

/** `scrypt$<log2 N>$<r>$<p>$<salt>$<key>`, so that the cost may be raised and old ones still be checked. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  const key = await derive(password, salt, COST, OURS)
  return ['scrypt', COST.log2N, COST.r, COST.p, salt.toString('base64url'), key.toString('base64url')].join('$')
}

/** Is right for no password, and takes as long to find out: for names that nobody has. */
const NOBODYS = [
  'scrypt',
  COST.log2N,
  COST.r,
  COST.p,
  'AAAAAAAAAAAAAAAAAAAAAA',
  Buffer.alloc(KEY_BYTES).toString('base64url'),
].join('$')

export async function isPasswordOf(password: string, stored: string | undefined, asker: Asker): Promise<boolean> {
  const [, log2N, r, p, salt, key] = (stored ?? NOBODYS).split('$')
  const derived = await derive(
    password,
    Buffer.from(salt!, 'base64url'),
    { log2N: Number(log2N), r: Number(r), p: Number(p) },
    asker,
  )
  return timingSafeEqual(derived, Buffer.from(key!, 'base64url')) && stored !== undefined
}
