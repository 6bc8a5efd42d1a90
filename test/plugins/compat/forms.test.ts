/** What the plugin compat adds for clients of the reference, and that nothing of it is there without the plugin. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aChannel, aVideo, PASSWORD, testApp } from 'archivolt/testing'

const V04 = { 'x-api-form': 'v0.4' }
const V05 = { 'x-api-form': 'v0.5' }

test('an item has its keys at the top too, and for who says v0.4 in its envelope alone', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  await app.settled()
  const user = app.as('user')

  const both = await user.get('/api/video/v1/')
  const slim = await user.get('/api/video/v1/', V04)

  const { data, config, ...record } = both.body
  assert.deepEqual(record, data)
  assert.deepEqual(slim.body, { data, config })
  for (const { headers } of [both, slim]) assert.match(headers.get('vary')!, /X-API-Form/)
  assert.notEqual(both.headers.get('etag'), slim.headers.get('etag'), 'what is kept of one is not the other')
  const asked = (tag: string, form: object) => user.get('/api/video/v1/', { 'if-none-match': tag, ...form })
  assert.equal((await asked(slim.headers.get('etag')!, V04)).status, 304)
  assert.equal((await asked(slim.headers.get('etag')!, {})).status, 200)
})

test('the header chooses before the setting, and another value of it is none', async (t) => {
  const app = await testApp(t, { settings: { compat: 'v0.5' } })
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const [user, nobody] = [app.as('user'), app.as('nobody')]

  assert.deepEqual((await user.get('/api/video/v1/comment/')).body, [])
  assert.deepEqual((await user.get('/api/video/v1/comment/', { 'x-api-form': 'v9' })).body, [])
  assert.deepEqual((await user.get('/api/video/v1/comment/', V04)).body.data, [])
  const refused = await nobody.get('/api/ping/')
  assert.deepEqual([refused.status, refused.headers.get('www-authenticate')], [403, null])
  assert.equal(refused.body.code, 'not_authenticated')
  assert.equal((await nobody.get('/api/ping/', V04)).status, 401)
  const silent = await user.delete('/api/video/v1/progress/')
  assert.deepEqual([silent.status, silent.text, silent.headers.get('content-type')], [204, '', null])
  assert.deepEqual((await user.delete('/api/video/v1/progress/', undefined, V04)).body, { 'progress-reset': 'v1' })
})

test('a player hears how far it is, and an unknown channel is one without subscription', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))

  const { body } = await app.as('user').post('/api/video/v1/progress/', { position: 12, youtube_id: null })
  const { player } = (await app.as('user').get('/api/video/v1/')).body
  assert.deepEqual(body, { platform_id: 'v1', youtube_id: 'v1', user_id: 2, ...player, position: 12 })
  assert.equal(typeof body.watched, 'boolean')
  const search = await app.as('user').get(`/api/channel/search/?q=UC${'x'.repeat(22)}`)
  assert.deepEqual([search.status, search.body.channel_subscribed, search.body.data], [404, false, false])
})

test('all choices of an account are there, those that nothing here uses too; unknown ones are refused', async (t) => {
  const app = await testApp(t)
  const user = app.as('user')
  const before = (await user.get('/api/user/me/')).body
  assert.equal(Object.keys(before).length, 18)
  assert.deepEqual([before.page_size, before.show_subed_only, before.view_style_home], [12, null, 'grid'])

  const change = { view_style_home: 'table', hide_watched: null, grid_items: 5, vid_type_filter: 'shorts' }
  assert.deepEqual((await user.post('/api/user/me/', change)).body, { ...before, ...change })
  assert.deepEqual((await user.get('/api/config/user/')).body, { user_id: 2, grid_items: 5 })
  await user.post('/api/user/me/', { view_style_home: 'list', hide_watched: true })
  await app.restart()
  const after = (await app.as('user').get('/api/user/me/')).body
  assert.deepEqual(after, { ...before, ...change, view_style_home: 'list', hide_watched: true })
  assert.deepEqual((await app.as('admin').get('/api/user/me/')).body, before)

  for (const wrong of [{ grid_items: 9 }, { sort_by: 'age' }, { other: 1 }, { page_size: null }, { stylesheet: 5 }]) {
    const { status, body } = await app.as('user').post('/api/user/me/', wrong)
    assert.deepEqual([status, body.error === body.message, typeof body.error], [400, true, 'string'])
  }
  assert.deepEqual((await app.as('user').get('/api/user/me/')).body, after)
})

test('settings have every key, null is unset, and a wrong one changes nothing', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const path = '/api/appsettings/config/'

  const change = {
    downloads: { format: 'best', limit_speed: 500, add_metadata: true, pot_provider_url: 'http://pot:4416' },
    subscriptions: { channel_size: null, extract_flat: true },
  }
  const { body } = await admin.post(path, change)
  assert.deepEqual(
    [body.downloads.format, body.downloads.limit_speed, body.downloads.subtitle, body.downloads.pot_provider_url],
    ['best', 500, null, 'http://pot:4416'],
  )
  assert.deepEqual([body.subscriptions.channel_size, body.subscriptions.extract_flat], [null, true])
  const ours = (await admin.get('/api/config/')).body
  assert.deepEqual(
    [ours.downloads.format, ours.downloads.add_thumbnail, ours.subscriptions.channel_size],
    ['best', true, 0],
  )
  assert.equal((await admin.post(path, { downloads: { format: null } })).body.downloads.format, null)

  const before = (await admin.get(path)).body
  for (const wrong of [
    { downloads: { format: 'x', nope: 1 } },
    { nope: { a: 1 } },
    { downloads: { limit_speed: 5, pot_provider_url: 'ftp://pot' } },
    { downloads: 5 },
    { subscriptions: { auto_start: 'yes' } },
  ])
    assert.equal((await admin.post(path, wrong)).status, 400, JSON.stringify(wrong))
  assert.deepEqual((await admin.get(path)).body, before)
  assert.equal((await app.as('user').post(path, {})).status, 403)
})

test('a schedule has a path of its own', async (t) => {
  const admin = (await testApp(t)).as('admin')
  const path = '/api/task/schedule/check_reindex/'
  await admin.post(path, { schedule: '0 12 *', config: { days: 30 } })

  assert.deepEqual((await admin.post(path, { config: { days: 40 } })).body.schedule, '0 12 *')
  assert.deepEqual((await admin.get(path)).body.config, { days: 40 })
  assert.equal((await admin.post(path, {})).status, 400)
  assert.equal((await admin.post('/api/task/schedule/nope/', { schedule: 'auto' })).status, 400)
  assert.equal((await admin.delete(path)).status, 204)
  assert.equal((await admin.get(path)).status, 404)
})

test('the browser signs in and out by the paths of the next line', async (t) => {
  const app = await testApp(t)
  const nobody = app.as('nobody')
  const login = await nobody.post('/api/user/login/', { username: 'admin', password: PASSWORD }, { 'x-csrftoken': '' })
  assert.equal(login.status, 204)
  const [session, csrf] = ['sessionid', 'csrftoken'].map(
    (name) => new RegExp(`${name}=([^;]+)`).exec(login.headers.getSetCookie().join(';'))![1]!,
  )
  const headers = { cookie: `sessionid=${session}; csrftoken=${csrf}`, 'x-csrftoken': csrf! }
  const { body } = await nobody.get('/api/user/account/', headers)
  assert.deepEqual([body.id, body.name, body.is_superuser, body.groups], [1, 'admin', true, []])
  assert.equal((await nobody.post('/api/user/logout/', undefined, headers)).status, 204)
  assert.equal((await nobody.get('/api/user/account/', headers)).status, 401)
})

test('without the plugin nothing of it is there, and all else is', async (t) => {
  const app = await testApp(t, { settings: { pluginsOff: ['compat'] } })
  await app.given(aChannel(), aVideo({ id: 'v1' }))
  const user = app.as('user')

  const item = await user.get('/api/video/v1/', V05)
  assert.deepEqual([Object.keys(item.body), item.headers.get('vary')], [['data', 'config'], null])
  assert.deepEqual(Object.keys((await user.get('/api/video/v1/comment/', V05)).body), ['data', 'config'])
  assert.equal((await user.delete('/api/video/v1/progress/', undefined, V05)).status, 200)
  assert.equal((await app.as('nobody').get('/api/ping/', V05)).status, 401)
  for (const path of ['/api/user/me/', '/api/appsettings/cookie/', '/api/task/by-name/'])
    assert.equal((await app.as('admin').get(path)).status, 404, path)
})
