/** The video as stored and shown (contract 5.1), its comments and subtitle fragments. */
import { type Collection, type DocOf, defineIndex, localDay, type NamesOf, type Static, Type } from 'archivolt'
import { Degraded, Receipt } from './receipt.ts'

const Stream = Type.Object({
  type: Type.Enum(['video', 'audio']),
  index: Type.Integer(),
  codec: Type.String(),
  bitrate: Type.Integer(),
  width: Type.Optional(Type.Integer()),
  height: Type.Optional(Type.Integer()),
})

const Subtitle = Type.Object({
  ext: Type.Literal('vtt'),
  lang: Type.String(),
  name: Type.String(),
  source: Type.Enum(['user', 'auto', 'file']),
  url: Type.String(),
  media_url: Type.String(),
})

const Segment = Type.Object({
  UUID: Type.String(),
  actionType: Type.String(),
  category: Type.String(),
  segment: Type.Array(Type.Number()),
  locked: Type.Integer(),
  votes: Type.Integer(),
  videoDuration: Type.Number(),
})

const SegmentList = Type.Object({
  is_enabled: Type.Boolean(),
  last_refresh: Type.Optional(Type.Integer()),
  has_unlocked: Type.Boolean(),
  segments: Type.Array(Segment),
})

const Chapter = Type.Object({
  /** Seconds. */
  start: Type.Number(),
  title: Type.String(),
})

export const LOSSES = ['removed', 'violation', 'copyright', 'account', 'private', 'unavailable'] as const
export type Loss = (typeof LOSSES)[number]

const Lost = Type.Object(
  {
    date: Type.Integer({ description: 'epoch seconds: when this was first noticed' }),
    kind: Type.Enum(LOSSES),
    again: Type.Optional(
      Type.String({ description: 'id of a video with the same title and length that the channel has uploaded since' }),
    ),
  },
  { description: 'set if the platform no longer has the video: then this is the only copy' },
)

const Cut = Type.Object(
  {
    duration: Type.Integer({ description: 'seconds, on the platform' }),
    date: Type.Integer({ description: 'epoch seconds: when this was noticed' }),
  },
  { description: 'set if its length on the platform differs from its length here' },
)

const DeArrow = Type.Object(
  {
    title: Type.Optional(
      Type.String({ description: 'the best title that viewers propose, if it differs from the title on the platform' }),
    ),
    thumbnail: Type.Optional(Type.Number({ description: 'seconds: the moment that they propose for the thumbnail' })),
    last_refresh: Type.Integer({ description: 'epoch seconds' }),
  },
  { description: 'data about it from the community service DeArrow; omitted if it was not asked' },
)

/** The caller's data in a record, at the end of its `player`. */
export const VideoTail = Type.Object({
  watched: Type.Boolean(),
  /** Omitted: not watched, or the time is unknown. */
  watched_date: Type.Optional(Type.Integer()),
  /** Seconds. Omitted, with `progress`: no position is stored. */
  position: Type.Optional(Type.Number()),
  /** 0–100. */
  progress: Type.Optional(Type.Number()),
})
export type VideoTail = Static<typeof VideoTail>

/**
 * The document as stored: the reply without the parts that are added to each reply: `channel` (from the channel's own
 * document), the end of `player`, `_index`, `_score`.
 */
export const VideoDoc = Type.Object({
  platform_id: Type.String(),
  active: Type.Boolean(),
  title: Type.String(),
  description: Type.String(),
  category: Type.Array(Type.String()),
  tags: Type.Array(Type.String()),
  vid_type: Type.Enum(['videos', 'streams', 'shorts']),
  published: Type.String(),
  date_downloaded: Type.Integer(),
  vid_last_refresh: Type.String(),
  vid_thumb_url: Type.String(),
  vid_thumb_base64: Type.Literal(false),
  media_url: Type.String(),
  media_size: Type.Integer(),
  comment_count: Type.Optional(Type.Integer()),
  playlist: Type.Array(Type.String()),
  stats: Type.Object({
    view_count: Type.Integer(),
    like_count: Type.Integer(),
    dislike_count: Type.Integer(),
    average_rating: Type.Number(),
  }),
  streams: Type.Array(Stream),
  subtitles: Type.Array(Subtitle),
  sponsorblock: Type.Optional(SegmentList),
  /** In order; omitted if there are none. */
  chapters: Type.Optional(Type.Array(Chapter)),
  /** Omitted: the video was not downloaded by us, or before receipts existed. */
  receipt: Type.Optional(Receipt),
  degraded: Type.Optional(Degraded),
  /** Omitted if false. */
  keep: Type.Optional(Type.Literal(true, { description: 'protected from automatic deletion' })),
  former_titles: Type.Optional(Type.Array(Type.String(), { description: 'its earlier titles on the platform' })),
  lost: Type.Optional(Lost),
  cut: Type.Optional(Cut),
  dearrow: Type.Optional(DeArrow),
  player: Type.Object({
    duration: Type.Integer(),
    duration_str: Type.String(),
  }),
  /** Internal. */
  channel_id: Type.String(),
  /** Internal: epoch seconds of the last refresh. */
  refreshed_at: Type.Integer(),
  /** Internal: size of the largest video stream; 0: none. */
  width: Type.Integer(),
  height: Type.Integer(),
  /** Internal: the picture's address on the platform, for backups and the thumbnail check. */
  art: Type.Optional(Type.String()),
  /** Internal: ids of the accounts that have watched it, copied from the marks in the ledger. */
  watched_by: Type.Optional(Type.Array(Type.String())),
  /**
   * Internal: a mark from a version that had one mark for all accounts, until it is converted to marks. Epoch seconds;
   * 0: unknown time.
   */
  shared_mark: Type.Optional(Type.Integer()),
  /**
   * Internal: a mark of the first admin from a restored backup, until it is converted. Epoch seconds; 0: watched at an
   * unknown time; -1: not watched.
   */
  restored_mark: Type.Optional(Type.Integer()),
})
export type VideoDoc = Static<typeof VideoDoc>

/** The form of documents before each account had its own marks. */
interface Shared {
  watched?: boolean
  watched_date?: number
}

function withOwnMarks(doc: VideoDoc): VideoDoc {
  const { watched, watched_date: at = 0, ...player } = doc.player as VideoDoc['player'] & Shared
  return { ...doc, player, ...(watched === true && { shared_mark: at }) }
}

/** The fields with the ids of a video's channel and playlists. */
export const SEEN = { by: { channel: 'channel_id', playlist: 'playlist' } } as const

export const videoIndex = defineIndex({
  name: 'video',
  doc: VideoDoc,
  newest: 'date_downloaded',
  lastKey: 'player',
  seen: SEEN,
  // Stored days depend on this time zone; marks of accounts are in the ledger.
  form: `${Intl.DateTimeFormat().resolvedOptions().timeZone}, own marks`,
  reform: (doc) => ({ ...withOwnMarks(doc), vid_last_refresh: localDay(doc.refreshed_at) }),
  fields: {
    platform_id: { type: 'keyword', filter: true },
    // Weights in a search of videos only; the search of all kinds has its own (`NAMES` in search/search.ts).
    title: { type: 'text', search: 2, parts: true },
    former_titles: { type: 'keyword', multi: true, search: 1 },
    community_title: { type: 'text', path: 'dearrow.title', search: 2 },
    dearrow_thumbnail: { type: 'double', path: 'dearrow.thumbnail', filter: true },
    dearrow_read_at: { type: 'date', path: 'dearrow.last_refresh', filter: true },
    lost_date: { type: 'date', path: 'lost.date', filter: true, sort: true },
    lost_kind: { type: 'keyword', path: 'lost.kind', filter: true },
    tags: { type: 'keyword', multi: true, search: 1 },
    category: { type: 'keyword', multi: true, search: 1 },
    channel_id: { type: 'keyword', filter: true, internal: true },
    playlist: { type: 'keyword', multi: true, filter: true },
    vid_type: { type: 'keyword', filter: true },
    active: { type: 'boolean', filter: true },
    keep: { type: 'boolean', parts: true },
    watched_by: { type: 'keyword', multi: true, filter: true, internal: true },
    shared_mark: { type: 'date', internal: true },
    restored_mark: { type: 'date', internal: true },
    published: { type: 'keyword', filter: true, sort: true },
    date_downloaded: { type: 'date', filter: true, sort: true },
    refreshed_at: { type: 'date', filter: true, sort: true, internal: true },
    view_count: { type: 'long', path: 'stats.view_count', sort: true },
    like_count: { type: 'long', path: 'stats.like_count', sort: true },
    duration: { type: 'long', path: 'player.duration', sort: true },
    media_size: { type: 'long', sort: true },
    media_url: { type: 'keyword' },
    width: { type: 'long', sort: true, internal: true },
    height: { type: 'long', sort: true, filter: true, internal: true },
    art: { type: 'keyword', internal: true },
    segments_read_at: { type: 'date', path: 'sponsorblock.last_refresh', filter: true },
    quality: { type: 'keyword', path: 'receipt.quality', filter: true },
    offered_height: { type: 'long', path: 'receipt.offered.height', filter: true },
    degraded_reason: { type: 'keyword', multi: true, path: 'degraded.reasons', filter: true },
    degraded_next: { type: 'date', path: 'degraded.next_try', filter: true, sort: true },
    degraded_with: { type: 'keyword', path: 'degraded.tried_with', filter: true },
  },
  lists: [['published'], ['channel_id', 'published'], ['watched_by', 'published'], ['vid_type', 'published']],
  covers: [
    ['vid_type', 'active', 'media_size', 'duration'],
    ['channel_id', 'media_size', 'duration'],
    ['date_downloaded', 'media_size', 'duration'],
    ['quality', 'media_size', 'duration'],
  ],
})

/** All comments of a video as in the reply: roots with their replies. One document per video, with its id. */
export const CommentDoc = Type.Object({
  platform_id: Type.String(),
  comment_last_refresh: Type.Integer(),
  comment_comments: Type.Array(Type.Object({ comment_id: Type.String() }, { additionalProperties: true })),
  /** Internal: set when each comment has its document in `comment_text`. */
  searchable: Type.Optional(Type.Literal(true)),
})
export type CommentDoc = Static<typeof CommentDoc>

export const commentIndex = defineIndex({
  name: 'comment',
  doc: CommentDoc,
  lastKey: 'comment_comments',
  seen: { with: 'video', id: 'platform_id' },
  fields: {
    platform_id: { type: 'keyword', filter: true },
    searchable: { type: 'boolean', filter: true, internal: true },
  },
})

/** A single comment, for the search. Id: `<video>-<number>`. */
export const CommentTextDoc = Type.Object({
  platform_id: Type.String(),
  comment_id: Type.String(),
  comment_author: Type.String(),
  comment_text: Type.String(),
  comment_timestamp: Type.Integer(),
  comment_likecount: Type.Integer(),
  /** Internal. */
  channel_id: Type.String(),
})
export type CommentTextDoc = Static<typeof CommentTextDoc>

export const commentTextIndex = defineIndex({
  name: 'comment_text',
  doc: CommentTextDoc,
  derived: true,
  seen: { with: 'video', id: 'platform_id', near: { channel: 'channel_id' } },
  newest: 'comment_timestamp',
  fields: {
    platform_id: { type: 'keyword', filter: true },
    comment_author: { type: 'text', search: 1, stem: false },
    comment_text: { type: 'text', search: 1 },
    comment_timestamp: { type: 'date', sort: true },
    channel_id: { type: 'keyword', filter: true, internal: true },
  },
})

/**
 * Five cues of one language (contract 5.7); the reply adds the video's title and channel. Id: `<video>-<lang>-<index>`.
 */
export const SubtitleDoc = Type.Object({
  platform_id: Type.String(),
  subtitle_fragment_id: Type.String(),
  subtitle_index: Type.Integer(),
  subtitle_line: Type.String(),
  subtitle_start: Type.String(),
  subtitle_end: Type.String(),
  subtitle_lang: Type.String(),
  subtitle_source: Type.String(),
  subtitle_last_refresh: Type.Integer(),
  /** Internal: when the video was archived, for "newest first". */
  date_downloaded: Type.Integer(),
  /** Internal. */
  channel_id: Type.String(),
})
export type SubtitleDoc = Static<typeof SubtitleDoc>

export const subtitleIndex = defineIndex({
  name: 'subtitle',
  doc: SubtitleDoc,
  seen: { with: 'video', id: 'platform_id', near: { channel: 'channel_id' } },
  newest: 'date_downloaded',
  fields: {
    platform_id: { type: 'keyword', filter: true },
    subtitle_line: { type: 'text', search: 1 },
    subtitle_lang: { type: 'keyword', filter: true },
    subtitle_source: { type: 'keyword', filter: true },
    channel_id: { type: 'keyword', filter: true, internal: true },
    date_downloaded: { type: 'date', sort: true, internal: true },
  },
})

export type VideoCollection = Collection<DocOf<typeof videoIndex>, NamesOf<typeof videoIndex>>
export type CommentCollection = Collection<DocOf<typeof commentIndex>, NamesOf<typeof commentIndex>>
export type CommentTextCollection = Collection<DocOf<typeof commentTextIndex>, NamesOf<typeof commentTextIndex>>
export type SubtitleCollection = Collection<DocOf<typeof subtitleIndex>, NamesOf<typeof subtitleIndex>>
