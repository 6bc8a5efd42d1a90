/** Caches replies that depend only on stored data and the account, from the second request until a source changes. */
import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { isUnchanged, recordSources, type Source, type Sources } from '../sources.ts'
import { compressed } from './compression.ts'

/** Limit for all cached replies and their keys together. */
const MOST_BYTES = 4_000_000
/** A larger reply is not cached: it would evict too many others. */
const LARGEST_BYTES = 400_000
/** Of a reply requested once, just the tag is kept: keeping texts made V8 collect its heap seven times a second. */
const MOST_SEEN = 1000
/** The tag of a reply with a longer key is not kept. */
const LONGEST_SEEN = 2000
/** When the cache is full, this many of the oldest replies are checked, and the outdated ones are dropped. */
const MOST_CHECKED = 16
/** A text of at least this length is held and sent as bytes, which do not fill the heap while a slow client reads. */
export const LONG_TEXT = 12 * 1024

/** A reply as JSON text. Once requested compressed, it is held compressed, and also plain if requested plain again. */
export class CachedReply {
  readonly length: number
  /** The `ETag`. It changes only when the reply does, so it reveals nothing about what other accounts do. */
  readonly tag: string
  resized: (byBytes: number) => void = () => undefined
  #plain: string | Buffer | undefined
  #compressed: Buffer | undefined
  #bytes: number | undefined

  /** @param account  part of the tag: two accounts get different tags for the same reply */
  constructor(text: string, account: number) {
    this.length = text.length
    this.#plain = text.length < LONG_TEXT ? text : Buffer.from(text)
    // SHA-1 takes half the time of SHA-256 on processors without instructions for hashes, as in a Raspberry Pi 4.
    this.tag = tagOf(createHash('sha1').update(`${account} `).update(this.#plain).digest('base64url'))
  }

  get bytes(): number {
    return (this.#bytes ??= bytesOf(this.plain))
  }

  get plain(): string | Buffer {
    if (this.#plain === undefined) {
      this.#plain = gunzipSync(this.#compressed!)
      this.#resize(this.#plain.length)
    }
    return this.#plain
  }

  /** @param made  the same reply, made again: if it has to be sent plain, this one need not be decompressed */
  orPlain(made: CachedReply): CachedReply {
    if (this.#plain !== undefined) return this
    made.#compressed = this.#compressed
    return made
  }

  async compressed(): Promise<Buffer> {
    if (this.#compressed) return this.#compressed
    // zlib returns a slice of a buffer of 16 kB, all of which would stay in memory.
    const smaller = Buffer.from(new Uint8Array(await compressed(this.plain)).buffer)
    if (this.#compressed) return this.#compressed // another request was faster
    this.#resize(smaller.length - this.bytes)
    this.#plain = undefined
    return (this.#compressed = smaller)
  }

  #resize(byBytes: number): void {
    this.#bytes = this.bytes + byBytes
    this.resized(byBytes)
  }
}

/** @param touched  the values in memory that replies show besides index and ledger */
export function openReplyCache(touched: Source) {
  const seen = new Map<string, { tag: string; sources: Sources }>()
  const replies = new Map<string, { reply: CachedReply; sources: Sources }>()
  let allBytes = 0

  /** The tag of a reply that was made but not cached, if its sources have not changed since. */
  function seenTag(key: string): string | undefined {
    const one = seen.get(key)
    return one && isUnchanged(one.sources) ? one.tag : undefined
  }

  function see(key: string, tag: string, sources: Sources): void {
    seen.delete(key)
    if (key.length > LONGEST_SEEN) return
    seen.set(key, { tag, sources })
    const [oldest] = seen.keys()
    if (seen.size > MOST_SEEN) seen.delete(oldest!)
  }

  function add(key: string, reply: CachedReply, sources: Sources): void {
    const bytes = bytesOf(key) + reply.bytes
    if (bytes > LARGEST_BYTES) return
    if (allBytes + bytes > MOST_BYTES) dropOutdated()
    seen.delete(key)
    allBytes += bytes
    replies.set(key, { reply, sources })
    reply.resized = (byBytes) => {
      if (replies.get(key)?.reply === reply) allBytes += byBytes
    }
    for (const oldest of replies.keys()) {
      if (allBytes <= MOST_BYTES) return
      drop(oldest)
    }
  }

  function drop(key: string): void {
    const cached = replies.get(key)
    if (!cached) return
    replies.delete(key)
    allBytes -= bytesOf(key) + cached.reply.bytes
  }

  /** Only among the oldest: an outdated reply whose new text is the same is used again, with its compressed form. */
  function dropOutdated(): void {
    let checks = MOST_CHECKED
    for (const [key, { sources }] of replies) {
      if (checks-- === 0) return
      if (!isUnchanged(sources)) drop(key)
    }
  }

  return {
    tagOf: seenTag,

    /** @param key  identifies a request: it contains all that the reply depends on, except for its sources */
    get(key: string): CachedReply | undefined {
      const cached = replies.get(key)
      return cached && isUnchanged(cached.sources) ? cached.reply : undefined
    },

    /** Keeps the earlier reply if the text is the same. @param isPolled  the client had one: cached despite changes */
    async make(key: string, account: number, make: () => Promise<string>, isPolled = false): Promise<CachedReply> {
      const sources: Sources = new Map([[touched, touched.version]])
      const text = await recordSources(sources, make)
      const before = replies.get(key)?.reply
      const made = new CachedReply(text, account)
      const cached = before?.tag === made.tag ? before : made
      const reply = cached.orPlain(made)
      drop(key)
      if (!isUnchanged(sources)) return reply
      const isAskedAgain = isPolled ? seen.has(key) : seenTag(key) !== undefined
      if (before || isAskedAgain) add(key, cached, sources)
      else see(key, made.tag, sources)
      return reply
    },

    clear(): void {
      seen.clear()
      replies.clear()
      allBytes = 0
    },
  }
}

/** Size in memory: a single character beyond Latin-1, such as an emoji in a title, doubles the size of a string. */
const bytesOf = (content: string | Buffer): number =>
  (typeof content === 'string' && /[^\0-\xff]/.test(content) ? 2 : 1) * content.length

export const tagOf = (version: string): string => `W/"${version}"`

/** Whether the client has this version (RFC 9110, 13.1.2). Tags are weak: equal in meaning, not byte for byte. */
export function isKnown({ headers }: Pick<IncomingMessage, 'headers'>, tag: string): boolean {
  const known = headers['if-none-match']
  return known?.split(',').some((each) => each.trim().replace(/^W\//, '') === tag.slice(2)) ?? false
}

/** Whether the client has had a reply to the same request before. */
export const hasTag = ({ headers }: Pick<IncomingMessage, 'headers'>): boolean => headers['if-none-match'] !== undefined

/** Whether the client accepts any version as known (`If-None-Match: *`). Call only once a reply is known to exist. */
export const isAnyKnown = ({ headers }: IncomingMessage): boolean => headers['if-none-match']?.trim() === '*'
