/** The interface of a further platform that a plugin brings (hook `platform.source`), and the checks of its answers. */
import { faultIn, isBlank, type Static, type TSchema, Type, Value } from 'archivolt'
import type {
  ChannelMetadata,
  DownloadProgress,
  ListEntry,
  QualityWish,
  Target,
  VideoMetadata,
  VideoType,
} from './types.ts'

const Text = (maxLength: number) => Type.String({ maxLength })
const Texts = Type.Array(Text(500), { maxItems: 500, default: [] })
const VideoTypes = Type.Enum(['videos', 'streams', 'shorts'], { default: 'videos' })
const Seconds = Type.Number({ minimum: 0, maximum: 10_000_000 })
const Count = Type.Optional(Type.Integer({ minimum: 0 }))
const WebAddress = Type.String({ pattern: '^https?://', maxLength: 2000 })

const Video = Type.Object({
  id: Text(128),
  title: Text(1000),
  channelId: Text(128),
  channelName: Text(500),
  /** YYYY-MM-DD */
  published: Type.String({ pattern: '^\\d{4}-\\d{2}-\\d{2}$' }),
  durationSeconds: Seconds,
  vidType: VideoTypes,
  description: Type.String({ maxLength: 100_000, default: '' }),
  tags: Texts,
  categories: Texts,
  viewCount: Count,
  likeCount: Count,
  /** Address of a picture. */
  thumbnail: Type.Optional(WebAddress),
})
const Channel = Type.Object({
  id: Text(128),
  name: Text(500),
  description: Type.String({ maxLength: 100_000, default: '' }),
  tags: Texts,
  subscribers: Count,
  views: Count,
  tabs: Type.Array(VideoTypes, { default: ['videos'] }),
  /** Addresses of pictures: a square one, and two wide ones, for the page and for televisions. */
  art: Type.Object(
    { thumb: Type.Optional(WebAddress), banner: Type.Optional(WebAddress), tvart: Type.Optional(WebAddress) },
    { default: {} },
  ),
})
const Entry = Type.Object({
  id: Text(128),
  title: Text(1000),
  durationSeconds: Type.Optional(Seconds),
  vidType: VideoTypes,
  /** Address of a picture, for the queue. */
  thumbnail: Type.Optional(WebAddress),
  /** Upcoming or live now. */
  isPending: Type.Boolean({ default: false }),
})
const Subtitle = Type.Object({
  lang: Type.String({ pattern: '^[A-Za-z0-9-]{1,35}$' }),
  name: Text(100),
  source: Type.Enum(['user', 'auto'], { default: 'user' }),
  url: Type.String({ maxLength: 2000, default: '' }),
})
export const Files = Type.Object({ subtitles: Type.Array(Subtitle, { maxItems: 500, default: [] }) })

/** The answer as a plugin writes it: only the needed keys are required, because all others have defaults. */
type Said<Whole, Needed extends keyof Whole> = Pick<Whole, Needed> & Partial<Whole>

export interface SourceAsk {
  /** Aborted when the answer is no longer needed. */
  signal: AbortSignal
}

/**
 * A further platform. Throw `errors.notFound` for something that no longer exists; any other error is retried a few
 * times.
 */
export interface Source {
  /** Its name for people. */
  name: string
  /** Prefix of all its ids, which are longer than 11 characters: lower-case letters and digits, then `-`. */
  prefix: string
  /** Recognizes a pasted address or id by its form alone. */
  target(word: string): Target | undefined
  /** The page of a video on the platform, for links; called for each shown record. */
  watchUrl(videoId: string): string
  /** The page of a channel on the platform. */
  channelUrl?(channelId: string): string
  video(
    id: string,
    ask: SourceAsk,
  ): Promise<Said<Static<typeof Video>, 'id' | 'title' | 'channelId' | 'channelName' | 'published' | 'durationSeconds'>>
  channel(id: string, ask: SourceAsk): Promise<Said<Static<typeof Channel>, 'id' | 'name'>>
  /** Videos of a channel, the newest first, page by page from 0; an empty page is the end. */
  list(
    channelId: string,
    ask: SourceAsk & { tab: VideoType; page: number },
  ): Promise<Array<Said<Static<typeof Entry>, 'id' | 'title'>>>
  /**
   * Writes the film to the folder as `<id>.mp4`, sound only as `<id>.m4a`, an optional picture as `<id>.jpg`, and
   * subtitles as `<id>.<language>.vtt`. May continue files of an earlier attempt.
   */
  download(
    id: string,
    ask: SourceAsk & { folder: string; quality?: QualityWish; progress(progress: DownloadProgress): void },
  ): Promise<{ subtitles?: Array<Said<Static<typeof Subtitle>, 'lang' | 'name'>> } | undefined>
}

const PREFIX = /^[a-z][a-z0-9]*-$/
const ID = /^[A-Za-z0-9_-]{12,128}$/
/** @throws Error  a sentence: invalid or conflicting id prefixes */
export function checkSources(sources: readonly Source[]): void {
  const prefixes = new Set<string>()
  for (const { name, prefix } of sources) {
    if (!PREFIX.test(prefix))
      throw new Error(
        `The prefix of the ids of ${name} must be lower-case letters and digits, followed by -, not ${prefix}`,
      )
    if (prefixes.has(prefix)) throw new Error(`Two platforms have ids that begin with ${prefix}; remove one of them`)
    prefixes.add(prefix)
  }
}

export const sourceOf = (id: string, sources: readonly Source[]): Source | undefined =>
  ID.test(id) ? sources.find(({ prefix }) => id.startsWith(prefix)) : undefined

/** @throws Error  a sentence about the fault in the answer */
export function checked<Schema extends TSchema>(schema: Schema, said: unknown, { name }: Source): Static<Schema> {
  const filled = Value.Clean(schema, Value.Default(schema, structuredClone(said)))
  const fault = faultIn(schema, filled)
  if (fault !== undefined) throw new Error(`the plugin of ${name} returned an invalid value: ${fault}`)
  return filled as Static<Schema>
}

function checkOwn({ name, prefix }: Source, id: string): void {
  if (!ID.test(id) || !id.startsWith(prefix))
    throw new Error(`an id of ${name} must begin with ${prefix} and have more than 11 characters: ${id} is not one`)
}

export function toMetadata(source: Source, id: string, said: unknown): VideoMetadata {
  const video = checked(Video, said, source)
  if (video.id !== id) throw new Error(`${source.name} was asked for ${id} but returned ${video.id}`)
  checkOwn(source, video.channelId)
  const { thumbnail, title, channelName, ...rest } = video
  const thumbnails = thumbnail === undefined ? [] : [{ url: thumbnail }]
  const names = {
    title: isBlank(title) ? undefined : title,
    channelName: isBlank(channelName) ? video.channelId : channelName,
  }
  return { ...rest, ...names, chapters: [], thumbnails, subtitles: { user: [], auto: [] } }
}

export function toChannel(source: Source, id: string, said: unknown): ChannelMetadata {
  const channel = checked(Channel, said, source)
  if (channel.id !== id) throw new Error(`${source.name} was asked for ${id} but returned ${channel.id}`)
  return { ...channel, name: isBlank(channel.name) ? undefined : channel.name }
}

export function toEntries(source: Source, said: unknown): ListEntry[] {
  const entries = checked(Type.Array(Entry, { maxItems: 1000 }), said, source)
  for (const { id } of entries) checkOwn(source, id)
  return entries.map((entry) => ({ ...entry, title: isBlank(entry.title) ? entry.id : entry.title }))
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked about everything whose id has the prefix of this further platform. */
    'platform.source': Source
  }
}
