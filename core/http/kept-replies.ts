/**
 * Replies that follow from what is stored and from who asks: they carry an `ETag`, who has one already is told so, and
 * the last ones are kept until something is written.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Actor } from '../accounts/authentication.ts'

/** Of all kept replies together, and the addresses they are kept by. */
const MOST_BYTES = 12_000_000
/** A larger reply is not cached: it would evict too many others. */
const LARGEST_BYTES = 400_000
/**
 * When the cache is full, every eighth new reply evicts the oldest: frequent questions are cached soon, and a client
 * that walks through everything does not evict them.
 */
const ONE_IN = 8

export class KeptReplies {
  readonly #life: string
  readonly #stamp: () => string | undefined
  readonly #texts = new Map<string, string>()
  #keptAt: string | undefined
  #bytes = 0
  #refused = 0

  /**
   * @param life   another one at each start
   * @param stamp  another one after each write that a reply may show; undefined: that cannot be told
   */
  constructor(life: string, stamp: () => string | undefined) {
    this.#life = life
    this.#stamp = stamp
  }

  /** Another one whenever a reply to them may be another. undefined: that cannot be told. */
  stateFor(actor: Actor): string | undefined {
    const stamp = this.#stamp()
    if (stamp !== this.#keptAt) this.clear(stamp)
    return stamp === undefined ? undefined : `${this.#life}.${stamp}.${actor.id}`
  }

  get(state: string, url: string): string | undefined {
    return this.#texts.get(`${state} ${url}`)
  }

  keep(state: string, url: string, text: string): void {
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
    this.#keptAt = stamp
  }
}

const entryBytes = (key: string, text: string): number => bytesOf(key) + bytesOf(text)

/** In memory: one character beyond Latin, such as an emoji in a title, makes all of a text twice as large. */
const bytesOf = (text: string): number => (/[^\0-\xff]/.test(text) ? 2 : 1) * text.length

interface Stamp {
  /** Another text after each write or touch; undefined: what keeps the documents cannot tell. */
  read(): string | undefined
  touch(): void
}

/** Of all that replies show. */
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

/** Counters of what others do stand in a state: nobody can read or guess them from a tag. */
const TAG_KEY = randomBytes(32)

export const tagOf = (version: string): string => `W/"${version}"`

/**
 * The tag of a reply that need not be made for it. It changes with whatever anybody does.
 * @param form  in which it is sent
 */
export const tagOfState = (state: string, url: string, form: string): string =>
  tagOf(
    createHmac('sha256', TAG_KEY)
      .update(JSON.stringify([state, url, form]))
      .digest('base64url'),
  )

/** The tag of a reply that has been made for an account. It changes with the reply alone. */
export const tagOfText = (text: string, account: number): string =>
  tagOf(createHash('sha256').update(`${account} ${text}`).digest('base64url'))

/** Whether the client has it (RFC 9110, 13.1.2). Replies are the same in meaning, not byte for byte: tags are weak. */
export function isKnown({ headers }: IncomingMessage, tag: string): boolean {
  const known = headers['if-none-match']
  return known?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.slice(2)) ?? false
}

/** Whether the client has any at all: to be asked only once it is known that there is one. */
export const isAnyKnown = ({ headers }: IncomingMessage): boolean => headers['if-none-match']?.trim() === '*'
