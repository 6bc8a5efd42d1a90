/** Statistics through the API: figures, zeros, local days. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  aChannel,
  aDegraded,
  aNewItem,
  aPlaylist,
  aReceipt,
  aVideo,
  testApp,
  testClock,
} from '../../support/testing.ts'

const DAY = 86_400
/** Noon of the test clock's first day, in the server's time zone. */
const noon = (daysBefore: number): number => Math.floor(new Date(2026, 0, 15, 12).getTime() / 1000) - daysBefore * DAY

const NO_VIDEOS = { doc_count: 0, media_size: 0, duration: 0, duration_str: 'NA' }
const NO_FLAGS = { doc_count: 0, active_true: 0, active_false: 0, subscribed_true: 0, subscribed_false: 0 }

test('an empty archive has every key, with zeros', async (t) => {
  const app = await testApp(t)
  const stats = async (path: string) => (await app.as('user').get(`/api/stats/${path}`)).body

  assert.deepEqual(await stats('video/'), {
    ...NO_VIDEOS,
    type_videos: NO_VIDEOS,
    type_streams: NO_VIDEOS,
    type_shorts: NO_VIDEOS,
    active_true: NO_VIDEOS,
    active_false: NO_VIDEOS,
  })
  assert.deepEqual(await stats('channel/'), NO_FLAGS)
  assert.deepEqual(await stats('playlist/'), NO_FLAGS)
  assert.deepEqual(await stats('download/'), {
    pending: 0,
    ignore: 0,
    pending_videos: 0,
    pending_streams: 0,
    pending_shorts: 0,
  })
  const nothing = { duration: 0, duration_str: 'NA', items: 0 }
  assert.deepEqual(await stats('watch/'), {
    total: nothing,
    watched: { ...nothing, progress: 0 },
    unwatched: { ...nothing, progress: 0 },
  })
  assert.deepEqual(await stats('downloadhist/'), [])
  assert.deepEqual(await stats('biggestchannels/'), [])
  assert.deepEqual(await stats('growth/'), [])
})

test('videos are counted by type and state, and watched ones by their duration', async (t) => {
  const app = await testApp(t)
  await app.given(
    aVideo({ id: 'v1', media_size: 100, player: { duration: 25 } }),
    aVideo({ id: 'v2', media_size: 200, player: { duration: 75 }, vid_type: 'shorts', active: false }),
  )

  await app.as('user').post('/api/watched/', { id: 'v1', is_watched: true })

  const video = (await app.as('user').get('/api/stats/video/')).body
  const watch = (await app.as('user').get('/api/stats/watch/')).body

  assert.deepEqual(video, {
    doc_count: 2,
    media_size: 300,
    duration: 100,
    duration_str: '1m 40s',
    type_videos: { doc_count: 1, media_size: 100, duration: 25, duration_str: '25s' },
    type_streams: NO_VIDEOS,
    type_shorts: { doc_count: 1, media_size: 200, duration: 75, duration_str: '1m 15s' },
    active_true: { doc_count: 1, media_size: 100, duration: 25, duration_str: '25s' },
    active_false: { doc_count: 1, media_size: 200, duration: 75, duration_str: '1m 15s' },
  })
  assert.deepEqual(watch, {
    total: { duration: 100, duration_str: '1m 40s', items: 2 },
    watched: { duration: 25, duration_str: '25s', progress: 0.25, items: 1 },
    unwatched: { duration: 75, duration_str: '1m 15s', progress: 0.75, items: 1 },
  })
  const others = (await app.as('admin').get('/api/stats/watch/')).body
  assert.deepEqual([others.watched.items, others.unwatched.items, others.unwatched.progress], [0, 2, 1])
})

test('videos are counted by their receipts, degraded ones by their reasons', async (t) => {
  const app = await testApp(t)
  await app.given(
    aVideo({ id: 'v1', media_size: 10, receipt: aReceipt() }),
    aVideo({ id: 'v2', media_size: 20, receipt: aReceipt('limited', { got: 720 }) }),
    aVideo({ id: 'v3', receipt: aReceipt('degraded'), degraded: aDegraded({ reasons: ['token', 'language'] }) }),
    aVideo({ id: 'v4', receipt: aReceipt('degraded'), degraded: aDegraded({ reasons: ['token'] }) }),
    aVideo({ id: 'v5' }),
  )

  const { best, limited, degraded, unknown, reasons } = (await app.as('user').get('/api/stats/quality/')).body

  assert.deepEqual(
    [best, limited].map(({ doc_count, media_size }) => [doc_count, media_size]),
    [
      [1, 10],
      [1, 20],
    ],
  )
  assert.deepEqual([degraded.doc_count, unknown.doc_count], [2, 1])
  assert.deepEqual(reasons, [
    { reason: 'token', doc_count: 2 },
    { reason: 'language', doc_count: 1 },
  ])
})

test('channels and playlists are counted by their flags, custom playlists as inactive and unsubscribed', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_subscribed: true }),
    aChannel({ id: 'UC2' }),
    aChannel({ id: 'UC3', channel_active: false }),
    aPlaylist({ id: 'PL1', playlist_subscribed: true }),
    aPlaylist({ id: 'av_playlist_1', playlist_type: 'custom', playlist_active: false }),
  )

  assert.deepEqual((await app.as('user').get('/api/stats/channel/')).body, {
    doc_count: 3,
    active_true: 2,
    active_false: 1,
    subscribed_true: 1,
    subscribed_false: 2,
  })
  assert.deepEqual((await app.as('user').get('/api/stats/playlist/')).body, {
    doc_count: 2,
    active_true: 1,
    active_false: 1,
    subscribed_true: 1,
    subscribed_false: 1,
  })
})

test('priority items count as pending, those of unknown type in no type', async (t) => {
  const app = await testApp(t)
  await app.app.queue.add([aNewItem('q1', { vidType: 'videos' }), aNewItem('q2', { vidType: 'unknown' })], 'pending')
  await app.app.queue.add([aNewItem('q3', { vidType: 'shorts' })], 'priority')
  await app.app.queue.add([aNewItem('q4', { vidType: 'videos' })], 'ignore')

  assert.deepEqual((await app.as('user').get('/api/stats/download/')).body, {
    pending: 3,
    ignore: 1,
    pending_videos: 1,
    pending_streams: 0,
    pending_shorts: 1,
  })
})

test('the download history goes back seven days, newest first, with zeros between', async (t) => {
  const app = await testApp(t)
  await app.given(
    aVideo({ id: 'v1', date_downloaded: noon(1), media_size: 10 }),
    aVideo({ id: 'v2', date_downloaded: noon(1), media_size: 20 }),
    aVideo({ id: 'v3', date_downloaded: noon(4), media_size: 5 }),
    aVideo({ id: 'v4', date_downloaded: noon(8), media_size: 1 }),
  )

  assert.deepEqual((await app.as('user').get('/api/stats/downloadhist/')).body, [
    { date: '2026-01-14', count: 2, media_size: 30 },
    { date: '2026-01-13', count: 0, media_size: 0 },
    { date: '2026-01-12', count: 0, media_size: 0 },
    { date: '2026-01-11', count: 1, media_size: 5 },
  ])
})

test('the biggest channels are in the requested order and number, with their real names', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1', channel_name: 'iPad & eBook' }),
    aChannel({ id: 'UC2', channel_name: 'Second' }),
    aVideo({ id: 'v1', channelId: 'UC1', media_size: 1 }),
    aVideo({ id: 'v2', channelId: 'UC1', media_size: 1 }),
    aVideo({ id: 'v3', channelId: 'UC2', media_size: 900 }),
  )
  const ask = async (query: string) => app.as('user').get(`/api/stats/biggestchannels/${query}`)

  assert.deepEqual((await ask('?order=')).body, [
    { id: 'UC1', name: 'iPad & eBook', doc_count: 2, media_size: 2, duration: 200, duration_str: '3m 20s' },
    { id: 'UC2', name: 'Second', doc_count: 1, media_size: 900, duration: 100, duration_str: '1m 40s' },
  ])
  assert.deepEqual(
    (await ask('?order=media_size&limit=1')).body.map(({ id }: { id: string }) => id),
    ['UC2'],
  )
  for (const query of ['?order=name', '?limit=0', '?limit=101', '?limit=many'])
    assert.equal((await ask(query)).status, 400, query)
})

test('growth is by day, week or month, oldest first, up to now, with zeros in between', async (t) => {
  const app = await testApp(t)
  await app.given(
    aVideo({ id: 'v1', date_downloaded: noon(65), media_size: 7, player: { duration: 3 } }),
    aVideo({ id: 'v2', date_downloaded: noon(2), media_size: 9, player: { duration: 4 } }),
  )
  const growth = async (query: string) => (await app.as('user').get(`/api/stats/growth/${query}`)).body

  assert.deepEqual(await growth(''), [
    { date: '2025-11-01', count: 1, media_size: 7, duration: 3 },
    { date: '2025-12-01', count: 0, media_size: 0, duration: 0 },
    { date: '2026-01-01', count: 1, media_size: 9, duration: 4 },
  ])
  const weeks = await growth('?by=week')
  assert.deepEqual(
    [weeks[0].date, weeks.at(-1)],
    ['2025-11-10', { date: '2026-01-12', count: 1, media_size: 9, duration: 4 }],
  )
  assert.equal((await growth('?by=day')).length, 66)
  assert.equal((await app.as('user').get('/api/stats/growth/?by=year')).status, 400)
})

const zones: Array<
  [zone: string, now: string, downloads: string[], history: Array<[string, number]>, months: Array<[string, number]>]
> = [
  [
    'America/Santiago', // forward at midnight of 7 September
    '2025-09-10T15:00:00Z',
    ['2025-09-05T15:00:00Z', '2025-09-08T15:00:00Z', '2025-09-10T14:00:00Z'],
    [
      ['2025-09-10', 1],
      ['2025-09-09', 0],
      ['2025-09-08', 1],
      ['2025-09-07', 0],
      ['2025-09-06', 0],
      ['2025-09-05', 1],
    ],
    [['2025-09-01', 3]],
  ],
  [
    'America/Santiago', // now is that very day, and one came in the first hour of the window's first day
    '2025-09-07T15:00:00Z',
    ['2025-08-31T04:30:00Z', '2025-09-07T04:30:00Z'],
    [
      ['2025-09-07', 1],
      ['2025-09-06', 0],
      ['2025-09-05', 0],
      ['2025-09-04', 0],
      ['2025-09-03', 0],
      ['2025-09-02', 0],
      ['2025-09-01', 0],
      ['2025-08-31', 1],
    ],
    [
      ['2025-08-01', 1],
      ['2025-09-01', 1],
    ],
  ],
  [
    'America/Asuncion', // forward at midnight of 1 October, the first day of a month
    '2024-03-10T15:00:00Z',
    ['2023-09-05T15:00:00Z', '2023-12-08T15:00:00Z', '2024-03-10T14:00:00Z'],
    [['2024-03-10', 1]],
    [
      ['2023-09-01', 1],
      ['2023-10-01', 0],
      ['2023-11-01', 0],
      ['2023-12-01', 1],
      ['2024-01-01', 0],
      ['2024-02-01', 0],
      ['2024-03-01', 1],
    ],
  ],
]

test('histories end today if the clock goes forward at midnight', async (t) => {
  const before = process.env['TZ']
  t.after(() => (before === undefined ? delete process.env['TZ'] : (process.env['TZ'] = before)))
  for (const [zone, now, downloads, history, months] of zones) {
    process.env['TZ'] = zone
    const app = await testApp(t, { clock: testClock(now) })
    await app.given(
      aChannel(),
      ...downloads.map((at, index) => aVideo({ id: `v${index}`, date_downloaded: Date.parse(at) / 1000 })),
    )
    const counts = async (path: string) =>
      (await app.as('user').get(`/api/stats/${path}`)).body.map(({ date, count }: { date: string; count: number }) => [
        date,
        count,
      ])

    assert.deepEqual(await counts('downloadhist/'), history, zone)
    assert.deepEqual(await counts('growth/'), months, zone)
    for (const by of ['day', 'week'])
      assert.equal(
        (await counts(`growth/?by=${by}`)).reduce((sum: number, [, count]: [string, number]) => sum + count, 0),
        downloads.length,
        `${zone} ${by}`,
      )
  }
})

test('a download date in the future is in no history, because a backup may contain any number', async (t) => {
  const app = await testApp(t)
  const now = Math.floor(app.clock.now() / 1000)
  const dates = [now, now + 2 * 86_400, Date.now(), 10 ** 13, Number.MAX_SAFE_INTEGER]
  await app.given(aChannel(), ...dates.map((date_downloaded, index) => aVideo({ id: `v${index}`, date_downloaded })))

  for (const path of ['downloadhist', 'growth/?by=day', 'growth/?by=week', 'growth/?by=month']) {
    const { status, body } = await app.as('user').get(`/api/stats/${path}`)
    assert.deepEqual([status, body.map(({ count }: { count: number }) => count)], [200, [1]], path)
  }
})
