/**
 * Further platforms that plugins bring (hook `platform.source`), chosen by id. Their asks take turns in the lanes, but
 * gate, pacing and budget do not apply to them.
 */
import { writeFile } from 'node:fs/promises'
import { type Clock, errors, isAppError, type Lanes, type WholeApp, withinTime } from 'archivolt'
import { PlatformFailure } from './ask-failure.ts'
import { turnOf, URGENT_MS } from './asks.ts'
import { lackOfRoom, NoRoom } from './free-space.ts'
import type { LookUps } from './look-ups.ts'
import { type Source, type SourceAsk, sourceOf, toChannel, toEntries, toMetadata } from './source.ts'
import { toDownloaded } from './source-files.ts'
import type {
  AskOptions,
  Downloaded,
  DownloadOptions,
  Original,
  Platform,
  Target,
  VideoMetadata,
  VideoType,
} from './types.ts'

interface SourceParts {
  clock: Clock
  lanes: Lanes
  lookUps: LookUps
  settings: { dataDir: string; ffprobe: string }
  /** The further platforms that plugins bring. */
  sources: () => readonly Source[]
  fetch?: WholeApp['fetch'] | undefined
}

type Routed = Pick<
  Platform,
  | 'targets'
  | 'targetsIn'
  | 'video'
  | 'channel'
  | 'playlistsOf'
  | 'list'
  | 'download'
  | 'downloadBetter'
  | 'subtitles'
  | 'comments'
  | 'watchUrl'
  | 'original'
  | 'isArtUrl'
  | 'fetchPicture'
>

const ANSWER_WITHIN_MS = 60_000
const MOST_PAGES = 10_000
const MOST_PICTURE_BYTES = 10 * 1024 * 1024

/** The platform, extended by those that plugins bring. */
export function withSources<Whole extends Platform>(platform: Whole, parts: SourceParts): Whole {
  const of = (id: string) => sourceOf(id, parts.sources())
  const answerOf = openAsking(parts)

  const targetOf = (word: string): Target | undefined => {
    for (const source of parts.sources()) {
      try {
        const target = source.target(word)
        if (target && of(target.id)?.prefix === source.prefix) return target
      } catch {} // recorded as the plugin's failure; the others are not affected
    }
    return undefined
  }
  const targetsOf = (text: string, others: (text: string) => Target[]): Target[] => {
    if (parts.sources().length === 0) return others(text)
    const words = text.split(/\s+/).filter(Boolean)
    return words.length === 0 ? others(text) : words.flatMap((word) => targetOf(word) ?? others(word))
  }

  async function video(source: Source, id: string, options: AskOptions): Promise<VideoMetadata> {
    return answerOf(source, 'platform', id, options, async (ask) =>
      toMetadata(source, id, await within(parts.clock, source.video(id, ask))),
    )
  }

  async function* list(source: Source, channelId: string, tab: VideoType, options: AskOptions) {
    for (let page = 0; page < MOST_PAGES; page++) {
      const entries = await answerOf(source, 'platform', channelId, options, async (ask) =>
        toEntries(source, await within(parts.clock, source.list(channelId, { ...ask, tab, page }))),
      )
      if (entries.length === 0) return
      yield entries
    }
  }

  async function download(
    source: Source,
    id: string,
    { folder, quality }: DownloadOptions,
    { progress = () => undefined, fetched, ...options }: Parameters<Platform['download']>[2],
  ): Promise<Downloaded> {
    const metadata = await video(source, id, options)
    return answerOf(source, 'download', id, options, async (ask) => {
      const lack = await lackOfRoom(folder, parts.settings.dataDir)
      if (lack !== undefined) throw new NoRoom(lack)
      const said = await source.download(id, { ...ask, folder, progress, ...(quality && { quality }) })
      fetched?.()
      return toDownloaded(source, metadata, { folder, quality }, said, parts.settings.ffprobe)
    })
  }

  const routed: Routed = {
    targets: (text) => targetsOf(text, platform.targets),
    targetsIn: (text) => targetsOf(text, platform.targetsIn),
    async video(id, options) {
      const source = of(id)
      return source ? video(source, id, options) : platform.video(id, options)
    },
    async channel(id, options) {
      const source = of(id)
      if (!source) return platform.channel(id, options)
      return answerOf(source, 'platform', id, options, async (ask) =>
        toChannel(source, id, await within(parts.clock, source.channel(id, ask))),
      )
    },
    playlistsOf: async (id, options) => (of(id) ? [] : platform.playlistsOf(id, options)),
    list(id, tab, options) {
      const source = of(id)
      return source ? list(source, id, tab, options) : platform.list(id, tab, options)
    },
    async download(id, wanted, options) {
      const source = of(id)
      return source ? download(source, id, wanted, options) : platform.download(id, wanted, options)
    },
    async downloadBetter(id, wanted, options) {
      const source = of(id)
      return source ? download(source, id, wanted, options) : platform.downloadBetter(id, wanted, options)
    },
    subtitles: async (id, wanted, options) =>
      of(id) ? { subtitles: [], arePutOff: false } : platform.subtitles(id, wanted, options),
    comments: async (id, limits, options) => (of(id) ? [] : platform.comments(id, limits, options)),
    watchUrl: (id) => of(id)?.watchUrl(id) ?? platform.watchUrl(id),
    original(type, id) {
      const source = of(id)
      return source ? originalOf(source, type, id) : platform.original(type, id)
    },
    isArtUrl: (url, id = '') => (of(id) ? isWebAddress(url) : platform.isArtUrl(url)),
    async fetchPicture(url, to, signal, id = '') {
      if (!of(id)) return platform.fetchPicture(url, to, signal)
      await writeFile(to, await pictureFrom(url, signal, parts))
    },
  }
  return { ...platform, ...routed }
}

/**
 * The name and page of a video or channel. A failure is recorded for the plugin, and lists are shown without the link.
 */
function originalOf(source: Source, type: 'video' | 'channel', id: string): Original | undefined {
  try {
    const url: unknown = type === 'video' ? source.watchUrl(id) : source.channelUrl?.(id)
    return typeof url === 'string' && isWebAddress(url) ? { platform_name: source.name, platform_url: url } : undefined
  } catch {
    return undefined
  }
}

const isWebAddress = (text: string): boolean =>
  URL.canParse(text) && ['http:', 'https:'].includes(new URL(text).protocol)

/** Fetches a picture with `app.fetch`. @throws Error  the reason; nothing waits for a picture */
async function pictureFrom(url: string, signal: AbortSignal, { fetch }: SourceParts): Promise<Buffer> {
  if (!fetch) throw new Error('pictures of further platforms cannot be fetched')
  try {
    const reply = await fetch(url, { signal, maxBytes: MOST_PICTURE_BYTES })
    if (reply.status !== 200) throw new Error(`the answer has status ${reply.status}`)
    return Buffer.from(await reply.arrayBuffer())
  } catch (cause) {
    signal.throwIfAborted()
    throw new Error((cause as Error).message, { cause })
  }
}

/** Runs the asks of further platforms: a turn in the lane, and conversion of failures. */
function openAsking({ lanes, lookUps }: SourceParts) {
  return async function answerOf<Answer>(
    { name }: Source,
    inLane: 'platform' | 'download',
    id: string,
    options: AskOptions,
    ask: (ask: SourceAsk) => Promise<Answer>,
  ): Promise<Answer> {
    const { signal = new AbortController().signal } = options
    const leave = options.isUrgent ? lookUps.enter(options.account) : undefined
    const [lane, turn] = turnOf(inLane, { ...options, signal }, URGENT_MS)
    try {
      return await lanes.turn(lane, turn, () =>
        ask({ signal }).catch((error: unknown) => {
          signal.throwIfAborted()
          throw toFailure(error, name, id)
        }),
      )
    } finally {
      leave?.()
    }
  }
}

function toFailure(error: unknown, name: string, id: string): Error {
  if (error instanceof NoRoom) return errors.unavailable(error.words)
  if (isAppError(error, 'not_found'))
    return new PlatformFailure({ failure: 'gone', message: `${name} no longer has ${id}` }, { cause: error })
  const message = `${name}: ${error instanceof Error ? error.message : String(error)}`
  return new PlatformFailure({ failure: 'unknown', message }, { cause: error })
}

const within = <Answer>(clock: Clock, answer: Promise<Answer>): Promise<Answer> =>
  withinTime(clock, ANSWER_WITHIN_MS, answer, () => new Error(`no answer within ${ANSWER_WITHIN_MS / 1000} s`))
