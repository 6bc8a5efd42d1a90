/**
 * Caches replies that depend only on stored data and on the asking account. They carry an `ETag`, a client that already
 * has the reply gets a 304, and recent replies stay cached until something is written.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import type { Actor } from '../accounts/authentication.ts'
import { compressed } from './compression.ts'

/** Limit for all cached replies and their keys together. */
const MOST_BYTES = 4_000_000
/** A larger reply is not cached: it would evict too many others. */
const LARGEST_BYTES = 400_000
/**
 * When the cache is full, every eighth new reply evicts the oldest: frequent requests are still cached soon, and a
 * client that walks through everything does not evict them.
 */
const ONE_IN = 8

/** One reply as JSON. Once a client has taken it compressed, only that form is held: a quarter of the memory. */
export class CachedReply {
  readonly length: number
  /** Called when it takes less memory than before. */
  shrunk: (byBytes: number) => void = () => undefined
  #text: string | undefined
  #compressed: Buffer | undefined
  #tag: string | undefined
  #bytes: number | undefined

  constructor(text: string) {
    this.#text = text
    this.length = text.length
  }

  /** Counted when asked for: most replies to items are never cached. */
  get bytes(): number {
    return (this.#bytes ??= bytesOf(this.text))
  }

  get text(): string {
    return this.#text ?? gunzipSync(this.#compressed!).toString()
  }

  async compressed(): Promise<Buffer> {
    const text = this.#text
    if (text === undefined) return this.#compressed!
    // zlib returns a slice of a buffer of 16 kB, all of which would stay in memory.
    const smaller = exactly(await compressed(text))
    if (this.#text === undefined) return this.#compressed! // another request was faster
    this.shrunk(this.bytes - smaller.length)
    this.#text = undefined
    this.#bytes = smaller.length
    return (this.#compressed = smaller)
  }

  /** @param account  always the same one: replies are cached for each account */
  tagFor(account: number): string {
    return (this.#tag ??= tagOfText(this.text, account))
  }
}

export class ReplyCache {
  readonly #life: string
  readonly #stamp: () => string | undefined
  readonly #replies = new Map<string, CachedReply>()
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

  get(state: string, url: string): CachedReply | undefined {
    return this.#replies.get(`${state} ${url}`)
  }

  set(state: string, url: string, reply: CachedReply): void {
    const key = `${state} ${url}`
    if (this.#replies.has(key)) return
    const bytes = bytesOf(key) + reply.bytes
    if (bytes > LARGEST_BYTES) return
    if (this.#bytes + bytes > MOST_BYTES && ++this.#refused % ONE_IN !== 0) return
    this.#bytes += bytes
    this.#replies.set(key, reply)
    reply.shrunk = (byBytes) => {
      if (this.#replies.get(key) === reply) this.#bytes -= byBytes
    }
    for (const [oldest, its] of this.#replies) {
      if (this.#bytes <= MOST_BYTES) return
      this.#replies.delete(oldest)
      this.#bytes -= bytesOf(oldest) + its.bytes
    }
  }

  clear(stamp?: string): void {
    this.#replies.clear()
    this.#bytes = 0
    this.#cachedAt = stamp
  }
}

function exactly(slice: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(slice.length)
  slice.copy(copy)
  return copy
}

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
