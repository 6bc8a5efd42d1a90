/**
 * The child that metadata and listings share: started when there is work, ended after a minute without, replaced when
 * it has worked long.
 */
import type { Clock, Log, Timer } from 'archivolt'
import {
  Child,
  type ChildAnswer,
  type ChildAskOptions,
  type ChildRequest,
  type Launch,
  type TokenNews,
} from './child.ts'

const IDLE_MS = 60_000
/** While a listing is open its reader may take its time. */
const IDLE_LISTING_MS = 600_000
const REQUESTS_UNTIL_REPLACED = 300

export interface OpenListing {
  generation: number
  listing: unknown
}

export interface KeptChildParts {
  clock: Clock
  log: Log
  launch: () => Promise<{ launch: Launch; onJar: (jar: string) => void; onToken: (news: TokenNews) => void }>
}

export class KeptChild {
  #parts: KeptChildParts
  #child: Child | undefined
  #requests = 0
  #openListings = 0
  /** Counts the children: a listing lives and dies with the one it was opened in. */
  #generation = 0
  #isStale = false
  #idle: Timer | undefined
  #queue: Promise<unknown> = Promise.resolve()

  constructor(parts: KeptChildParts) {
    this.#parts = parts
  }

  get pid(): number | undefined {
    return this.#child?.isEnded === false ? this.#child.pid : undefined
  }

  rssBytes(): Promise<number | undefined> {
    return this.#child?.rssBytes() ?? Promise.resolve(undefined)
  }

  /** The next request gets a new child: the cookie or the program has changed. */
  replace(): void {
    this.#isStale = true
  }

  ask(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    return this.#enqueue(() => this.#ask(request, options))
  }

  /** @param skip  entries to leave out: where an earlier reading of the same listing was cut off */
  openListing(channelId: string, tab: string, skip: number, options: ChildAskOptions): Promise<OpenListing> {
    return this.#enqueue(async () => {
      const { result } = await this.#ask({ op: 'open', channelId, tab, skip }, options)
      this.#openListings++
      return { generation: this.#generation, listing: result.listing }
    })
  }

  /** @returns the next page, or undefined: the child that had the listing is gone, it must be opened again */
  nextPage(
    open: OpenListing,
    size: number,
    options: ChildAskOptions,
  ): Promise<{ entries: unknown[]; isEnd: boolean } | undefined> {
    return this.#enqueue(async () => {
      if (!this.#isThere(open)) return undefined
      try {
        const { result } = await this.#ask({ op: 'next', listing: open.listing, size }, options, open.generation)
        if (result.isEnd || result.isLost) this.#openListings--
        return result.isLost ? undefined : { entries: result.entries as unknown[], isEnd: result.isEnd === true }
      } catch (error) {
        this.#openListings = Math.max(0, this.#openListings - 1) // the worker has closed it
        throw error
      }
    })
  }

  async closeListing(open: OpenListing): Promise<void> {
    await this.#enqueue(async () => {
      if (!this.#isThere(open)) return
      this.#openListings--
      await this.#ask({ op: 'close', listing: open.listing }, { quietMs: 20_000 }, open.generation)
    })
  }

  #isThere(open: OpenListing): boolean {
    return open.generation === this.#generation && this.#child?.isEnded === false && !this.#isStale
  }

  #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work)
    this.#queue = done.catch(() => undefined)
    return done
  }

  /** @param generation  the child that it is meant for, which must not be replaced by a new one */
  async #ask(request: ChildRequest, options: ChildAskOptions, generation?: number): Promise<ChildAnswer> {
    options.signal?.throwIfAborted()
    this.#idle?.cancel()
    const child = generation === undefined ? await this.#current() : (this.#child as Child)
    try {
      return await child.ask(request, options)
    } finally {
      this.#idle = this.#parts.clock.after(this.#openListings > 0 ? IDLE_LISTING_MS : IDLE_MS, () => void this.end())
    }
  }

  async #current(): Promise<Child> {
    const isWorn = this.#requests >= REQUESTS_UNTIL_REPLACED && this.#openListings === 0
    if (this.#child && (this.#child.isEnded || this.#isStale || isWorn)) await this.#let()
    this.#requests++
    if (this.#child) return this.#child
    this.#isStale = false
    this.#requests = 0
    this.#openListings = 0
    this.#generation++
    const { launch, onJar, onToken } = await this.#parts.launch()
    this.#child = new Child(launch, this.#parts.clock, this.#parts.log)
    this.#child.onJar = onJar
    this.#child.onToken = onToken
    return this.#child
  }

  async #let(): Promise<void> {
    const child = this.#child
    this.#child = undefined
    await child?.end()
  }

  /** Ends the child after the request it works on; the next one starts another. */
  end(): Promise<void> {
    this.#idle?.cancel()
    return this.#enqueue(() => this.#let())
  }

  /** Ends the child now. */
  kill(): void {
    this.#idle?.cancel()
    this.#child?.kill({ kinds: ['Aborted'], message: 'The server is closing' })
  }
}
