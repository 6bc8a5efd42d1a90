/** A small archive for the rows of the API table, with one of everything that they request. */

import { aChannel, aFragment, aPlaylist, aQueued, aVideo, someComments, type TestApp, testApp } from 'archivolt/testing'
import type { Settings } from '../../../config/schema.ts'
import type { DownloadDoc } from '../../../plugins/download/schema.ts'
import { NO_PLATFORM } from '../../platform/start.ts'

export const CHANNEL = 'UCaaaaaaaaaaaaaaaaaaaaaa'
export const OTHER_CHANNEL = 'UCbbbbbbbbbbbbbbbbbbbbbb'
/** A video of the first channel, with comments, subtitles, segments; in both playlists. */
export const VIDEO = 'aB3dE6gH9jK'
/** A video of the first channel; in both playlists. */
export const SECOND = 'bB3dE6gH9jK'
/** A video of the other channel; watched; in no playlist. */
export const THIRD = 'cB3dE6gH9jK'
export const PLAYLIST = 'PLaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
export const CUSTOM = 'av_playlist_00000000-0000-4000-8000-000000000001'
export const PENDING = 'pB3dE6gH9jK'
export const IGNORED = 'iB3dE6gH9jK'
export const PRIORITY = 'rB3dE6gH9jK'
export const FAILED = 'fB3dE6gH9jK'
export const NO_VIDEO = 'xxxxxxxxxxx'
export const NO_CHANNEL = 'UCxxxxxxxxxxxxxxxxxxxxxx'
export const NO_PLAYLIST = 'PLxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx'
export const NO_ID = '00000000-0000-4000-8000-000000000000'

const COMMENT = {
  comment_id: 'c1',
  comment_parent: 'root',
  comment_text: 'Nice',
  comment_timestamp: 1_768_000_000,
  comment_time_text: '2026-01-09',
  comment_likecount: 1,
  comment_is_favorited: false,
  comment_author: '@a',
  comment_author_id: 'UCc',
  comment_author_thumbnail: 'https://img.example/a.jpg',
  comment_author_is_uploader: false,
  comment_replies: [],
}

const item = (id: string, status: DownloadDoc['status'], fields: Partial<DownloadDoc> = {}) =>
  aQueued({
    id,
    status,
    auto_start: status === 'priority',
    title: `Item ${id} bread`,
    channel_id: CHANNEL,
    channel_name: 'Old Mill Bakery',
    duration: '1m 05s',
    published: '2026-01-02',
    timestamp: 1_768_000_000,
    position: 1_768_000_000_000_000,
    ...fields,
  })

/** Creates a new app with complete, valid documents. It cannot reach the platform. */
export async function archive(
  scope: Parameters<typeof testApp>[0],
  isEmpty = false,
  settings: Partial<Settings> = {},
): Promise<TestApp> {
  const app = await testApp(scope, { settings: { ...NO_PLATFORM, ...settings } })
  if (isEmpty) return app
  await app.given(
    aChannel({ id: CHANNEL, channel_name: 'Old Mill Bakery', channel_subscribed: true, channel_tags: ['bread'] }),
    aChannel({ id: OTHER_CHANNEL, channel_name: 'Linux Lab', channel_active: false }),
    aVideo({
      id: VIDEO,
      channelId: CHANNEL,
      title: 'Sourdough bread',
      tags: ['bread'],
      published: '2026-01-10',
      playlist: [PLAYLIST, CUSTOM],
      comment_count: 1,
      player: { duration: 500, duration_str: '8m 20s' },
      subtitles: [
        {
          ext: 'vtt',
          lang: 'en',
          name: 'English',
          source: 'user',
          url: '',
          media_url: `/media/${CHANNEL}/${VIDEO}.en.vtt`,
        },
      ],
      streams: [
        { type: 'video', index: 0, codec: 'h264', bitrate: 900_000, width: 1280, height: 720 },
        { type: 'audio', index: 1, codec: 'aac', bitrate: 128_000 },
      ],
      sponsorblock: {
        is_enabled: true,
        last_refresh: 1_768_000_000,
        has_unlocked: true,
        segments: [
          {
            UUID: 'u1',
            actionType: 'skip',
            category: 'sponsor',
            segment: [1, 2.5],
            locked: 0,
            votes: 1,
            videoDuration: 500,
          },
        ],
      },
    }),
    aVideo({
      id: SECOND,
      channelId: CHANNEL,
      title: 'Sourdough starter bread',
      tags: ['bread'],
      published: '2026-01-09',
      playlist: [PLAYLIST, CUSTOM],
      vid_type: 'shorts',
    }),
    aVideo({
      id: THIRD,
      channelId: OTHER_CHANNEL,
      title: 'Linux kernel',
      published: '2026-01-08',
    }),
    aPlaylist({
      id: PLAYLIST,
      playlist_name: 'Bread basics',
      playlist_channel_id: CHANNEL,
      playlist_subscribed: true,
      entries: [
        { platform_id: SECOND, downloaded: true, idx: 0 },
        { platform_id: NO_VIDEO, idx: 1 },
        { platform_id: VIDEO, downloaded: true, idx: 2 },
      ],
    }),
    aPlaylist({
      id: CUSTOM,
      playlist_name: 'Mine',
      playlist_type: 'custom',
      playlist_active: false,
      playlist_channel: null,
      playlist_channel_id: null,
      entries: [
        { platform_id: VIDEO, downloaded: true, idx: 0 },
        { platform_id: SECOND, downloaded: true, idx: 1 },
      ],
    }),
    item(PENDING, 'pending'),
    item(IGNORED, 'ignore'),
    item(PRIORITY, 'priority', { vid_type: 'shorts' }),
    item(FAILED, 'pending', { message: 'Private video', error_class: 'gone', channel_id: OTHER_CHANNEL }),
    someComments(VIDEO, [COMMENT]),
    aFragment({ platform_id: VIDEO, channel_id: CHANNEL, subtitle_line: 'the cold proof' }),
  )
  for (const who of ['admin', 'user'] as const) await app.as(who).post('/api/watched/', { id: THIRD, is_watched: true })
  return app
}
