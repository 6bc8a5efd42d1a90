/** Previews ids and links before anything is queued: title, picture, number of videos and size, from the platform. */
import { type AppError, type Clock, defineRoute, errors, Type } from 'archivolt'
import type { AskOptions, Target, Thumbnail, VideoType } from '../platform/types.ts'
import type { App } from './app.ts'

const LONGEST_TEXT = 500
const CACHED_MS = 600_000
/** Maximum number of cached previews, which together take one or two megabytes with their pictures. */
const MOST_CACHED = 60
/** Number of a playlist's videos that are examined; the total size is extrapolated from them. */
const MOST_ENTRIES = 200
/** The platform's page size: a shorter page is the last. */
const PAGE = 30
const PICTURE_WIDTH = 320
/** 2.5 Mbit/s, as the platform's Full HD: used if the archive has too few videos to compare. */
const USUAL_BYTES_A_SECOND = 312_500
const ENOUGH_VIDEOS = 5

const Count = Type.Integer({ minimum: 0 })
const PreviewReply = Type.Object({
  type: Type.Enum(['video', 'channel', 'playlist']),
  id: Type.String({ description: 'of a channel: always its id, even if a handle was sent' }),
  title: Type.String(),
  channel_name: Type.Optional(Type.String({ description: 'only of a video or playlist' })),
  count: Count,
  is_more: Type.Optional(
    Type.Boolean({ description: 'there are more videos: `count`, `duration` and `bytes` are minimum values' }),
  ),
  duration: Type.Optional(
    Type.Integer({ description: 'total duration of the videos, in seconds; omitted if unknown' }),
  ),
  bytes: Type.Optional(Type.Integer({ description: 'estimated size on disk, from the duration' })),
  picture: Type.Optional(Type.String({ description: 'a JPEG, 320 pixels wide, as a data URL' })),
})

interface Seen {
  id: string
  title: string
  channelName?: string | null
  count: number
  isMore?: true
  durationSeconds?: number
  pictureUrl?: string | undefined
}
type Preview = Omit<Seen, 'pictureUrl'> & { type: Target['type']; picture?: Buffer | undefined }

export const previewText = defineRoute({
  method: 'GET',
  path: '/api/resolve/look/',
  access: 'downloader',
  summary: 'Preview of an id or link: title, picture, number of videos and duration, from the platform',
  query: { q: Type.Optional(Type.String({ maxLength: LONGEST_TEXT, description: 'one id, handle or URL; required' })) },
  reply: PreviewReply,
  errors: ['bad_request', 'unprocessable', 'throttled', 'unavailable'],
  async handle({ query: { q = '' }, actor, signal }, app: App) {
    const targets = app.platform.targets(q)
    const [target] = targets
    if (!target || targets.length > 1)
      throw errors.badRequest('q must be one id, handle or URL', { fields: { q: 'must be one id, handle or URL' } })
    const preview = await app.linkPreviews.of(target, { asker: 'preview', isUrgent: true, account: actor.id, signal })
    const { type, id, title, channelName, count, isMore, durationSeconds, picture } = preview
    const bytes = durationSeconds === undefined ? undefined : await app.linkPreviews.bytesOf(durationSeconds)
    return {
      ...{ type, id, title, count },
      ...(channelName && { channel_name: channelName }),
      is_more: isMore,
      duration: durationSeconds,
      bytes,
      picture: picture && `data:image/jpeg;base64,${picture.toString('base64')}`,
    }
  },
})

export interface LinkPreviews {
  /** @throws unprocessable: the platform's reason; throttled; unavailable */
  of(target: Target, asked: AskOptions): Promise<Preview>
  /** The estimated size for a duration, from the archive's own films. */
  bytesOf(seconds: number): Promise<number>
}

export function openLinkPreviews(app: App): LinkPreviews {
  const cached = openCache<Preview>(app.clock)
  const rate = openCache<number>(app.clock)

  async function fetchPreview(target: Target, asked: AskOptions): Promise<Preview> {
    const { pictureUrl, ...seen } = await see(target, asked, app)
    // Unavailable pictures are left out, because the rest is sufficient.
    const picture = pictureUrl && (await app.media.fetchSmall(seen.id, pictureUrl, asked.signal).catch(() => undefined))
    return { ...seen, type: target.type, ...(picture && { picture }) }
  }

  return {
    async of(target, asked) {
      const key = JSON.stringify(target)
      const known = cached.get(key)
      if (known) return known
      try {
        const found = await fetchPreview(target, asked)
        cached.set(key, found)
        return found
      } catch (thrown) {
        const failure = app.platform.failureOf(thrown)
        throw failure ? refusal(failure) : thrown
      }
    },

    async bytesOf(seconds) {
      let bytesASecond = rate.get('')
      if (bytesASecond === undefined) {
        const [all] = await app.videos.collection.aggregate({ sums: ['media_size', 'duration'] })
        const { media_size: bytes = 0, duration = 0 } = all?.sums ?? {}
        const isEnough = (all?.count ?? 0) >= ENOUGH_VIDEOS && bytes > 0 && duration > 0
        bytesASecond = isEnough ? bytes / duration : USUAL_BYTES_A_SECOND
        rate.set('', bytesASecond)
      }
      return Math.round(seconds * bytesASecond)
    },
  }
}

const refusal = (failure: Error): AppError => errors.unprocessable(failure.message, { cause: failure })

async function see(target: Target, asked: AskOptions, app: App): Promise<Seen> {
  if (target.type === 'video') return seeVideo(target.id, asked, app)
  if (target.type === 'playlist') return seePlaylist(target.id, asked, app)
  return seeChannel(target.id, target.tab, asked, app)
}

async function seeVideo(id: string, asked: AskOptions, { platform }: App): Promise<Seen> {
  const { title, channelName, durationSeconds, thumbnails } = await platform.video(id, asked)
  return {
    ...{ id, title: title ?? id, channelName, count: 1, pictureUrl: narrowEnough(thumbnails) },
    ...(durationSeconds > 0 && { durationSeconds }),
  }
}

/** The smallest thumbnail that is wide enough, otherwise the best, which is last. */
function narrowEnough(thumbnails: readonly Thumbnail[]): string | undefined {
  const wide = thumbnails.filter(({ width = 0 }) => width >= PICTURE_WIDTH)
  const [smallest] = wide.toSorted((one, other) => one.width! - other.width!)
  return (smallest ?? thumbnails.at(-1))?.url
}

async function seePlaylist(id: string, asked: AskOptions, { platform }: App): Promise<Seen> {
  const { name, channelName, thumbnail, count, entries } = await platform.playlist(id, { ...asked, most: MOST_ENTRIES })
  const there = entries.slice(0, MOST_ENTRIES).filter(({ isThere }) => isThere)
  const isCut = entries.length >= MOST_ENTRIES && count !== entries.length
  const total = isCut && count !== undefined ? Math.max(count, there.length) : there.length
  return {
    ...{ id, title: name ?? id, channelName, count: total },
    ...(isCut && count === undefined && { isMore: true as const }),
    ...lengthOf(there, total),
    pictureUrl: thumbnail ?? there.find((entry) => entry.thumbnail)?.thumbnail,
  }
}

/** Previews all tabs of a channel, or one, from the first page of each. */
async function seeChannel(
  idOrHandle: string,
  tab: VideoType | undefined,
  asked: AskOptions,
  { platform }: App,
): Promise<Seen> {
  const { id, name, art, tabs } = await platform.channel(idOrHandle, asked)
  // A preview counts as one look-up, whatever the number of pages.
  const { account: _counted, ...further } = asked
  let count = 0
  let isMore = false
  let seconds = 0
  for (const one of tab ? [tab] : tabs) {
    for await (const entries of platform.list(id, one, further)) {
      count += entries.length
      isMore ||= entries.length >= PAGE
      seconds += lengthOf(entries, entries.length).durationSeconds ?? 0
      break
    }
  }
  return {
    ...{ id, title: name ?? id, count, pictureUrl: art.thumb },
    ...(isMore && { isMore: true as const }),
    ...(seconds > 0 && { durationSeconds: seconds }),
  }
}

/** The total duration, extrapolated from videos with a known duration. */
function lengthOf(entries: ReadonlyArray<{ durationSeconds?: number }>, total: number): Pick<Seen, 'durationSeconds'> {
  const known = entries.flatMap(({ durationSeconds }) => durationSeconds ?? [])
  const sum = known.reduce((all, one) => all + one, 0)
  return known.length === 0 ? {} : { durationSeconds: Math.round((sum / known.length) * total) }
}

function openCache<Value>(clock: Clock) {
  const entries = new Map<string, { value: Value; atMs: number }>()
  return {
    get(key: string): Value | undefined {
      const found = entries.get(key)
      return found && clock.steady() - found.atMs < CACHED_MS ? found.value : undefined
    },
    set(key: string, value: Value): void {
      entries.delete(key)
      entries.set(key, { value, atMs: clock.steady() })
      if (entries.size > MOST_CACHED) entries.delete(entries.keys().next().value!)
    },
  }
}
