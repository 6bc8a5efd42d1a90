/** What is found in an export: rows in the order of the file, and why the others are left out. */

/** A channel or playlist as the export names it: an id, a handle or an address; and its name, where that is told. */
export interface FoundRow {
  text: string
  name: string
}

export const SOURCES = ['takeout', 'opml', 'newpipe', 'freetube', 'invidious', 'grayjay', 'list'] as const
export type Source = (typeof SOURCES)[number]

export interface Found {
  source: Source
  rows: FoundRow[]
  /** Of another platform, by their own word. */
  foreign: string[]
}

/** Why a file cannot be used, for people. */
export class Unusable extends Error {}

/** Nobody follows more by hand; what has more was made to hold up the server. */
export const MOST_ROWS = 20_000
const LONGEST_TEXT = 2000
const LONGEST_NAME = 200

export class Rows {
  readonly #rows: FoundRow[] = []
  readonly foreign: string[] = []

  get all(): FoundRow[] {
    return this.#rows
  }

  /** @throws Unusable  they are too many */
  add(text: unknown, name: unknown = ''): void {
    const word = typeof text === 'string' ? text.trim() : ''
    if (word === '' || word.length > LONGEST_TEXT) return
    this.#count()
    this.#rows.push({ text: channelIn(word) ?? word, name: plain(name) })
  }

  addForeign(text: unknown): void {
    this.#count()
    this.foreign.push(plain(text))
  }

  of(source: Source): Found {
    return { source, rows: this.#rows, foreign: this.foreign }
  }

  #count(): void {
    if (this.#rows.length + this.foreign.length >= MOST_ROWS)
      throw new Unusable(`It names more than ${MOST_ROWS} channels: take it apart`)
  }
}

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
