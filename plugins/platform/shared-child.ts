/**
 * The child process that metadata and listings share: started on demand, ended after an idle minute, replaced after
 * many requests.
 */
import type { Clock, Log, Timer } from 'archivolt'
import {
  type Child,
  type ChildAnswer,
  type ChildAskOptions,
  type ChildRequest,
  type Launch,
  openChild,
  type TokenNews,
} from './child.ts'

const IDLE_MS = 60_000
/** Idle limit while a listing is open, because its reader may be slow. */
const IDLE_LISTING_MS = 600_000
const REQUESTS_UNTIL_REPLACED = 300

export interface OpenListing {
  generation: number
  listing: unknown
}

export interface SharedChildParts {
  clock: Clock
  log: Log
  launch: () => Promise<{ launch: Launch; onJar: (jar: string) => void; onTokenNews: (news: TokenNews) => void }>
}

export type SharedChild = ReturnType<typeof openSharedChild>

export function openSharedChild({ clock, log, launch: launchNow }: SharedChildParts) {
  let child: Child | undefined
  /** Receive what the current child reports beside its answers. */
  let news: Pick<ChildAskOptions, 'onJar' | 'onTokenNews'> = {}
  let idle: Timer | undefined
  let requests = 0
  let openListings = 0
  /** Counts the children: a listing exists only in the child that opened it. */
  let generation = 0
  let isStale = false
  let queue: Promise<unknown> = Promise.resolve()

  function rssBytes(): Promise<number | undefined> {
    return child?.rssBytes() ?? Promise.resolve(undefined)
  }

  /** Makes the next request start a new child: the cookie or the program has changed. */
  function replace(): void {
    isStale = true
  }

  function ask(request: ChildRequest, options: ChildAskOptions): Promise<ChildAnswer> {
    return enqueue(() => askChild(request, options))
  }

  /** @param skip  entries to skip: the position where an earlier reading was interrupted */
  function openListing(channelId: string, tab: string, skip: number, options: ChildAskOptions): Promise<OpenListing> {
    return enqueue(async () => {
      const { result } = await askChild({ op: 'open', channelId, tab, skip }, options)
      openListings++
      return { generation, listing: result.listing }
    })
  }

  /** @returns the next page; undefined: the child with the listing is gone, so open the listing again */
  function nextPage(
    open: OpenListing,
    size: number,
    options: ChildAskOptions,
  ): Promise<{ entries: unknown[]; isEnd: boolean } | undefined> {
    return enqueue(async () => {
      if (!isThere(open)) return undefined
      try {
        const { result } = await askChild({ op: 'next', listing: open.listing, size }, options, open.generation)
        if (result.isEnd || result.isLost) openListings--
        return result.isLost ? undefined : { entries: result.entries as unknown[], isEnd: result.isEnd === true }
      } catch (error) {
        openListings = Math.max(0, openListings - 1) // the worker has closed the listing
        throw error
      }
    })
  }

  async function closeListing(open: OpenListing): Promise<void> {
    await enqueue(async () => {
      if (!isThere(open)) return
      openListings--
      await askChild({ op: 'close', listing: open.listing }, { quietMs: 20_000 }, open.generation)
    })
  }

  function isThere(open: OpenListing): boolean {
    return open.generation === generation && child?.isEnded === false && !isStale
  }

  function enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = queue.then(work)
    queue = done.catch(() => undefined)
    return done
  }

  /** @param generation  the child to use, which must not be replaced by a new one */
  async function askChild(request: ChildRequest, options: ChildAskOptions, generation?: number): Promise<ChildAnswer> {
    options.signal?.throwIfAborted()
    idle?.cancel()
    const asked = generation === undefined ? await current() : (child as Child)
    try {
      return await asked.ask(request, { ...options, ...news })
    } finally {
      idle = clock.after(openListings > 0 ? IDLE_LISTING_MS : IDLE_MS, () => void end())
    }
  }

  async function current(): Promise<Child> {
    const isWorn = requests >= REQUESTS_UNTIL_REPLACED && openListings === 0
    if (child && (child.isEnded || isStale || isWorn)) await dismiss()
    requests++
    if (child) return child
    isStale = false
    requests = 0
    openListings = 0
    generation++
    const { launch, onJar, onTokenNews } = await launchNow()
    news = { onJar, onTokenNews }
    child = openChild(launch, clock, log)
    return child
  }

  async function dismiss(): Promise<void> {
    const before = child
    child = undefined
    await before?.end()
  }

  /** Ends the child after its current request; the next request starts another. */
  function end(): Promise<void> {
    idle?.cancel()
    return enqueue(() => dismiss())
  }

  /** Kills the child. */
  function kill(): void {
    idle?.cancel()
    child?.kill({ kinds: ['Aborted'], message: 'The server is closing' })
  }

  return {
    get pid() {
      return child?.isEnded === false ? child.pid : undefined
    },
    rssBytes,
    replace,
    ask,
    openListing,
    nextPage,
    closeListing,
    end,
    kill,
  }
}
