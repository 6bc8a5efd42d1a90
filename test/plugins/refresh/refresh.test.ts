/** Refreshing through the API, with the real yt-dlp at the loopback platform. */
import assert from 'node:assert/strict'
import { cp, mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { definePlugin } from 'archivolt'
import { CHANNEL, PLAYLIST, VIDEO } from '../../platform/seed.mjs'
import { MEDIA_FOLDER, startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { garble } from '../../support/garble.ts'
import { aChannel, aPlaylist, aVideo, someComments, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const DAY = 86_400
const LONG_AGO = Math.floor(Date.parse('2025-01-01T00:00:00Z') / 1000)

async function given(t: TestContext): Promise<{ app: TestApp; loopback: TestPlatform }> {
  const loopback = await startTestPlatform(t)
  const app = await testApp(t, {
    settings: { ...loopback.settings, segmentsUrl: loopback.segmentsUrl, dislikesUrl: loopback.dislikesUrl },
  })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  return { app, loopback }
}

/** Writes a real file to the video's path in the library. */
async function withMedia(app: TestApp, channelId: string, videoId: string): Promise<void> {
  const path = app.app.media.pathOf(channelId, videoId)
  await mkdir(dirname(path), { recursive: true })
  await cp(join(MEDIA_FOLDER, 'wide-3s', '18.mp4'), path)
}

async function refresh(app: TestApp, body: object, query = ''): Promise<{ task_id: string }> {
  const reply = await app.as('admin').post(`/api/refresh/${query}`, body)
  assert.equal(reply.status, 200, reply.text)
  await app.app.jobs.ended(reply.body.task_id)
  return reply.body
}

function gate(): { promise: Promise<void>; resolve: () => void } {
  let resolve = () => {}
  const promise = new Promise<void>((open) => (resolve = open))
  return { promise, resolve }
}

const queueState = async (app: TestApp, query = '') => (await app.as('admin').get(`/api/refresh/${query}`)).body

test('a channel, a playlist and comments that are damaged and in no snapshot are read again', async (t) => {
  const { app } = await given(t)
  await app.settled()
  await app.as('admin').post('/api/config/', { downloads: { comment_max: 'all' } })
  const [channelId, id, playlistId] = [CHANNEL.harbour, VIDEO.breakwater, PLAYLIST.coast]
  await app.given(
    aChannel({ id: channelId }),
    aVideo({ id, channelId }),
    aPlaylist({ id: playlistId, entries: [id] }),
    someComments(id, []),
  )
  garble(app, 'channel', channelId)
  garble(app, 'playlist', playlistId)
  garble(app, 'comment', id)

  await app.as('admin').post('/api/backup/')
  await app.settled()

  assert.equal((await app.doc('channel', channelId))?.channel_name, 'Harbour & Tide')
  assert.equal((await app.doc('playlist', playlistId))?.playlist_type, 'regular')
  assert.equal((await app.as('user').get(`/api/video/${id}/comment/`)).body.data.length, 45)
})

test('a video is read again; the user’s data and its date of download stay', async (t) => {
  const { app, loopback } = await given(t)
  const id = VIDEO.breakwater
  await app.given(
    aChannel({ id: CHANNEL.harbour, channel_overwrites: { integrate_sponsorblock: true } }),
    aVideo({
      id,
      channelId: CHANNEL.harbour,
      title: 'Old',
      vid_type: 'streams',
      active: false,
      player: { duration: 3, duration_str: '0:03' },
      date_downloaded: 77,
      playlist: ['PLx'],
    }),
  )
  await app.as('admin').post('/api/watched/', { id, is_watched: true })
  await withMedia(app, CHANNEL.harbour, id)
  await app.as('admin').post('/api/config/', {
    downloads: { subtitle: 'en', subtitle_source: 'user', subtitle_index: true, comment_max: 'all' },
  })
  loopback.platform.catalogue.put('videos', id, { info: { title: 'A better title', view_count: 12345, duration: 3 } })
  loopback.platform.skipSegments.add(id, [{ segment: [1, 2], category: 'sponsor' }])

  const body = await refresh(app, { video: [id] })

  assert.deepEqual({ ...body, task_id: '' }, { video: [id], message: 'refresh task started', task_id: '' })
  const doc = await app.doc('video', id)
  assert.equal(doc.title, 'A better title')
  assert.equal(doc.stats.view_count, 12345)
  assert.equal(doc.active, true)
  assert.equal(doc.vid_last_refresh, '2026-01-15')
  assert.equal(doc.player.duration, 3)
  assert.deepEqual(
    doc.chapters.map(({ title }: { title: string }) => title),
    ['Low water'],
  )
  assert.deepEqual(doc.streams.map(({ type }: { type: string }) => type).sort(), ['audio', 'video'])
  assert.deepEqual(
    doc.subtitles.map(({ lang }: { lang: string }) => lang),
    ['en'],
  )
  assert.equal((await app.as('user').get(`/api/video/${id}/comment/`)).body.data.length, 45)
  assert.equal(doc.sponsorblock.segments.length, 1)
  assert.deepEqual([doc.vid_type, doc.date_downloaded, doc.playlist, doc.watched_by], ['streams', 77, ['PLx'], ['1']])
  assert.equal((await app.ids('subtitle')).length, 1)
  const vtt = await app.as('user').get(doc.subtitles[0].media_url)
  assert.match(vtt.text, /Good morning from the pier/)
  assert.deepEqual(await queueState(app), { total_queued: 0, type: 'all', state: 'empty' })
})

/** The platform's answer while it throttles us: formats, and little else. */
const NOTHING = {
  ...{ title: null, description: null, tags: [], categories: [], timestamp: null, upload_date: null },
  ...{ view_count: null, like_count: null, channel: null, uploader: null },
}

test('an answer without a title is no refresh, and fields that an answer lacks stay unchanged', async (t) => {
  const { app, loopback } = await given(t)
  const { catalogue } = loopback.platform
  const id = VIDEO.breakwater
  await app.given(aChannel({ id: CHANNEL.harbour }), aVideo({ id, channelId: CHANNEL.harbour }))
  await withMedia(app, CHANNEL.harbour, id)
  catalogue.put('videos', id, { info: { description: 'Long text', tags: ['sea'], view_count: 500, like_count: 50 } })
  await refresh(app, { video: [id] })
  const { refreshed_at: _, ...before } = await app.doc('video', id)
  const known = [before.description, before.tags, before.stats.view_count, before.stats.like_count]
  assert.deepEqual(known, ['Long text', ['sea'], 500, 50])

  catalogue.put('videos', id, { info: NOTHING, chapters: [] })
  const { task_id } = await refresh(app, { video: [id] })
  const { refreshed_at: _now, ...after } = await app.doc('video', id)
  catalogue.put('videos', id, { info: { title: 'A new title', view_count: 501 } })
  await refresh(app, { video: [id] })

  assert.deepEqual(after, before)
  assert.equal(app.app.jobs.get(task_id)?.result, null)
  const { title, stats, ...rest } = await app.doc('video', id)
  assert.deepEqual([title, stats.view_count, stats.like_count], ['A new title', 501, 50])
  assert.deepEqual(
    [rest.description, rest.tags, rest.published, rest.chapters],
    [before.description, before.tags, before.published, before.chapters],
  )
})

test('a playlist whose list ends early keeps its entries, and the result says so', async (t) => {
  const { app, loopback } = await given(t)
  const ids = Array.from({ length: 130 }, (_, at) => `AvListed${String(at).padStart(3, '0')}`)
  const { catalogue } = loopback.platform
  for (const id of ids) catalogue.put('videos', id, { ...catalogue.videos.get(VIDEO.fog), id })
  catalogue.put('playlists', PLAYLIST.coast, { videoIds: ids })
  await app.given(aPlaylist({ id: PLAYLIST.coast }))
  await refresh(app, { playlist: [PLAYLIST.coast] })

  catalogue.put('playlists', PLAYLIST.coast, { cutAt: 100 })
  const { task_id } = await refresh(app, { playlist: [PLAYLIST.coast] })

  const { playlist_entries: entries } = await app.doc('playlist', PLAYLIST.coast)
  assert.deepEqual(
    entries.map(({ platform_id: id }: { platform_id: string }) => id),
    ids,
  )
  assert.equal(
    app.app.jobs.get(task_id)?.result,
    '1 playlist refreshed; the list of The coast in five films ended after 100 of 130 entries: nothing was removed from it',
  )
})

test('an item that is gone becomes inactive, and nothing else of it changes', async (t) => {
  const { app, loopback } = await given(t)
  const { faults } = loopback.platform
  await app.given(
    aChannel({ id: CHANNEL.harbour }),
    aPlaylist({ id: PLAYLIST.coast }),
    aVideo({ id: VIDEO.ferry, channelId: CHANNEL.harbour }),
  )
  const before = await Promise.all([
    app.doc('video', VIDEO.ferry),
    app.doc('channel', CHANNEL.harbour),
    app.doc('playlist', PLAYLIST.coast),
  ])
  faults.set(VIDEO.ferry, 'private')
  faults.set(CHANNEL.harbour, 'channel_terminated')
  faults.set(PLAYLIST.coast, 'playlist_missing')

  const { task_id } = await refresh(app, {
    video: [VIDEO.ferry],
    channel: [CHANNEL.harbour],
    playlist: [PLAYLIST.coast],
  })

  const after = await Promise.all([
    app.doc('video', VIDEO.ferry),
    app.doc('channel', CHANNEL.harbour),
    app.doc('playlist', PLAYLIST.coast),
  ])
  assert.deepEqual(after, [
    { ...before[0], active: false },
    { ...before[1], channel_active: false },
    { ...before[2], playlist_active: false },
  ])
  assert.equal(app.app.jobs.get(task_id)?.result, '1 video, 1 channel, 1 playlist refreshed')

  const reply = await app
    .as('admin')
    .post('/api/activate/', { video: [VIDEO.ferry, 'unknown'], playlist: [PLAYLIST.coast] })
  assert.deepEqual(reply.body, { updated: 2 })
  assert.equal((await app.doc('video', VIDEO.ferry)).active, true)
})

test('a failure other than "gone" leaves the document unchanged', async (t) => {
  const { app, loopback } = await given(t)
  const known = ['geo_blocked', 'login_required']
  const ids = [VIDEO.ferry, VIDEO.fog]
  for (const [at, id] of ids.entries()) {
    await app.given(aVideo({ id, channelId: CHANNEL.harbour }))
    await withMedia(app, CHANNEL.harbour, id)
    loopback.platform.faults.set(id, known[at]!)
  }

  await refresh(app, { video: ids })

  for (const id of ids) assert.equal((await app.doc('video', id)).active, true, id)
  assert.equal((await app.doc('video', VIDEO.fog)).title, `Video ${VIDEO.fog}`)
  assert.equal((await queueState(app)).total_queued, 0)
})

test('a channel and a playlist are read again with their parts; extract_videos includes their videos', async (t) => {
  const { app } = await given(t)
  await app.given(
    aChannel({
      id: CHANNEL.harbour,
      channel_name: 'Old',
      channel_subscribed: true,
      channel_overwrites: { autodelete_days: 3 },
    }),
    aPlaylist({ id: PLAYLIST.coast, playlist_name: 'Old', playlist_subscribed: true }),
    aVideo({ id: VIDEO.fog, channelId: CHANNEL.harbour, title: 'Old' }),
  )
  await withMedia(app, CHANNEL.harbour, VIDEO.fog)

  await refresh(app, { channel: [CHANNEL.harbour], playlist: [PLAYLIST.coast] }, '?extract_videos=true')

  const channel = await app.doc('channel', CHANNEL.harbour)
  assert.deepEqual(
    [channel.channel_name, channel.channel_subscribed, channel.channel_overwrites],
    ['Harbour & Tide', true, { autodelete_days: 3 }],
  )
  const playlist = await app.doc('playlist', PLAYLIST.coast)
  assert.deepEqual([playlist.playlist_name, playlist.playlist_subscribed], ['The coast in five films', true])
  assert.deepEqual(
    playlist.playlist_entries.map(({ downloaded }: { downloaded: boolean }) => downloaded),
    [false, false, false, true, false],
  )
  const video = await app.doc('video', VIDEO.fog)
  assert.deepEqual([video.title, video.playlist], ['Fog signals explained', [PLAYLIST.coast]])
})

test('the queue lists what is running and pending; unknown ids and custom playlists are skipped', async (t) => {
  const loopback = await startTestPlatform(t)
  const begun = gate()
  const mayGoOn = gate()
  const holdFirst = definePlugin({
    name: 'hold',
    on: {
      'job.step':
        () =>
        async ({ step, phase }) => {
          if (step !== 'refresh.item' || phase !== 'before') return
          begun.resolve()
          await mayGoOn.promise
        },
    },
  })
  const app = await testApp(t, { settings: loopback.settings, replace: [holdFirst] })
  await app.as('admin').post('/api/config/', { downloads: { sleep_interval: 0 } })
  await app.given(aPlaylist({ id: 'av_playlist_1', playlist_type: 'custom', playlist_active: false }))
  for (const id of [VIDEO.ferry, VIDEO.fog, VIDEO.nets]) await app.given(aVideo({ id, channelId: CHANNEL.harbour }))

  const reply = await app.as('admin').post('/api/refresh/', {
    video: [VIDEO.ferry, VIDEO.fog, 'unknown', VIDEO.fog, VIDEO.nets],
    playlist: ['av_playlist_1'],
  })
  await begun.promise

  assert.deepEqual(await queueState(app), { total_queued: 2, type: 'all', state: 'running' })
  assert.deepEqual(await queueState(app, '?type=playlist'), { total_queued: 0, type: 'playlist', state: 'empty' })
  for (const [id, state] of [
    [VIDEO.ferry, 'running'],
    [VIDEO.fog, 'in_queue'],
    ['unknown', 'empty'],
  ]) {
    assert.deepEqual(await queueState(app, `?type=video&id=${id}`), { total_queued: 2, type: 'video', state, id })
  }
  mayGoOn.resolve()
  await app.app.jobs.ended(reply.body.task_id)
  assert.deepEqual(await queueState(app, '?type=video'), { total_queued: 0, type: 'video', state: 'empty' })
})

test('an empty answer for an item is retried twice; the document stays, and its next turn comes after the others', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(aVideo({ id: VIDEO.fog, channelId: CHANNEL.harbour, refreshed_at: LONG_AGO }))
  const before = await app.doc('video', VIDEO.fog)
  loopback.platform.faults.set('global', { name: 'api_garbage' })

  await refresh(app, { video: [VIDEO.fog] })

  assert.deepEqual(await app.doc('video', VIDEO.fog), { ...before, refreshed_at: app.clock.now() / 1000 })
  assert.equal((await queueState(app)).total_queued, 0)
})

test('pending items survive a restart and are finished after it', async (t) => {
  const { app } = await given(t)
  await app.given(aVideo({ id: VIDEO.fog, channelId: CHANNEL.harbour, title: 'Old' }))
  await withMedia(app, CHANNEL.harbour, VIDEO.fog)
  await app.app.refreshQueue.add('video', [VIDEO.fog])

  await app.restart()

  assert.deepEqual(await queueState(app, `?type=video&id=${VIDEO.fog}`), {
    total_queued: 1,
    type: 'video',
    state: 'in_queue',
    id: VIDEO.fog,
  })
  const job = await app.app.jobs.start('check_reindex')
  await app.app.jobs.ended(job.id)
  assert.equal((await app.doc('video', VIDEO.fog)).title, 'Fog signals explained')
})

test('an enabled cookie that is no longer valid ends the run before any work', async (t) => {
  const { app, loopback } = await given(t)
  const jar = '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tSID\tx\n'
  assert.equal((await app.as('admin').put('/api/cookie/', { cookie: jar })).status, 200)
  await app.given(aVideo({ id: VIDEO.fog, channelId: CHANNEL.harbour, title: 'Old' }))
  await withMedia(app, CHANNEL.harbour, VIDEO.fog)
  loopback.platform.faults.set('LL', 'playlist_missing')

  await refresh(app, { video: [VIDEO.fog] })

  assert.equal((await app.doc('video', VIDEO.fog)).title, 'Old')
  assert.equal((await queueState(app)).total_queued, 1)
  assert.equal((await app.as('admin').get('/api/cookie/')).body.status, false)
  assert.ok(
    (await app.as('admin').get('/api/notification/')).body.some(
      ({ level, group }: { level: string; group: string }) => level === 'error' && group === 'setting:application',
    ),
  )
})

test('a scheduled run selects new items and a share of the oldest, and leaves out inactive ones', async (t) => {
  const { app } = await given(t)
  const now = app.clock.now() / 1000
  const old = (count: number) => ({ refreshed_at: LONG_AGO + count })
  await app.given(
    aVideo({ id: 'oldest', ...old(1) }),
    aVideo({ id: 'older', ...old(2) }),
    aVideo({ id: 'inactive', active: false, published: '2026-01-14', ...old(0) }),
    aVideo({ id: 'fresh', published: '2026-01-13', refreshed_at: now }),
    aVideo({ id: 'readLately', refreshed_at: now - 89 * DAY }),
    aChannel({ id: 'UCold', ...old(1) }),
    aChannel({ id: 'UCgone', channel_active: false, ...old(0) }),
    aPlaylist({ id: 'av_playlist_1', playlist_type: 'custom', playlist_active: false, ...old(0) }),
  )
  const { selectOutdated, shareOf } = await import('../../../plugins/refresh/select.ts')

  await selectOutdated(90, app.app)

  const rows = app.app.ledger.sql<{ id: string }>('SELECT id FROM refresh_queue ORDER BY kind, position').all()
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['fresh', 'oldest', 'UCold'],
  ) // 4 active videos, 90 days: one of them
  assert.deepEqual(
    [0, 4, 90, 900, 100_000_000].map((total) => shareOf(total, 90)),
    [1, 1, 2, 13, 9999],
  )
})

test('items that were read under a clock that was ahead are read again', async (t) => {
  const { app } = await given(t)
  const now = app.clock.now() / 1000
  await app.given(aVideo({ id: 'ahead', refreshed_at: now + 4000 * DAY }), aVideo({ id: 'fresh', refreshed_at: now }))
  const { selectOutdated } = await import('../../../plugins/refresh/select.ts')

  await selectOutdated(90, app.app)

  assert.deepEqual(
    app.app.ledger
      .sql<{ id: string }>('SELECT id FROM refresh_queue')
      .all()
      .map(({ id }) => id),
    ['ahead'],
  )
})

test('a new installation schedules the run, and a schedule has its number of days', async (t) => {
  const { app } = await given(t)
  const schedules = (await app.as('admin').get('/api/schedule/')).body
  const own = schedules.find(({ name }: { name: string }) => name === 'check_reindex')
  assert.match(own.schedule, /^\d{1,2} 12 \*$/)
  assert.deepEqual(own.config, { days: 90 })
  assert.equal(
    (
      await app
        .as('admin')
        .post('/api/schedule/', { task_name: 'check_reindex', schedule: 'auto', config: { days: 30 } })
    ).status,
    200,
  )
  assert.equal(
    (
      await app
        .as('admin')
        .post('/api/schedule/', { task_name: 'check_reindex', schedule: 'auto', config: { days: 0 } })
    ).status,
    400,
  )
  assert.equal((await app.as('admin').post('/api/task-name/check_reindex/')).status, 400)
})

test('at noon the schedule starts a run with its days, which selects once', async (t) => {
  const { app } = await given(t)
  await app.given(
    aVideo({
      id: VIDEO.fog,
      channelId: CHANNEL.harbour,
      title: 'Old',
      refreshed_at: app.clock.now() / 1000 - 40 * DAY,
    }),
  )
  await withMedia(app, CHANNEL.harbour, VIDEO.fog)
  await app.as('admin').post('/api/schedule/', { task_name: 'check_reindex', schedule: 'auto', config: { days: 30 } })

  const noon = new Date(app.clock.now()).setHours(12, 0, 0, 0)
  await app.clock.advance(((noon - app.clock.now() + DAY * 1000) % (DAY * 1000)) + 1)
  await app.settled()

  const [job] = app.app.jobs.list({ task: 'check_reindex' })
  assert.deepEqual([job?.payload, job?.result], [{ days: 30, scheduled: true }, '1 video refreshed'])
  assert.equal((await app.doc('video', VIDEO.fog)).title, 'Fog signals explained')
  assert.equal(app.app.refreshQueue.selectedFor(job!.id), 1)
})

test('a refresh updates the estimate of dislikes, and keeps it if the service has none', async (t) => {
  const { app, loopback } = await given(t)
  await app.given(aVideo({ id: VIDEO.fog, channelId: CHANNEL.harbour }))
  await withMedia(app, CHANNEL.harbour, VIDEO.fog)
  await app.as('admin').post('/api/config/', { downloads: { integrate_ryd: true } })
  loopback.platform.votes.add(VIDEO.fog, 12)

  await refresh(app, { video: [VIDEO.fog] })
  await app.settled()
  const { stats } = await app.doc('video', VIDEO.fog)
  assert.deepEqual([stats.dislike_count, stats.view_count > 0], [12, true])

  await app.clock.advance(60_000)
  loopback.platform.votes.clear()
  await refresh(app, { video: [VIDEO.fog] })
  await app.settled()
  assert.equal((await app.doc('video', VIDEO.fog)).stats.dislike_count, 12)
})

test('malformed requests are refused', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  for (const body of [
    {},
    { video: [] },
    { video: 'v1' },
    { video: [1] },
    { movie: ['v1'] },
    { video: ['v1'], movie: ['v1'] },
    [],
  ]) {
    assert.equal((await admin.post('/api/refresh/', body)).status, 400, JSON.stringify(body))
    assert.equal((await admin.post('/api/activate/', body)).status, 400, JSON.stringify(body))
  }
  assert.equal((await admin.post('/api/refresh/?extract_videos=maybe', { video: ['v1'] })).status, 400)
  for (const query of ['?id=v1', '?type=movie'])
    assert.equal((await admin.get(`/api/refresh/${query}`)).status, 400, query)
  assert.equal((await app.as('user').get('/api/refresh/')).status, 403)
})
