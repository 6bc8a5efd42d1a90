/**
 * Recognizes targets in texts, by form alone and without the network (contract 9.12): ids by length, page URLs of the
 * platform, handles.
 */
import { errors, say } from 'archivolt'
import { PLATFORM } from './name.ts'
import type { Target, VideoType } from './types.ts'

const ID = /^[A-Za-z0-9_-]+$/
const HANDLE = /^@[\p{L}\p{N}\p{M}_.·-]{1,100}$/u
const NAME = /^[\p{L}\p{N}\p{M}_.·-]{1,100}$/u
const PLAYLIST_LENGTHS = new Set([18, 26, 34])
const OWN_PLAYLISTS = new Set(['LL', 'WL'])
const TABS = new Set<string>(['videos', 'streams', 'shorts'])
const SHORT_LINK_HOST = 'youtu.be'
const HOSTS = new Set([
  'youtube.com',
  'www.youtube.com',
  'm.youtube.com',
  'music.youtube.com',
  'www.youtube-nocookie.com',
  'youtube-nocookie.com',
])
const VIDEO_PATHS = new Set(['shorts', 'live', 'embed', 'v', 'e'])
/** First path segments that are pages of the platform, not names of channels. */
const PAGES = new Set(
  'watch playlist results feed gaming premium account about press t ads hashtag post clip source redirect attribution_link oembed api signin logout login upload community trending movies kids tv music podcasts creators intl static img s yts'.split(
    ' ',
  ),
)
const MAX_WORD = 2000

/**
 * Whether an id has the form of this platform's ids. Those of further platforms have other forms, and the plugin of
 * such a platform may be missing.
 */
export const isOfPlatform = (type: 'video' | 'channel', id: string): boolean =>
  type === 'video' ? id.length <= 11 : id.startsWith('UC')

interface TargetRules {
  /** Base URL of the platform, whose host is recognized too. */
  platformUrl: string
  /** Prefix of our own playlists' ids. */
  prefix: string
}

export function openTargets(rules: TargetRules) {
  const ownHost = new URL(rules.platformUrl).host
  const customPlaylist = new RegExp(`^(?:${rules.prefix}|TA)_playlist_[A-Za-z0-9_-]{1,100}$`)

  const ofWord = (word: string): Target | undefined => {
    if (word.length > MAX_WORD) return undefined
    if (word.startsWith('@')) return HANDLE.test(word) ? { type: 'channel', id: word, isHandle: true } : undefined
    return ofId(word) ?? ofUrl(word)
  }

  const ofId = (id: string): Target | undefined => {
    if (customPlaylist.test(id) || OWN_PLAYLISTS.has(id)) return { type: 'playlist', id }
    if (!ID.test(id)) return undefined
    if (id.length === 11) return { type: 'video', id }
    if (id.length === 24) return { type: 'channel', id }
    return PLAYLIST_LENGTHS.has(id.length) ? { type: 'playlist', id } : undefined
  }

  /** The target of an id, which must have this type. */
  const expect = <Type extends Target['type']>(
    type: Type,
    id: string | null | undefined,
  ): Extract<Target, { type: Type }> | undefined => {
    const target = id ? ofId(id) : undefined
    return target?.type === type ? (target as Extract<Target, { type: Type }>) : undefined
  }

  const ofUrl = (word: string): Target | undefined => {
    const url = parsed(word)
    if (!url || url.username || url.password) return undefined
    const parts = partsOf(url)
    if (!parts) return undefined
    if (url.host === SHORT_LINK_HOST) return expect('video', parts[0])
    if (!HOSTS.has(url.host) && url.host !== ownHost) return undefined
    if (url.searchParams.has('v')) return expect('video', url.searchParams.get('v'))
    const [first = '', second] = parts
    if (VIDEO_PATHS.has(first) && second) {
      const video = expect('video', second)
      return video && first === 'shorts' ? { ...video, vidType: 'shorts' } : video
    }
    if (url.searchParams.has('list')) return expect('playlist', url.searchParams.get('list'))
    return ofChannelPath(parts)
  }

  const ofChannelPath = (parts: string[]): Target | undefined => {
    const [first = '', second] = parts
    const last = parts.at(-1) as string
    const tab = parts.length > 1 && TABS.has(last) ? { tab: last as VideoType } : {}
    if (first === 'channel') {
      const channel = expect('channel', second)
      return channel && { ...channel, ...tab }
    }
    if (HANDLE.test(first)) return { type: 'channel', id: first, isHandle: true, ...tab }
    if (first === 'c' || first === 'user')
      return second && NAME.test(second)
        ? { type: 'channel', id: `${first}/${second}`, isHandle: true, ...tab }
        : undefined
    const isName = NAME.test(first) && !PAGES.has(first.toLowerCase()) && !VIDEO_PATHS.has(first) && !TABS.has(first)
    return isName ? { type: 'channel', id: first, isHandle: true, ...tab } : undefined
  }

  const wordsOf = (text: string): string[] => text.split(/\s+/).filter(Boolean)

  return {
    /** @throws bad_request, naming the first word that is not a target */
    targets: (text: string): Target[] => {
      const words = wordsOf(text)
      if (words.length === 0) throw errors.badRequest('Give an id or a URL')
      return words.map((word) => {
        const target = ofWord(word)
        if (!target)
          throw errors.badRequest(
            say`This is neither an id nor a URL of ${{ platform: PLATFORM }}: ${{ word: shown(word) }}`,
          )
        return target
      })
    },
    /** Skips words that are not targets. */
    targetsIn: (text: string): Target[] => wordsOf(text).flatMap((word) => ofWord(word) ?? []),
  }
}

/** Parses http(s) URLs, and hosts without a scheme, as people paste them. */
function parsed(word: string): URL | undefined {
  const text = /^https?:\/\//i.test(word)
    ? word
    : /^[a-z0-9.-]+(?::\d{1,5})?\//i.test(word)
      ? `https://${word}`
      : undefined
  return text !== undefined && URL.canParse(text) ? new URL(text) : undefined
}

function partsOf(url: URL): string[] | undefined {
  try {
    return url.pathname.split('/').filter(Boolean).map(decodeURIComponent)
  } catch {
    return undefined // invalid percent-encoding
  }
}

const shown = (word: string): string => JSON.stringify(word.length > 80 ? `${word.slice(0, 80)}…` : word)
