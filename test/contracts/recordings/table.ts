/**
 * All differences between our answers and those of the reference, each with the section of the contract that defines
 * it. Everything else must be equal.
 */
import {
  aNumber,
  anInstant,
  anInteger,
  anything,
  aText,
  aToken,
  aUuid,
  aVersion,
  differences,
  Form,
  listOf,
  oneOf,
  optional,
} from './compare.ts'
import type { Exchange } from './exchange.ts'

/** The recorded answer as adapted by the contract. */
export interface Expected {
  status: number
  body: any
  /** Keys in addition to those of the error shape. */
  extra: Record<string, unknown>
}

export interface Difference {
  /** The section of the contract. */
  section: string
  what: string
  /** Numbers of exchanges, or a condition. */
  where: readonly number[] | ((exchange: Exchange) => boolean)
  change(expected: Expected, exchange: Exchange, recorded: (n: number) => any): void
  /** Sent afterwards as admin, so that both servers continue in the same state. */
  undo?: (answer: any) => { method: string; path: string; body?: object }
}

type Record_ = Record<string, any>
type Where = Difference['where']

const everywhere = () => true
const get =
  (pattern: RegExp) =>
  ({ method, path }: Exchange) =>
    method === 'GET' && pattern.test(path)
const post =
  (pattern: RegExp) =>
  ({ method, path }: Exchange) =>
    method === 'POST' && pattern.test(path)

function eachObject(value: unknown, visit: (object: Record_) => void): void {
  if (value instanceof Form || typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) for (const item of value) eachObject(item, visit)
  else {
    visit(value as Record_)
    for (const inner of Object.values(value)) eachObject(inner, visit)
  }
}

/** A field that only this kind of record has. */
const OWN = {
  video: 'vid_thumb_base64',
  channel: 'channel_subs',
  playlist: 'playlist_entries',
  download: 'auto_start',
  subtitle: 'subtitle_line',
  comment: 'comment_text',
  segments: 'is_enabled',
}
const eachRecord = (
  kind: keyof typeof OWN,
  section: string,
  what: string,
  change: (record: Record_) => void,
  where: Where = everywhere,
): Difference => ({
  section,
  what,
  where,
  change: ({ body }) => eachObject(body, (object) => OWN[kind] in object && change(object)),
})
const status = (section: string, code: number, what: string, where: Where, extra: Record_ = {}): Difference => ({
  section,
  what,
  where,
  change: (expected) => Object.assign(expected, { status: code, extra }),
})
/** Keys that our answer has in addition. */
const added = (
  section: string,
  what: string,
  where: Where,
  keys: Record_ | ((exchange: Exchange) => Record_),
): Difference => ({
  section,
  what,
  where,
  change: ({ body }, exchange) => {
    for (const one of Array.isArray(body) ? body : [body])
      Object.assign(one, typeof keys === 'function' ? keys(exchange) : keys)
  },
})
const removed = (section: string, what: string, where: Where, ...keys: string[]): Difference => ({
  section,
  what,
  where,
  change: ({ body }) => {
    for (const one of Array.isArray(body) ? body : [body]) for (const key of keys) delete one[key]
  },
})
/** A list with other records than the recorded one, or in another order. */
const lists = (
  section: string,
  what: string,
  numbers: readonly number[],
  choose: (recorded: (n: number) => any, exchange: Exchange) => Record_[],
): Difference => ({
  section,
  what,
  where: numbers,
  change(expected, exchange, recorded) {
    const all = choose(recorded, exchange)
    const params = exchange.path.split('?')[1]?.replace(/(^|&)page=\d*/, '') ?? ''
    const { config, paginate } = recorded(58)
    expected.status = 200
    expected.body = {
      data: all.slice(0, 12),
      config,
      paginate: {
        ...paginate,
        params,
        total_hits: all.length,
        last_page: all.length > 12 ? Math.ceil(all.length / 12) : false,
        next_pages: all.length > 24 ? paginate.next_pages : [],
      },
    }
  },
})

/** The address on the platform of the replay. */
const pageOf = (path: string): Record_ => ({ platform_name: 'YouTube', platform_url: `http://127.0.0.1:1/${path}` })
const videos = (recorded: (n: number) => any): Record_[] => [60, 61, 62].flatMap((n) => recorded(n).data)
const inOrderOf = (playlist: number) => (recorded: (n: number) => any) =>
  recorded(playlist).data.playlist_entries.flatMap(({ youtube_id }: Record_) =>
    videos(recorded).filter((video) => video.youtube_id === youtube_id),
  )
const autoFirst = (items: Record_[]) => items.toSorted((a, b) => Number(b.auto_start) - Number(a.auto_start))
const CUSTOM = 'TA_playlist_00000000-0000-4000-8000-000000000001'
const deadTask = ({ status: state }: Record_) => state === 'SUCCESS'

const NONE = { doc_count: 0, media_size: 0, duration: 0, duration_str: 'NA' }
const NONE_WATCHED = { duration: 0, duration_str: 'NA', progress: 0, items: 0 }
const anyTask = {
  task_id: aUuid,
  name: aText,
  status: oneOf('PENDING', 'SUCCESS', 'FAILURE', 'RETRY'),
  result: anything,
  said: optional(anything),
  traceback: null,
  date_done: oneOf(null, anInstant),
  date_start: oneOf(null, anInstant),
  command: oneOf(false, 'STOP'),
  args: anything,
  kwargs: anything,
  retries: anInteger,
}
const aSettingGroup = new Form(
  'group of settings',
  (value) => typeof value === 'string' && value.startsWith('setting:'),
)
const firstPage = new Form('the first page', (value) => Array.isArray(value) && value.length === 12)
const taskRecord = (task: Record_): Record_ => ({
  task_id: task.task_id,
  name: task.name,
  status: task.status,
  result: task.result,
  said: optional(anything),
  traceback: null,
  date_done: deadTask(task) ? anInstant : null,
  date_start: oneOf(null, anInstant),
  command: task.command ?? false,
  args: anything,
  kwargs: anything,
  retries: 0,
})
const notification = {
  id: aUuid,
  task_name: optional(aText),
  title: aText,
  group: aText,
  'api-start': anything,
  'api-stop': anything,
  api_start: anything,
  api_stop: anything,
  level: oneOf('info', 'error'),
  command: oneOf(false, 'STOP'),
  messages: listOf(aText),
  said: optional(anything),
  progress: aNumber,
}

/** Applies the changes of the rows above to the records of one body. */
function withKeys(body: any): any {
  const expected: Expected = { status: 200, extra: {}, body }
  for (const { where, change } of DIFFERENCES)
    if (where === everywhere) change(expected, undefined as never, undefined as never)
  return body
}

function addTo(sum: Record_, more: Record_[]): void {
  sum.doc_count += more.length
  sum.media_size += more.reduce((total, { media_size }) => total + media_size, 0)
  sum.duration += more.reduce((total, { player }) => total + player.duration, 0)
  if (more.length > 0) sum.duration_str = aText
}

const idOf = ({ subtitle_fragment_id }: Record_): string => subtitle_fragment_id
const fragments = (section: string, what: string, where: number[], choose = (hits: Record_[]) => hits): Difference => ({
  section,
  what,
  where,
  change({ body }) {
    const hits = choose(body.results.fulltext_results).map((hit) => ({ ...hit, _score: aNumber }))
    const inOrder = (list: Record_[]) => list.toSorted((a, b) => idOf(a).localeCompare(idOf(b)))
    body.results.fulltext_results = new Form(
      `${hits.map(idOf)} in any order`,
      (value) => Array.isArray(value) && differences(inOrder(hits), inOrder(value)).length === 0,
    )
  },
})
const thirtyHits = new Form(
  'the 30 newest',
  (value) => Array.isArray(value) && value.length === 30 && value[0].platform_id === 'ZEUmdQyx53e',
)
const mostlyFuzzy = (length: number) =>
  new Form(
    'the two exact hits first',
    (value) =>
      Array.isArray(value) &&
      value.length === length &&
      value
        .slice(0, 2)
        .every(({ subtitle_line }) => subtitle_line.includes('<span class="settings-current">cold</span>')),
  )

/** Exchanges of the recording of an empty archive are numbered from here on. */
export const EMPTY = 1000

/** Applied in this order: a later one sees the results of earlier ones. */
export const DIFFERENCES: readonly Difference[] = [
  // Lists with another selection or order.
  lists('6.5', 'the list of videos can be filtered and sorted', [71, 73, 74, 75, 76, 77], (recorded, { path }) => {
    const query = new URLSearchParams(path.split('?')[1])
    const chosen = videos(recorded).filter(
      ({ channel, player, vid_type }) =>
        (!query.has('channel') || channel.channel_id === query.get('channel')) &&
        (!query.has('watch') ||
          (query.get('watch') !== 'continue' && player.watched === (query.get('watch') === 'watched'))) &&
        (!query.has('type') || vid_type === query.get('type')),
    )
    return query.has('sort') ? chosen.toSorted((a, b) => a.stats.view_count - b.stats.view_count) : chosen
  }),
  lists('6.5', '`watch=continue`: what the caller has begun', [383], (recorded) => [recorded(382).data]),
  lists('6.5', 'videos of a playlist, in its order', [72], inOrderOf(138)),
  lists('11', 'videos of a playlist come in its order', [139], inOrderOf(138)),
  lists('11', 'videos of a playlist come in its order', [141], inOrderOf(140)),
  lists('11', 'videos of a playlist come in its order', [143], inOrderOf(142)),
  lists('6.7', 'unsubscribed channels can be asked for', [108], (recorded) =>
    recorded(104).data.filter((one: Record_) => !one.channel_subscribed),
  ),
  lists('6.7', '`q` keeps the channels that it names', [111], (recorded) =>
    recorded(104).data.filter((one: Record_) => /bakery/i.test(one.channel_name)),
  ),
  lists('6.6', 'playlists can be filtered by channel and subscription', [136, 137], (recorded) =>
    recorded(130).data.filter((one: Record_) => one.playlist_subscribed),
  ),
  lists('1.1', 'an empty query value is the same as none', [68], (recorded) => videos(recorded)),
  lists('1.1', 'an empty query value is the same as none', [135], (recorded) => recorded(130).data),
  lists('6.4', 'auto_start first', [147], (recorded) => autoFirst(recorded(147).data)),
  lists('6.4', 'auto_start first', [148, 152], (recorded, { n }) => autoFirst(recorded(n).data)),
  lists('9.3', 'set to pending: auto_start is reset', [593], (recorded) =>
    autoFirst(
      recorded(593).data.map((one: Record_) => ({
        ...one,
        auto_start: one.auto_start && one.youtube_id !== 'gtl-85hPcfg',
      })),
    ),
  ),
  lists('6.4', 'priority items can be asked for', [150], (recorded) =>
    recorded(147).data.filter((one: Record_) => one.auto_start && one.status === 'pending'),
  ),
  lists('6.4', 'the queue can be filtered', [157], (recorded) =>
    autoFirst(recorded(147).data.filter((one: Record_) => one.vid_type === 'shorts')),
  ),
  lists('6.4', 'the queue can be searched', [158], (recorded) =>
    recorded(147).data.filter((one: Record_) => /\bbread\b/i.test(one.title)),
  ),
  lists('6.4', 'items with a message can be asked for', [159], (recorded) =>
    recorded(147).data.filter((one: Record_) => one.message),
  ),

  // Records.
  {
    section: '1.2',
    what: 'the id under `platform_id` too',
    where: everywhere,
    change: ({ body }) =>
      eachObject(body, (object) => 'youtube_id' in object && Object.assign(object, { platform_id: object.youtube_id })),
  },
  eachRecord('video', '1.3', 'an array is always an array', (video) =>
    Object.assign(video, { playlist: video.playlist ?? [], subtitles: video.subtitles ?? [] }),
  ),
  eachRecord('channel', '1.3', 'an array is always an array', (channel) =>
    Object.assign(channel, { channel_tags: channel.channel_tags || [] }),
  ),
  {
    section: '1.3',
    what: 'an empty text is ""',
    where: everywhere,
    change: ({ body }) =>
      eachObject(body, (object) => {
        for (const key of ['channel_description', 'playlist_description', 'url'])
          if (object[key] === false) object[key] = ''
      }),
  },
  eachRecord(
    'download',
    '1.3',
    'an optional value is left out, never null',
    (item) => item.message === null && delete item.message,
  ),
  eachRecord('video', '5.1', 'a video tells where its page is', (video) =>
    Object.assign(video, pageOf(`watch?v=${video.youtube_id}`)),
  ),
  eachRecord('channel', '5.2', 'a channel tells where its page is, but for that of a video', (channel) =>
    Object.assign(channel, '_index' in channel && pageOf(`channel/${channel.channel_id}`)),
  ),
  eachRecord('download', '5.4', 'an item tells where its page is', (item) =>
    Object.assign(item, pageOf(`watch?v=${item.youtube_id}`)),
  ),
  eachRecord('video', '5.1', 'an unknown rating is 0', ({ stats }) =>
    Object.assign(stats, { average_rating: stats.average_rating ?? 0 }),
  ),
  eachRecord('video', '5.1', 'subtitles are told in the format that we serve', ({ subtitles }) =>
    subtitles.forEach((one: Record_) => Object.assign(one, { ext: 'vtt' })),
  ),
  eachRecord(
    'video',
    '11',
    'no watched_date while it is not watched',
    ({ player }) => player.watched !== true && delete player.watched_date,
  ),
  eachRecord(
    'video',
    '9.1',
    'another account has marks of its own',
    ({ player }) => delete player.watched_date && Object.assign(player, { watched: false }),
    ({ auth }) => auth === 'reader',
  ),
  eachRecord('channel', '5.2', 'a channel tells its tabs and overwrites', (channel) =>
    Object.assign(channel, {
      channel_tabs: channel.channel_tabs ?? [],
      channel_overwrites: channel.channel_overwrites ?? {},
    }),
  ),
  eachRecord('playlist', '5.3', 'a playlist tells which end of it is new', (playlist) =>
    Object.assign(playlist, { playlist_sort_order: 'top' }),
  ),
  eachRecord('playlist', '5.3', 'a custom playlist tells whose it is, and who sees it', (playlist) =>
    playlist.playlist_type === 'custom'
      ? Object.assign(playlist, { playlist_owner: null, playlist_visibility: 'shared' })
      : undefined,
  ),
  eachRecord(
    'download',
    '11',
    'a pending item with auto_start reads `priority`',
    (item) => item.auto_start && item.status === 'pending' && Object.assign(item, { status: 'priority' }),
  ),
  eachRecord('download', '5.4', 'an item that is being downloaded tells how far it is', (item) =>
    Object.assign(item, { progress: optional(anything) }),
  ),
  eachRecord(
    'download',
    '5.4',
    'an item with a message tells its class',
    (item) => item.message && Object.assign(item, { error_class: oneOf('unknown', 'gone') }),
  ),
  eachRecord(
    'download',
    '5.4',
    'an item whose message has words of ours tells them',
    (item) =>
      /private/i.test(item.message) && Object.assign(item, { reason: { key: 'This video is private', params: {} } }),
  ),
  eachRecord('comment', '5.5', 'comments have replies, [] at leaves, and a count of likes', (comment) =>
    Object.assign(comment, {
      comment_replies: comment.comment_replies ?? [],
      comment_likecount: comment.comment_likecount ?? 0,
    }),
  ),
  eachRecord('segments', '5.9', 'a segment list always tells `has_unlocked`', (list) =>
    Object.assign(list, { has_unlocked: list.has_unlocked ?? false }),
  ),
  eachRecord('subtitle', '11', 'markup in subtitles is escaped', (hit) => {
    const marks = ['<span class="settings-current">', '</span>']
    const escaped = hit.subtitle_line
      .replace(/&/g, '&amp;')
      .replace(/</g, '&lt;')
      .replace(/>/g, '&gt;')
      .replace(/"/g, '&quot;')
    hit.subtitle_line = escaped
      .replaceAll('&lt;span class=&quot;settings-current&quot;&gt;', marks[0])
      .replaceAll('&lt;/span&gt;', marks[1])
  }),
  {
    section: '11',
    what: '`last_page` is 0 and `prev_pages` [] where there is none',
    where: everywhere,
    change: ({ body }) =>
      body?.paginate &&
      Object.assign(body.paginate, {
        prev_pages: body.paginate.prev_pages || [],
        last_page: body.paginate.last_page || 0,
      }),
  },
  {
    section: '6.1',
    what: 'our versions start at 1.0.0',
    where: get(/^\/api\/ping/),
    change: ({ body }) => body?.version && Object.assign(body, { version: aVersion }),
  },

  // Transport, credentials.
  {
    section: '2.1',
    what: 'our own words for a failed login',
    where: [11],
    change: ({ extra }) => Object.assign(extra, { non_field_errors: listOf(aText) }),
  },
  status(
    '3.3',
    401,
    'missing or bad credentials',
    (exchange) => exchange.status === 403 && ['none', 'bad', 'admin'].includes(exchange.auth),
  ),
  {
    section: '6.1',
    what: '`name` is an alias of `username`',
    where: [14],
    change: (expected) => Object.assign(expected, { status: 200, body: { token: aToken, user_id: 1 } }),
  },
  status('11', 403, 'outgoing notifications are for admins', [24]),
  {
    section: '1.1',
    what: 'the final slash may be left out',
    where: [35],
    change: (expected, _exchange, recorded) =>
      Object.assign(expected, { status: 200, body: { ...recorded(1), version: aVersion } }),
  },
  {
    section: '1.1',
    what: 'the final slash may be left out, for every method',
    where: [36],
    change: (expected) =>
      Object.assign(expected, { status: 200, body: { message: 'success', id: '5BMU_yVNr17', is_watched: true } }),
    undo: () => ({ method: 'POST', path: '/api/watched/', body: { id: '5BMU_yVNr17', is_watched: false } }),
  },
  {
    section: 'B',
    what: 'the API is described at /api/schema/',
    where: [41],
    change: (expected) => Object.assign(expected, { body: null }),
  },
  status('10', 400, 'an array is no body', [50]),

  // Pages.
  {
    section: '4.3',
    what: 'a page after the first without results is 404, in every list',
    where: ({ method, path, status: recorded, body }) =>
      method === 'GET' &&
      /[?&]page=([2-9]|\d\d)/.test(path) &&
      recorded === 200 &&
      (body as Record_)['data']?.length === 0,
    change: (expected) =>
      Object.assign(expected, { status: 404, extra: { data: [], paginate: expected.body.paginate } }),
  },
  status('4.3', 404, 'a page beyond the 10,000 has no results', [65], { data: [], paginate: anything }),
  status('10', 400, '`page` is an integer of at least 0', [66, 67, 69]),

  // Videos.
  {
    section: '10',
    what: 'no comments are an empty list',
    where: [91],
    change: (expected, _exchange, recorded) =>
      Object.assign(expected, { status: 200, body: { data: [], config: recorded(90).config } }),
  },
  {
    section: '5.6',
    what: 'similar by shared words in title and tags: more than the reference finds, in our own order',
    where: [93, 94, 95, 96],
    change: (expected, _exchange, recorded) =>
      Object.assign(expected, {
        status: 200,
        body: {
          data: new Form('up to six videos', (value) => Array.isArray(value) && value.length <= 6),
          config: recorded(90).config,
        },
      }),
  },
  status('4.3', 404, 'an item that does not exist is `data: false`', [97], { data: false }),
  {
    section: '10',
    what: 'no segments are an empty list object',
    where: [100],
    change: (expected) => Object.assign(expected, { body: { is_enabled: false, has_unlocked: false, segments: [] } }),
  },
  status('10', 404, 'the position in an unknown video', [103, 386, 387, 390]),
  added(
    '6.5',
    'setting a position answers as reading it does',
    (exchange) => post(/\/progress\/$/)(exchange) && exchange.status === 200,
    ({ path, auth }) => ({
      platform_id: path.split('/')[3],
      youtube_id: path.split('/')[3],
      user_id: auth === 'reader' ? 2 : 1,
    }),
  ),
  status('10', 400, 'a position is a number of at least 0', [366, 372, 374]),
  { section: '10', what: 'nothing else is stored', where: [367], change: ({ body }) => (body.position = 0) },
  {
    section: '10',
    what: 'a position ends at the duration',
    where: [368, 369],
    change: ({ body }) => (body.position = 500),
  },
  {
    section: '6.5',
    what: 'a position is stored as a number',
    where: [370, 371, 373, 375],
    change: ({ body }) => (body.position = 12),
  },
  added('6.5', 'a position that is left out is 0', [376], { position: 0 }),
  removed('6.5', 'what is not known is not echoed', [378], 'other'),
  {
    section: '5.1',
    what: 'a video has the position of the caller',
    where: [382, 383],
    change: ({ body }) => Object.assign([body.data].flat()[0].player, { position: 100, progress: 20 }),
  },
  { section: '9.1', what: 'marking takes the position', where: [385], change: ({ body }) => (body.position = 0) },
  status('10', 400, 'a vote or a segment, whole and of known values', [393, 394, 396, 397, 398, 399]),
  status('10', 404, 'a segment of an unknown video', [400]),
  removed('6.5', 'nothing is stored of votes', [401, 483, 487, 491, 492, 493, 495, 497, 499], 'sponsorblock_id'),
  added(
    '6.1',
    'the mark is echoed',
    (exchange) => post(/^\/api\/watched/)(exchange) && exchange.status === 200,
    ({ req_body }) => req_body as Record_,
  ),
  eachRecord(
    'video',
    '9.1',
    'marking again what is watched does not move the date',
    (video) => video.youtube_id === 'ZEUmdQyx53e' && Object.assign(video.player, { watched_date: 1795046400 }),
    ({ n }) => n > 359,
  ),
  status('10', 404, 'marking what is not archived', [348, 349, 350, 351]),
  status('10', 400, 'is_watched is a boolean', [355]),

  // Channels, playlists.
  status('9.12', 400, 'what is no form of an id of the platform', [128, 129]),
  added(
    '6.7',
    'which task it became',
    (exchange) => post(/^\/api\/(channel|playlist)\/$/)(exchange) && exchange.status === 200,
    ({ req_body }) => ({
      message: aText,
      task_id: JSON.stringify(req_body).includes('subscribed":true') ? aUuid : null,
    }),
  ),
  status('10', 400, 'elements have their keys', [433, 434, 437, 442, 443]),

  status('10', 404, 'moving or taking out a video that is not in the playlist', [465, 467]),
  status('10', 404, 'adding an unknown video', [469]),
  status('10', 400, 'a video has to be named', [473]),
  {
    section: '10',
    what: 'nothing has been moved or taken out',
    where: [466, 468, 470, 472, 474, 476, 478],
    change: (expected, _exchange, recorded) => (expected.body = withKeys(recorded(464))),
  },
  {
    section: '10',
    what: 'nothing has been moved or taken out',
    where: [574],
    change({ body }, _exchange, recorded) {
      const left = withKeys(recorded(464)).data.playlist_entries.filter(
        (entry: Record_) => entry.youtube_id !== '5BMU_yVNr17',
      )
      body.data.playlist_entries = left.map((entry: Record_, idx: number) => ({ ...entry, idx }))
    },
  },
  eachRecord(
    'video',
    '10',
    'nothing has been moved or taken out',
    ({ youtube_id, playlist }) => youtube_id === 'mHEz4i67wXd' && playlist.push(CUSTOM),
    [484, 486, 494],
  ),
  status('10', 404, 'a playlist that there is not', [481, 582]),
  {
    section: 'B',
    what: 'a custom playlist can be made',
    where: [482],
    change: (expected, _exchange, recorded) =>
      Object.assign(expected, {
        status: 200,
        body: {
          ...withKeys(recorded(464)).data,
          playlist_id: aText,
          playlist_name: 'x',
          playlist_entries: [],
          playlist_last_refresh: '2026-11-21',
          playlist_thumbnail: aText,
          playlist_owner: anInteger,
          playlist_visibility: 'shared',
        },
      }),
    undo: ({ playlist_id }) => ({ method: 'DELETE', path: `/api/playlist/${playlist_id}/` }),
  },
  status('10', 400, 'a setting that there is not', [490]),
  status('9.5', 404, 'the comments of a deleted video are gone', [575], { data: false }),
  {
    section: '10',
    what: '`delete-videos=false` leaves the videos',
    where: [581],
    change: (expected, _exchange, recorded) => {
      const video = videos(recorded).find(({ youtube_id }) => youtube_id === 'HkgFLOTzDUu')!
      Object.assign(expected, {
        status: 200,
        body: { data: { ...withKeys({ data: video }).data, playlist: [] }, config: recorded(80).config },
      })
    },
  },
  {
    section: '10',
    what: '`delete-videos=false` leaves the videos',
    where: [586, 627],
    change(expected, _exchange, recorded) {
      const left = inOrderOf(140)(recorded)
      expected.status = 200
      expected.body = recorded(586)
      for (const [key, sum] of Object.entries(expected.body as Record_)) {
        const counted = left.filter(
          ({ vid_type, active }: Record_) => key === `type_${vid_type}` || key === `active_${active}`,
        )
        if (typeof sum === 'object') addTo(sum, counted)
      }
      addTo(expected.body, left)
    },
  },

  // Statistics.
  {
    section: '10',
    what: 'an empty order is the default',
    where: [176],
    change: (expected, _exchange, recorded) => Object.assign(expected, { status: 200, body: recorded(173) }),
  },
  {
    section: '5.12',
    what: 'every key is there',
    where: [430, 594],
    change: ({ body }) => Object.assign(body, { ignore: 0 }),
  },

  added('10', 'every key is there, zero where nothing is counted', [EMPTY + 13], {
    type_videos: NONE,
    type_streams: NONE,
    type_shorts: NONE,
    active_true: NONE,
    active_false: NONE,
  }),
  added('10', 'every key is there, zero where nothing is counted', [EMPTY + 14, EMPTY + 15], {
    active_true: 0,
    active_false: 0,
    subscribed_true: 0,
    subscribed_false: 0,
  }),
  added('10', 'every key is there, zero where nothing is counted', [EMPTY + 16], {
    pending: 0,
    ignore: 0,
    pending_videos: 0,
    pending_streams: 0,
    pending_shorts: 0,
  }),
  added('10', 'every key is there, zero where nothing is counted', [EMPTY + 17], {
    watched: NONE_WATCHED,
    unwatched: NONE_WATCHED,
  }),

  added('9.25', 'what is removed can be brought back', [569, 572, 577, 580, 583], { removal: aUuid }),
  added('6.4', 'items that are removed can be put back', [420], { removal: aUuid }),
  added('6.1', 'the marking of a channel or playlist can be undone', [343, 344, 346, 347], { marking: anInteger }),

  // Search.
  {
    section: '10',
    what: 'a word with two colons, or of no known keyword, is literal text',
    where: [206, 270],
    change: (expected, _exchange, recorded) => Object.assign(expected, { status: 200, body: recorded(271) }),
  },
  status('10', 400, 'nothing to search for', [277, 278]),
  fragments('7', 'fragments of one class come in the order of our own ranks', [258, 259, 297, 576]),
  fragments('7', '`channel:` narrows subtitles too', [268], (hits) =>
    hits.filter(({ subtitle_channel }) => subtitle_channel === 'Old Mill Bakery'),
  ),
  {
    section: '7',
    what: 'newest first where there is no word',
    where: [267],
    change: ({ body }) => (body.results.fulltext_results = thirtyHits),
  },
  {
    section: '7',
    what: 'of fuzzy hits our own best fill the places',
    where: [296],
    change: ({ body }) => (body.results.fulltext_results = mostlyFuzzy(body.results.fulltext_results.length)),
  },
  {
    section: '11',
    what: 'more is found: stop words too where there is nothing else',
    where: [300],
    change: ({ body }) =>
      (body.results.fulltext_results = new Form('hits', (value) => Array.isArray(value) && value.length > 0)),
  },

  // Queue.
  {
    section: '9.3',
    what: 'set to pending or ignore: auto_start and message are reset',
    where: [407, 409, 411, 590],
    change({ body: { data } }) {
      if (data.status === 'priority') data.status = 'pending'
      data.auto_start = false
      delete data.message
      delete data.error_class
      delete data.reason
    },
  },
  eachRecord(
    'download',
    '5.4',
    '`channel_indexed` follows the archive',
    (item) => item.channel_id === 'UCI2wQfcpyGB1bwAcuO85BBi' && Object.assign(item, { channel_indexed: false }),
    ({ n }) => n > 583,
  ),
  status('10', 404, 'what is not queued', [418, 422, 423]),
  {
    section: '6.4',
    what: 'says how many',
    where: [425],
    change: (expected) => (expected.body = { message: 'deleted ignore items', deleted: 4, removal: aUuid }),
  },
  {
    section: '10',
    what: 'the status may be left out',
    where: [597],
    change: (expected, { req_body }) => Object.assign(expected, { status: 200, body: req_body }),
  },
  {
    section: '6.4',
    what: 'which task it became; the echo is as it was sent',
    where: ({ method, path, status: code, n }) =>
      method === 'POST' && /^\/api\/download\/(\?|$)/.test(path) && n !== 603 && (code === 200 || n === 597),
    change: (expected, { req_body }) =>
      (expected.body = {
        ...(req_body as Record_),
        message: aText,
        task_id: JSON.stringify(req_body).includes('youtube_id') ? aUuid : null,
      }),
  },
  status('10', 400, 'items are objects with an id, in an array', [598, 600, 601]),
  status('6.4', 400, 'an id of no known form', [603]),

  // Tasks and operation.
  { section: '9.8', what: 'what does not wait is `empty`', where: [310], change: ({ body }) => (body.state = 'empty') },
  {
    section: '9.8',
    what: 'it waits for the platform and is not lost',
    where: [615, 616, 617, 620, 621, 622],
    change: ({ body }) => Object.assign(body, { state: oneOf('running', 'in_queue'), total_queued: anInteger }),
  },
  added('6.2', 'which task it became', [614, 619], { message: 'refresh task started', task_id: aUuid }),
  status('10', 400, 'a type that there is not', [618]),
  added('5.14', 'never validated is 0 and ""', [314, 610, EMPTY + 12], { validated: 0, validated_str: '' }),
  {
    section: '10',
    what: 'no cookie is not valid',
    where: [606],
    change: (expected) => Object.assign(expected, { status: 200, body: { cookie_validated: false } }),
  },
  status('10', 400, 'what became of the cookie stands at the top', [607, 608, 609], {
    cookie_import: 'fail',
    cookie_validated: false,
  }),
  status('11', 400, 'a cookie is really asked about: nothing is stored while the platform does not answer', [611], {
    cookie_import: 'fail',
    cookie_validated: false,
  }),
  {
    section: '11',
    what: 'nothing is stored while the platform does not answer',
    where: [612],
    change: (expected) => (expected.body = { cookie_enabled: false, status: false, validated: 0, validated_str: '' }),
  },
  {
    section: '11',
    what: 'nothing is stored while the platform does not answer',
    where: [613],
    change: ({ body }) => (body.cookie_validated = false),
  },
  status('6.1', 400, 'a filter that there is not', [319]),
  { section: '10', what: 'no results are []', where: [328, 329], change: (expected) => (expected.body = []) },
  {
    section: 'B',
    what: 'schedules can be listed',
    where: [332],
    change: (expected) =>
      Object.assign(expected, {
        status: 200,
        body: listOf({
          name: aText,
          schedule: aText,
          schedule_human: aText,
          last_run_at: oneOf(null, anInstant),
          next_run_at: oneOf(null, anInstant),
          config: anything,
          last_status: oneOf(null, 'SUCCESS', 'FAILURE', 'REVOKED', 'FAILED'),
          last_ended_at: oneOf(null, anInstant),
          last_result: oneOf(null, aText),
        }),
      }),
  },
  {
    section: 'B',
    what: 'the token can be read',
    where: [336],
    change: (expected) => Object.assign(expected, { status: 200, body: { token: aToken } }),
  },
  {
    section: '6.11',
    what: 'a schedule is deleted by body or query',
    where: [502],
    change: (expected) => Object.assign(expected, { status: 200, body: { success: true } }),
  },
  status('10', 400, 'the name is missing', [503, 517]),
  status('10', 404, 'nothing is stored of it', [505, 513]),
  {
    section: '6.11',
    what: 'deleting says so',
    where: [507, 509, 511],
    change: (expected) => (expected.body = { success: true }),
  },
  {
    section: '6.11',
    what: 'a started task is told flat and nested',
    where: [520, 533, 534],
    change: ({ body }, { path }) =>
      Object.assign(body, {
        task_id: aUuid,
        status: 'PENDING',
        task_name: path.split('/')[3],
        message: { task_id: aUuid, status: 'PENDING', task_name: path.split('/')[3] },
      }),
  },
  {
    section: '5.10',
    what: 'when it began, its command and arguments; nothing of workers',
    where: [521, 535, 539, 541, 547, 548, 554, 555],
    change: (expected) => (expected.body = taskRecord(expected.body)),
  },
  {
    section: '8.3',
    what: 'a task that was just started or stopped may have ended by now',
    where: [539, 547, 554],
    change: ({ body }) =>
      Object.assign(body, {
        status: oneOf('PENDING', 'SUCCESS'),
        date_done: oneOf(null, anInstant),
        result: oneOf(null, aText),
      }),
  },
  {
    section: '5.10',
    what: 'the command stays with the task',
    where: [541],
    change: ({ body }) => (body.command = 'STOP'),
  },
  {
    section: '8.3',
    what: 'a task can be seen from when it is accepted',
    where: [553],
    change: (expected, _exchange, recorded) =>
      Object.assign(expected, { status: 200, body: taskRecord(recorded(554)) }),
  },
  {
    section: '9.10',
    what: 'the result tells what was restored',
    where: [555],
    change: ({ body }) => (body.result = aText),
  },
  status('10', 409, 'a task that has ended takes no command', [542, 543]),
  {
    section: '8.1',
    what: 'a second start of a single task is the first one',
    where: [544],
    change: (expected) => (expected.body = [{ ...taskRecord(expected.body[0]), command: 'STOP' }]),
  },
  {
    section: '5.10',
    what: 'when it began, its command and arguments; nothing of workers',
    where: [549],
    change: (expected) => (expected.body = expected.body.map(taskRecord)),
  },
  {
    section: '5.10',
    what: 'when it began, its command and arguments; nothing of workers',
    where: [559, 624],
    change: (expected) => (expected.body = listOf(anyTask)),
  },
  {
    section: '8.4',
    what: 'both spellings, and a number for progress',
    where: [523, 536, 538, 540, 623],
    change: (expected) => (expected.body = listOf(notification)),
  },
  {
    section: '11',
    what: '`settings` are the groups `setting:`',
    where: [522, 546],
    change: (expected) => (expected.body = listOf({ ...notification, group: aSettingGroup })),
  },
  {
    section: '5.13',
    what: 'the path is relative to the data folder',
    where: [550, 551],
    change: ({ body }) =>
      [body]
        .flat()
        .forEach((file) => Object.assign(file, { file_path: `backups/${file.filename}`, file_size: anInteger })),
  },
  status('10', 404, 'a snapshot that there is not', [567, 625]),
  {
    section: '10',
    what: 'the index is untouched',
    where: [626],
    change: (expected) =>
      Object.assign(expected, { status: 200, body: { data: firstPage, config: anything, paginate: anything } }),
  },
  {
    section: '10',
    what: 'settings are untouched',
    where: [628],
    change: (expected, _exchange, recorded) =>
      (expected.body = (({ sponsorblock_id: _, ...settings }: Record_) => settings)(recorded(499))),
  },
  {
    section: 'C',
    what: 'an item has its keys at the top too',
    where: get(/^\/api\/(video|channel|playlist|download)\/[^/?]+\/?(\?.*)?$/),
    change: (expected) => {
      const { data } = expected.body ?? {}
      if (expected.status === 200 && data && !Array.isArray(data)) expected.body = { ...data, ...expected.body }
    },
  },
  {
    section: 'C',
    what: 'an error of channel search says that nobody has subscribed',
    where: get(/^\/api\/channel\/search\//),
    change: (expected) => expected.status >= 400 && Object.assign(expected.extra, { channel_subscribed: false }),
  },
  {
    section: 'C',
    what: 'a player hears how far it is',
    where: post(/^\/api\/video\/[^/]+\/progress\//),
    change: ({ status: code, body }) =>
      code === 200 &&
      Object.assign(body, { watched: false, duration: anInteger, duration_str: aText, progress: aNumber }),
  },

  // Keys of every envelope, whatever made it.
  {
    section: '4.1',
    what: 'quality in words',
    where: everywhere,
    change: ({ body }) =>
      eachObject(
        body,
        (object) =>
          'format_sort' in object &&
          Object.assign(object, {
            ...{ quality_height: false, quality_codec: 'best', quality_hdr: true },
            ...{ quality_language: false, quality_missing: 'below', quality_wait_days: 7 },
          }),
      ),
  },
]

export const ERROR_CODES: Record<number, unknown> = {
  400: 'bad_request',
  401: oneOf('not_authenticated', 'invalid_token'),
  403: oneOf('permission_denied', 'csrf_failed'),
  404: oneOf('not_found'),
  405: 'method_not_allowed',
  409: 'conflict',
  415: 'unsupported_media_type',
  422: 'unprocessable',
  503: 'unavailable',
}
