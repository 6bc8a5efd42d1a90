/** Converts a worker's answer to our metadata. All of it is external input: types, lengths and ids are checked here. */
import { ID_PATTERN, isBlank } from 'archivolt'
import { classify, type Evidence, LAST_SHOWN_SECOND } from './classify.ts'
import { PLATFORM } from './name.ts'
import type {
  ChannelMetadata,
  Chapter,
  CommentMetadata,
  ListEntry,
  PlaylistEntryMetadata,
  PlaylistMetadata,
  Thumbnail,
  VideoMetadata,
  VideoType,
} from './types.ts'

type Raw = Record<string, unknown>

const ID = new RegExp(ID_PATTERN)
const LANGUAGE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,40}$/
const URL_START = /^https?:\/\//
const MAX_TITLE = 500
const MAX_TEXT = 20_000
const MAX_URL = 2000
/** Control characters except tab and line feed. */
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f]/g
const GONE_TITLES = new Set(['[private video]', '[deleted video]', '[unavailable video]'])
const LIMITED = new Set(['subscriber_only', 'premium_only', 'needs_auth', 'private'])

/** The metadata has no usable video, channel or playlist. */
export class MetadataError extends Error {
  override readonly name = 'MetadataError'
}

function text(value: unknown, maxLength = MAX_TEXT): string {
  if (typeof value !== 'string') return ''
  return value.slice(0, maxLength).replace(CONTROL, ' ').toWellFormed()
}

/** A text without control characters and line breaks, truncated; '' for invisible texts, too. */
export function line(value: unknown, maxLength = MAX_TITLE): string {
  const told = text(value, maxLength).replace(/\s+/g, ' ').trim()
  return isBlank(told) ? '' : told
}

/** A count; 0 also for impossibly high numbers, because the index would refuse the whole document. */
export const count = (value: unknown): number =>
  typeof value === 'number' && value > 0 && value <= Number.MAX_SAFE_INTEGER ? Math.floor(value) : 0
/** A count; undefined: not available, such as hidden likes. */
const countOrNone = (value: unknown): number | undefined => (typeof value === 'number' ? count(value) : undefined)
const time = (value: unknown): number => (count(value) <= LAST_SHOWN_SECOND ? count(value) : 0)
export const rows = (value: unknown): Raw[] =>
  Array.isArray(value) ? value.filter((row): row is Raw => typeof row === 'object' && row !== null) : []
const lines = (value: unknown, most: number): string[] =>
  Array.isArray(value)
    ? value
        .slice(0, most)
        .map((row) => line(row))
        .filter(Boolean)
    : []
export const url = (value: unknown): string =>
  typeof value === 'string' && value.length <= MAX_URL && URL_START.test(value) ? text(value) : ''

export const isId = (value: unknown): value is string => typeof value === 'string' && ID.test(value)

function channelIdOf(value: unknown): string {
  if (!isId(value)) throw new MetadataError(`${PLATFORM} sent no usable id of the channel`)
  return value
}

/** @throws MetadataError */
export function toVideoMetadata(raw: Raw, askedId: string, warnings: string[], nowSeconds: number): VideoMetadata {
  if (raw.id !== askedId) throw new MetadataError(`${PLATFORM} sent a different video`)
  const timestamp = time(raw.timestamp) || time(raw.release_timestamp)
  const liveStatus =
    typeof raw.live_status === 'string' && raw.live_status !== 'not_live' ? line(raw.live_status, 40) : undefined
  const unavailable = unavailability(raw, warnings, nowSeconds)
  if (isPartial(warnings)) throw new MetadataError(`${PLATFORM} sent an incomplete answer: the title is missing`)
  const published = day(raw.upload_date) ?? day(raw.release_date) ?? (timestamp ? isoDay(timestamp) : undefined)
  return {
    id: askedId,
    title: isTitleMadeUp(raw) ? undefined : line(raw.title) || undefined,
    description: text(raw.description),
    channelId: channelIdOf(raw.channel_id),
    channelName: line(raw.channel) || line(raw.uploader) || String(raw.channel_id),
    vidType: vidTypeOf(raw, liveStatus),
    published,
    ...(timestamp && { timestamp }),
    durationSeconds: count(raw.duration),
    tags: lines(raw.tags, 500),
    categories: lines(raw.categories, 50),
    chapters: chaptersOf(raw),
    viewCount: countOrNone(raw.view_count),
    likeCount: countOrNone(raw.like_count),
    averageRating:
      typeof raw.average_rating === 'number' && Number.isFinite(raw.average_rating) ? raw.average_rating : undefined,
    thumbnails: thumbnailsOf(raw),
    subtitles: { user: languages(raw.subtitles), auto: languages(raw.automaticCaptions) },
    ...(liveStatus && { liveStatus }),
    ...availabilityOf(raw),
    ...(line(raw.language, 20) && { language: line(raw.language, 20) }),
    ...heightOf(raw),
    ...(countOrNone(raw.filesize_approx) && { expectedBytes: countOrNone(raw.filesize_approx)! }),
    ...(time(raw.release_timestamp) && liveStatus === undefined && { isPremiere: true }),
    ...(unavailable && { unavailable }),
  }
}

/** While the platform throttles us, its answers have formats and little else, and are not used. */
export const isPartial = (warnings: readonly string[]): boolean =>
  warnings.some((warning) => /failed to obtain "title"/i.test(warning))

/** Whether yt-dlp made the title from the extractor's name and the id, because the page has none. */
const isTitleMadeUp = ({ id, title }: Raw): boolean =>
  typeof title === 'string' && /^\S+ video #/.test(title) && title.endsWith(` #${id}`)

/** Maximum number of chapters: one every twenty seconds of a whole day are fewer. */
const MAX_CHAPTERS = 5000
/** yt-dlp's title for a part between chapters. */
const MADE_UP_CHAPTER = /^<Untitled Chapter \d+>$/

/** Skips chapters without a title or a position. */
function chaptersOf(raw: Raw): Chapter[] {
  const most = count(raw.duration) || LAST_SHOWN_SECOND
  return rows(raw.chapters)
    .slice(0, MAX_CHAPTERS)
    .map(({ start_time: start, title }) => ({ start: Number(start), title: line(title) }))
    .filter(({ start, title }) => title !== '' && !MADE_UP_CHAPTER.test(title) && start >= 0 && start < most)
    .sort((one, other) => one.start - other.start)
}

/** Why a video cannot be downloaded; undefined: it can. Without formats, the warnings say why. */
function unavailability(raw: Raw, warnings: string[], nowSeconds: number): VideoMetadata['unavailable'] {
  if (raw.hasFormats && raw.isNotYet !== true) return undefined
  const { failure, message, availableAt } = classify(noFormats(raw, warnings), nowSeconds)
  return { failure, message, ...(availableAt !== undefined && { availableAt }) }
}

/** The evidence in metadata without formats: the last warning says why. */
export function noFormats(raw: Raw, warnings: string[]): Evidence {
  const isLive = raw.hasFormats === true
  const told = warnings
    .filter(
      (warning) =>
        !/retrying|no video formats found|requested format is not available|failed to obtain "title"/i.test(warning),
    )
    .at(-1)
  return {
    kinds: ['NotPlayable'],
    message: isLive ? 'The stream is live, or just over and being processed' : (told ?? 'No video formats found'),
    liveStatus: typeof raw.live_status === 'string' ? raw.live_status : null,
    availableAt: time(raw.release_timestamp) || null,
    warnings,
  }
}

function vidTypeOf(raw: Raw, liveStatus: string | undefined): VideoType {
  if (raw.media_type === 'short') return 'shorts'
  return raw.media_type === 'livestream' || (liveStatus !== undefined && raw.media_type !== 'video')
    ? 'streams'
    : 'videos'
}

function day(value: unknown): string | undefined {
  const parts = typeof value === 'string' ? /^(\d{4})(\d{2})(\d{2})$/.exec(value) : null
  const date = parts ? `${parts[1]}-${parts[2]}-${parts[3]}` : ''
  return date && !Number.isNaN(Date.parse(date)) ? date : undefined
}

const isoDay = (seconds: number): string => new Date(seconds * 1000).toISOString().slice(0, 10)

function languages(value: unknown): string[] {
  return Array.isArray(value)
    ? value.filter((language): language is string => typeof language === 'string' && LANGUAGE.test(language))
    : []
}

/** Best last, as yt-dlp sorts them. */
function thumbnailsOf(raw: Raw): Thumbnail[] {
  return rows(raw.thumbnails).flatMap((one) => {
    const address = url(one.url)
    if (!address) return []
    return {
      url: address,
      ...(count(one.width) && { width: count(one.width) }),
      ...(count(one.height) && { height: count(one.height) }),
    }
  })
}

/** @throws MetadataError */
export function toChannelMetadata(raw: Raw): ChannelMetadata {
  const pictures = rows(raw.thumbnails)
  const byId = (id: string): string => url(pictures.find((one) => one.id === id)?.url)
  const banners = pictures.filter((one) => count(one.width) > 5 * count(one.height) && count(one.height) > 0)
  const thumb =
    byId('avatar_uncropped') || url(pictures.find((one) => count(one.width) > 0 && one.width === one.height)?.url)
  const banner = url(banners.sort((a, b) => count(a.width) - count(b.width)).at(-1)?.url)
  const tvart = byId('banner_uncropped')
  const handle = line(raw.uploader_id, 200)
  const id = channelIdOf(raw.channel_id ?? raw.id)
  return {
    id,
    name: line(raw.channel) || line(raw.title) || undefined,
    ...(handle.startsWith('@') && { handle }),
    description: text(raw.description),
    tags: lines(raw.tags, 200),
    subscribers: countOrNone(raw.channel_follower_count),
    views: countOrNone(raw.view_count),
    tabs: (['videos', 'streams', 'shorts'] as const).filter((tab) => Array.isArray(raw.tabs) && raw.tabs.includes(tab)),
    art: { ...(thumb && { thumb }), ...(banner && { banner }), ...(tvart && { tvart }) },
  }
}

const isLimited = ({ availability }: Raw): boolean => LIMITED.has(String(availability))

const availabilityOf = ({ availability }: Raw): { availability?: string } =>
  typeof availability === 'string' && availability !== '' ? { availability: line(availability, 40) } : {}

function heightOf({ width, height }: Raw): { height?: number } {
  const side = Math.min(count(width) || Infinity, count(height))
  return side > 0 ? { height: side } : {}
}

/** A row of a tab; undefined: not a video. */
export function toListEntry(value: unknown, tab: VideoType): ListEntry | undefined {
  const raw = value as Raw
  if (!isId(raw?.id)) return undefined
  const thumbnail = url(raw.thumbnail)
  return {
    id: raw.id,
    title: line(raw.title) || raw.id,
    ...(count(raw.duration) && { durationSeconds: count(raw.duration) }),
    vidType: tab,
    ...(thumbnail && { thumbnail }),
    isPending: raw.isNotYet === true,
    ...(isLimited(raw) && { isLimited: true }),
    ...availabilityOf(raw),
  }
}

export function toPlaylistEntry(value: unknown): PlaylistEntryMetadata | undefined {
  const raw = value as Raw
  if (!isId(raw?.id)) return undefined
  const title = line(raw.title)
  const uploader = line(raw.channel) || line(raw.uploader) || null
  const isPlaceholder = uploader === null && (title === '' || GONE_TITLES.has(title.toLowerCase()))
  const thumbnail = url(raw.thumbnail)
  return {
    id: raw.id,
    title: title || raw.id,
    uploader,
    isThere: !isPlaceholder,
    isPending: raw.isNotYet === true,
    ...(isLimited(raw) && { isLimited: true }),
    ...availabilityOf(raw),
    ...(isId(raw.channel_id) && { channelId: raw.channel_id }),
    ...(count(raw.duration) && { durationSeconds: count(raw.duration) }),
    ...(thumbnail && { thumbnail }),
  }
}

export function toPlaylistName(value: unknown): { id: string; name: string } | undefined {
  const raw = value as Raw
  const fromUrl = typeof raw?.url === 'string' ? /[?&]list=([A-Za-z0-9_-]{1,128})/.exec(raw.url)?.[1] : undefined
  const id = isId(raw?.id) ? raw.id : fromUrl
  return id === undefined ? undefined : { id, name: line(raw.title) || id }
}

export function toPlaylistHead(raw: Raw): Omit<PlaylistMetadata, 'id' | 'entries'> {
  const thumbnail = thumbnailsOf(raw).at(-1)?.url
  return {
    name: line(raw.title) || undefined,
    description: text(raw.description),
    channelId: isId(raw.channel_id) ? raw.channel_id : null,
    channelName: line(raw.channel) || null,
    ...(thumbnail && { thumbnail }),
    count: countOrNone(raw.playlist_count),
  }
}

/** Ids of comments may contain dots. */
const COMMENT_ID = /^[A-Za-z0-9_.-]{1,200}$/

export function toComment(value: unknown): CommentMetadata | undefined {
  const raw = value as Raw
  if (typeof raw?.id !== 'string' || !COMMENT_ID.test(raw.id)) return undefined
  return {
    id: raw.id,
    parent: typeof raw.parent === 'string' && COMMENT_ID.test(raw.parent) ? raw.parent : 'root',
    text: text(raw.text),
    timestamp: time(raw.timestamp),
    likeCount: count(raw.like_count),
    isFavorited: raw.is_favorited === true,
    author: line(raw.author),
    authorId: isId(raw.author_id) ? raw.author_id : '',
    authorThumbnail: url(raw.author_thumbnail),
    authorIsUploader: raw.author_is_uploader === true,
  }
}
