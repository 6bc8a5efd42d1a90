/** Marking videos, channels and playlists as watched (contract 9.1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { startMarking } from '../../support/marking.ts'
import '../../support/slow.ts'

const DAY_MS = 24 * 60 * 60 * 1000

const secondsOf = (app: TestApp) => Math.floor(app.clock.now() / 1000)
const mark = (app: TestApp, who: 'admin' | 'user', id: string, is_watched = true) =>
  app.as(who).post('/api/watched/', { id, is_watched })
const playerOf = async (app: TestApp, who: 'admin' | 'user', id: string) =>
  (await app.as(who).get(`/api/video/${id}/`)).body.data.player
const listed = async (app: TestApp, who: 'admin' | 'user', watch: 'watched' | 'unwatched'): Promise<string[]> =>
  (await app.as(who).get(`/api/video/?watch=${watch}&page_size=100`)).body.data
    .map(({ platform_id }: { platform_id: string }) => platform_id)
    .toSorted()
const marksOf = (app: TestApp) => app.app.ledger.sql('SELECT * FROM watch_mark ORDER BY user_id, video_id').all()
const unindexedOf = (app: TestApp) => app.app.ledger.sql('SELECT * FROM watch_unindexed').all()

test('marking a video sets the current date, and repeating it keeps the date', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const at = secondsOf(app)

  const first = await mark(app, 'user', 'v1')
  await app.clock.advance(DAY_MS)
  await mark(app, 'user', 'v1')

  assert.deepEqual(first.body, { message: 'success', id: 'v1', is_watched: true })
  const player = await playerOf(app, 'user', 'v1')
  assert.deepEqual([player.watched, player.watched_date], [true, at])
  assert.deepEqual(unindexedOf(app), [])
})

test('marking as unwatched removes the date', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await mark(app, 'user', 'v1')

  await mark(app, 'user', 'v1', false)

  const player = await playerOf(app, 'user', 'v1')
  assert.equal(player.watched, false)
  assert.ok(!('watched_date' in player))
})

test('marks are separate for each account: in records, lists, search, similar videos and statistics', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aVideo({ id: 'v1', title: 'Sourdough starter', player: { duration: 30 } }),
    aVideo({ id: 'v2', title: 'Sourdough loaf', player: { duration: 70 } }),
  )
  await mark(app, 'admin', 'v1')
  await app.clock.advance(DAY_MS)
  await mark(app, 'user', 'v1')
  await mark(app, 'user', 'v2')
  await mark(app, 'admin', 'v1', false)
  await mark(app, 'admin', 'v2')

  const seen = await Promise.all(
    (['admin', 'user'] as const).map(async (who) => {
      const ask = app.as(who)
      const found = (await ask.get('/api/search/?query=sourdough')).body.results.video_results
      const similar = (await ask.get('/api/video/v2/similar/')).body.data
      return {
        records: [(await playerOf(app, who, 'v1')).watched, (await playerOf(app, who, 'v2')).watched],
        lists: [await listed(app, who, 'watched'), await listed(app, who, 'unwatched')],
        search: new Map(found.map(({ platform_id, player }: any) => [platform_id, player.watched])).get('v1'),
        similar: similar.map(({ platform_id, player }: any) => [platform_id, player.watched]),
        hours: (await ask.get('/api/stats/watch/')).body.watched.duration,
      }
    }),
  )

  assert.deepEqual(seen, [
    { records: [false, true], lists: [['v2'], ['v1']], search: false, similar: [['v1', false]], hours: 70 },
    { records: [true, true], lists: [['v1', 'v2'], []], search: true, similar: [['v1', true]], hours: 100 },
  ])
  assert.doesNotMatch((await app.as('admin').get('/api/video/')).text, /watched_by|shared_mark|restored_mark/)
})

test('marking a channel changes the videos that differ for the caller and keeps the dates of the others', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
  await app.given(aVideo({ id: 'seen' }), aVideo({ id: 'new' }), aVideo({ id: 'other', channelId: 'UC2' }))
  const before = secondsOf(app)
  await mark(app, 'user', 'seen')
  await app.clock.advance(DAY_MS)

  const reply = await mark(app, 'user', 'UC1')

  assert.equal(reply.status, 200)
  assert.equal((await playerOf(app, 'user', 'seen')).watched_date, before)
  assert.equal((await playerOf(app, 'user', 'new')).watched_date, secondsOf(app))
  assert.equal((await playerOf(app, 'user', 'other')).watched, false)
  assert.deepEqual(await listed(app, 'admin', 'watched'), [])
  await mark(app, 'admin', 'UC1')
  await mark(app, 'user', 'UC1', false)
  assert.deepEqual(await listed(app, 'user', 'watched'), [])
  assert.deepEqual(await listed(app, 'admin', 'watched'), ['new', 'seen'])
})

test('marking a playlist, also a custom one, changes its archived videos', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aPlaylist({ id: 'PL1', entries: ['v1', 'gone'] }),
    aPlaylist({ id: 'av_playlist_x', playlist_type: 'custom', entries: ['v2'] }),
  )
  await app.given(
    aVideo({ id: 'v1', playlist: ['PL1'] }),
    aVideo({ id: 'v2', playlist: ['av_playlist_x'] }),
    aVideo({ id: 'v3' }),
  )

  await app.as('user').post('/api/watched/', { id: 'PL1', is_watched: true })
  await app.as('user').post('/api/watched/', { id: 'av_playlist_x', is_watched: true })

  assert.deepEqual(await listed(app, 'user', 'watched'), ['v1', 'v2'])
})

test('marking a channel or playlist does not affect videos that are hidden from the caller', async (t) => {
  const app = await testApp(t)
  await app.given(
    ...['UC1', 'UC2'].map((id) => aChannel({ id })),
    aPlaylist({ id: 'PL1', entries: ['v1', 'v2'] }),
    aPlaylist({ id: 'PL2', entries: ['v3'] }),
    aVideo({ id: 'v1', playlist: ['PL1'] }),
    aVideo({ id: 'v2', channelId: 'UC2', playlist: ['PL1'] }),
    aVideo({ id: 'v3', playlist: ['PL2'] }),
  )
  const { id } = await app.app.accounts.create({ username: 'child', password: 'a password for tests', isStaff: false })
  const child = app.as('child')
  for (const video_id of ['v1', 'v2']) await child.post('/api/playlist/watchlater/', { action: 'create', video_id })
  await app.as('admin').post(`/api/user/${id}/`, { view: { not_channel: ['UC2'], not_playlist: ['PL2'] } })

  for (const target of ['UC1', 'PL1', 'watchlater']) {
    const { marking } = (await child.post('/api/watched/', { id: target, is_watched: true })).body
    const marked = (marksOf(app) as Array<{ video_id: string }>).map(({ video_id }) => video_id)
    assert.deepEqual(marked, ['v1'], target)
    assert.deepEqual((await child.post('/api/watched/undo/', { marking })).body, { updated: 1 })
    assert.deepEqual(marksOf(app), [], target)
  }
})

test('thousands of videos of a channel are marked in one request', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel())
  const count = 3000
  const docs = Array.from({ length: count }, (_, number) => aVideo({ id: `v${number}` }))
  await app.app.videos.collection.putMany(
    docs.map(({ id, doc }) => ({ id, doc: doc as never })),
    { visible: true },
  )
  await app.as('user').post('/api/video/v2999/progress/', { position: 5 })

  const reply = await app.as('user').post('/api/watched/', { id: 'UC1', is_watched: true })

  assert.equal(reply.status, 200)
  const user = app.app.accounts.list().find(({ is_staff }) => !is_staff)!
  assert.equal(await app.app.videos.collection.count({ eq: ['watched_by', String(user.id)] }), count)
  assert.equal(await app.app.videos.collection.count({ not: { eq: ['watched_by', String(user.id)] } }), 0)
  assert.equal(marksOf(app).length, count)
  assert.equal((await app.as('user').get('/api/video/v2999/progress/')).body.position, 0)
})

test("the caller's positions in marked videos are deleted, for both values, and other users' stay", async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }), aVideo({ id: 'seen' }))
  await mark(app, 'user', 'seen')
  const position = async (who: 'admin' | 'user', id: string) =>
    (await app.as(who).get(`/api/video/${id}/progress/`)).body.position
  for (const who of ['admin', 'user'] as const)
    for (const id of ['v1', 'v2', 'seen']) await app.as(who).post(`/api/video/${id}/progress/`, { position: 7 })

  await app.as('user').post('/api/watched/', { id: 'UC1', is_watched: true })
  assert.deepEqual(
    [await position('user', 'v1'), await position('user', 'v2'), await position('user', 'seen')],
    [0, 0, 7],
  )
  assert.deepEqual([await position('admin', 'v1'), await position('admin', 'v2')], [7, 7])

  await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: false })
  assert.equal(await position('admin', 'v1'), 0)
})

test('an interrupted mark of a channel is finished by the next start', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await startMarking(app, { at: 77 })
  await app.restart()

  await app.settled()

  const admin = app.app.accounts.list().find(({ is_staff }) => is_staff)!
  assert.deepEqual(marksOf(app), [{ user_id: admin.id, video_id: 'v1', watched_at: 77 }])
  assert.deepEqual((await app.doc('video', 'v1')).watched_by, [String(admin.id)])
})

const refused: Array<[string, object | undefined, number]> = [
  ['an id that is neither video, channel nor playlist', { id: 'UCxxxxxxxxxxxxxxxxxxxxxx', is_watched: true }, 404],
  ['no id', { is_watched: true }, 400],
  ['an empty id', { id: '', is_watched: true }, 400],
  ['no value', { id: 'v1' }, 400],
  ['a text as value', { id: 'v1', is_watched: 'true' }, 400],
  ['a number as value', { id: 'v1', is_watched: 1 }, 400],
  ['an array', [], 400],
  ['no body', undefined, 400],
]

test('refused marks change nothing', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  for (const [what, body, status] of refused) {
    const reply = await app.as('user').post('/api/watched/', body)
    assert.equal(reply.status, status, what)
  }
  assert.deepEqual(marksOf(app), [])
})
