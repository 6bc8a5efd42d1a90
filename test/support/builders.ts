/** Builds complete, valid documents for tests; a test names only the fields that it is about. */
import type { ChannelDoc } from '../../plugins/channel/schema.ts'
import type { NewItem } from '../../plugins/download/add.ts'
import type { DownloadDoc } from '../../plugins/download/schema.ts'
import type { DownloadReceipt } from '../../plugins/platform/types.ts'
import type { PlaylistDoc } from '../../plugins/playlist/schema.ts'
import type { CommentDoc, SubtitleDoc, VideoDoc } from '../../plugins/video/schema.ts'

/** A document and its collection. */
export interface Given {
  index: string
  id: string
  doc: Record<string, unknown>
}

/** 2026-01-10T12:00:00Z, some days before the start of the test clock. */
const LATELY = 1_768_046_400
const LATELY_DAY = '2026-01-10'

/** The given fields replace top-level fields of the document. */
export function aChannel({ id = 'UC1', ...fields }: { id?: string } & Partial<ChannelDoc> = {}): Given {
  const doc: ChannelDoc = {
    channel_id: id,
    channel_name: `Channel ${id}`,
    channel_subscribed: false,
    channel_active: true,
    channel_description: '',
    channel_subs: 0,
    channel_views: 0,
    channel_tags: [],
    channel_tabs: ['videos'],
    channel_last_refresh: LATELY_DAY,
    channel_thumb_url: `/cache/channels/${id}_thumb.jpg`,
    channel_banner_url: `/cache/channels/${id}_banner.jpg`,
    channel_tvart_url: `/cache/channels/${id}_tvart.jpg`,
    channel_overwrites: {},
    refreshed_at: LATELY,
    ...fields,
  }
  return { index: 'channel', id, doc }
}

/** `player` and `stats` are merged, so that a test may say `player: { duration: 200 }`. */
export function aVideo({
  id = 'v1',
  channelId = 'UC1',
  player,
  stats,
  ...fields
}: {
  id?: string
  channelId?: string
  player?: Partial<VideoDoc['player']>
  stats?: Partial<VideoDoc['stats']>
} & Partial<Omit<VideoDoc, 'player' | 'stats'>> = {}): Given {
  const doc: VideoDoc = {
    platform_id: id,
    active: true,
    title: `Video ${id}`,
    description: '',
    category: [],
    tags: [],
    vid_type: 'videos',
    published: LATELY_DAY,
    date_downloaded: LATELY,
    vid_last_refresh: LATELY_DAY,
    vid_thumb_url: `/cache/videos/${id[0]!.toLowerCase()}/${id}.jpg`,
    vid_thumb_base64: false,
    media_url: `/media/${channelId}/${id}.mp4`,
    media_size: 1_000_000,
    playlist: [],
    stats: { view_count: 0, like_count: 0, dislike_count: 0, average_rating: 0, ...stats },
    streams: [],
    subtitles: [],
    channel_id: channelId,
    refreshed_at: LATELY,
    width: 1280,
    height: 720,
    ...fields,
    // Last, because the part of each account is appended to the stored text inside this object.
    player: { duration: 100, duration_str: '1m 40s', ...player },
  }
  return { index: 'video', id, doc }
}

/** In the stored form; by default, the best offered quality was downloaded. */
export const aReceipt = (
  quality: NonNullable<VideoDoc['receipt']>['quality'] = 'best',
  { offered = 1080, got = offered }: { offered?: number; got?: number } = {},
): NonNullable<VideoDoc['receipt']> => ({
  quality,
  date: LATELY,
  downloader: '2026.10.26',
  offered: { height: offered, video_codecs: [], audio_codecs: [], audio_languages: [], subtitles: [], clients: [] },
  got: { height: got, formats: ['248', '140'] },
  allowed_height: offered,
  warnings: [],
})

/** In the stored form; due in a week, not retried yet. */
export const aDegraded = (
  changes: Partial<NonNullable<VideoDoc['degraded']>> = {},
): NonNullable<VideoDoc['degraded']> => ({
  reasons: ['protocol'],
  since: LATELY,
  tries: 0,
  next_try: LATELY + 604_800,
  tried_with: '2026.10.26',
  ...changes,
})

/** A subtitle fragment of a video: what is said in its first seconds. */
export function aFragment({
  platform_id = 'v1',
  subtitle_lang = 'en',
  id = `${platform_id}-${subtitle_lang}-1`,
  ...fields
}: { id?: string } & Partial<SubtitleDoc> = {}): Given {
  const doc: SubtitleDoc = {
    platform_id,
    subtitle_fragment_id: id,
    subtitle_index: 1,
    subtitle_line: 'harbour',
    subtitle_start: '00:00:00.000',
    subtitle_end: '00:00:05.000',
    subtitle_lang,
    subtitle_source: 'user',
    subtitle_last_refresh: 1_768_000_000,
    date_downloaded: LATELY,
    channel_id: 'UC1',
    ...fields,
  }
  return { index: 'subtitle', id, doc }
}

/** All comments of a video, in the searchable form. */
export function someComments(videoId: string, threads: Array<{ comment_id: string; [more: string]: unknown }>): Given {
  const doc: CommentDoc = {
    platform_id: videoId,
    comment_last_refresh: 1_768_000_000,
    comment_comments: threads,
    searchable: true,
  }
  return { index: 'comment', id: videoId, doc }
}

/** In the form of an older version. */
export const notSearchable = ({ doc, ...given }: Given): Given => ({ ...given, doc: { ...doc, searchable: undefined } })

/** @param entries  ids of its videos, in order; or objects, if a test needs other fields of the entries */
export function aPlaylist({
  id = 'PL1',
  entries = [],
  ...fields
}: {
  id?: string
  entries?: Array<string | Partial<PlaylistDoc['playlist_entries'][number]>>
} & Partial<PlaylistDoc> = {}): Given {
  const doc: PlaylistDoc = {
    playlist_id: id,
    playlist_type: 'regular',
    playlist_name: `Playlist ${id}`,
    playlist_description: '',
    playlist_channel: 'Channel UC1',
    playlist_channel_id: 'UC1',
    playlist_subscribed: false,
    playlist_active: true,
    playlist_last_refresh: LATELY_DAY,
    playlist_thumbnail: `/cache/playlists/${id}.jpg`,
    playlist_sort_order: 'top',
    playlist_entries: entries.map((entry, idx) => ({
      platform_id: `v${idx + 1}`,
      title: 'Video',
      uploader: null,
      idx,
      downloaded: false,
      ...(typeof entry === 'string' ? { platform_id: entry, title: `Video ${entry}` } : entry),
    })),
    refreshed_at: LATELY,
    ...fields,
  }
  return { index: 'playlist', id, doc }
}

/** A pending queue item. */
export function aQueued({ id = 'q1', ...fields }: { id?: string } & Partial<DownloadDoc> = {}): Given {
  const doc: DownloadDoc = {
    platform_id: id,
    status: 'pending',
    auto_start: false,
    title: `Video ${id}`,
    channel_id: 'UC1',
    channel_name: 'Channel UC1',
    channel_indexed: true,
    duration: '1s',
    published: LATELY_DAY,
    timestamp: LATELY,
    vid_type: 'videos',
    vid_thumb_url: `/cache/videos/${id[0]!.toLowerCase()}/${id}.jpg`,
    position: LATELY * 1_000_000,
    ...fields,
  }
  return { index: 'download', id, doc }
}

/** What is known about a video before it is added to the queue. */
export const aNewItem = (id: string, fields: Partial<NewItem> = {}): NewItem => ({
  id,
  title: `Video ${id}`,
  channelId: 'UC1',
  channelName: 'Channel UC1',
  durationSeconds: 500,
  published: LATELY_DAY,
  vidType: 'videos',
  ...fields,
})

/** The receipt of a download in the best offered quality. */
export const aDownloadReceipt = (changes: Partial<DownloadReceipt> = {}): DownloadReceipt => ({
  downloader: '2026.10.26',
  offered: {
    height: 1080,
    videoCodecs: ['h264', 'vp9'],
    audioCodecs: ['aac', 'opus'],
    audioLanguages: ['en'],
    originalLanguage: 'en',
    subtitles: ['en'],
    clients: ['TVHTML5'],
  },
  got: { height: 1080, videoCodec: 'vp9', audioCodec: 'opus', audioLanguage: 'en', formats: ['248', '251'] },
  allowedHeight: 1080,
  isForeign: false,
  warnings: [],
  doubts: [],
  ...changes,
})
