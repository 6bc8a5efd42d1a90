/** Custom playlists (contract 9.6, B). */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Actor } from 'archivolt'
import { aChannel, aPlaylist, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { ORDERS } from './orders.ts'

const ID = 'av_playlist_mine'
const ADMIN: Actor = { id: 1, username: 'admin', isAdmin: true, mayDownload: true, via: 'token' }

/** A custom playlist with a, b, c, d; e is archived, too. */
async function anApp(t: TestContext, watched: string[] = []): Promise<TestApp> {
  const app = await testApp(t)
  const ids = ['a', 'b', 'c', 'd']
  await app.given(
    aChannel({ channel_name: 'One' }),
    ...ids.map((id) => aVideo({ id, playlist: [ID] })),
    aVideo({ id: 'e', title: 'Fifth' }),
    aPlaylist({
      id: ID,
      playlist_type: 'custom',
      playlist_channel: null,
      playlist_channel_id: null,
      entries: ids.map((platform_id) => ({ platform_id, downloaded: true })),
    }),
    aPlaylist({ id: 'PL1', entries: ['a'] }),
  )
  for (const id of watched) await app.as('admin').post('/api/watched/', { id, is_watched: true })
  return app
}

const act = (app: TestApp, body: object, id = ID) => app.as('admin').post(`/api/playlist/${id}/`, body)
const orderOf = async (app: TestApp, id = ID): Promise<string> => {
  const { playlist_entries: entries } = await app.doc('playlist', id)
  assert.deepEqual(
    entries.map(({ idx }: any) => idx),
    entries.map((_: unknown, idx: number) => idx),
    'numbered without gaps',
  )
  return entries.map(({ platform_id }: any) => platform_id).join('')
}

test('a custom playlist is created empty, inactive, and shown as its own record', async (t) => {
  const app = await testApp(t)

  const { status, body } = await app.as('admin').post('/api/playlist/custom/', { playlist_name: '  My list ' })

  assert.equal(status, 200)
  assert.match(body.playlist_id, /^av_playlist_[0-9a-f-]{36}$/)
  assert.deepEqual(
    { ...body, playlist_id: '', playlist_thumbnail: '' },
    {
      playlist_id: '',
      playlist_type: 'custom',
      playlist_name: 'My list',
      playlist_description: '',
      playlist_channel: null,
      playlist_channel_id: null,
      playlist_subscribed: false,
      playlist_active: false,
      playlist_thumbnail: '',
      playlist_sort_order: 'top',
      playlist_entries: [],
      playlist_last_refresh: '2026-01-15',
      playlist_owner: 1,
      playlist_visibility: 'shared',
      _index: 'av_playlist',
      _score: 0,
    },
  )
  assert.equal((await app.as('user').get(`/api/playlist/${body.playlist_id}/`)).status, 200)
  for (const wrong of [
    {},
    { playlist_name: '' },
    { playlist_name: '   ' },
    { playlist_name: 'x'.repeat(201) },
    { playlist_name: 5 },
  ]) {
    assert.equal((await app.as('admin').post('/api/playlist/custom/', wrong)).status, 400, JSON.stringify(wrong))
  }
})

test('an unknown or missing action is named first, before the video', async (t) => {
  const app = await anApp(t)
  for (const body of [{}, { action: 'odd' }, { action: 'odd', platform_id: 'a', youtube_id: 'b' }]) {
    const { status, body: refused } = await act(app, body)
    assert.equal(status, 400)
    assert.deepEqual(Object.keys(refused.fields), ['action'])
  }
})

test('each action produces its order', async (t) => {
  const app = await anApp(t)
  for (const [at, [body, expected]] of ORDERS.entries()) {
    const id = `${ID}-${at}`
    const entries = ['a', 'b', 'c', 'd'].map((platform_id) => ({ platform_id, downloaded: true }))
    await app.given(aPlaylist({ id, playlist_type: 'custom', entries }))
    const reply = await act(app, body, id)
    assert.deepEqual([reply.status, reply.body], [201, { success: true }], JSON.stringify(body))
    assert.equal(await orderOf(app, id), expected, JSON.stringify(body))
  }
})

test('an added video names the playlist, with title and channel in the entry; a removed one no longer does', async (t) => {
  const app = await anApp(t)
  await act(app, { action: 'create', video_id: 'e' })
  await act(app, { action: 'create', video_id: 'e' })
  assert.deepEqual((await app.doc('playlist', ID)).playlist_entries[4], {
    platform_id: 'e',
    youtube_id: 'e',
    title: 'Fifth',
    uploader: 'One',
    idx: 4,
    downloaded: true,
  })
  assert.deepEqual((await app.doc('video', 'e')).playlist, [ID])
  assert.equal((await app.doc('playlist', ID)).playlist_last_refresh, '2026-01-15')

  await act(app, { action: 'remove', video_id: 'e' })
  assert.deepEqual((await app.doc('video', 'e')).playlist, [])
})

test('the second path does the same and returns the playlist', async (t) => {
  const app = await anApp(t)
  const { status, body } = await app.as('admin').post(`/api/playlist/custom/${ID}/`, { action: 'top', video_id: 'd' })
  assert.equal(status, 200)
  assert.deepEqual(
    body.playlist_entries.map(({ youtube_id }: any) => youtube_id),
    ['d', 'a', 'b', 'c'],
  )
  assert.equal(body._index, 'av_playlist')
})

test('up and down skip what the caller has watched, if the caller hides watched videos', async (t) => {
  const app = await anApp(t, ['b', 'c'])
  await app.as('user').post('/api/watched/', { id: 'a', is_watched: true })
  const admin = app.app.accounts.list().find(({ is_staff }) => is_staff)!
  await app.app.accounts.changeUserPreferences(admin.id, { hide_watched: true })
  const steps: Array<[string, string, string]> = [
    ['up', 'd', 'dabc'],
    ['up', 'd', 'dabc'],
    ['down', 'd', 'adbc'],
    ['down', 'd', 'adbc'],
  ]
  for (const [action, video_id, expected] of steps) {
    await act(app, { action, video_id })
    assert.equal(await orderOf(app), expected, `${action} ${video_id}`)
  }
  await app.app.accounts.changeUserPreferences(admin.id, { hide_watched: false })
  await act(app, { action: 'down', video_id: 'd' })
  assert.equal(await orderOf(app), 'abdc')
})

const refused: Array<[string, object, number]> = [
  ['nope', {}, 404],
  ['nope', { action: 'odd' }, 404],
  ['PL1', { action: 'odd' }, 400],
  ['PL1', { action: 'remove', video_id: 'a' }, 400],
  [ID, {}, 400],
  [ID, { action: 'odd', video_id: 'a' }, 400],
  [ID, { action: 'up' }, 400],
  [ID, { action: 'up', video_id: '' }, 400],
  [ID, { action: 'up', video_id: 5 }, 400],
  [ID, { action: ['up'], video_id: 'a' }, 400],
  [ID, { action: 'up', platform_id: 'a', youtube_id: 'b' }, 400],
  [ID, { action: 'create', video_id: 'nope' }, 404],
  [ID, { action: 'remove', video_id: 'e' }, 404],
  [ID, { action: 'up', video_id: 'e' }, 404],
  [ID, { action: 'move', video_id: 'e', index: 1 }, 404],
  [ID, { action: 'move', video_id: 'a' }, 400],
  [ID, { action: 'move', video_id: 'a', index: -1 }, 400],
  [ID, { action: 'move', video_id: 'a', index: 1.5 }, 400],
  [ID, { action: 'move', video_id: 'a', index: '1' }, 400],
]

test('actions are refused in the order of the checks, and change nothing', async (t) => {
  const app = await anApp(t)
  for (const [id, body, status] of refused)
    assert.equal((await act(app, body, id)).status, status, JSON.stringify([id, body]))
  assert.equal((await app.as('user').post(`/api/playlist/${ID}/`, { action: 'up', video_id: 'b' })).status, 403)
  assert.equal(await orderOf(app), 'abcd')
})

test('many simultaneous changes are all made, in some order', async (t) => {
  const app = await anApp(t)
  await app.given(...Array.from({ length: 30 }, (_, number) => aVideo({ id: `n${number}` })))
  const replies = await Promise.all(
    Array.from({ length: 30 }, (_, number) => act(app, { action: 'create', video_id: `n${number}` })),
  )
  assert.deepEqual([...new Set(replies.map(({ status }) => status))], [201])
  assert.equal((await app.doc('playlist', ID)).playlist_entries.length, 34)
  await orderOf(app)
})

test('a video that is added while it is removed leaves no entry', async (t) => {
  const app = await anApp(t)
  const { media, playlists } = app.app
  const removeArt = media.removeArt
  let adding: Promise<unknown> | undefined
  t.mock.method(media, 'removeArt', async (...given: Parameters<typeof removeArt>) => {
    adding ??= assert.rejects(playlists.act(ID, { action: 'create', videoId: 'e' }, ADMIN), {
      code: 'not_found',
    })
    await app.clock.advance(0)
    return removeArt(...given)
  })

  assert.equal((await app.as('admin').delete('/api/video/e/')).status, 200)

  await adding
  assert.equal(await orderOf(app), 'abcd')
})
