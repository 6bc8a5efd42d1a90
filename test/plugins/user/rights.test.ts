/** Rights and views of accounts: set by an admin, enforced by the server. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aChannel, aPlaylist, aQueued, aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import { NO_PLATFORM } from '../../platform/start.ts'

const household = async (t: TestContext): Promise<TestApp> => {
  const app = await testApp(t, { settings: NO_PLATFORM })
  await app.given(
    aChannel({ id: 'UC1' }),
    aChannel({ id: 'UC2' }),
    aVideo({ id: 'v1', channelId: 'UC1', playlist: ['PL1'] }),
    aVideo({ id: 'v2', channelId: 'UC2' }),
    aPlaylist({ id: 'PL1', entries: ['v1'] }),
    aQueued({ id: 'q1' }),
  )
  return app
}
const link = (status?: string) => ({ data: [{ platform_id: 'aB3dE6gH9jK', ...(status && { status }) }] })

test('an account can only watch until an admin lets it download; then it adds links and sees the queue', async (t) => {
  const app = await household(t)
  const [admin, user] = [app.as('admin'), app.as('user')]
  const refused = await user.post('/api/download/', link())
  assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied'])
  assert.equal(refused.body.detail, 'This account may not download; an admin can allow it')
  assert.equal((await user.get('/api/download/')).status, 403)

  const changed = await admin.post('/api/user/2/', { may_download: true })
  assert.deepEqual([changed.status, changed.body.may_download, changed.body.is_staff], [200, true, false])

  const added = await user.post('/api/download/?autostart=true', link('pending'))
  assert.deepEqual([added.status, added.body.message], [200, 'add to queue task started'])
  assert.deepEqual(app.app.jobs.get(added.body.task_id)?.payload['targets'], [{ type: 'video', id: 'aB3dE6gH9jK' }])
  assert.equal((await user.get('/api/download/')).body.data[0].platform_id, 'q1')
  assert.equal((await user.get('/api/download/q1/')).status, 200)

  assert.equal((await admin.post('/api/user/2/', { may_download: false })).body.may_download, false)
  assert.equal((await user.post('/api/download/', link())).status, 403)
})

test('items of others, the ignore list and downloading again are for admins', async (t) => {
  const app = await household(t)
  await app.as('admin').post('/api/user/2/', { may_download: true })
  const user = app.as('user')
  for (const answer of [
    await user.post('/api/download/', link('ignore')),
    await user.post('/api/download/', link('ignore-force')),
    await user.post('/api/download/?force=true', link()),
    await user.delete('/api/download/?filter=pending'),
    await user.post('/api/download/q1/', { status: 'ignore' }),
    await user.delete('/api/download/q1/'),
    await user.post('/api/download/bulk/', { filter: 'pending', status: 'delete' }),
    await user.post('/api/channel/', { data: [{ channel_id: 'UC1', channel_subscribed: true }] }),
  ])
    assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'])
  assert.deepEqual(await app.ids('download'), ['q1'])
})

test('an admin may download whatever its rights say, and has its former rights once it is no longer an admin', async (t) => {
  const app = await household(t)
  const admin = app.as('admin')
  assert.equal((await admin.get('/api/user/1/')).body.may_download, true)
  assert.equal((await admin.post('/api/user/2/', { is_staff: true })).body.may_download, true)
  assert.equal((await admin.post('/api/user/2/', { is_staff: false })).body.may_download, false)
})

test('a view is replaced as a whole, normalized, and removed by null', async (t) => {
  const app = await household(t)
  const admin = app.as('admin')
  const set = async (view: unknown) => (await admin.post('/api/user/2/', { view })).body.view
  assert.deepEqual(await set({ channel: ['UC1'] }), { channel: ['UC1'], playlist: [] })
  assert.deepEqual(await set({ playlist: ['PL1'] }), { channel: [], playlist: ['PL1'] })
  assert.equal((await app.as('user').get('/api/video/v2/')).status, 404)
  assert.deepEqual((await app.as('user').get('/api/user/2/')).body.view, { channel: [], playlist: ['PL1'] })
  assert.equal(await set(null), null)
  assert.equal((await app.as('user').get('/api/video/v2/')).status, 200)
})

test('an invalid view is refused, and nothing changes', async (t) => {
  const app = await household(t)
  const admin = app.as('admin')
  const table: Array<[body: object, field: string]> = [
    [{ view: { channel: ['UC1', 'UCgone'] } }, 'view.channel'],
    [{ view: { video: ['v1'] } }, 'view.video'],
    [{ view: { download: ['q1'] } }, 'view.download'],
    [{ view: { __proto__: null, constructor: ['v1'] } }, 'view.constructor'],
    [{ view: { channel: ['UC1'] }, may_download: true }, 'may_download'],
    [{ view: { channel: ['UC1'] }, is_staff: true }, 'is_staff'],
  ]
  for (const [body, field] of table) {
    const { status, body: said } = await admin.post('/api/user/2/', body)
    assert.deepEqual([status, Object.keys(said.fields)], [400, [field]], JSON.stringify(body))
    assert.equal((await admin.post('/api/user/', { username: 'new', password: PASSWORD, ...body })).status, 400)
  }
  const tooMany = Array.from({ length: 501 }, (_, at) => `UC${at}`)
  for (const view of [
    5,
    [],
    { channel: 'UC1' },
    { channel: [5] },
    { channel: ['a b'] },
    { channel: ['UC1', 'UC1'] },
    { channel: tooMany },
  ])
    assert.equal((await admin.post('/api/user/2/', { view })).status, 400, JSON.stringify(view).slice(0, 80))
  assert.equal((await admin.get('/api/user/2/')).body.view, null)
  assert.equal((await admin.get('/api/user/')).body.length, 2)

  await admin.post('/api/user/2/', { view: { channel: ['UC1'] } })
  assert.equal((await admin.post('/api/user/2/', { is_staff: true })).status, 400)
  assert.equal((await admin.post('/api/user/2/', { may_download: true })).status, 400)
  const both = await admin.post('/api/user/2/', { is_staff: true, view: null })
  assert.deepEqual([both.body.is_staff, both.body.view], [true, null])
})

test('a user changes neither rights nor views, including its own', async (t) => {
  const app = await household(t)
  await app.as('admin').post('/api/user/2/', { view: { channel: ['UC1'] } })
  for (const body of [
    { may_download: true },
    { view: null },
    { view: {} },
    { password: PASSWORD, current_password: PASSWORD, view: null },
  ])
    assert.equal((await app.as('user').post('/api/user/2/', body)).status, 403, JSON.stringify(body))
  assert.deepEqual((await app.as('user').get('/api/user/2/')).body.view.channel, ['UC1'])
})

test('rights and views survive a restart', async (t) => {
  const app = await household(t)
  await app.as('admin').post('/api/user/2/', { view: { channel: ['UC2'] } })
  await app.as('admin').post('/api/user/', { username: 'third', password: PASSWORD, may_download: true })
  await app.restart()
  const accounts = (await app.as('admin').get('/api/user/')).body
  assert.deepEqual(
    accounts.map(({ username, may_download, view }: any) => [username, may_download, view]),
    [
      ['admin', true, null],
      ['user', false, { channel: ['UC2'], playlist: [] }],
      ['third', true, null],
    ],
  )
  assert.equal((await app.as('user').get('/api/video/v1/')).status, 404)
})

test('a removed channel or playlist leaves all views; after it returns, it is not visible again', async (t) => {
  const app = await household(t)
  const admin = app.as('admin')
  await admin.post('/api/user/2/', { view: { channel: ['UC1', 'UC2'], playlist: ['PL1'] } })

  assert.equal((await admin.delete('/api/playlist/PL1/')).status, 200)
  assert.deepEqual((await admin.get('/api/user/2/')).body.view, { channel: ['UC1', 'UC2'], playlist: [] })
  assert.equal((await admin.delete('/api/channel/UC2/')).status, 200)
  assert.deepEqual((await admin.get('/api/user/2/')).body.view, { channel: ['UC1'], playlist: [] })

  await app.given(aChannel({ id: 'UC2' }))
  assert.equal((await app.as('user').get('/api/channel/UC2/')).status, 404)
  assert.equal((await app.as('user').get('/api/channel/UC1/')).status, 200)
})

test('a change of rights or of a view ends the account’s event streams', async (t) => {
  const app = await household(t)
  const token = await app.app.accounts.token(2)
  const ends = async (change: object) => {
    const leave = new AbortController()
    t.after(() => leave.abort())
    const headers = { authorization: `Token ${token}` }
    const stream = await fetch(new URL('api/events/', app.url), { headers, signal: leave.signal })
    assert.equal(stream.status, 200)
    assert.equal((await app.as('admin').post('/api/user/2/', change)).status, 200)
    return stream.text() // resolves at its end
  }
  await app.app.jobs.notify({ title: 'About v2', group: 'download:run', level: 'info', messages: [] })
  const told = await ends({ may_download: true })
  assert.match(told, /About v2/)
  assert.doesNotMatch(told, /event: queue/)
  assert.match(await ends({ may_download: false, view: { channel: ['UC1'] } }), /event: queue/)
  const toChild = await ends({ view: { channel: ['UC2'] } })
  assert.match(toChild, /event: notification\ndata: \[\]/)
  assert.doesNotMatch(toChild, /About|event: queue|event: job/)
  assert.deepEqual((await app.as('user').get('/api/notification/')).body, [])
})
