/** Playlists of accounts: private and shared ones, Watch later, and what others see of them (contract 9.6). */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aPlaylist, type Client, type TestApp } from 'archivolt/testing'
import { ORDERS } from './orders.ts'
import { anApp, entriesOf, idsOf, LATER, made, membershipOf, ownPlaylists, rowsOf, VIDEOS } from './own-suite.ts'
import '../../support/slow.ts'

ownPlaylists(async () => ({}))

test('each action produces the same order in a private playlist as in a shared one', async (t) => {
  const app = await anApp(t)
  const user = app.as('user')
  for (const [body, expected] of ORDERS) {
    for (const playlist_visibility of ['private', 'shared']) {
      const id = await made(user, 'x', { playlist_visibility }, ['a', 'b', 'c', 'd'])
      const reply = await user.post(`/api/playlist/${id}/`, body)
      const said = `${playlist_visibility} ${JSON.stringify(body)}`
      assert.deepEqual([reply.status, reply.body], [201, { success: true }], said)
      assert.equal(await entriesOf(user, id), expected, said)
    }
  }
})

test('many moves in a private playlist have the same result as in an array', async (t) => {
  const app = await anApp(t)
  const user = app.as('user')
  const id = await made(user, 'x', {}, VIDEOS)
  let expected = [...VIDEOS]
  for (let step = 0; step < 60; step++) {
    const video_id = VIDEOS[(step * 7) % 5]!
    const index = (step * 3 + 1) % 5
    await user.post(`/api/playlist/${id}/`, { action: 'move', video_id, index })
    expected = expected.filter((one) => one !== video_id).toSpliced(index, 0, video_id)
    assert.equal(await entriesOf(user, id), expected.join(''), `step ${step}`)
  }
})

const refused: Array<[object, number]> = [
  [{}, 400],
  [{ action: 'odd', video_id: 'a' }, 400],
  [{ action: 'up' }, 400],
  [{ action: 'up', video_id: '' }, 400],
  [{ action: 'up', video_id: 5 }, 400],
  [{ action: 'up', platform_id: 'a', youtube_id: 'b' }, 400],
  [{ action: 'create', video_id: 'nope' }, 404],
  [{ action: 'remove', video_id: 'e' }, 404],
  [{ action: 'up', video_id: 'e' }, 404],
  [{ action: 'top', video_id: 'e' }, 404],
  [{ action: 'move', video_id: 'e', index: 1 }, 404],
  [{ action: 'move', video_id: 'a' }, 400],
  [{ action: 'move', video_id: 'a', index: 1.5 }, 400],
  [{ playlist_name: '' }, 400],
  [{ playlist_name: '  ' }, 400],
  [{ playlist_name: 5 }, 400],
  [{ playlist_name: 'x'.repeat(201) }, 400],
  [{ playlist_visibility: 'secret' }, 400],
  [{ playlist_visibility: null }, 400],
  [{ playlist_name: 'fine', playlist_visibility: 'secret' }, 400],
]

test('an impossible action is refused, and changes nothing', async (t) => {
  const app = await anApp(t)
  const user = app.as('user')
  for (const playlist_visibility of ['private', 'shared']) {
    const id = await made(user, 'As it was', { playlist_visibility }, ['a', 'b'])
    for (const [body, status] of refused) {
      const said = `${playlist_visibility} ${JSON.stringify(body)}`
      assert.equal((await user.post(`/api/playlist/${id}/`, body)).status, status, said)
      assert.equal((await user.post(`/api/playlist/custom/${id}/`, body)).status, status, said)
    }
    assert.equal(await entriesOf(user, id), 'ab')
    assert.equal((await user.get(`/api/playlist/${id}/`)).body.data.playlist_name, 'As it was')
  }
})

test('up and down skip watched videos if the caller hides them, in private playlists, too', async (t) => {
  const app = await anApp(t)
  const user = app.as('user')
  for (const id of ['b', 'c']) await user.post('/api/watched/', { id, is_watched: true })
  await app.app.accounts.changeUserPreferences(2, { hide_watched: true })
  const id = await made(user, 'x', {}, ['a', 'b', 'c', 'd'])

  await user.post(`/api/playlist/${id}/`, { action: 'up', video_id: 'd' })
  assert.equal(await entriesOf(user, id), 'dabc')
  await user.post(`/api/playlist/${id}/`, { action: 'down', video_id: 'd' })
  assert.equal(await entriesOf(user, id), 'adbc')
})

test('Watch later exists from the start, takes each video once at the top, and belongs to each account', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  const { body } = await user.get(LATER)
  assert.deepEqual(
    [body.data.playlist_name, body.data.playlist_owner, body.data.playlist_visibility, body.data.playlist_entries],
    ['Watch later', 2, 'private', []],
  )
  assert.equal((await user.get(body.data.playlist_thumbnail)).status, 200, 'a placeholder')
  assert.ok(!idsOf(await user.get('/api/playlist/')).includes('watchlater'), 'listed once it holds something')

  for (const video_id of ['a', 'b', 'a', 'c']) await user.post(LATER, { action: 'create', video_id })
  await admin.post(LATER, { action: 'create', video_id: 'd' })

  assert.deepEqual([await entriesOf(user, 'watchlater'), await entriesOf(admin, 'watchlater')], ['cba', 'd'])
  assert.equal((await user.post(LATER, { action: 'move', video_id: 'a', index: 1 })).status, 201)
  assert.equal(await entriesOf(user, 'watchlater'), 'cab')
  for (const [refusal, path] of [
    [{ playlist_name: 'Soon' }, LATER],
    [{ playlist_visibility: 'shared' }, LATER],
  ] as const)
    assert.equal((await user.post(path, refusal)).status, 400)
  for (const query of ['', '?delete-videos=true']) assert.equal((await user.delete(`${LATER}${query}`)).status, 400)
  assert.equal(
    (await admin.post('/api/playlist/', { data: [{ playlist_id: 'watchlater', playlist_subscribed: true }] })).status,
    400,
  )
})

test('records of videos say what is in the account’s own Watch later, and nothing about others’', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  for (const video_id of ['a', 'c']) await user.post(LATER, { action: 'create', video_id })
  await admin.post(LATER, { action: 'create', video_id: 'd' })
  const marked = (records: any[]) =>
    records.filter(({ watch_later }) => watch_later === true).map(({ platform_id }) => platform_id)

  for (const path of ['/api/video/', '/api/channel/UC1/video/', '/api/search/?query=video']) {
    const recordsFor = async (client: Client) => {
      const { data, results } = (await client.get(path)).body
      return (data ?? results.video_results) as any[]
    }
    assert.deepEqual(marked(await recordsFor(user)).toSorted(), ['a', 'c'], path)
    const ofAdmin = await recordsFor(admin)
    assert.deepEqual(marked(ofAdmin), ['d'], path)
    assert.ok(
      ofAdmin.every((record) => record.watch_later === true || !('watch_later' in record)),
      path,
    )
  }
  assert.equal((await user.get('/api/video/a/')).body.data.watch_later, true)
  await user.post(LATER, { action: 'remove', video_id: 'a' })
  assert.ok(!('watch_later' in (await user.get('/api/video/a/')).body.data))
})

test('a private playlist and Watch later are marked as watched by their owner; for others they do not exist', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  const id = await made(user, 'Mine', {}, ['a', 'b'])
  await user.post(LATER, { action: 'create', video_id: 'c' })
  const watched = async (client: Client) =>
    idsOf(await client.get('/api/video/?watch=watched'))
      .toSorted()
      .join('')

  assert.equal((await admin.post('/api/watched/', { id, is_watched: true })).status, 404)
  assert.equal((await user.post('/api/watched/', { id, is_watched: true })).status, 200)
  assert.equal((await user.post('/api/watched/', { id: 'watchlater', is_watched: true })).status, 200)

  assert.deepEqual([await watched(user), await watched(admin)], ['abc', ''])
})

/** A third account, not an admin. */
async function another(
  app: TestApp,
): Promise<{ id: number; post: Client['post']; delete: (path: string) => Promise<number> }> {
  const { id } = await app.app.accounts.create({ username: 'other', password: 'a password for tests', isStaff: false })
  const headers = { authorization: `Token ${await app.app.accounts.token(id)}` }
  return {
    id,
    post: (path, body) => app.as('nobody').post(path, body, headers),
    delete: async (path) => (await app.as('nobody').delete(path, undefined, headers)).status,
  }
}

for (const method of ['patchWhere', 'remove'] as const)
  test(`others do not find a playlist that was made private while the index refuses ${method}`, async (t) => {
    const app = await anApp(t)
    const id = await made(app.as('user'), 'Quokkas', { playlist_visibility: 'shared' }, ['a', 'b'])
    const collection = method === 'remove' ? app.app.playlists.collection : app.app.videos.collection
    const broken = t.mock.method(collection, method, () => Promise.reject(new Error('the disk is full')))
    const places = ['/api/search/?query=quokkas', '/api/search/?query=playlist:quokkas', '/api/video/a/nav/']
    const telling = async () => {
      const replies = await Promise.all([...places, `/api/playlist/${id}/`].map((path) => app.as('admin').get(path)))
      return replies.filter(({ text }) => text.includes('Quokkas')).length
    }
    assert.equal(await telling(), 4)

    await app.as('user').post(`/api/playlist/${id}/`, { playlist_visibility: 'private' })

    assert.equal(await telling(), 0)
    assert.equal(await entriesOf(app.as('user'), id), 'ab', 'it is still there')
    broken.mock.restore()
  })

test('its owner and admins change and remove a shared playlist, others do not', async (t) => {
  const app = await anApp(t)
  const [user, admin, other] = [app.as('user'), app.as('admin'), await another(app)]
  const id = await made(user, 'Ours', { playlist_visibility: 'shared' }, ['a'])
  const ofAdmin = await made(admin, 'Admin’s', {}, ['a'])

  for (const body of [
    { action: 'create', video_id: 'b' },
    { action: 'odd' },
    { playlist_name: 'x' },
    { playlist_visibility: 'private' },
  ]) {
    const reply = await other.post(`/api/playlist/${id}/`, body)
    assert.deepEqual([reply.status, reply.body.code], [403, 'permission_denied'], JSON.stringify(body))
    assert.equal((await user.post(`/api/playlist/${ofAdmin}/`, body)).status, 403, JSON.stringify(body))
    assert.equal((await user.post('/api/playlist/PL1/', body)).status, 403, JSON.stringify(body))
  }
  assert.equal(await other.delete(`/api/playlist/${id}/`), 403)
  assert.equal((await user.delete(`/api/playlist/${ofAdmin}/`)).status, 403)
  assert.equal((await user.delete(`/api/playlist/${id}/?delete-videos=true`)).status, 403, 'videos are for admins')
  assert.equal((await admin.post(`/api/playlist/${id}/`, { playlist_name: 'Everybody’s' })).status, 201)
  assert.equal((await user.get(`/api/playlist/${id}/`)).body.data.playlist_name, 'Everybody’s')

  assert.equal((await user.delete(`/api/playlist/${id}/`)).status, 200)
  assert.equal((await user.get(`/api/playlist/${id}/`)).status, 404)
  assert.deepEqual(await membershipOf(app, 'a'), [ofAdmin])
})

test('a private playlist is removed at once; an admin may remove its videos with it', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  const ofUser = await made(user, 'x', {}, ['a', 'b'])
  const ofAdmin = await made(admin, 'y', { playlist_visibility: 'private' }, ['b', 'c'])

  assert.equal((await user.delete(`/api/playlist/${ofUser}/?delete-videos=true`)).status, 403)
  assert.equal((await user.delete(`/api/playlist/${ofUser}/`)).status, 200)
  assert.equal((await user.delete(`/api/playlist/${ofUser}/`)).status, 404)
  assert.equal((await admin.delete(`/api/playlist/${ofAdmin}/?delete-videos=true`)).status, 200)

  assert.equal((await admin.get(`/api/playlist/${ofAdmin}/`)).status, 404)
  assert.deepEqual(await app.ids('video'), ['a', 'd', 'e'])
})

test('a playlist without an owner becomes that of the admin who makes it private', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  await app.given(
    aPlaylist({
      id: 'old',
      playlist_type: 'custom',
      playlist_name: 'Old',
      entries: [{ platform_id: 'a', downloaded: true }],
    }),
  )
  assert.equal((await user.get('/api/playlist/old/')).body.data.playlist_owner, null)
  assert.equal((await user.post('/api/playlist/old/', { playlist_visibility: 'private' })).status, 403)

  const { status, body } = await admin.post('/api/playlist/custom/old/', { playlist_visibility: 'private' })

  assert.deepEqual([status, body.playlist_owner, body.playlist_visibility], [200, 1, 'private'])
  assert.equal((await user.get('/api/playlist/old/')).status, 404)
  assert.equal(await entriesOf(admin, 'old'), 'a')
})

test('a removed account’s private playlists are removed; its shared ones stay, without an owner', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  const shared = await made(user, 'Shared', { playlist_visibility: 'shared' }, ['a'])
  const hidden = await made(user, 'Private', {}, ['b'])
  await user.post(LATER, { action: 'create', video_id: 'c' })

  assert.equal((await admin.delete('/api/user/2/')).status, 200)

  const { body } = await admin.get(`/api/playlist/${shared}/`)
  assert.deepEqual([body.data.playlist_owner, body.data.playlist_visibility], [null, 'shared'])
  assert.equal((await admin.get(`/api/playlist/${hidden}/`)).status, 404)
  assert.deepEqual(rowsOf(app), { [shared]: 'a' })
  assert.equal((await admin.post(`/api/playlist/${shared}/`, { action: 'create', video_id: 'd' })).status, 201)
  assert.deepEqual([rowsOf(app), await entriesOf(admin, shared)], [{ [shared]: 'ad' }, 'ad'])
})

test('an account that is removed while it adds, shares or creates a playlist leaves nothing', async (t) => {
  const app = await anApp(t)
  const { playlists, accounts } = app.app
  const actor = { id: 2, username: 'user', isAdmin: false, mayDownload: false, via: 'token' } as const
  const id = await playlists.create('x', 'private', actor)
  await playlists.act(id, { action: 'create', videoId: 'a' }, actor)

  const asked = await Promise.allSettled([
    accounts.remove(2),
    playlists.act('watchlater', { action: 'create', videoId: 'a' }, actor),
    playlists.act(id, { action: 'create', videoId: 'b' }, actor),
    playlists.rename(id, 'y', actor),
    playlists.setVisibility(id, 'shared', actor),
    playlists.create('later', 'private', actor),
    playlists.create('seen', 'shared', actor),
  ])

  for (const [at, one] of asked.entries())
    if (one.status === 'rejected') assert.equal(one.reason.code, 'not_found', `${at}: ${one.reason}`)
  await app.settled()
  // previously shared ones stay, without an owner
  assert.deepEqual(
    Object.keys(rowsOf(app)),
    (await app.ids('playlist')).filter((one) => one !== 'PL1'),
  )
  assert.equal(app.app.ledger.sql('SELECT 1 FROM playlist_custom WHERE owner_id IS NOT NULL').get(), undefined)
  for (const playlist of await membershipOf(app, 'a')) assert.ok((await app.ids('playlist')).includes(playlist))
})

test('an account has at most 500 playlists, and a private one at most 5000 videos', async (t) => {
  const app = await anApp(t)
  const user = app.as('user')
  const { ledger } = app.app
  const id = await made(user, 'full', {}, ['a'])
  await user.post(LATER, { action: 'create', video_id: 'a' })
  await ledger.write(() => {
    for (let n = 1; n < 5000; n++)
      ledger.sql('INSERT INTO playlist_custom_entry VALUES (?, ?, ?, null, ?)').run(id, `gone${n}`, `Video ${n}`, n + 1)
    for (let n = 1; n < 500; n++)
      ledger.sql(`INSERT INTO playlist_custom VALUES (?, 2, 2, 0, 'x', 0)`).run(`av_playlist_${n}`)
  })

  const full = await user.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'b' })
  assert.deepEqual([full.status, full.body.code], [409, 'conflict'])
  assert.match(full.body.detail, /5000 videos/)
  assert.equal(
    (await user.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'a' })).status,
    201,
    'it is in it',
  )
  for (const playlist_visibility of ['private', 'shared']) {
    const one = await user.post('/api/playlist/custom/', { playlist_name: 'x', playlist_visibility })
    assert.deepEqual([one.status, one.body.code], [409, 'conflict'])
  }
  assert.equal((await user.post(LATER, { action: 'create', video_id: 'b' })).status, 201)
  assert.equal((await user.get('/api/playlist/?own=true')).body.paginate.total_hits, 501)

  // missing videos are neither shown nor shared
  assert.equal(await entriesOf(user, id), 'a')
  await user.delete('/api/playlist/av_playlist_1/')
  assert.equal((await user.post(`/api/playlist/${id}/`, { playlist_visibility: 'shared' })).status, 201)
  assert.equal(await entriesOf(app.as('admin'), id), 'a')
})

test('a playlist that is too long to be private stays shared', async (t) => {
  const app = await anApp(t)
  const entries = Array.from({ length: 5001 }, (_, n) => ({ platform_id: `n${n}`, downloaded: true }))
  await app.given(aPlaylist({ id: 'long', playlist_type: 'custom', entries }))

  const { status, body } = await app.as('admin').post('/api/playlist/long/', { playlist_visibility: 'private' })

  assert.deepEqual([status, body.code], [409, 'conflict'])
  const shown = await app.as('user').get('/api/playlist/long/')
  assert.deepEqual([shown.body.data.playlist_visibility, shown.body.data.playlist_entries.length], ['shared', 5001])
})

test('all requests to a playlist while it is shared and made private are carried out, in one storage', async (t) => {
  const app = await anApp(t)
  const [user, admin] = [app.as('user'), app.as('admin')]
  const id = await made(user, 'x', {}, ['a', 'b'])

  const replies = await Promise.all([
    user.post(`/api/playlist/${id}/`, { playlist_visibility: 'shared' }),
    user.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'c' }),
    user.post(`/api/playlist/${id}/`, { playlist_visibility: 'private' }),
    admin.delete('/api/video/b/'),
    user.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'd' }),
    user.post(`/api/playlist/${id}/`, { playlist_visibility: 'shared' }),
    user.post(`/api/playlist/${id}/`, { action: 'create', video_id: 'e' }),
  ])

  assert.deepEqual(
    replies.map(({ status }) => status),
    [201, 201, 201, 200, 201, 201, 201],
  )
  const { body } = await user.get(`/api/playlist/${id}/`)
  const isShared = body.data.playlist_visibility === 'shared'
  assert.deepEqual([...(await entriesOf(user, id))].toSorted(), ['a', 'c', 'd', 'e'])
  for (const video of ['a', 'c', 'd', 'e'])
    assert.deepEqual(await membershipOf(app, video), isShared ? [id] : [], video)
  assert.deepEqual(await app.ids('playlist'), isShared ? ['PL1', id].toSorted() : ['PL1'])
})
