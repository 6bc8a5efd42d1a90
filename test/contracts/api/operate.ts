/** Rows about operation: contract 1, 3, 6.1 to 6.4, 6.9 to 6.11, B, and the matching parts of 10. */
import assert from 'node:assert/strict'
import {
  aMinute,
  aNumber,
  anInstant,
  anInteger,
  anything,
  aText,
  aToken,
  aUuid,
  aVersion,
  Form,
  listOf,
  oneOf,
  optional,
} from '../recordings/compare.ts'
import { CHANNEL, FAILED, IGNORED, NO_CHANNEL, NO_ID, NO_VIDEO, PENDING, PRIORITY, VIDEO } from './archive.ts'
import { row, sentences, type Table } from './row.ts'

const asUser = { as: 'user' as const }
const asNobody = { as: 'nobody' as const }
const PASSWORD = 'a password for tests'
const login = (body: unknown, headers?: Record<string, string>) => ({ ...asNobody, body, ...(headers && { headers }) })
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const BYTES = { 'content-type': 'application/octet-stream' }

export const service: Table = [
  row('6.1', 'GET /api/ping/', 200, { ...asUser, is: { response: 'pong', user: 2, version: aVersion } }),
  row('1.1', 'GET /api/ping', 200, { is: { response: 'pong', user: 1, version: aVersion } }),
  row('1.1', 'GET /api/ping/', 200, { headers: { 'content-type': 'application/json' } }),
  row('1.1', 'HEAD /api/ping/', 200),
  row('1.1', 'OPTIONS /api/ping/', 200, { ...asNobody, sends: { allow: 'GET, HEAD, OPTIONS' } }),
  row('1.1', 'OPTIONS /api/ping/', 200, {
    ...asNobody,
    headers: {
      origin: 'moz-extension://5d0c0e52',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'mode',
    },
    sends: {
      'access-control-allow-origin': 'moz-extension://5d0c0e52',
      'access-control-allow-headers': new Form('all that extensions send', (value) =>
        'accept, authorization, content-type, x-csrftoken, user-agent, x-requested-with, mode'
          .split(', ')
          .every((name) => String(value).toLowerCase().split(/, ?/).includes(name)),
      ),
      'access-control-allow-methods': new Form('methods', (value) =>
        ['GET', 'POST', 'PUT', 'DELETE', 'OPTIONS'].every((name) => String(value).includes(name)),
      ),
      'access-control-allow-credentials': undefined,
    },
  }),
  row('1.1', 'GET /api/ping/', 200, {
    headers: { origin: 'https://other.example' },
    sends: { 'access-control-allow-origin': undefined },
  }),
  ...['POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
    row('1.1', `${method} /api/ping/`, 405, { sends: { allow: 'GET, HEAD, OPTIONS' } }),
  ),
  row('1.1', 'GET /api/', 404),
  row('1.1', 'GET /api/nope/', 404),
  row('1.4', 'GET /health', 200, { ...asNobody, is: 'ok' }),
  row('1.4', 'GET /health/ready', 200, { ...asNobody, is: 'ready' }),
  row('3.3', 'GET /api/ping/', 401, { ...asNobody, has: { code: 'not_authenticated' } }),
  row('3.3', 'GET /api/ping/', 401, {
    ...asNobody,
    headers: { authorization: `Token ${'0'.repeat(40)}` },
    has: { code: 'invalid_token', detail: 'Invalid token.' },
  }),
  ...['Token', 'Token a b', 'Bearer x', 'Basic YTpi'].map((authorization) =>
    row('3.3', 'GET /api/ping/', 401, { ...asNobody, headers: { authorization } }),
  ),
  row('6.1', 'POST /api/login/', 200, {
    ...login({ username: 'admin', password: PASSWORD }),
    is: { token: aToken, user_id: 1 },
  }),
  row('6.1', 'POST /api/login/', 200, {
    ...login({ name: 'user', password: PASSWORD }),
    is: { token: aToken, user_id: 2 },
  }),
  row('1.1', 'POST /api/login/', 200, {
    ...login(`username=admin&password=${encodeURIComponent(PASSWORD)}`, FORM),
    is: { token: aToken, user_id: 1 },
  }),
  row('6.1', 'POST /api/login/', 200, {
    ...login({ username: 'admin', password: PASSWORD }, { authorization: 'Token nonsense' }),
    has: { user_id: 1 },
  }),
  row('6.1', 'POST /api/login/', 400, {
    ...login({ username: 'admin', password: 'wrong' }),
    has: { non_field_errors: listOf(aText) },
  }),
  row('6.1', 'POST /api/login/', 400, {
    ...login({ username: 'admin' }),
    has: { fields: { password: aText }, non_field_errors: anything },
  }),
  ...['not json', '[]', '5', 'null', '"x"', '{"username": 5, "password": 6}'].map((body) =>
    row('10', 'POST /api/login/', 400, { ...login(body), has: { non_field_errors: anything } }),
  ),
  row('6.1', 'GET /api/login/', 405, asNobody),
  row('1.1', 'POST /api/watched/', 400, { body: '{bad json' }),
  row('10', 'POST /api/watched/', 400, { body: '[]' }),
  row('1.1', 'POST /api/watched/', 400, { body: '' }),
  row('1.1', 'POST /api/watched/', 415, { body: 'id=x', headers: FORM }),
  row('1.1', 'POST /api/watched/', 415, { body: 'id=x', headers: { 'content-type': 'text/plain' } }),
  row('1.1', 'POST /api/watched/', 200, {
    body: { id: VIDEO, is_watched: false },
    headers: { 'content-type': 'application/json; charset=utf-8' },
  }),
  row('1.1', 'POST /api/watched/', 413, {
    body: JSON.stringify({ id: VIDEO, is_watched: true, more: 'x'.repeat(2 * 2 ** 20) }),
  }),
  row('6.1', 'GET /api/search/?query=bread', 200, {
    ...asUser,
    look: ({ results, queryType }) =>
      assert.deepEqual(
        [queryType, results.video_results.length, Object.keys(results).toSorted()],
        ['simple', 2, ['channel_results', 'fulltext_results', 'playlist_results', 'video_results']],
      ),
  }),
  row('6.1', 'GET /api/search/?query=full:proof', 200, {
    ...asUser,
    look: ({ results }) =>
      assert.equal(results.fulltext_results[0].subtitle_line, 'the cold <span class="settings-current">proof</span>'),
  }),
  ...[
    'channel:mill',
    'playlist:basics',
    'video:bread%20channel:mill%20active:yes',
    'a:b:c',
    'index:foo',
    'video:',
    '%00',
    '%F0%9F%8D%9E',
    '%22%20OR%201',
    'x'.repeat(900),
  ].map((query) => row('7', `GET /api/search/?query=${query}`, 200, asUser)),
  ...['', '?query=', '?query=%20%20'].map((query) => row('6.1', `GET /api/search/${query}`, 400, asUser)),
  row('6.1', 'GET /api/notification/', 200, { ...asUser, look: (list) => assert.ok(Array.isArray(list)) }),
  ...['download', 'settings', 'channel', ''].map((filter) =>
    row('6.1', `GET /api/notification/?filter=${filter}`, 200, asUser),
  ),
  row('6.1', 'GET /api/notification/?filter=x', 400, asUser),
  row('1.4', `GET /cache/videos/a/${VIDEO}.jpg`, 200, { ...asUser, sends: { 'content-type': 'image/jpeg' } }),
  row('1.4', `GET /cache/videos/a/${VIDEO}.jpg`, 401, asNobody),
  row('1.4', `GET /cache/videos/x/${NO_VIDEO}.jpg`, 404, asUser),
  row('1.4', `GET /media/${CHANNEL}/${VIDEO}.mp4`, 404, asUser),
  row('1.4', `GET /media/${CHANNEL}/${VIDEO}.mp4`, 401, asNobody),
]

const item = (platform_id: unknown, status: unknown = 'pending') => ({
  body: { data: [{ youtube_id: platform_id, status }] },
})
const accepted = { has: { message: aText, task_id: aUuid } }
const ids = (...expected: string[]) => ({
  look: (body: any) =>
    assert.deepEqual(body.data.map(({ platform_id }: any) => platform_id).toSorted(), expected.toSorted()),
})
const NOT_THERE = { has: { data: false } }

export const queue: Table = [
  row('6.4', 'GET /api/download/', 200, { look: ({ data }) => assert.equal(data[0].platform_id, PRIORITY) }),
  row('6.4', 'GET /api/download/?filter=pending', 200, ids(PENDING, PRIORITY, FAILED)),
  row('6.4', 'GET /api/download/?filter=ignore', 200, ids(IGNORED)),
  row('6.4', 'GET /api/download/?filter=priority', 200, ids(PRIORITY)),
  row('6.4', `GET /api/download/?channel=${CHANNEL}&filter=pending`, 200, ids(PENDING, PRIORITY)),
  row('6.4', 'GET /api/download/?vid_type=shorts', 200, ids(PRIORITY)),
  row('6.4', 'GET /api/download/?error=true', 200, ids(FAILED)),
  row('6.4', 'GET /api/download/?error=false', 200, ids(PENDING, PRIORITY, IGNORED)),
  row('6.4', 'GET /api/download/?q=bread', 200, ids(PENDING, PRIORITY, IGNORED, FAILED)),
  ...['filter=x', 'error=maybe', 'vid_type=x'].map((query) => row('6.4', `GET /api/download/?${query}`, 400)),
  row('6.4', 'GET /api/download/', 403, asUser),
  row('6.4', `GET /api/download/${FAILED}/`, 200, {
    look: ({ data }) =>
      assert.deepEqual(
        [data.message, data.error_class, data.status, data._index],
        ['Private video', 'gone', 'pending', 'av_download'],
      ),
  }),
  row('6.4', `GET /api/download/${NO_VIDEO}/`, 404, NOT_THERE),
  row('6.4', `POST /api/download/${FAILED}/`, 200, { body: { status: 'pending' }, is: { status: 'pending' } }),
  row('9.3', `GET /api/download/${FAILED}/`, 200, {
    look: ({ data }) => assert.ok(!('message' in data) && !('error_class' in data)),
  }),
  row('9.3', `POST /api/download/${PRIORITY}/`, 200, { body: { status: 'ignore' }, is: { status: 'ignore' } }),
  row('9.3', `GET /api/download/${PRIORITY}/`, 200, {
    look: ({ data }) => assert.deepEqual([data.status, data.auto_start], ['ignore', false]),
  }),
  row('9.3', `POST /api/download/${PENDING}/`, 200, { body: { status: 'priority' }, is: { status: 'priority' } }),
  row('9.3', `POST /api/download/${NO_VIDEO}/`, 200, {
    body: { status: 'ignore-force' },
    is: { status: 'ignore-force' },
  }),
  row('10', `POST /api/download/${NO_VIDEO}/`, 404, { body: { status: 'ignore' } }),
  row('10', `POST /api/download/${NO_VIDEO}/`, 404, { body: { status: 'priority' } }),
  ...[{}, { status: 'x' }, { status: null }, { status: 5 }].map((body) =>
    row('6.4', `POST /api/download/${PENDING}/`, 400, { body }),
  ),
  row('6.4', `DELETE /api/download/${PENDING}/`, 200, { has: { success: true } }),
  row('10', `DELETE /api/download/${PENDING}/`, 404),
  row('6.4', 'POST /api/download/', 200, {
    ...item('newvideo001'),
    is: { data: [{ youtube_id: 'newvideo001', status: 'pending' }], ...accepted.has },
  }),
  row('6.4', 'POST /api/download/?autostart=true&force=1', 200, {
    body: { data: [{ platform_id: 'newvideo002' }] },
    ...accepted,
  }),
  row('6.4', 'POST /api/download/', 200, {
    ...item('https://www.youtube.com/watch?v=newvideo003 newvideo004'),
    ...accepted,
  }),
  row('6.4', 'POST /api/download/', 200, { ...item('newvideo005', 'ignore'), ...accepted }),
  row('6.4', 'POST /api/download/', 200, { ...item('newvideo006', 'ignore-force'), ...accepted }),
  row('6.4', 'POST /api/download/', 200, { body: { data: [] }, has: { data: [], task_id: null } }),
  row('1.1', 'POST /api/download/?autostart=maybe', 400, item('newvideo001')),
  ...[
    {},
    { data: 'x' },
    { data: ['x'] },
    { data: [{ status: 'pending' }] },
    { data: [{ youtube_id: 'newvideo001', platform_id: 'newvideo002' }] },
    item('no id').body,
    item('newvideo001', 'x').body,
    item(5).body,
    item('').body,
  ].map((body) => row('10', 'POST /api/download/', 400, { body })),
  row('B', 'POST /api/download/bulk/', 200, {
    body: { filter: 'ignore', status: 'pending' },
    is: { updated: anInteger },
  }),
  row('B', 'POST /api/download/bulk/', 200, {
    body: { channel: CHANNEL, vid_type: 'videos', error: false, status: 'delete' },
    has: { updated: anInteger },
  }),
  ...[
    {},
    { status: 'pending' },
    { filter: 'pending' },
    { filter: 'x', status: 'ignore' },
    { filter: 'pending', status: 'x' },
  ].map((body) => row('B', 'POST /api/download/bulk/', 400, { body })),
  row('6.4', 'DELETE /api/download/?filter=pending', 200, {
    has: { message: 'deleted pending items', deleted: anInteger },
  }),
  row('6.4', `DELETE /api/download/?filter=ignore&channel=${CHANNEL}&vid_type=videos`, 200, {
    has: { message: 'deleted ignore items', deleted: anInteger },
  }),
  ...['', '?filter=', '?filter=x', '?filter=priority'].map((query) => row('6.4', `DELETE /api/download/${query}`, 400)),
  row('6.2', 'GET /api/refresh/', 200, { is: { total_queued: 0, type: 'all', state: 'empty' } }),
  row('6.2', 'GET /api/refresh/?type=video', 200, { is: { total_queued: 0, type: 'video', state: 'empty' } }),
  row('9.8', 'GET /api/refresh/?type=video&id=unknown', 200, {
    is: { total_queued: 0, type: 'video', state: 'empty', id: 'unknown' },
  }),
  ...[`id=${VIDEO}`, 'type=x'].map((query) => row('6.2', `GET /api/refresh/?${query}`, 400)),
  row('6.2', 'POST /api/refresh/', 200, {
    body: { video: [VIDEO] },
    is: { video: [VIDEO], message: 'refresh task started', task_id: aUuid },
  }),
  row('6.2', 'POST /api/refresh/?extract_videos=true', 200, {
    body: { channel: [CHANNEL], video: ['unknown'] },
    has: { task_id: aUuid },
  }),
  ...[{}, { nope: ['x'] }, { video: 'x' }, { video: [] }, { video: [5] }, { video: [VIDEO], nope: [] }].map((body) =>
    row('10', 'POST /api/refresh/', 400, { body }),
  ),
]

const NO_COOKIE = { cookie_enabled: false, status: false, validated: 0, validated_str: '' }
const SNAPSHOT = {
  id: aText,
  state: oneOf('SUCCESS', 'IN_PROGRESS'),
  index_version: aText,
  es_version: aText,
  start_date: aMinute,
  end_date: aText,
  end_stamp: anInteger,
  duration_s: anInteger,
}
const MISSING = { platform_id: aText, title: aText, channel_id: aText, active: true, queued: oneOf(true, false) }
const TASK = {
  task_id: aUuid,
  name: aText,
  status: aText,
  result: oneOf(null, aText),
  said: optional(sentences),
  traceback: null,
  date_done: oneOf(null, anInstant),
  date_start: oneOf(null, anInstant),
  command: oneOf(false, 'STOP', 'KILL'),
  args: anything,
  kwargs: anything,
  retries: 0,
}
const started = (name: string) => ({
  is: {
    task_id: aUuid,
    status: 'PENDING',
    task_name: name,
    message: { task_id: aUuid, status: 'PENDING', task_name: name },
  },
})
const named = (task_name: unknown, more: object = {}) => ({ body: { task_name, ...more } })
const BACKUP = 'av_backup-20260115-auto.zip'

export const operating: Table = [
  row('6.3', 'GET /api/cookie/', 200, { is: NO_COOKIE }),
  row('10', 'POST /api/cookie/', 200, { is: { cookie_validated: false } }),
  row('6.3', 'PUT /api/cookie/', 400, {
    body: { cookie: '# Netscape HTTP Cookie File\n.example.com\tTRUE\t/\tTRUE\t2000000000\tSID\tabc\n' },
    has: { cookie_import: 'fail', cookie_validated: false },
    sends: { 'retry-after': anything },
  }),
  row('10', 'PUT /api/cookie/', 400, {
    body: { cookie: 'no jar' },
    has: { cookie_import: 'fail', cookie_validated: false },
  }),
  ...[{}, { cookie: '' }, { cookie: 5 }].map((body) =>
    row('6.3', 'PUT /api/cookie/', 400, { body, has: { cookie_import: 'fail', cookie_validated: false } }),
  ),
  row('B', 'DELETE /api/cookie/', 200, { is: NO_COOKIE }),
  row('6.9', 'GET /api/snapshot/', 200, {
    first: (app) => app.settled(),
    is: { next_exec: anInteger, next_exec_str: aMinute, expire_after: '30d', snapshots: listOf(SNAPSHOT) },
  }),
  row('6.9', 'POST /api/snapshot/', 200, {
    is: { snapshot_name: new Form('name', (value) => /^av_daily_[a-z0-9]{22}$/.test(String(value))) },
  }),
  ...['GET', 'POST', 'DELETE'].map((method) => row('10', `${method} /api/snapshot/av_daily_-nothere/`, 404)),
  row('6.10', 'GET /api/backup/', 200, { is: [] }),
  row('6.10', 'POST /api/backup/', 200, { is: { message: 'backup task started', task_id: aUuid } }),
  row('6.10', `GET /api/backup/${BACKUP}/`, 200, {
    first: (app) => app.settled(),
    is: {
      filename: BACKUP,
      file_path: `backups/${BACKUP}`,
      file_size: anInteger,
      timestamp: '20260115',
      reason: 'auto',
    },
  }),
  row('6.10', 'GET /api/backup/', 200, { look: (list) => assert.equal(list.length, 1) }),
  row('B', `GET /api/backup/${BACKUP}/download/`, 200, { sends: { 'content-type': 'application/zip' } }),
  row('B', `GET /api/backup/${BACKUP}/preview/`, 200, {
    has: { video: { backup: 3, now: 3, added: 0, removed: 0, changed: anInteger } },
  }),
  row('6.10', `POST /api/backup/${BACKUP}/`, 200, {
    is: { message: 'backup restore task started', filename: BACKUP, task_id: aUuid },
  }),
  row('6.10', `DELETE /api/backup/${BACKUP}/`, 200, {
    first: (app) => app.settled(),
    is: { message: `file ${BACKUP} deleted` },
  }),
  ...['GET', 'POST', 'DELETE'].map((method) => row('10', `${method} /api/backup/${BACKUP}/`, 404)),
  ...[
    'nope',
    'a-b-c-d.zip',
    '../ledger.sqlite',
    '..%2Fledger.sqlite',
    `${BACKUP}%00`,
    'av–backup-20260115-auto.zip',
  ].map((name) => row('10', `GET /api/backup/${encodeURI(name).replaceAll('%25', '%')}/`, 404)),
  row('B', `PUT /api/backup/${BACKUP}/`, 422, { body: 'no zip', headers: { 'content-type': 'application/zip' } }),
  row('B', `PUT /api/backup/${BACKUP}/`, 415, { body: {} }),
  row('6.11', 'GET /api/task-name/', 200, { look: (list) => assert.ok(list.length > 2), is: listOf(TASK) }),
  row('6.11', 'GET /api/task-name/run_backup/', 200, {
    is: [{ ...TASK, name: 'run_backup', status: 'SUCCESS', result: null }],
  }),
  row('10', 'GET /api/task-name/update_subscribed/', 200, { is: [] }),
  row('6.11', 'GET /api/task-name/nope/', 404),
  ...[
    'update_subscribed',
    'download_pending',
    'redownload_degraded',
    'manual_import',
    'run_backup',
    'rescan_filesystem',
    'download_missing',
    'thumbnail_check',
    'resync_thumbs',
    'follow_places',
    'scrub',
    'check_lost',
    'update_downloader',
    'write_sidecars',
    'back_up_offsite',
    'check_offsite',
    'back_up_all',
    'rehearse_restore',
  ].map((name) => row('8.1', `POST /api/task-name/${name}/`, 200, started(name))),
  ...[
    'extract_download',
    'fetch_subtitles',
    'check_reindex',
    'restore_backup',
    'index_playlists',
    'subscribe_to',
    'create_snapshot',
    'restore_snapshot',
    'version_check',
  ].map((name) => row('8.1', `POST /api/task-name/${name}/`, 400)),
  row('6.11', 'POST /api/task-name/nope/', 404),
  row('8.1', 'POST /api/task-name/channel.remove/', 404),
  row('6.11', `GET /api/task-id/${NO_ID}/`, 404),
  row('B', `GET /api/task-id/${NO_ID}/log/`, 404),
  row('6.11', `POST /api/task-id/${NO_ID}/`, 400, { body: { command: 'x' } }),
  row('6.11', `POST /api/task-id/${NO_ID}/`, 400, { body: {} }),
  row('6.11', `POST /api/task-id/${NO_ID}/`, 404, { body: { command: 'stop' } }),
  row('B', 'GET /api/library/', 200, { is: { state: 'there', reason: '' } }),
  row('B', 'POST /api/library/', 200, { body: { command: 'accept' }, is: { state: 'there', reason: '' } }),
  row('B', 'POST /api/library/', 400, { body: { command: 'forget' } }),
  row('B', 'POST /api/library/rescan/', 200, { body: { force: true }, ...started('rescan_filesystem') }),
  row('B', 'POST /api/library/rescan/', 200, started('rescan_filesystem')),
  row('B', 'POST /api/library/rescan/', 400, { body: { force: 'yes' } }),
  row('B', 'GET /api/library/missing/', 200, { has: { data: listOf(MISSING) } }),
  row('B', 'POST /api/library/missing/', 200, { body: { command: 'download' }, ...started('download_missing') }),
  row('B', 'POST /api/library/missing/', 400, { body: { command: 'remove' } }),
  row('B', 'POST /api/library/import/', 200, { body: { prefer_local: true }, ...started('manual_import') }),
  row('B', 'POST /api/library/import/', 400, { body: { prefer_local: 'yes' } }),
]

const SCHEDULE = {
  name: aText,
  schedule: aText,
  schedule_human: aText,
  last_run_at: oneOf(null, anInstant),
  next_run_at: oneOf(null, anInstant),
  config: anything,
  last_status: oneOf(null, 'SUCCESS', 'FAILURE', 'REVOKED', 'FAILED'),
  last_ended_at: oneOf(null, anInstant),
  last_result: oneOf(null, aText),
}

export const schedules: Table = [
  row('B', 'GET /api/schedule/', 200, {
    is: listOf(SCHEDULE),
    look: (list) =>
      assert.deepEqual(list.map(({ name }: any) => name).toSorted(), [
        'apply_rules',
        'back_up_all',
        'back_up_offsite',
        'check_lost',
        'check_offsite',
        'check_reindex',
        'download_pending',
        'follow_places',
        'redownload_degraded',
        'rehearse_restore',
        'scrub',
        'thumbnail_check',
        'update_downloader',
        'update_faces',
        'update_subscribed',
        'version_check',
        'write_sidecars',
      ]),
  }),
  row('B', 'POST /api/schedule/', 200, {
    ...named('run_backup', { schedule: 'auto', config: { rotate: 3 } }),
    is: { ...SCHEDULE, name: 'run_backup', schedule: '0 18 0', config: { rotate: 3 } },
  }),
  row('8.2', 'POST /api/schedule/', 200, named('update_subscribed', { schedule: '15 */6 1-5' })),
  ...['* * *', '*/5 * *', '1,2 * *', '60 * *', '0 24 *', '0 0 8', '0 3/5 *', '0 0', '0 0 * *', 'x', ''].map(
    (schedule) => row('8.2', 'POST /api/schedule/', 400, named('run_backup', { schedule })),
  ),
  ...[
    named('nope', { schedule: 'auto' }),
    named('manual_import', { schedule: 'auto' }),
    named('run_backup'),
    named('run_backup', { schedule: 'auto', config: { nope: 1 } }),
    named('run_backup', { schedule: 'auto', config: { rotate: 'x' } }),
    { body: { schedule: 'auto' } },
  ].map((options) => row('B', 'POST /api/schedule/', 400, options)),
  row('6.11', 'DELETE /api/schedule/', 200, { ...named('version_check'), is: { success: true } }),
  row('10', 'DELETE /api/schedule/', 404, named('version_check')),
  row('10', 'DELETE /api/schedule/?task_name=thumbnail_check', 200, { is: { success: true } }),
  row('6.11', 'DELETE /api/schedule/?task_name=run_backup', 400, named('update_subscribed')),
  ...[{ body: {} }, {}, { body: '' }].map((options) => row('10', 'DELETE /api/schedule/', 400, options)),
  row('6.11', 'GET /api/schedule/notification/', 200, { is: {} }),
  row('6.11', 'GET /api/schedule/notification/', 403, asUser),
  row('B', 'POST /api/schedule/notification/', 200, {
    ...named('download_pending', { url: 'json://one.example/a' }),
    is: { download_pending: { urls: ['json://one.example/a'], title: 'Downloading' } },
  }),
  row('B', 'POST /api/schedule/notification/', 200, {
    ...named('download_pending', { url: 'json://one.example/a' }),
    is: { download_pending: { urls: ['json://one.example/a'], title: 'Downloading' } },
  }),
  ...[
    named('nope', { url: 'json://a.example' }),
    named('run_backup', { url: 'json://a.example' }),
    named('download_pending'),
    named('download_pending', { url: '' }),
    named('download_pending', { url: 'no url' }),
    { body: { url: 'json://a.example' } },
  ].map((options) => row('B', 'POST /api/schedule/notification/', 400, options)),
  row('10', 'DELETE /api/schedule/notification/', 404, named('download_pending', { url: 'json://other.example' })),
  row('6.11', 'DELETE /api/schedule/notification/?task_name=download_pending&url=json://one.example/a', 200, {
    is: { success: true },
  }),
  row('10', 'DELETE /api/schedule/notification/', 404, named('download_pending')),
  row('10', 'DELETE /api/schedule/notification/', 404, named('nope')),
  row('6.11', 'DELETE /api/schedule/notification/', 400, { body: {} }),
  row('B', 'POST /api/schedule/notification/test/', 400, { body: { url: 'json://127.0.0.1:1/x' } }),
  ...[{}, { url: '' }, { url: 5 }].map((body) => row('B', 'POST /api/schedule/notification/test/', 400, { body })),
]

const ACCOUNT = {
  id: anInteger,
  username: aText,
  is_staff: oneOf(true, false),
  is_active: true,
  may_download: oneOf(true, false),
  view: null,
  has_pin: false,
  has_totp: false,
  picture: null,
  last_login: oneOf(null, anInstant),
}
const ACCESS_TOKEN = {
  id: anInteger,
  name: 'Kodi',
  scope: 'watch',
  created: anInstant,
  expires: null,
  last_used: null,
}
const STATE = {
  state: oneOf('open', 'paused', 'offline'),
  reason: anything,
  since: anInteger,
  next_attempt: anInteger,
  pending: anInteger,
  waiting: anything,
  downloader: { version: aText, channel: aText },
  tools: anything,
  space: { media_free: aNumber, media_total: aNumber },
  missing: anything,
  health: {
    runtime: {
      state: aText,
      name: anything,
      version: anything,
      solved_ms: anInteger,
      checked: anInteger,
      message: anything,
    },
    solver: { state: aText, version: anything, wanted: anything },
    downloader: {
      state: aText,
      version: aText,
      age_days: anInteger,
      checked: anInteger,
      next_check: 0,
      tried: anything,
      message: anything,
    },
    token_provider: { state: 'none', address: '', last_token: 0, message: '' },
    budget: { address: anything, cookie: null },
    cookie: { state: 'none', stored: 0, ended: 0, checked: 0, lived: [] },
  },
}

export const beyond: Table = [
  row('B', 'GET /api/config/user/', 200, { ...asUser, is: { user_id: 2 } }),
  row('B', 'GET /api/session/', 200, {
    ...asUser,
    is: {
      version: aVersion,
      account: { ...ACCOUNT, id: 2, is_staff: false },
      preferences: { user_id: 2 },
      attention: { access_tokens: [], failed_tasks: [], sign_ins: [] },
      groups: [],
      shelves: [],
      community: [],
      needs_second_factor: false,
    },
  }),
  row('B', 'GET /api/session/', 401, { ...asNobody, has: { code: 'not_authenticated' } }),
  row('B', 'POST /api/config/user/', 200, {
    ...asUser,
    body: { page_size: 5, sort_by: 'views', view_style_home: 'list', grid_items: 3, hide_watched: true },
    is: { page_size: 5, sort_by: 'views', view_style_home: 'list', grid_items: 3, hide_watched: true, user_id: 2 },
  }),
  row('4.2', 'GET /api/video/', 200, { ...asUser, look: ({ paginate }) => assert.equal(paginate.page_size, 5) }),
  row('B', 'POST /api/config/user/', 200, { ...asUser, body: { page_size: 0 } }),
  row('4.2', 'GET /api/video/', 200, { ...asUser, look: ({ paginate }) => assert.equal(paginate.page_size, 12) }),
  ...[
    { page_size: '5' },
    { page_size: 201 },
    { page_size: -1 },
    { sort_by: 'x' },
    { grid_items: 9 },
    { grid_items: 2 },
    { nope: 1 },
    { hide_watched: 'yes' },
  ].map((body) => row('B', 'POST /api/config/user/', 400, { ...asUser, body })),
  row('B', 'GET /api/config/', 200, {
    has: {
      application: { enable_snapshot: true, snapshot_room: false, enable_cast: false },
      subscriptions: {
        channel_size: 50,
        live_channel_size: 50,
        shorts_channel_size: 50,
        playlist_size: 50,
        auto_start: false,
        feeds: true,
      },
    },
  }),
  row('B', 'POST /api/config/', 200, {
    body: { application: { enable_cast: true }, downloads: { limit_speed: 100 } },
    look: ({ application, downloads }) =>
      assert.deepEqual([application.enable_cast, downloads.limit_speed], [true, 100]),
  }),
  ...[
    { nope: {} },
    { application: { nope: 1 } },
    { application: { enable_cast: 'x' } },
    { downloads: { limit_speed: 5, comment_sort: 'x' } },
    { application: 5 },
  ].map((body) => row('B', 'POST /api/config/', 400, { body })),
  row('B', 'GET /api/config/', 200, {
    look: ({ downloads }) => assert.equal(downloads.limit_speed, 100, 'nothing of a refused change is kept'),
  }),
  row('B', 'GET /api/token/', 200, { ...asUser, is: { token: aToken } }),
  row('B', 'POST /api/access-token/', 200, {
    ...asUser,
    body: { name: 'Kodi', scope: 'watch', expires: '2099-01-31T12:00:00Z' },
    is: { ...ACCESS_TOKEN, expires: '2099-01-31T12:00:00.000Z', token: aToken },
  }),
  row('B', 'GET /api/access-token/', 200, {
    ...asUser,
    is: [{ ...ACCESS_TOKEN, expires: '2099-01-31T12:00:00.000Z' }],
  }),
  row('B', 'GET /api/access-token/', 200, { is: [] }),
  ...[
    {},
    { name: 'x' },
    { name: '', scope: 'read' },
    { name: 'x'.repeat(101), scope: 'read' },
    { name: 'x', scope: 'all' },
    { name: 'x', scope: 'none' },
    { name: 'x', scope: 'download' },
    { name: 'x', scope: 'read', expires: '2020-01-31T12:00:00Z' },
    { name: 'x', scope: 'read', expires: '2099-02-30' },
    { name: 'x', scope: 'read', expires: 4_000_000_000 },
  ].map((body) => row('B', 'POST /api/access-token/', 400, { ...asUser, body })),
  row('B', 'GET /api/own-session/', 200, { ...asUser, is: [] }),
  row('B', 'POST /api/session/', 200, {
    ...asUser,
    body: { current_password: PASSWORD },
    is: { success: true },
  }),
  row('B', 'POST /api/session/', 400, { ...asUser, body: { current_password: 'wrong' } }),
  row('B', 'POST /api/session/', 400, { ...asUser, body: {} }),
  row('B', 'DELETE /api/own-session/', 200, { ...asUser, is: { success: true } }),
  row('B', `DELETE /api/own-session/${'x'.repeat(16)}/`, 404, asUser),
  row('B', 'DELETE /api/own-session/x/', 404, asUser),
  row('B', 'DELETE /api/new-sign-in/1/', 404, asUser),
  row('B', 'GET /api/ask/offer/?query=bread', 200, { ...asUser, is: [] }),
  row('B', 'GET /api/ask/own/', 200, { ...asUser, is: [] }),
  row('B', 'POST /api/ask/own/', 200, { ...asUser, is: { success: true } }),
  row('B', 'POST /api/ask/', 404, { ...asUser, body: { video_id: VIDEO } }),
  row('B', 'GET /api/ask/', 200, { is: [] }),
  row('B', 'POST /api/ask/1/', 404, { body: { answer: 'no' } }),
  row('B', 'GET /api/screentime/own/', 200, { ...asUser, is: { minutes: null, left: null } }),
  row('B', 'POST /api/screentime/own/', 409, { ...asUser, body: { pin: '4711' } }),
  row('B', 'GET /api/screentime/', 200, { is: [] }),
  row('B', 'POST /api/screentime/2/', 409, { body: { minutes: 60 } }),
  row('B', 'POST /api/sign-in-code/', 200, {
    ...asNobody,
    is: {
      ...{ device_code: aText, user_code: aText, verification_uri: aText, verification_uri_complete: aText },
      ...{ expires_in: 600, interval: 3 },
    },
  }),
  row('B', 'POST /login/code/', 200, { ...login({ device_code: 'none' }), is: { state: 'expired' } }),
  row('B', 'GET /api/sign-in-code/BBB-BBB/', 404, asUser),
  row('B', 'POST /api/sign-in-code/BBB-BBB/', 404, { ...asUser, body: { user_id: 2 } }),
  row('B', 'DELETE /api/sign-in-code/BBB-BBB/', 404, asUser),
  row('B', 'DELETE /api/access-token/1/', 404),
  row('B', 'DELETE /api/access-token/x/', 404),
  row('B', 'DELETE /api/access-token/1/', 200, { ...asUser, is: { success: true } }),
  row('B', 'DELETE /api/access-token/1/', 404, asUser),
  row('B', 'GET /api/user/', 200, { look: (list) => assert.equal(list.length, 2), is: listOf(ACCOUNT) }),
  row('B', 'POST /api/user/', 200, {
    body: { username: 'third', password: 'long enough for all' },
    is: { ...ACCOUNT, id: 3, username: 'third', is_staff: false, may_download: false, last_login: null },
  }),
  row('B', 'POST /api/user/', 409, { body: { username: 'third', password: 'long enough for all' } }),
  ...[
    {},
    { username: 'x y', password: 'long enough for all' },
    { username: 'x', password: 'short' },
    { username: '', password: 'long enough for all' },
    { username: 'x'.repeat(151), password: 'long enough for all' },
    { username: 'x', password: 'long enough for all', is_staff: 'yes' },
    { username: 'x', password: 'long enough for all', may_download: 1 },
    { username: 'x', password: 'long enough for all', view: { channel: [CHANNEL] }, is_staff: true },
    { username: 'x', password: 'long enough for all', view: { channel: [NO_CHANNEL] } },
    { username: 'x', password: 'long enough for all', view: { video: [VIDEO] } },
  ].map((body) => row('B', 'POST /api/user/', 400, { body })),
  row('B', 'GET /api/user/2/', 200, { ...asUser, has: { id: 2, is_staff: false } }),
  row('B', 'GET /api/user/1/', 403, asUser),
  row('B', 'GET /api/user/99/', 404),
  row('B', 'GET /api/user/x/', 404),
  row('B', 'POST /api/user/3/', 200, { body: { may_download: true }, has: { may_download: true } }),
  row('3.4', 'POST /api/user/3/', 400, { body: { view: { channel: [CHANNEL] } } }),
  row('B', 'POST /api/user/3/', 200, {
    body: { may_download: false, view: { channel: [CHANNEL] } },
    has: { may_download: false, view: { channel: [CHANNEL], playlist: [] } },
  }),
  row('3.4', 'POST /api/user/3/', 400, { body: { is_staff: true } }),
  row('B', 'POST /api/user/3/', 200, { body: { view: null }, has: { view: null } }),
  row('B', 'POST /api/user/3/', 200, { body: { is_staff: true }, has: { is_staff: true, may_download: true } }),
  row('B', 'POST /api/user/3/', 200, {
    body: { is_active: false, password: 'another password' },
    has: { is_active: false },
  }),
  row('B', 'POST /api/user/1/', 409, { body: { is_active: false } }),
  row('B', 'POST /api/user/1/', 409, { body: { is_staff: false } }),
  ...[{}, { password: 'short' }, { is_staff: 5 }].map((body) => row('B', 'POST /api/user/3/', 400, { body })),
  row('B', 'POST /api/user/2/', 200, {
    ...asUser,
    body: { password: 'a new password', current_password: PASSWORD },
    has: { id: 2 },
  }),
  row('B', 'POST /api/user/2/', 400, { ...asUser, body: { password: 'a new password', current_password: 'wrong' } }),
  row('B', 'POST /api/user/2/', 403, { ...asUser, body: { is_staff: true } }),
  row('B', 'POST /api/user/1/', 403, { ...asUser, body: { password: 'a new password' } }),
  row('B', 'DELETE /api/user/3/', 200, { is: { success: true } }),
  row('B', 'DELETE /api/user/3/', 404),
  row('B', 'DELETE /api/user/1/', 409),
  row('B', 'DELETE /api/user/2/', 403, asUser),
  ...['/api/user/1/picture/', '/api/user/99/picture/', '/api/device/1/picture/'].map((path) =>
    row('B', `GET ${path}`, 404),
  ),
  row('B', 'PUT /api/user/1/picture/', 422, { body: 'no picture', headers: BYTES }),
  row('B', 'PUT /api/user/1/picture/', 415, { body: {} }),
  row('B', 'PUT /api/user/1/picture/', 403, { ...asUser, body: 'no picture', headers: BYTES }),
  row('B', 'PUT /api/user/99/picture/', 404, { body: 'no picture', headers: BYTES }),
  row('B', 'DELETE /api/user/1/picture/', 200, { is: { picture: null } }),
  row('B', 'DELETE /api/user/1/picture/', 403, asUser),
  row('B', 'DELETE /api/user/99/picture/', 404),
  row('B', `GET /api/channel/${CHANNEL}/preference/`, 200, { is: {} }),
  row('B', 'GET /api/channel/none/preference/', 404),
  row('B', `POST /api/channel/${CHANNEL}/preference/`, 200, { body: {}, is: {} }),
  row('B', `POST /api/channel/${CHANNEL}/preference/`, 400, { body: { downloads: { format: 'best' } } }),
  row('B', 'POST /api/channel/none/preference/', 404, { body: {} }),
  row('B', 'GET /api/plugin/', 200, {
    look: (body) =>
      assert.deepEqual(
        body.find(({ name }: { name: string }) => name === 'plugin'),
        { name: 'plugin', version: body[0].version, built_in: true, enabled: true, needs: [], routes: 7, tasks: 1 },
      ),
  }),
  row('B', 'POST /api/plugin/plugin/start/', 409),
  row('B', 'POST /api/plugin/none/start/', 404),
  row('B', 'POST /api/plugin/plugin/', 404, { body: { enabled: false } }),
  row('B', 'POST /api/plugin/none/', 400, { body: {} }),
  row('B', 'POST /api/plugin/none/update/', 404),
  row('B', 'DELETE /api/plugin/plugin/', 404),
  ...['../tide', '/etc', 'file:tide', '--registry=x', 'tide.tgz', ''].map((name) =>
    row('B', 'POST /api/plugin/', 400, { body: { package: name } }),
  ),
  row('B', 'GET /api/plugin/page/', 200, { ...asUser, is: [] }),
  row('B', 'GET /api/platform/', 200, { is: STATE }),
  row('B', 'POST /api/platform/', 200, { body: { command: 'pause' }, is: { ...STATE, state: 'paused' } }),
  row('B', 'POST /api/platform/', 200, { body: { command: 'resume' }, is: { ...STATE, state: 'open' } }),
  row('B', 'POST /api/platform/', 200, { body: { command: 'update' }, is: STATE }),
  ...[{}, { command: 'x' }].map((body) => row('B', 'POST /api/platform/', 400, { body })),
  row('B', `GET /api/resolve/?q=${encodeURIComponent(`https://youtu.be/${VIDEO} ${CHANNEL} nonsense!`)}`, 200, {
    ...asUser,
    is: [
      { type: 'video', id: VIDEO, known: true },
      { type: 'channel', id: CHANNEL, known: true },
    ],
  }),
  row('B', 'GET /api/resolve/', 200, { ...asUser, is: [] }),
  row('B', 'GET /api/resolve/look/', 400, { has: { code: 'bad_request' } }),
  row('B', 'GET /api/resolve/look/?q=nonsense!', 400, { has: { code: 'bad_request' } }),
  row('B', `GET /api/resolve/look/?q=${VIDEO}`, 403, { ...asUser, has: { code: 'permission_denied' } }),
  row('B', 'GET /api/schema/', 200, { ...asUser, has: { openapi: '3.1.0' } }),
  row('B', 'GET /api/docs/', 200, {
    ...asUser,
    sends: { 'content-type': new Form('page', (type) => String(type).startsWith('text/html')) },
  }),
  row('B', 'GET /api/docs/contract/', 200, {
    ...asUser,
    sends: { 'content-type': new Form('page', (type) => String(type).startsWith('text/html')) },
  }),
  row('B', 'POST /login/', 204, {
    ...login({ username: 'admin', password: PASSWORD, remember_me: 'on' }),
    sends: {
      'set-cookie': new Form(
        'cookies',
        (cookies) =>
          Array.isArray(cookies) &&
          cookies.some((cookie) => /^sessionid=.*HttpOnly.*SameSite=Lax/i.test(cookie)) &&
          cookies.some((cookie) => cookie.startsWith('csrftoken=')),
      ),
    },
  }),
  row('B', 'POST /login/', 204, login(`username=admin&password=${encodeURIComponent(PASSWORD)}&remember_me=off`, FORM)),
  row('B', 'POST /login/', 400, {
    ...login({ username: 'admin', password: 'wrong' }),
    has: { non_field_errors: anything },
  }),
  row('B', 'GET /api/device/', 200, { ...asNobody, is: [] }),
  row('B', 'POST /api/device/', 400, { ...asNobody, body: { user_id: 1, pin: '4711' } }),
  row('B', 'POST /api/device/', 400, { ...asNobody, body: { user_id: 1, pin: 'none' } }),
  row('B', 'DELETE /api/device/1/', 200, { ...asNobody, is: { success: true } }),
  row('B', 'DELETE /api/device/x/', 404, asNobody),
  row('B', 'POST /api/user/2/', 400, { ...asUser, body: { pin: '4711' } }),
  row('B', 'POST /api/user/2/', 403, { body: { pin: '4711' } }),
  row('B', 'POST /logout/', 204, asUser),
  row('B', 'DELETE /api/token/', 200, { ...asUser, is: { success: true } }),
]
