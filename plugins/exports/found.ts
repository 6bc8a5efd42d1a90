/** What is found in an export: subscriptions in the order of the file, videos seen, playlists; and what is left out. */

import type { Sentence, Words } from 'archivolt'

/** A channel or playlist as the export names it: an id, a handle or an address; and its name, where that is told. */
export interface FoundRow {
  text: string
  name: string
}

/** A video that somebody has watched, or begun. */
export interface FoundSeen {
  /** An id or an address. */
  text: string
  /** Epoch seconds; left out: the export does not say when. */
  at?: number
  /** How far it was watched; left out: the export does not say. */
  seconds?: number
}

/** A person's own playlist. */
interface FoundList {
  name: string
  /** Ids or addresses, in its order. */
  videos: string[]
}

export const SOURCES = [
  'takeout',
  'opml',
  'newpipe',
  'freetube',
  'invidious',
  'piped',
  'libretube',
  'grayjay',
  'ytdlp',
  'list',
] as const
type Source = (typeof SOURCES)[number]

export interface Found {
  source: Source
  rows: FoundRow[]
  /** Of another platform, by their own word. */
  foreign: string[]
  seen: FoundSeen[]
  lists: FoundList[]
  /** How many of the oldest watched videos are left out, because there are too many. */
  seenLeftOut: number
}

/** Why a file cannot be used, for people. */
export class Unusable extends Error {
  readonly words: Words
  /** @param key  in English, with names in braces where the values stand */
  constructor(key: string, params?: Sentence['params']) {
    super(key)
    this.words = params ? { key, params } : key
  }
}

/** Nobody follows more by hand; what has more was made to hold up the server. */
const MOST_ROWS = 20_000
/** Years of several videos a day; of more, the newest. */
const MOST_SEEN = 100_000
const MOST_LISTS = 500
const MOST_LISTED = 50_000
const LONGEST_TEXT = 2000
const LONGEST_NAME = 200

export class Rows {
  readonly #rows: FoundRow[] = []
  readonly foreign: string[] = []
  #seen = new Map<string, FoundSeen>()
  #seenLeftOut = 0
  readonly #lists: FoundList[] = []
  #listed = 0

  /** Of channels and playlists. */
  get count(): number {
    return this.#rows.length
  }

  get isEmpty(): boolean {
    return this.#rows.length + this.foreign.length + this.#seen.size + this.#lists.length === 0
  }

  /** The latest entry of a video counts. */
  see(text: unknown, { at, seconds }: { at?: unknown; seconds?: unknown } = {}): void {
    const word = wordIn(text)
    if (word === undefined) return
    const [when, far] = [positive(at), positive(seconds)]
    const before = this.#seen.get(word)
    if (before && (before.at ?? 0) > (when ?? 0)) return
    this.#seen.set(word, { text: word, at: when && Math.floor(when), seconds: far })
    if (this.#seen.size >= 2 * MOST_SEEN) this.#dropOldest()
  }

  /** Without times, exports begin with the oldest. */
  #dropOldest(): void {
    const newest = [...this.#seen].sort(([, a], [, b]) => (a.at ?? 0) - (b.at ?? 0)).slice(-MOST_SEEN)
    this.#seenLeftOut += this.#seen.size - newest.length
    this.#seen = new Map(newest)
  }

  /** @throws Unusable  they are too many */
  list(name: unknown, videos: readonly unknown[]): void {
    const words = videos.map(wordIn).filter((word) => word !== undefined)
    this.#listed += words.length
    if (this.#listed > MOST_LISTED || this.#lists.length >= MOST_LISTS) throw new Unusable('Its playlists are too many')
    this.#lists.push({ name: plain(name) || 'Playlist', videos: [...new Set(words)] })
  }

  /** @throws Unusable  they are too many */
  add(text: unknown, name: unknown = ''): void {
    const word = wordIn(text)
    if (word === undefined) return
    this.#count()
    this.#rows.push({ text: channelIn(word) ?? word, name: plain(name) })
  }

  addForeign(text: unknown): void {
    this.#count()
    this.foreign.push(plain(text))
  }

  of(source: Source): Found {
    if (this.#seen.size > MOST_SEEN) this.#dropOldest()
    const seen = [...this.#seen.values()]
    return { source, rows: this.#rows, foreign: this.foreign, seen, lists: this.#lists, seenLeftOut: this.#seenLeftOut }
  }

  #count(): void {
    if (this.#rows.length + this.foreign.length >= MOST_ROWS)
      throw new Unusable('It names more than {most} channels: take it apart', { most: MOST_ROWS })
  }
}

function wordIn(value: unknown): string | undefined {
  const word = typeof value === 'string' ? value.trim() : ''
  return word === '' || word.length > LONGEST_TEXT ? undefined : word
}

const LATEST = 253_402_300_799
const positive = (value: unknown): number | undefined =>
  typeof value === 'number' && value > 0 && value <= LATEST ? value : undefined

export const CHANNEL_ID = /^UC[A-Za-z0-9_-]{22}$/
/** Pages and feeds of a channel, on whatever host: other front ends have addresses of their own. */
const CHANNEL_ADDRESS = /(?:\/channel\/|[?&]channel_id=)(UC[A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])/
const PLAYLIST_FEED = /\/feeds\/videos\.xml\?(?:[^#]*&)?playlist_id=([A-Za-z0-9_-]{2,128})/
const USER_FEED = /^https?:\/\/(?:www\.)?youtube\.com\/feeds\/videos\.xml\?(?:[^#]*&)?user=([^&#]{1,100})/

function channelIn(word: string): string | undefined {
  const user = USER_FEED.exec(word)?.[1]
  return (
    CHANNEL_ADDRESS.exec(word)?.[1] ??
    PLAYLIST_FEED.exec(word)?.[1] ??
    (user === undefined ? undefined : `https://www.youtube.com/user/${user}`)
  )
}

/** One line of a bounded length. */
const plain = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
        .trim()
        .slice(0, LONGEST_NAME)
    : ''
