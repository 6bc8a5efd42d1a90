/** Positions of users in videos (contract 6.5, 9.2), and what lists say of them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { definePlugin, isAppError } from 'archivolt'
import { aChannel, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import '../../support/slow.ts'

const idsOf = (reply: { body: any }): string[] =>
  reply.body.data.map(({ platform_id }: { platform_id: string }) => platform_id)
const post = (app: TestApp, id: string, position: unknown, who: 'admin' | 'user' = 'user') =>
  app.as(who).post(`/api/video/${id}/progress/`, { position })

test('a position is stored per user and shown in records of videos', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1', player: { duration: 200 } }))
  const user = app.app.accounts.list().find(({ is_staff }) => !is_staff)!

  const stored = await post(app, 'v1', 50.5)

  const expected = { platform_id: 'v1', youtube_id: 'v1', user_id: user.id, position: 50.5 }
  const player = { duration: 200, duration_str: '1m 40s', watched: false, progress: 25.25 } // what compat adds
  assert.deepEqual(stored.body, { ...expected, ...player })
  assert.deepEqual((await app.as('user').get('/api/video/v1/progress/')).body, expected)
  assert.equal((await app.as('admin').get('/api/video/v1/progress/')).body.position, 0)
  const record = (await app.as('user').get('/api/video/')).body.data[0]
  assert.deepEqual([record.player.position, record.player.progress], [50.5, 25.25])
  const foreign = (await app.as('admin').get('/api/video/v1/')).body.data
  assert.deepEqual([foreign.player.position, foreign.player.progress], [undefined, undefined])
})

const stored: Array<[string, unknown, number]> = [
  ['numeric text', '12', 12],
  ['numeric text with decimals', '12.5', 12.5],
  ['numeric text as long as programs write it', '12.500000000000004', 12.500000000000004],
  ['a position beyond the duration', 99_999, 100],
  ['zero, which removes it', 0, 0],
  ['zero as text', '0', 0],
]

test('a position is stored with its meaning', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1', player: { duration: 100 } }))
  for (const [what, position, expected] of stored) {
    await post(app, 'v1', 33)
    assert.equal((await post(app, 'v1', position)).body.position, expected, what)
    assert.equal((await app.as('user').get('/api/video/v1/progress/')).body.position, expected, what)
  }
})

test('a malformed position is refused and the stored one stays', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await post(app, 'v1', 33)
  for (const position of [-5, 'x', '', null, true, [], '-1', '1e3', ' 5']) {
    assert.equal((await post(app, 'v1', position)).status, 400, JSON.stringify(position))
  }
  for (const misspelt of [{ positon: 5 }, { constructor: 5 }]) {
    const { status, body } = await app.as('user').post('/api/video/v1/progress/', misspelt)
    assert.deepEqual([status, body.fields], [400, { position: 'is required' }])
  }
  assert.equal((await app.as('user').get('/api/video/v1/progress/')).body.position, 33)

  const nothing = await app.as('user').post('/api/video/v1/progress/', { youtube_id: null, user_id: null })
  assert.deepEqual([nothing.status, nothing.body.position], [200, 0])
})

test('a position is deleted, even if none is stored', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await post(app, 'v1', 33)
  for (let time = 0; time < 2; time++) {
    const reply = await app.as('user').delete('/api/video/v1/progress/')
    assert.deepEqual([reply.status, reply.body], [200, { 'progress-reset': 'v1' }])
  }
  assert.equal((await app.as('user').get('/api/video/v1/progress/')).body.position, 0)
})

test('positions of an unknown video are not found', async (t) => {
  const app = await testApp(t)
  const user = app.as('user')
  const replies = [
    await user.get('/api/video/nope/progress/'),
    await user.post('/api/video/nope/progress/', { position: 5 }),
    await user.delete('/api/video/nope/progress/'),
  ]
  assert.deepEqual(
    replies.map(({ status }) => status),
    [404, 404, 404],
  )
})

test('watch=continue lists what the caller has begun and not watched, the latest first', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aVideo({ id: 'a', published: '2026-01-03' }),
    aVideo({ id: 'b', published: '2026-01-02' }),
    aVideo({ id: 'c' }),
  )
  await app.given(aVideo({ id: 'seen' }))
  await app.as('user').post('/api/watched/', { id: 'seen', is_watched: true })
  for (const id of ['seen', 'b', 'a', 'b']) {
    await app.clock.advance(1000)
    await post(app, id, 10)
  }
  await post(app, 'c', 10, 'admin')

  assert.deepEqual(idsOf(await app.as('user').get('/api/video/?watch=continue')), ['b', 'a'])
  assert.deepEqual(idsOf(await app.as('user').get('/api/video/?watch=continue&sort=published')), ['a', 'b'])
  assert.deepEqual(idsOf(await app.as('admin').get('/api/video/?watch=continue')), ['c'])
})

test('watch=watched and watch=unwatched partition the list', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'new' }), aVideo({ id: 'seen' }))
  await app.as('user').post('/api/watched/', { id: 'seen', is_watched: true })
  assert.deepEqual(idsOf(await app.as('user').get('/api/video/?watch=watched')), ['seen'])
  assert.deepEqual(idsOf(await app.as('user').get('/api/video/?watch=unwatched')), ['new'])
  assert.deepEqual(idsOf(await app.as('admin').get('/api/video/?watch=watched')), [])
  assert.deepEqual(idsOf(await app.as('admin').get('/api/video/?watch=unwatched')), ['new', 'seen'])
  assert.equal((await app.as('user').get('/api/video/?watch=never')).status, 400)
})

const thresholds: Array<[number, number, boolean]> = [
  [50, 24, false],
  [50, 25, true],
  [100, 89, false],
  [100, 90, true],
  [900, 809, false],
  [900, 810, true],
  [1000, 819, false],
  [1000, 820, true],
]

test('with progress.autoWatched a video close to its end becomes watched', async (t) => {
  const app = await testApp(t)
  await app.app.preferences.change({ progress: { autoWatched: true } })
  await app.given(aChannel())
  for (const [number, [duration, position, isWatched]] of thresholds.entries()) {
    const id = `v${number}`
    await app.given(aVideo({ id, player: { duration } }))
    await post(app, id, position)
    const { player } = (await app.as('user').get(`/api/video/${id}/`)).body.data
    assert.equal(player.watched, isWatched, `${position} of ${duration}`)
  }
})

test('a new installation has it on; an existing one, off', async (t) => {
  const scope = lastFirst(t)
  const dataDir = await temporaryFolder(scope)
  const [fresh, used] = [await testApp(scope, { dataDir }), await testApp(scope)]
  const isOn = async (app: TestApp) => (await app.as('admin').get('/api/config/')).body.progress.autoWatched

  assert.deepEqual([await isOn(fresh), await isOn(used)], [true, false])
  await fresh.as('admin').post('/api/config/', { progress: { autoWatched: false } })
  await used.as('admin').post('/api/config/', { progress: { autoWatched: true } })
  for (const app of [fresh, used]) await app.restart()
  assert.deepEqual([await isOn(fresh), await isOn(used)], [false, true])
})

test('without it no video is marked automatically', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await post(app, 'v1', 100)
  assert.equal((await app.as('user').get('/api/video/v1/')).body.data.player.watched, false)
})

test('deleting a video deletes all positions in it, deleting an account its own', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  for (const who of ['admin', 'user'] as const) for (const id of ['v1', 'v2']) await post(app, id, 10, who)
  const count = () => app.app.ledger.sql<{ count: number }>('SELECT count(*) AS count FROM watch_position').get()!.count

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)
  assert.equal(count(), 2)

  await app.app.accounts.remove(app.app.accounts.list().find(({ is_staff }) => !is_staff)!.id)
  assert.equal(count(), 1)
})

test('a late position does not override what another device stores or marks at the same moment', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), ...['v1', 'v2'].map((id) => aVideo({ id, player: { duration: 100 } })))
  const user = app.as('user')
  await app.clock.advance(60_000)
  const late = (id: string) => user.post(`/api/video/${id}/progress/`, { position: 20, ago: 30 })

  await Promise.all([post(app, 'v1', 33), late('v1'), late('v1')])
  await Promise.all([user.post('/api/watched/', { id: 'v2', is_watched: true }), late('v2')])

  for (const [id, position] of [
    ['v1', 33],
    ['v2', 0],
  ] as const)
    assert.equal((await user.get(`/api/video/${id}/progress/`)).body.position, position, id)
})

test('a player that reports while its video is removed leaves no position behind', async (t) => {
  const reports: Array<Promise<unknown>> = []
  /** Its part of a removal comes after that of watch, which has deleted the positions. */
  const player = definePlugin({
    name: 'player',
    needs: ['video', 'watch'],
    implements: {
      'video.remove':
        ({ watch }) =>
        async ({ id }) =>
          void reports.push(watch.setPosition(1, id, 10).catch((thrown: unknown) => thrown)),
    },
  })
  const app = await testApp(t, { outside: [player] })
  await app.given(aChannel(), aVideo({ id: 'v1' }))

  assert.equal((await app.as('admin').delete('/api/video/v1/')).status, 200)

  const [thrown] = await Promise.all(reports)
  assert.ok(isAppError(thrown, 'not_found'))
  const { count } = app.app.ledger.sql<{ count: number }>('SELECT count(*) AS count FROM watch_position').get()!
  assert.equal(count, 0)
})

test('positions in videos that a restore did not include are deleted', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aVideo({ id: 'v2' }))
  await post(app, 'v1', 10)
  await post(app, 'v2', 10)
  await app.app.videos.collection.remove('v1', { visible: true })

  assert.equal(await app.app.watch.forgetGone(), 1)
  assert.deepEqual(app.app.watch.begun(app.app.accounts.list().find(({ is_staff }) => !is_staff)!.id), ['v2'])
})

test('a position that arrives late does not override later actions', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), ...['v1', 'v2', 'v3'].map((id) => aVideo({ id, player: { duration: 100 } })))
  const user = app.as('user')
  const bring = (id: string, position: number, ago: unknown) =>
    user.post(`/api/video/${id}/progress/`, { position, ago })
  await post(app, 'v1', 33)
  await user.post('/api/watched/', { id: 'v2', is_watched: true })
  await app.clock.advance(60_000)

  assert.equal((await bring('v1', 20, 61)).body.position, 33)
  assert.equal((await bring('v2', 20, 61)).body.position, 0)
  assert.equal((await bring('v3', 20, 61)).body.position, 20)

  assert.equal((await bring('v1', 40, 59)).body.position, 40)
  assert.equal((await bring('v2', 50, 59)).body.position, 50, 'seen again')
  assert.equal((await bring('v3', 10, 62)).body.position, 20, 'the older one came last')
  assert.equal((await bring('v3', 0, 30)).body.position, 0)
  for (const ago of [-1, 1.5, 'x', 1e12]) assert.equal((await bring('v1', 5, ago)).status, 400, String(ago))
  assert.equal((await user.post('/api/video/v1/progress/', { ago: 5 })).status, 400)
})

test('a position that arrives late does not bring back a mark or position that was removed since', async (t) => {
  const app = await testApp(t)
  await app.app.preferences.change({ progress: { autoWatched: true } })
  const ids = ['unmarked', 'cleared', 'reset', 'together']
  await app.given(aChannel({ id: 'UC1' }), ...ids.map((id) => aVideo({ id, player: { duration: 100 } })))
  const user = app.as('user')
  const late = async (id: string, ago: number) => {
    await user.post(`/api/video/${id}/progress/`, { position: 99, ago })
    return (await user.get(`/api/video/${id}/`)).body.data.player.watched
  }
  for (const id of ['unmarked', 'together']) await user.post('/api/watched/', { id, is_watched: true })
  for (const id of ['cleared', 'reset']) await post(app, id, 20)
  await app.clock.advance(60_000)

  await user.post('/api/watched/', { id: 'unmarked', is_watched: false })
  await user.delete('/api/video/cleared/progress/')
  await post(app, 'reset', 0)
  await user.post('/api/watched/', { id: 'UC1', is_watched: false })
  await app.clock.advance(60_000)

  for (const id of ids) assert.equal(await late(id, 90), false, id)
  for (const id of ids) assert.equal(await late(id, 30), true, `${id}: seen since`)
})
