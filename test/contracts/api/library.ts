/** Rows about the library: contract 6.5 to 6.7, and the matching parts of 4 and 10. */

import assert from 'node:assert/strict'
import { aNumber, anInteger, anything, aText, aUuid, differences, listOf, oneOf } from '../recordings/compare.ts'
import {
  CHANNEL,
  CUSTOM,
  NO_CHANNEL,
  NO_PLAYLIST,
  NO_VIDEO,
  OTHER_CHANNEL,
  PLAYLIST,
  SECOND,
  THIRD,
  VIDEO,
} from './archive.ts'
import { row, type Table } from './row.ts'

const NOT_THERE = { has: { data: false } }
const NOT_FOLLOWED = { has: { data: false, channel_subscribed: false } }
const shows = (...ids: string[]) => ({
  look: (body: any) =>
    assert.deepEqual(
      body.data.map(
        ({ platform_id, playlist_id, channel_id }: Record<string, string>) => platform_id ?? playlist_id ?? channel_id,
      ),
      ids,
    ),
})
const PAGE = {
  page_size: 12,
  page_from: 0,
  prev_pages: [],
  current_page: 0,
  max_hits: false,
  params: '',
  last_page: 0,
  next_pages: [],
  total_hits: 3,
}
const page = (changes: object) => ({ has: { paginate: { ...PAGE, ...changes } } })
const noPage = (changes: object) => ({ has: { data: [], paginate: { ...PAGE, ...changes } } })
const vote = (yourVote: unknown) => ({ vote: { uuid: 'u1', yourVote } })
const segment = (startTime: unknown, endTime: unknown) => ({ segment: { startTime, endTime } })
const position = (value: unknown) => ({ is: { platform_id: VIDEO, youtube_id: VIDEO, user_id: 2, position: value } })
/** The additional keys of an answer to a player (contract C). */
const reported = (value: number) => ({
  is: {
    ...position(value).is,
    watched: false,
    duration: 500,
    duration_str: '8m 20s',
    progress: anything,
  },
})
const watched = (id: unknown, is_watched: unknown = true) => ({ as: 'user' as const, body: { id, is_watched } })
const asUser = { as: 'user' as const }

export const pages: Table = [
  row('4.1', 'GET /api/video/', 200, {
    has: {
      paginate: PAGE,
      config: {
        enable_cast: false,
        downloads: {
          limit_speed: false,
          throttledratelimit: false,
          sleep_interval: 0,
          autodelete_days: false,
          format: false,
          format_sort: false,
          subtitle: false,
          extractor_lang: false,
          comment_max: false,
          subtitle_source: false,
          comment_sort: 'top',
          add_metadata: false,
          add_thumbnail: false,
          subtitle_index: false,
          cookie_import: false,
          integrate_ryd: false,
          integrate_sponsorblock: false,
          quality_height: false,
          quality_codec: 'best',
          quality_hdr: true,
          quality_language: false,
          quality_missing: 'below',
          quality_wait_days: 7,
        },
      },
    },
  }),
  row('4.2', 'GET /api/video/?page=0', 200, page({})),
  row('4.2', 'GET /api/video/?page=1&x=a%20b&y=', 200, page({ current_page: 1, params: 'x=a+b&y=' })),
  row('4.3', 'GET /api/video/?page=2', 404, noPage({ current_page: 2, page_from: 12 })),
  row(
    '4.3',
    'GET /api/video/?page=99',
    404,
    noPage({ current_page: 99, page_from: 1176, prev_pages: [94, 95, 96, 97, 98] }),
  ),
  row('4.3', 'GET /api/video/?page_size=1', 200, page({ params: 'page_size=1' })),
  ...['-1', 'abc', '1.5', '1e2', '0x1', '%31%00', '99999999999999999999'].map((text) =>
    row('10', `GET /api/video/?page=${text}`, 400, { as: 'user' }),
  ),
  row(
    '4.3',
    'GET /api/video/?page=834',
    404,
    noPage({ current_page: 834, page_from: 9996, prev_pages: [829, 830, 831, 832, 833] }),
  ),
  row('1.1', 'GET /api/video/?page=', 200, page({})),
  row('1.1', 'GET /api/video/?page=5&page=1', 200),
  row('4.3', `GET /api/channel/${NO_CHANNEL}/video/?page=2`, 404, {
    has: { data: [], paginate: { ...PAGE, current_page: 2, page_from: 12, total_hits: 0 } },
  }),
]

export const videos: Table = [
  row('6.5', 'GET /api/video/', 200, { ...asUser, ...shows(VIDEO, SECOND, THIRD) }),
  row('6.5', `GET /api/video/?channel=${CHANNEL}`, 200, shows(VIDEO, SECOND)),
  row('6.5', `GET /api/video/?playlist=${PLAYLIST}`, 200, shows(SECOND, VIDEO)),
  row('6.5', `GET /api/video/?playlist=${PLAYLIST}&sort=published`, 200, shows(SECOND, VIDEO)),
  row('6.5', 'GET /api/video/?watch=watched', 200, shows(THIRD)),
  row('6.5', 'GET /api/video/?watch=unwatched&order=asc', 200, shows(SECOND, VIDEO)),
  row('6.5', 'GET /api/video/?watch=continue', 200, {
    ...asUser,
    ...shows(SECOND),
    first: (app) => app.as('user').post(`/api/video/${SECOND}/progress/`, { position: 5 }),
  }),
  row('6.5', 'GET /api/video/?watch=continue', 200, { as: 'admin', ...shows() }),
  row('6.5', 'GET /api/video/?type=shorts', 200, shows(SECOND)),
  row('6.5', 'GET /api/video/?height=720', 200, shows(VIDEO, SECOND, THIRD)),
  row('6.5', 'GET /api/video/?before=2026-01-09', 200, shows(THIRD)),
  row('6.5', 'GET /api/video/?after=2026-01-09', 200, shows(VIDEO, SECOND)),
  ...['published', 'downloaded', 'views', 'likes', 'duration', 'mediasize', 'filesize', 'width', 'height'].map((sort) =>
    row('6.5', `GET /api/video/?sort=${sort}`, 200),
  ),
  row('6.5', 'GET /api/video/?sort=duration', 200, shows(VIDEO, SECOND, THIRD)),
  row('6.5', 'GET /api/video/?sort=published&order=asc', 200, shows(THIRD, SECOND, VIDEO)),
  row('6.5', 'GET /api/video/?search=x&sort_by=title&ordering=a', 200, shows(VIDEO, SECOND, THIRD)),
  row('6.5', `GET /api/video/?channel=${NO_CHANNEL}`, 200, shows()),
  row('6.5', `GET /api/video/?playlist=${NO_PLAYLIST}`, 200, shows()),
  ...['watch=x', 'type=x', 'sort=x', 'order=x', 'height=tall', 'before=yesterday', 'after=2026-13-01'].map((query) =>
    row('6.5', `GET /api/video/?${query}`, 400),
  ),
  row('6.5', `GET /api/video/${VIDEO}/`, 200, {
    ...asUser,
    look: ({ data }) => {
      const { channel, player } = data
      assert.deepEqual(
        [data.platform_id, data.youtube_id, data._index, data._score, channel.channel_id, channel.channel_subscribed],
        [VIDEO, VIDEO, 'av_video', 0, CHANNEL, true],
      )
      assert.ok(!('_index' in channel) && !('_score' in channel) && !('watched_date' in player))
      assert.deepEqual(
        [data.media_url, data.vid_thumb_url],
        [`/media/${CHANNEL}/${VIDEO}.mp4`, `/cache/videos/a/${VIDEO}.jpg`],
      )
      assert.deepEqual(player, { watched: false, duration: 500, duration_str: '8m 20s' })
    },
  }),
  row('1.1', `GET /api/video/${VIDEO}`, 200),
  row('1.1', `HEAD /api/video/${VIDEO}/`, 200),
  row('4.3', `GET /api/video/${NO_VIDEO}/`, 404, NOT_THERE),
  row('1.1', 'GET /api/video/a.b/', 404),
  row('6.5', `GET /api/video/${VIDEO}/comment/`, 200, {
    ...asUser,
    look: ({ data, paginate }) =>
      assert.deepEqual([data[0].comment_id, data[0].comment_replies, paginate], ['c1', [], undefined]),
  }),
  row('6.5', `GET /api/video/${VIDEO}/thread/`, 200, {
    look: ({ data, paginate }) =>
      assert.deepEqual([data[0].comment_id, data[0].comment_reply_count, paginate.total_hits], ['c1', 0, 1]),
  }),
  row('6.5', `GET /api/video/${VIDEO}/thread/c1/`, 200, { has: { part: 1, parts: 1 } }),
  row('6.5', `GET /api/video/${VIDEO}/thread/c2/`, 404),
  row('10', `GET /api/video/${THIRD}/comment/`, 200, { has: { data: [] } }),
  row('6.5', `GET /api/video/${NO_VIDEO}/comment/`, 404, NOT_THERE),
  row('6.5', `GET /api/video/${VIDEO}/similar/`, 200, { ...asUser, ...shows(SECOND) }),
  row('10', `GET /api/video/${THIRD}/similar/`, 200, { has: { data: [] } }),
  row('6.5', `GET /api/video/${NO_VIDEO}/similar/`, 404, NOT_THERE),
  row('6.5', `GET /api/video/${VIDEO}/progress/`, 200, { ...asUser, ...position(0) }),
  row('6.5', `POST /api/video/${VIDEO}/progress/`, 200, { ...asUser, body: { position: 100.5 }, ...reported(100.5) }),
  row('6.5', `POST /api/video/${VIDEO}/progress/`, 200, {
    ...asUser,
    body: { position: '12.75', other: 1 },
    ...reported(12.75),
  }),
  row('9.2', `POST /api/video/${VIDEO}/progress/`, 200, { ...asUser, body: { position: 9999 }, ...reported(500) }),
  row('9.2', `POST /api/video/${VIDEO}/progress/`, 200, { ...asUser, body: { position: 0 }, ...reported(0) }),
  row('6.5', `POST /api/video/${VIDEO}/progress/`, 200, { ...asUser, body: {}, ...reported(0) }),
  row('6.5', `POST /api/video/${VIDEO}/progress/`, 200, {
    ...asUser,
    body: { youtube_id: null, user_id: null },
    ...reported(0),
  }),
  ...[
    { positon: 5 },
    { position: null },
    { position: -1 },
    { position: 'x' },
    { position: '' },
    { position: true },
    { position: [] },
    { position: '-5' },
    { position: 'NaN' },
  ].map((body) => row('10', `POST /api/video/${VIDEO}/progress/`, 400, { ...asUser, body })),
  row('6.5', `DELETE /api/video/${VIDEO}/progress/`, 200, { ...asUser, is: { 'progress-reset': VIDEO } }),
  row('6.5', `DELETE /api/video/${VIDEO}/progress/`, 200, { ...asUser, body: '', is: { 'progress-reset': VIDEO } }),
  row('10', `GET /api/video/${NO_VIDEO}/progress/`, 404, asUser),
  row('10', `POST /api/video/${NO_VIDEO}/progress/`, 404, { ...asUser, body: { position: 1 } }),
  row('10', `DELETE /api/video/${NO_VIDEO}/progress/`, 404, asUser),
  row('6.5', `GET /api/video/${VIDEO}/sponsor/`, 200, { ...asUser, has: { is_enabled: true, has_unlocked: true } }),
  row('10', `GET /api/video/${THIRD}/sponsor/`, 200, { is: { is_enabled: false, has_unlocked: false, segments: [] } }),
  row('6.5', `GET /api/video/${NO_VIDEO}/sponsor/`, 404),
  ...[vote(0), vote(1), vote(20), segment(0, 1.5), segment(5, 5)].map((body) =>
    row('6.5', `POST /api/video/${VIDEO}/sponsor/`, 200, { ...asUser, body, is: { success: true } }),
  ),
  ...[
    {},
    vote(2),
    vote('1'),
    { vote: { uuid: 'u' } },
    { vote: {} },
    segment(5, 4),
    segment(-1, 4),
    segment('1', 2),
    { segment: { startTime: 1 } },
    { ...vote(1), ...segment(1, 2) },
  ].map((body) => row('10', `POST /api/video/${VIDEO}/sponsor/`, 400, { ...asUser, body })),
  row('10', `POST /api/video/${NO_VIDEO}/sponsor/`, 404, { ...asUser, body: vote(1) }),
  row('6.1', 'POST /api/watched/', 200, { ...watched(VIDEO), is: { message: 'success', id: VIDEO, is_watched: true } }),
  row('6.1', 'POST /api/watched/', 200, {
    ...watched(CHANNEL, false),
    is: { message: 'success', id: CHANNEL, is_watched: false, marking: anInteger },
  }),
  row('6.1', 'POST /api/watched/', 200, {
    ...watched(PLAYLIST),
    is: { message: 'success', id: PLAYLIST, is_watched: true, marking: anInteger },
  }),
  row('6.1', 'POST /api/watched/', 200, {
    ...watched(CUSTOM, false),
    is: { message: 'success', id: CUSTOM, is_watched: false, marking: anInteger },
  }),
  ...[NO_VIDEO, NO_CHANNEL, NO_PLAYLIST, 'short'].map((id) => row('10', 'POST /api/watched/', 404, watched(id))),
  ...[
    { id: VIDEO },
    { is_watched: true },
    { id: '', is_watched: true },
    { id: 5, is_watched: true },
    { id: VIDEO, is_watched: 'true' },
    { id: VIDEO, is_watched: null },
    {},
  ].map((body) => row('6.1', 'POST /api/watched/', 400, { ...asUser, body })),
  row('B', 'POST /api/watched/bulk/', 200, {
    ...asUser,
    body: { ids: [VIDEO, SECOND, VIDEO, NO_VIDEO, CHANNEL], is_watched: true },
    is: { updated: 2 },
  }),
  row('B', `GET /api/video/${SECOND}/`, 200, {
    ...asUser,
    look: ({ data }) => assert.equal(data.player.watched, true),
  }),
  ...[
    {},
    { ids: [], is_watched: true },
    { ids: VIDEO, is_watched: true },
    { ids: ['no id'], is_watched: true },
    { ids: Array.from({ length: 101 }, (_, at) => `v${at}`), is_watched: true },
    { ids: [VIDEO] },
  ].map((body) => row('B', 'POST /api/watched/bulk/', 400, { ...asUser, body })),
  row('B', `POST /api/playlist/${CUSTOM}/bulk/`, 403, { ...asUser, body: { action: 'create', video_ids: [THIRD] } }),
  row('B', `POST /api/playlist/${PLAYLIST}/bulk/`, 400, { body: { action: 'create', video_ids: [THIRD] } }),
  row('B', `POST /api/playlist/${NO_PLAYLIST}/bulk/`, 404, { body: { action: 'create', video_ids: [THIRD] } }),
  ...[{}, { action: 'up', video_ids: [VIDEO] }, { action: 'create', video_ids: [] }].map((body) =>
    row('B', `POST /api/playlist/${CUSTOM}/bulk/`, 400, { body }),
  ),
  row('B', 'GET /api/video/months/', 200, {
    ...asUser,
    look: (months) =>
      assert.equal(
        months.reduce((sum: number, { count }: any) => sum + count, 0),
        3,
      ),
  }),
  ...['?watch=sometimes', '?before=yesterday', '?type=x'].map((query) =>
    row('B', `GET /api/video/months/${query}`, 400, asUser),
  ),
  row('B', 'POST /api/video/bulk/', 403, { ...asUser, body: { action: 'delete', ids: [NO_VIDEO] } }),
  row('B', 'POST /api/video/bulk/', 200, { body: { action: 'delete', ids: [NO_VIDEO] }, is: { updated: 0 } }),
  ...[{}, { ids: [VIDEO] }, { action: 'delete' }, { action: 'ignore', ids: [VIDEO] }].map((body) =>
    row('B', 'POST /api/video/bulk/', 400, { body }),
  ),
  row('6.5', `DELETE /api/video/${VIDEO}/`, 403, asUser),
  row('6.5', `DELETE /api/video/${VIDEO}/`, 200, { has: { video: VIDEO, state: 'delete' } }),
  row('6.5', `DELETE /api/video/${VIDEO}/`, 404, { has: { video: VIDEO, state: 'not found' } }),
  row('9.5', `GET /api/video/${VIDEO}/`, 404, NOT_THERE),
  row('9.5', `GET /api/playlist/${CUSTOM}/`, 200, {
    look: ({ data }) =>
      assert.deepEqual(
        data.playlist_entries.map(({ platform_id, idx }: any) => [platform_id, idx]),
        [[SECOND, 0]],
      ),
  }),
  row('9.5', `GET /api/playlist/${PLAYLIST}/`, 200, {
    look: ({ data }) =>
      assert.deepEqual(
        data.playlist_entries.map(({ downloaded }: any) => downloaded),
        [true, false, false],
      ),
  }),
]

const entry = {
  platform_id: aText,
  youtube_id: aText,
  title: aText,
  uploader: oneOf(null, aText),
  idx: anInteger,
  downloaded: oneOf(true, false),
}
const action = (name: unknown, video_id: unknown = SECOND) => ({ body: { video_id, action: name } })
const order = (...ids: string[]) => ({
  look: (body: any) => {
    const { playlist_entries: entries } = body.data ?? body
    assert.deepEqual(
      entries.map(({ platform_id }: any) => platform_id),
      ids,
    )
    assert.deepEqual(
      entries.map(({ idx }: any) => idx),
      ids.map((_, index) => index),
    )
    assert.deepEqual(differences(listOf(entry), entries), [])
  },
})

/** The user has entries, while the admin's own list stays empty. */
const watchLater = (): Table => [
  row('9.6', 'GET /api/playlist/watchlater/', 200, { ...asUser, ...order() }),
  row('9.6', 'POST /api/playlist/watchlater/', 201, { ...asUser, ...action('create', VIDEO), is: { success: true } }),
  row('9.6', 'POST /api/playlist/custom/watchlater/', 200, { ...asUser, ...action('create'), ...order(SECOND, VIDEO) }),
  row('9.6', 'POST /api/playlist/watchlater/', 201, { ...asUser, ...action('create', VIDEO) }),
  row('9.6', 'GET /api/playlist/watchlater/', 200, { ...asUser, ...order(SECOND, VIDEO) }),
  row('9.6', 'GET /api/playlist/watchlater/', 200, order()),
  row('6.6', 'GET /api/playlist/', 200, { ...asUser, ...shows('watchlater', PLAYLIST, CUSTOM) }),
  row('6.6', 'GET /api/playlist/', 200, shows(PLAYLIST, CUSTOM)),
  row('6.6', 'GET /api/playlist/?own=true', 200, { ...asUser, ...shows('watchlater') }),
  row('6.6', 'GET /api/playlist/?own=false&type=custom', 200, { ...asUser, ...shows(CUSTOM) }),
  row('6.6', 'GET /api/playlist/?visibility=private', 200, { ...asUser, ...shows('watchlater') }),
  row('6.6', 'GET /api/playlist/?visibility=shared', 200, { ...asUser, ...shows(PLAYLIST, CUSTOM) }),
  row('6.6', 'GET /api/playlist/?visibility=secret', 400, asUser),
  row('6.6', 'GET /api/playlist/?own=perhaps', 400, asUser),
  row('6.6', 'GET /api/playlist/watchlater/video/', 200, { ...asUser, ...shows(SECOND, VIDEO) }),
  row('6.5', 'GET /api/video/?playlist=watchlater', 200, { ...asUser, ...shows(SECOND, VIDEO) }),
  row('6.5', 'GET /api/video/?playlist=watchlater', 200, shows()),
  row('9.6', 'POST /api/playlist/watchlater/', 404, { ...asUser, ...action('create', NO_VIDEO) }),
  row('9.6', 'POST /api/playlist/watchlater/', 404, { ...asUser, ...action('remove', THIRD) }),
  row('9.6', 'POST /api/playlist/watchlater/', 400, { ...asUser, body: { playlist_name: 'Soon' } }),
  row('9.6', 'POST /api/playlist/watchlater/', 400, { ...asUser, body: { playlist_visibility: 'shared' } }),
  row('9.6', 'DELETE /api/playlist/watchlater/', 400, asUser),
  row('6.6', `POST /api/playlist/${CUSTOM}/`, 403, { ...asUser, ...action('create', THIRD) }),
  row('6.6', `POST /api/playlist/${CUSTOM}/`, 403, { ...asUser, body: { playlist_name: 'Ours' } }),
  row('6.6', `DELETE /api/playlist/${CUSTOM}/`, 403, asUser),
  row('6.6', `DELETE /api/playlist/${PLAYLIST}/`, 403, asUser),
  row('6.6', `POST /api/playlist/${NO_PLAYLIST}/`, 404, { ...asUser, ...action('create', THIRD) }),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 400, { body: { playlist_visibility: 'secret' } }),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 400, { body: { playlist_name: ' ' } }),
  row('B', 'POST /api/playlist/custom/', 400, { ...asUser, body: { playlist_name: 'x', playlist_visibility: 'odd' } }),
  row('9.6', 'POST /api/playlist/watchlater/', 201, { ...asUser, ...action('remove') }),
  row('9.6', 'POST /api/playlist/watchlater/', 201, { ...asUser, ...action('remove', VIDEO) }),
  row('6.6', 'GET /api/playlist/', 200, { ...asUser, ...shows(PLAYLIST, CUSTOM) }),
]

export const playlists: Table = [
  row('6.6', 'GET /api/playlist/', 200, { ...asUser, ...shows(PLAYLIST, CUSTOM) }),
  row('6.6', 'GET /api/playlist/?playlist_type=regular', 200, shows(PLAYLIST)),
  row('6.6', 'GET /api/playlist/?type=custom', 200, shows(CUSTOM)),
  row('6.6', `GET /api/playlist/?channel=${CHANNEL}`, 200, shows(PLAYLIST)),
  row('6.6', 'GET /api/playlist/?subscribed=true', 200, shows(PLAYLIST)),
  row('6.6', 'GET /api/playlist/?subscribed=0', 200, shows(CUSTOM)),
  row('6.6', 'GET /api/playlist/?playlist_type=x', 400),
  row('1.1', 'GET /api/playlist/?subscribed=maybe', 400),
  row('6.6', `GET /api/playlist/${PLAYLIST}/`, 200, asUser),
  row('6.6', `GET /api/playlist/${NO_PLAYLIST}/`, 404, NOT_THERE),
  row('6.6', `GET /api/playlist/${PLAYLIST}/video/`, 200, { ...asUser, ...shows(SECOND, VIDEO) }),
  row('6.6', `GET /api/playlist/${NO_PLAYLIST}/video/`, 404, {
    has: { data: [], paginate: { ...PAGE, total_hits: 0 } },
  }),
  ...watchLater(),
  row('6.6', 'POST /api/playlist/', 200, { body: { data: [] }, is: { data: [], message: aText, task_id: null } }),
  row('6.6', 'POST /api/playlist/', 200, {
    body: { data: [{ playlist_id: PLAYLIST, playlist_subscribed: false }] },
    is: { data: [{ playlist_id: PLAYLIST, playlist_subscribed: false }], message: aText, task_id: null },
  }),
  row('6.6', 'POST /api/playlist/', 200, {
    body: { data: [{ playlist_id: PLAYLIST, playlist_subscribed: true }] },
    has: { task_id: aUuid },
  }),
  row('9.4', 'POST /api/playlist/', 200, {
    body: { data: [{ playlist_id: NO_PLAYLIST, playlist_subscribed: false }] },
    has: { task_id: null },
  }),
  ...[
    {},
    { data: 'x' },
    { data: ['x'] },
    { data: [{ playlist_id: PLAYLIST }] },
    { data: [{ playlist_subscribed: true }] },
    { data: [{ playlist_id: PLAYLIST, playlist_subscribed: 'yes' }] },
    { data: [{ playlist_id: 'no id', playlist_subscribed: true }] },
    { data: [{ playlist_id: CUSTOM, playlist_subscribed: true }] },
  ].map((body) => row('10', 'POST /api/playlist/', 400, { body })),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, { ...action('create', THIRD), is: { success: true } }),
  row('9.6', `GET /api/playlist/${CUSTOM}/`, 200, order(VIDEO, SECOND, THIRD)),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, { ...action('create', THIRD), is: { success: true } }),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, action('up', VIDEO)),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, action('bottom', VIDEO)),
  row('9.6', `GET /api/playlist/${CUSTOM}/`, 200, order(SECOND, THIRD, VIDEO)),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, action('up', VIDEO)),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, { body: { youtube_id: SECOND, action: 'down' } }),
  row('9.6', `GET /api/playlist/${CUSTOM}/`, 200, order(VIDEO, SECOND, THIRD)),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, action('top', THIRD)),
  row('B', `POST /api/playlist/custom/${CUSTOM}/`, 200, {
    body: { video_id: THIRD, action: 'move', index: 99 },
    ...order(VIDEO, SECOND, THIRD),
  }),
  ...[{ index: -1 }, { index: '1' }, {}].map((more) =>
    row('B', `POST /api/playlist/${CUSTOM}/`, 400, { body: { video_id: THIRD, action: 'move', ...more } }),
  ),
  row('9.6', `POST /api/playlist/${CUSTOM}/`, 201, action('remove', THIRD)),
  row('9.6', `GET /api/playlist/${CUSTOM}/`, 200, order(VIDEO, SECOND)),
  ...['remove', 'up', 'down', 'top', 'bottom'].map((name) =>
    row('10', `POST /api/playlist/${CUSTOM}/`, 404, action(name, THIRD)),
  ),
  row('10', `POST /api/playlist/${CUSTOM}/`, 404, action('create', NO_VIDEO)),
  ...[action('x'), action(undefined), { body: { action: 'create' } }, { body: {} }].map((options) =>
    row('6.6', `POST /api/playlist/${CUSTOM}/`, 400, options),
  ),
  row('6.6', `POST /api/playlist/${PLAYLIST}/`, 400, action('create')),
  row('10', `POST /api/playlist/${NO_PLAYLIST}/`, 404, action('create')),
  row('B', 'POST /api/playlist/custom/', 200, {
    body: { playlist_name: 'New' },
    has: {
      playlist_type: 'custom',
      playlist_name: 'New',
      playlist_active: false,
      playlist_entries: [],
      playlist_channel: null,
    },
  }),
  ...[{}, { playlist_name: '' }, { playlist_name: 'x'.repeat(201) }, { playlist_name: 5 }].map((body) =>
    row('B', 'POST /api/playlist/custom/', 400, { body }),
  ),
  row('B', `POST /api/playlist/custom/${CUSTOM}/`, 200, { ...action('top'), ...order(SECOND, VIDEO) }),
  row('B', `POST /api/playlist/custom/${NO_PLAYLIST}/`, 404, action('top')),
  row('6.6', `DELETE /api/playlist/${CUSTOM}/?delete-videos=false`, 200, { is: { success: true, removal: aUuid } }),
  row('10', `GET /api/video/${VIDEO}/`, 200, { look: ({ data }) => assert.deepEqual(data.playlist, [PLAYLIST]) }),
  row('1.1', `DELETE /api/playlist/${PLAYLIST}/?delete-videos=maybe`, 400),
  row('6.6', `DELETE /api/playlist/${PLAYLIST}/?delete_videos=true`, 200, { is: { success: true, removal: aUuid } }),
  row('9.5', 'GET /api/video/', 200, shows(THIRD)),
  row('10', `DELETE /api/playlist/${PLAYLIST}/`, 404),
]

const subscribe = (channel_id: unknown, channel_subscribed: unknown = true) => ({
  body: { data: [{ channel_id, channel_subscribed }] },
})

export const channels: Table = [
  row('6.7', 'GET /api/channel/', 200, { ...asUser, ...shows(OTHER_CHANNEL, CHANNEL) }),
  row('6.7', 'GET /api/channel/?filter=subscribed', 200, shows(CHANNEL)),
  row('6.7', 'GET /api/channel/?filter=unsubscribed', 200, shows(OTHER_CHANNEL)),
  row('6.7', 'GET /api/channel/?filter=x', 400),
  row('6.7', 'GET /api/channel/?q=mill%20OLD', 200, shows(CHANNEL)),
  row('6.7', `GET /api/channel/?q=https://www.youtube.com/channel/${CHANNEL}`, 200, shows(CHANNEL)),
  row('6.7', `GET /api/channel/search/?q=${CHANNEL}`, 200, {
    ...asUser,
    look: ({ data }) => assert.equal(data.channel_id, CHANNEL),
  }),
  row('6.7', 'GET /api/channel/search/', 400, NOT_FOLLOWED),
  row('6.7', `GET /api/channel/search/?q=${VIDEO}`, 400, NOT_FOLLOWED),
  row('6.7', 'GET /api/channel/search/?q=https://other.example/channel/x', 400, NOT_FOLLOWED),
  row('6.7', `GET /api/channel/search/?q=${NO_CHANNEL}`, 404, NOT_FOLLOWED),
  row('6.7', 'GET /api/channel/search/?q=@unknown', 503, { has: { channel_subscribed: false } }),
  row('6.7', `GET /api/channel/${CHANNEL}/`, 200, asUser),
  row('6.7', `GET /api/channel/${NO_CHANNEL}/`, 404, NOT_THERE),
  row('6.7', `GET /api/channel/${CHANNEL}/video/`, 200, { ...asUser, ...shows(VIDEO, SECOND) }),
  row('6.7', `GET /api/channel/${NO_CHANNEL}/video/`, 404, { has: { data: [], paginate: { ...PAGE, total_hits: 0 } } }),
  row('6.7', 'POST /api/channel/', 200, { body: { data: [] }, is: { data: [], message: aText, task_id: null } }),
  row('6.7', 'POST /api/channel/', 200, {
    ...subscribe(CHANNEL, false),
    has: { data: [{ channel_id: CHANNEL, channel_subscribed: false }], task_id: null },
  }),
  row('9.4', `GET /api/video/${VIDEO}/`, 200, {
    look: ({ data }) => assert.equal(data.channel.channel_subscribed, false),
  }),
  row('10', 'POST /api/channel/', 200, { ...subscribe(NO_CHANNEL, false), has: { task_id: null } }),
  row('6.7', 'POST /api/channel/', 200, {
    ...subscribe('https://www.youtube.com/@handle/videos'),
    has: { task_id: aUuid },
  }),
  ...[
    {},
    { data: 'x' },
    { data: ['x'] },
    { data: [{ channel_id: CHANNEL }] },
    { data: [{ channel_subscribed: true }] },
    subscribe(CHANNEL, 'yes').body,
    subscribe('no id at all').body,
    subscribe(PLAYLIST).body,
    subscribe(5).body,
  ].map((body) => row('10', 'POST /api/channel/', 400, { body })),
  row('B', `POST /api/channel/${CHANNEL}/`, 200, {
    body: { channel_subscribed: true, channel_overwrites: { autodelete_days: 3, download_format: 'best' } },
    is: { channel_subscribed: true, channel_overwrites: { autodelete_days: 3, download_format: 'best' } },
  }),
  row('B', `POST /api/channel/${CHANNEL}/`, 200, { body: { channel_overwrites: { autodelete_days: null } } }),
  row('B', `GET /api/channel/${CHANNEL}/`, 200, {
    look: ({ data }) =>
      assert.deepEqual([data.channel_subscribed, data.channel_overwrites], [true, { download_format: 'best' }]),
  }),
  ...[
    {},
    { channel_subscribed: 'yes' },
    { channel_overwrites: { nope: 1 } },
    { channel_overwrites: { autodelete_days: 'x' } },
    { channel_overwrites: 5 },
  ].map((body) => row('B', `POST /api/channel/${CHANNEL}/`, 400, { body })),
  row('B', `POST /api/channel/${NO_CHANNEL}/`, 404, { body: { channel_subscribed: true } }),
  row('B', 'POST /api/activate/', 200, {
    body: { channel: [OTHER_CHANNEL, CHANNEL], video: [VIDEO] },
    has: { updated: anInteger },
  }),
  row('B', `GET /api/channel/${OTHER_CHANNEL}/`, 200, { look: ({ data }) => assert.equal(data.channel_active, true) }),
  ...[{}, { nope: [] }, { video: 'x' }, { video: [5] }].map((body) => row('B', 'POST /api/activate/', 400, { body })),
  row('6.7', `DELETE /api/channel/${CHANNEL}/`, 200, { has: { channel: CHANNEL, state: 'delete' } }),
  row('6.7', `DELETE /api/channel/${CHANNEL}/`, 404, { has: { channel: CHANNEL, state: 'not found' } }),
  row('9.5', 'GET /api/video/', 200, shows(THIRD)),
  row('9.5', 'GET /api/playlist/', 200, shows(CUSTOM)),
]

export const statistics: Table = [
  row('6.8', 'GET /api/stats/video/', 200, {
    ...asUser,
    has: {
      doc_count: 3,
      media_size: 3_000_000,
      duration: 700,
      duration_str: '11m 40s',
      type_streams: { doc_count: 0, media_size: 0, duration: 0, duration_str: 'NA' },
    },
  }),
  row('6.8', 'GET /api/stats/channel/', 200, {
    ...asUser,
    is: { doc_count: 2, active_true: 1, active_false: 1, subscribed_true: 1, subscribed_false: 1 },
  }),
  row('6.8', 'GET /api/stats/playlist/', 200, {
    ...asUser,
    is: { doc_count: 2, active_true: 1, active_false: 1, subscribed_true: 1, subscribed_false: 1 },
  }),
  row('6.8', 'GET /api/stats/download/', 200, {
    ...asUser,
    is: { pending: 3, ignore: 1, pending_videos: 2, pending_streams: 0, pending_shorts: 1 },
  }),
  row('6.8', 'GET /api/stats/watch/', 200, {
    ...asUser,
    has: { watched: { duration: 100, duration_str: '1m 40s', progress: aNumber, items: 1 } },
  }),
  row('6.8', 'GET /api/stats/downloadhist/', 200, {
    ...asUser,
    is: [{ date: '2026-01-10', count: 3, media_size: 3_000_000 }],
  }),
  ...['', '?order=', '?order=doc_count', '?order=duration', '?order=media_size', '?limit=1'].map((query) =>
    row('6.8', `GET /api/stats/biggestchannels/${query}`, 200, {
      ...asUser,
      look: ([first]) => assert.equal(first.name, 'Old Mill Bakery'),
    }),
  ),
  ...['order=x', 'limit=0', 'limit=101', 'limit=x'].map((query) =>
    row('6.8', `GET /api/stats/biggestchannels/?${query}`, 400),
  ),
  ...['', '?by=day', '?by=week', '?by=month'].map((query) =>
    row('B', `GET /api/stats/growth/${query}`, 200, { ...asUser, look: (spans) => assert.equal(spans[0].count, 3) }),
  ),
  row('B', 'GET /api/stats/growth/?by=year', 400),
  row('B', 'GET /api/stats/quality/', 200, {
    ...asUser,
    look: ({ unknown, reasons }) => assert.deepEqual([unknown.doc_count, reasons], [3, []]),
  }),
  row('6.8', 'GET /api/stats/nope/', 404),
]

const NONE = { doc_count: 0, media_size: 0, duration: 0, duration_str: 'NA' }
const NONE_WATCHED = { duration: 0, duration_str: 'NA', progress: 0, items: 0 }
/** Rows about an empty archive. */
export const nothing: Table = [
  ...['video', 'channel', 'playlist', 'download'].map((kind) =>
    row('4.3', `GET /api/${kind}/`, 200, { has: { data: [], paginate: { ...PAGE, total_hits: 0 } } }),
  ),
  row('10', 'GET /api/stats/video/', 200, {
    is: { ...NONE, type_videos: NONE, type_streams: NONE, type_shorts: NONE, active_true: NONE, active_false: NONE },
  }),
  row('10', 'GET /api/stats/channel/', 200, {
    is: { doc_count: 0, active_true: 0, active_false: 0, subscribed_true: 0, subscribed_false: 0 },
  }),
  row('10', 'GET /api/stats/playlist/', 200, {
    is: { doc_count: 0, active_true: 0, active_false: 0, subscribed_true: 0, subscribed_false: 0 },
  }),
  row('10', 'GET /api/stats/download/', 200, {
    is: { pending: 0, ignore: 0, pending_videos: 0, pending_streams: 0, pending_shorts: 0 },
  }),
  row('10', 'GET /api/stats/watch/', 200, {
    is: { total: { duration: 0, duration_str: 'NA', items: 0 }, watched: NONE_WATCHED, unwatched: NONE_WATCHED },
  }),
  row('10', 'GET /api/stats/downloadhist/', 200, { is: [] }),
  row('10', 'GET /api/stats/biggestchannels/', 200, { is: [] }),
  row('10', 'GET /api/stats/growth/', 200, { is: [] }),
  row('10', 'GET /api/stats/quality/', 200, {
    is: { best: NONE, limited: NONE, degraded: NONE, unknown: NONE, reasons: [] },
  }),
  row('5.8', 'GET /api/search/?query=bread', 200, {
    is: {
      results: { video_results: [], channel_results: [], playlist_results: [], fulltext_results: [] },
      queryType: 'simple',
    },
  }),
]
