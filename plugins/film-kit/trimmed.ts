/**
 * Reduces yt-dlp's information to the keys that are used, in limited lengths: the file lists every format, comment and
 * translated caption, and is not trusted.
 */
import type { Info } from './types.ts'

const USED_KEYS = [
  'id',
  'title',
  'description',
  'channel_id',
  'channel',
  'uploader',
  'uploader_id',
  'channel_url',
  'uploader_url',
  'timestamp',
  'release_timestamp',
  'upload_date',
  'release_date',
  'duration',
  'tags',
  'categories',
  'chapters',
  'view_count',
  'like_count',
  'average_rating',
  'thumbnails',
  'live_status',
  'was_live',
  'media_type',
  'webpage_url',
  'extractor',
  'extractor_key',
  '_type',
  'epoch',
  'vcodec',
  'acodec',
  'width',
  'height',
  'vbr',
  'abr',
  'tbr',
  'playlist_id',
  // Only catalogs set this key.
  'is_gone',
]
const LONGEST = 100_000
const MOST_ITEMS = 1000

const short = (value: unknown): unknown =>
  typeof value === 'string'
    ? value.slice(0, LONGEST)
    : Array.isArray(value)
      ? value.slice(0, MOST_ITEMS).map(flat)
      : typeof value === 'object'
        ? undefined
        : value
const flat = (value: unknown): unknown =>
  value && typeof value === 'object'
    ? Object.fromEntries(
        Object.entries(value)
          .slice(0, 20)
          .filter(([, one]) => typeof one !== 'object')
          .map(([key, one]) => [key, short(one)]),
      )
    : short(value)

/** Keeps the used keys and cuts long values. */
export const trimmed = (info: Info): Info =>
  Object.fromEntries(USED_KEYS.filter((key) => Object.hasOwn(info, key)).map((key) => [key, short(info[key])]))

/** Maximum number of comments, because all of them are in memory at once, and nobody reads more. */
const MOST_COMMENTS = 10_000
const LONGEST_COMMENT = 10_000

/** Keeps only flat values, and cuts long ones. */
export const trimmedComments = (comments: unknown): unknown[] =>
  Array.isArray(comments) ? comments.slice(0, MOST_COMMENTS).map((one) => cut(flat(one))) : []

const cut = (comment: unknown): unknown =>
  comment && typeof comment === 'object' && 'text' in comment && typeof comment.text === 'string'
    ? { ...comment, text: comment.text.slice(0, LONGEST_COMMENT) }
    : comment
