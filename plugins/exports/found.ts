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

export const SOURCES = ['takeout', 'opml', 'newpipe', 'freetube', 'invidious', 'grayjay', 'list'] as const
type Source = (typeof SOURCES)[number]

export interface Found {
  source: Source
  rows: FoundRow[]
  /** Of another platform, by their own word. */
  foreign: string[]
  seen: FoundSeen[]
  lists: FoundList[]
  /** The name of a history that tells its times in the words of some language only. */
  html?: string | undefined
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

/** Takeout writes it so unless one asks for JSON; `watch?v=` stands in no other of its pages. */
export const isHtmlHistory = (text: string): boolean =>
  /^\s*<(!doctype\s+)?html/i.test(text) && text.includes('watch?v=')

export const askForJson = (): Unusable =>
  new Unusable(
    'It is a history in HTML. In Google Takeout, choose JSON as the format of the history, and bring that export',
  )

/** Nobody follows more by hand; what has more was made to hold up the server. */
const MOST_ROWS = 20_000
/** Years of several videos a day. */
const MOST_SEEN = 100_000
const MOST_LISTS = 500
const MOST_LISTED = 50_000
const LONGEST_TEXT = 2000
const LONGEST_NAME = 200

export class Rows {
  readonly #rows: FoundRow[] = []
  readonly foreign: string[] = []
  html: string | undefined
  readonly #seen = new Map<string, FoundSeen>()
  readonly #lists = new Map<string, string[]>()
  #listed = 0

  /** Of channels and playlists. */
  get count(): number {
    return this.#rows.length
  }

  get isEmpty(): boolean {
    return this.#rows.length + this.foreign.length + this.#seen.size + this.#lists.size === 0
  }

  /** The latest of a video holds. @throws Unusable  they are too many */
  see(text: unknown, { at, seconds }: { at?: unknown; seconds?: unknown } = {}): void {
    const word = wordIn(text)
    if (word === undefined) return
    const [when, far] = [positive(at), positive(seconds)]
    const before = this.#seen.get(word)
    if (before && (before.at ?? 0) > (when ?? 0)) return
    if (!before && this.#seen.size >= MOST_SEEN)
      throw new Unusable('It names more than {most} watched videos', { most: MOST_SEEN })
    this.#seen.set(word, { text: word, at: when && Math.floor(when), seconds: far })
  }

  /** Two of one name are one. @throws Unusable  they are too many */
  list(name: unknown, videos: readonly unknown[]): void {
    const words = videos.map(wordIn).filter((word) => word !== undefined)
    const key = plain(name) || 'Playlist'
    this.#listed += words.length
    if (this.#listed > MOST_LISTED || (!this.#lists.has(key) && this.#lists.size >= MOST_LISTS))
      throw new Unusable('Its playlists are too many')
    const known = this.#lists.get(key)
    if (!known) this.#lists.set(key, words)
    else for (const word of words) known.push(word)
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
    const html = this.#seen.size === 0 ? this.html : undefined
    const lists = [...this.#lists].map(([name, videos]) => ({ name, videos: [...new Set(videos)] }))
    return { source, rows: this.#rows, foreign: this.foreign, seen: [...this.#seen.values()], lists, html }
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
