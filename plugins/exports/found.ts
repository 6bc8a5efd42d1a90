/**
 * The content of an export: subscriptions in the order of the file, watched videos, playlists; and entries that are
 * left out.
 */

import { inEnglish, say, type Words } from 'archivolt'

/** A channel or playlist as in the export: an id, a handle or a URL; and its name, if given. */
export interface FoundRow {
  text: string
  name: string
}

/** A video that the person has watched or started. */
export interface FoundSeen {
  /** An id or a URL. */
  text: string
  /** Epoch seconds; omitted: not in the export. */
  at?: number
  /** The position in seconds up to which it was watched; omitted: not in the export. */
  seconds?: number
}

/** A playlist of the person. */
interface FoundList {
  name: string
  /** Ids or URLs, in the order of the playlist. */
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
  /** Channels and playlists of other platforms, by their names there. */
  foreign: string[]
  seen: FoundSeen[]
  lists: FoundList[]
  /** The number of watched videos beyond the limit, the oldest, which are left out. */
  seenLeftOut: number
}

/** Why a file cannot be used, for people. */
export class Unusable extends Error {
  readonly words: Words
  constructor(words: Words) {
    super(inEnglish(words))
    this.words = words
  }
}

export const EMPTY = say`It contains no subscriptions, watched videos or playlists`

/** Maximum number of subscriptions: nobody has more, and a larger file is malicious. */
const MOST_ROWS = 20_000
/** Maximum number of watched videos, several a day for years; if there are more, the newest are kept. */
const MOST_SEEN = 100_000
const MOST_LISTS = 500
const MOST_LISTED = 50_000
const LONGEST_TEXT = 2000
const LONGEST_NAME = 200

export type Rows = ReturnType<typeof openRows>

export function openRows() {
  const rows: FoundRow[] = []
  const foreign: string[] = []
  let seen = new Map<string, FoundSeen>()
  let seenLeftOut = 0
  const lists: FoundList[] = []
  let listed = 0

  /** Drops the oldest videos beyond the limit. Those without times are older than others; of these, the first entries. */
  function dropOldest(): void {
    const newest = [...seen].sort(([, a], [, b]) => (a.at ?? 0) - (b.at ?? 0)).slice(-MOST_SEEN)
    seenLeftOut += seen.size - newest.length
    seen = new Map(newest)
  }

  function mustHaveRoom(): void {
    if (rows.length + foreign.length >= MOST_ROWS)
      throw new Unusable(say`It contains more than ${{ most: MOST_ROWS }} channels: split it`)
  }

  return {
    /** The number of channels and playlists, which is limited. */
    count: (): number => rows.length,
    isEmpty: (): boolean => rows.length + foreign.length + seen.size + lists.length === 0,

    /** Adds a watched video; the latest entry of a video counts. */
    see(text: unknown, { at, seconds }: { at?: unknown; seconds?: unknown } = {}): void {
      const word = wordIn(text)
      if (word === undefined) return
      const [when, far] = [positive(at), positive(seconds)]
      const before = seen.get(word)
      if (before && (before.at ?? 0) > (when ?? 0)) return
      seen.set(word, { text: word, at: when && Math.floor(when), seconds: far })
      if (seen.size >= 2 * MOST_SEEN) dropOldest()
    },

    /** @throws Unusable: there are too many */
    list(name: unknown, videos: readonly unknown[]): void {
      const words = videos.map(wordIn).filter((word) => word !== undefined)
      listed += words.length
      if (listed > MOST_LISTED || lists.length >= MOST_LISTS) throw new Unusable('It contains too many playlists')
      lists.push({ name: plain(name) || 'Playlist', videos: [...new Set(words)] })
    },

    /** @throws Unusable: there are too many */
    add(text: unknown, name: unknown = ''): void {
      const word = wordIn(text)
      if (word === undefined) return
      mustHaveRoom()
      rows.push({ text: channelIn(word) ?? word, name: plain(name) })
    },

    /** @throws Unusable: there are too many */
    addForeign(text: unknown): void {
      mustHaveRoom()
      foreign.push(plain(text))
    },

    of(source: Source): Found {
      if (seen.size > MOST_SEEN) dropOldest()
      return { source, rows, foreign, seen: [...seen.values()], lists, seenLeftOut }
    },
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
/** Pages and feeds of a channel on any host, because other front ends have their own hosts. */
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

/** One line of limited length. */
const plain = (value: unknown): string =>
  typeof value === 'string'
    ? value
        .replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ')
        .trim()
        .slice(0, LONGEST_NAME)
    : ''
