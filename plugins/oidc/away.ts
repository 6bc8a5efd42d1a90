/** Browsers that are at the provider: what each is known by when it comes back. Kept in memory: a restart ends them. */
import { randomBytes } from 'node:crypto'
import type { Clock } from 'archivolt'
import type { Secrets } from './provider.ts'

export interface Away extends Secrets {
  /** The path on the page that it goes on at. */
  next: string
  redirectUri: string
  isRemembered: boolean
  /** The account that is to be connected; else it signs in. */
  userId?: number
}

export const AWAY_SECONDS = 600
/** Past this the oldest is forgotten: whoever begins many times forgets others', who begin anew. */
const MOST = 1000
const KEY = /^[\w-]{43}$/

/** @param key  of its cookie: another browser cannot come back in its place */
export class AwayBrowsers {
  readonly #clock: Clock
  readonly #kept = new Map<string, Away & { untilMs: number }>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @returns its key */
  add(away: Away): string {
    const key = randomBytes(32).toString('base64url')
    this.#kept.set(key, { ...away, untilMs: this.#clock.now() + AWAY_SECONDS * 1000 })
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= MOST) break
      this.#kept.delete(oldest)
    }
    return key
  }

  /** Once: what is asked again with the same key, is asked by somebody else. */
  take(key: string): Away | undefined {
    const one = KEY.test(key) ? this.#kept.get(key) : undefined
    this.#kept.delete(key)
    return one && one.untilMs > this.#clock.now() ? one : undefined
  }
}
