/** Marking videos, channels and playlists as watched (contract 9.1). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aPlaylist, aVideo, testApp } from 'archivolt/testing'

const DAY_MS = 24 * 60 * 60 * 1000

test('marking a video sets it watched with the date of now, and repeating it keeps the date', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const at = Math.floor(app.clock.now() / 1000)

  const first = await app.as('user').post('/api/watched/', { id: 'v1', is_watched: true })
  await app.clock.advance(DAY_MS)
  await app.as('admin').post('/api/watched/', { id: 'v1', is_watched: true })

  assert.deepEqual(first.body, { message: 'success', id: 'v1', is_watched: true })
  const { body } = await app.as('user').get('/api/video/v1/')
  assert.equal(body.data.player.watched, true)
  assert.equal(body.data.player.watched_date, at)
})

test('marking as unwatched takes the date away', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1', player: { watched: true, watched_date: 5 } }))

  await app.as('user').post('/api/watched/', { id: 'v1', is_watched: false })

  const { player } = (await app.as('user').get('/api/video/v1/')).body.data
  assert.equal(player.watched, false)
  assert.ok(!('watched_date' in player))
})

test('marking a channel changes its videos that differ and leaves the date of the others', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel({ id: 'UC1' }), aChannel({ id: 'UC2' }))
  await app.given(
    aVideo({ id: 'seen', player: { watched: true, watched_date: 5 } }),
    aVideo({ id: 'new' }),
    aVideo({ id: 'other', channelId: 'UC2' }),
  )

  const reply = await app.as('user').post('/api/watched/', { id: 'UC1', is_watched: true })

  assert.equal(reply.status, 200)
  assert.equal((await app.doc('video', 'seen')).player.watched_date, 5)
  assert.equal((await app.doc('video', 'new')).player.watched_date, Math.floor(app.clock.now() / 1000))
  assert.equal((await app.doc('video', 'other')).player.watched, false)
})

test('marking a playlist, a custom one too, changes its archived videos', async (t) => {
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

  const watched = await Promise.all(['v1', 'v2', 'v3'].map(async (id) => (await app.doc('video', id)).player.watched))
  assert.deepEqual(watched, [true, true, false])
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
  assert.equal(await app.app.videos.collection.count({ eq: ['watched', true] }), count)
  assert.equal((await app.as('user').get('/api/video/v2999/progress/')).body.position, 0)
})

test("the caller's positions in marked videos go, for both values, and other users' stay", async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel(),
    aVideo({ id: 'v1' }),
    aVideo({ id: 'v2' }),
    aVideo({ id: 'seen', player: { watched: true, watched_date: 5 } }),
  )
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

test('a mark of a channel that was cut off is finished by the next start', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await app.app.jobs.start('watch.mark', { userId: 1, kind: 'channel', id: 'UC1', isWatched: true, at: 77 })
  await app.restart()

  await app.settled()

  assert.equal((await app.doc('video', 'v1')).player.watched_date, 77)
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

test('marks are refused without changing anything', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  for (const [what, body, status] of refused) {
    const reply = await app.as('user').post('/api/watched/', body)
    assert.equal(reply.status, status, what)
  }
  assert.equal((await app.doc('video', 'v1')).player.watched, false)
})
