/**
 * Caches replies that depend only on stored data and on the asking account. They carry an `ETag`, a client that already
 * has the reply gets a 304, and recent replies stay cached until one of their sources changes.
 */
import { createHash, randomUUID } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { isUnchanged, recordSources, type Source, type Sources } from '../sources.ts'
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
/** How many of the oldest replies are looked at for outdated ones when the cache is full. */
const LOOKED_AT = 16
/** A longer text is held and sent as bytes: they do not occupy the heap, however long the client takes. */
export const LONG_TEXT = 32 * 1024

/**
 * One reply as JSON. Once a client has taken it compressed, only that form is held: a quarter of the memory. If another
 * client then takes it plain, both are: unpacking costs ten times as much as everything else of a hit.
 */
export class CachedReply {
  readonly length: number
  /** Called when it takes another amount of memory than before. */
  resized: (byBytes: number) => void = () => undefined
  readonly #account: number
  #plain: string | Buffer | undefined
  #compressed: Buffer | undefined
  #digest: string | undefined
  #tag: string | undefined
  #bytes: number | undefined

  /** @param account  another one has another tag for the same reply */
  constructor(text: string, account: number) {
    this.#account = account
    this.length = text.length
    this.#plain = held(text)
  }

  /** Changes only when the reply does, so it tells nothing of what others do. */
  get tag(): string {
    return (this.#tag ??= tagOf(this.#digestOf(this.plain)))
  }

  /** A tenth of the time of a list goes into the digest. Replies that stay here are compared instead. */
  tagAtRandom(): void {
    this.#tag ??= tagOf(randomUUID())
  }

  is(text: string): boolean {
    if (text.length !== this.length) return false
    const plain = this.#plain
    if (plain === undefined) return this.#digest === digestOf(held(text), this.#account)
    return typeof plain === 'string' ? plain === text : plain.equals(Buffer.from(text))
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

  async compressed(): Promise<Buffer> {
    if (this.#compressed) return this.#compressed
    const plain = this.plain
    // zlib returns a slice of a buffer of 16 kB, all of which would stay in memory.
    const smaller = exactly(await compressed(plain))
    if (this.#compressed) return this.#compressed // another request was faster
    this.#resize(smaller.length - this.bytes)
    this.#digestOf(plain)
    this.#plain = undefined
    return (this.#compressed = smaller)
  }

  #digestOf(plain: string | Buffer): string {
    return (this.#digest ??= digestOf(plain, this.#account))
  }

  #resize(byBytes: number): void {
    this.#bytes = this.bytes + byBytes
    this.resized(byBytes)
  }
}

const held = (text: string): string | Buffer => (text.length < LONG_TEXT ? text : Buffer.from(text))

const digestOf = (content: string | Buffer, account: number): string =>
  createHash('sha256').update(`${account} `).update(content).digest('base64url')

interface Cached {
  reply: CachedReply
  sources: Sources
}

export class ReplyCache {
  readonly #touched: Source
  readonly #replies = new Map<string, Cached>()
  #bytes = 0
  #refused = 0

  /** @param touched  what replies show besides index and ledger */
  constructor(touched: Source) {
    this.#touched = touched
  }

  /** @param key  of a request: names all that the reply depends on, apart from its sources */
  get(key: string): CachedReply | undefined {
    const cached = this.#replies.get(key)
    return cached && isUnchanged(cached.sources) ? cached.reply : undefined
  }

  /** Makes a reply. If it is the one from before its sources changed, that one is kept with its compressed form. */
  async make(key: string, account: number, make: () => Promise<string>): Promise<CachedReply> {
    const sources: Sources = new Map([[this.#touched, this.#touched.version]])
    const text = await recordSources(sources, make)
    const before = this.#replies.get(key)?.reply
    const reply = before?.is(text) ? before : new CachedReply(text, account)
    this.#drop(key)
    if (isUnchanged(sources)) this.#add(key, { reply, sources }, before !== undefined)
    return reply
  }

  clear(): void {
    this.#replies.clear()
    this.#bytes = 0
  }

  #add(key: string, cached: Cached, isRenewed: boolean): void {
    const { reply } = cached
    const bytes = bytesOf(key) + reply.bytes
    if (bytes > LARGEST_BYTES) return
    if (this.#bytes + bytes > MOST_BYTES) this.#dropOutdated()
    if (this.#bytes + bytes > MOST_BYTES && !isRenewed && ++this.#refused % ONE_IN !== 0) return
    this.#bytes += bytes
    this.#replies.set(key, cached)
    reply.tagAtRandom()
    reply.resized = (byBytes) => {
      if (this.#replies.get(key)?.reply === reply) this.#bytes += byBytes
    }
    for (const oldest of this.#replies.keys()) {
      if (this.#bytes <= MOST_BYTES) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const cached = this.#replies.get(key)
    if (!cached) return
    this.#replies.delete(key)
    this.#bytes -= bytesOf(key) + cached.reply.bytes
  }

  /** Among the oldest. Others stay until they are asked for: their texts may still be the right ones. */
  #dropOutdated(): void {
    let looks = LOOKED_AT
    for (const [key, { sources }] of this.#replies) {
      if (looks-- === 0) return
      if (!isUnchanged(sources)) this.#drop(key)
    }
  }
}

function exactly(slice: Buffer): Buffer {
  const copy = Buffer.allocUnsafeSlow(slice.length)
  slice.copy(copy)
  return copy
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

/** Whether a client whose request has these headers has this version of a reply. */
export const hasVersion = (headers: IncomingMessage['headers'], version: string): boolean =>
  isKnown({ headers }, tagOf(version))

/** Whether the client has any version (`If-None-Match: *`). Ask only once a reply is known to exist. */
export const isAnyKnown = ({ headers }: IncomingMessage): boolean => headers['if-none-match']?.trim() === '*'
