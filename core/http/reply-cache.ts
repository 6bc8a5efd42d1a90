/**
 * Caches replies that depend only on stored data and on the asking account. They carry an `ETag`, a client that already
 * has the reply gets a 304, and recent replies stay cached until something is written.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Actor } from '../accounts/authentication.ts'

/** Limit for all cached replies and their keys together. */
const MOST_BYTES = 12_000_000
/** A larger reply is not cached: it would evict too many others. */
const LARGEST_BYTES = 400_000
/**
 * When the cache is full, every eighth new reply evicts the oldest: frequent requests are still cached soon, and a
 * client that walks through everything does not evict them.
 */
const ONE_IN = 8

export class ReplyCache {
  readonly #life: string
  readonly #stamp: () => string | undefined
  readonly #texts = new Map<string, string>()
  #cachedAt: string | undefined
  #bytes = 0
  #refused = 0

  /**
   * @param life   differs at each start
   * @param stamp  differs after each write that a reply may show; undefined: the index cannot tell
   */
  constructor(life: string, stamp: () => string | undefined) {
    this.#life = life
    this.#stamp = stamp
  }

  /** Differs whenever a reply to this actor may differ. undefined: the index cannot tell. */
  stateFor(actor: Actor): string | undefined {
    const stamp = this.#stamp()
    if (stamp !== this.#cachedAt) this.clear(stamp)
    return stamp === undefined ? undefined : `${this.#life}.${stamp}.${actor.id}`
  }

  get(state: string, url: string): string | undefined {
    return this.#texts.get(`${state} ${url}`)
  }

  set(state: string, url: string, text: string): void {
    const key = `${state} ${url}`
    if (this.#texts.has(key)) return
    const bytes = entryBytes(key, text)
    if (bytes > LARGEST_BYTES) return
    if (this.#bytes + bytes > MOST_BYTES && ++this.#refused % ONE_IN !== 0) return
    this.#bytes += bytes
    this.#texts.set(key, text)
    for (const [oldest, its] of this.#texts) {
      if (this.#bytes <= MOST_BYTES) return
      this.#texts.delete(oldest)
      this.#bytes -= entryBytes(oldest, its)
    }
  }

  clear(stamp?: string): void {
    this.#texts.clear()
    this.#bytes = 0
    this.#cachedAt = stamp
  }
}

const entryBytes = (key: string, text: string): number => bytesOf(key) + bytesOf(text)

/** Size in memory: a single character beyond Latin-1, such as an emoji in a title, doubles the size of the text. */
const bytesOf = (text: string): number => (/[^\0-\xff]/.test(text) ? 2 : 1) * text.length

interface Stamp {
  /** Differs after each write or touch. undefined: the index cannot tell. */
  read(): string | undefined
  touch(): void
}

/** The stamp of everything that replies show. */
export function openStamp(parts: { index: () => { stamp?(): string }; ledger: { readonly version: number } }): Stamp {
  let touches = 0
  return {
    read() {
      const stamp = parts.index().stamp?.()
      return stamp === undefined ? undefined : `${stamp}.${parts.ledger.version}.${touches}`
    },
    touch: () => void touches++,
  }
}

/** A state contains counters of what other accounts do. Hashing it with this key keeps them unreadable in a tag. */
const TAG_KEY = randomBytes(32)

export const tagOf = (version: string): string => `W/"${version}"`

/**
 * The tag of a reply, computed without making the reply. It changes with every write, whoever makes it.
 * @param form  the form in which the reply is sent
 */
export const tagOfState = (state: string, url: string, form: string): string =>
  tagOf(
    createHmac('sha256', TAG_KEY)
      .update(JSON.stringify([state, url, form]))
      .digest('base64url'),
  )

/** The tag of a reply that has been made for an account. It changes only when the reply does. */
export const tagOfText = (text: string, account: number): string =>
  tagOf(createHash('sha256').update(`${account} ${text}`).digest('base64url'))

/** Whether the client has this version (RFC 9110, 13.1.2). Tags are weak: equal in meaning, not byte for byte. */
export function isKnown({ headers }: IncomingMessage, tag: string): boolean {
  const known = headers['if-none-match']
  return known?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.slice(2)) ?? false
}

/** Whether the client has any version (`If-None-Match: *`). Ask only once a reply is known to exist. */
export const isAnyKnown = ({ headers }: IncomingMessage): boolean => headers['if-none-match']?.trim() === '*'
