/** What the plugin compat adds for clients of the reference, none of which exists without the plugin. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { aChannel, aPlaylist, aQueued, aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import Database from 'better-sqlite3'
import '../../support/slow.ts'

const V04 = { 'x-api-form': 'v0.4' }
const V05 = { 'x-api-form': 'v0.5' }

test('an item has its keys at the top level, too; with v0.4 only in its envelope', async (t) => {
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

test('the header overrides the setting, and an unknown value is ignored', async (t) => {
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

/** Every paged list except that of an import, because there is none here. */
const listsOf = ({ app }: TestApp): string[] =>
  app.registry.routes
    .filter(({ envelope, path }) => envelope === 'page' && !path.includes(':adoptionId'))
    .map(({ path }) => path.replace(/:(\w+)/g, (_, name: string) => IDS[name]!))

test('a page after the first without results is an error for v0.4 and an empty list for v0.5', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }), aPlaylist({ entries: ['v1'] }))
  await app.settled()
  const admin = app.as('admin')

  assert.ok(listsOf(app).length >= 10)
  for (const list of listsOf(app)) {
    const ask = (page: number, form: Record<string, string>) => admin.get(`${list}?page=${page}`, form)
    for (let turn = 1; turn <= 2; turn++) {
      const lenient = await ask(2, V05)
      assert.deepEqual([lenient.status, lenient.body.data, lenient.body.error], [200, [], undefined], list)
      for (const form of [V04, {}]) {
        const tag = { 'if-none-match': lenient.headers.get('etag') ?? '' }
        const strict = await ask(2, { ...form, ...tag })
        assert.deepEqual([strict.status, strict.body.data, strict.body.code], [404, [], 'not_found'], list)
        assert.deepEqual(strict.body.paginate, lenient.body.paginate)
        assert.match(strict.headers.get('vary')!, /X-API-Form/)
      }
    }
    for (const page of [0, 1]) assert.equal((await ask(page, V04)).status, 200, `${list}, page ${page}`)
  }
})

const DAY_KEYS = /"(?:published|\w+_last_refresh)":"[^"]*"/g

test('days are days for v0.4 and date-times for v0.5, in every record, in any order of requests', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', channelId: 'UC1', playlist: ['PL1'], title: 'Bread', published: '2024-03-01' }),
    aVideo({ id: 'v2', channelId: 'UC1', playlist: ['PL1'], title: 'More bread', published: '2024-03-02' }),
    aPlaylist({ id: 'PL1', playlist_name: 'Bread', entries: [{ platform_id: 'v1', downloaded: true }] }),
    aQueued({ id: 'v3', title: 'UC1' }),
  )
  await app.settled()
  const forms = [
    [V04, /":"\d{4}-\d{2}-\d{2}"$/],
    [V05, /":"\d{4}-\d{2}-\d{2}T00:00:00\+00:00"$/],
    [{}, /":"\d{4}-\d{2}-\d{2}"$/],
  ] as const

  const seen = new Set<string>()
  for (const [form, wanted] of forms)
    for (const [path, { text }] of (await everyRead(app, form)).replies)
      for (const member of text.match(DAY_KEYS) ?? []) {
        assert.match(member, wanted, path)
        seen.add(`${path} ${member.split('"')[1]}`)
      }
  for (const path of ['video/', 'video/v1/', 'channel/UC1/video/', 'playlist/PL1/video/', 'search/', 'download/'])
    assert.ok(seen.has(`/api/${path} published`), path)
  for (const path of ['channel/', 'channel/UC1/', 'search/', 'video/v1/', 'video/v1/similar/'])
    assert.ok(seen.has(`/api/${path} channel_last_refresh`), path)
  for (const path of ['playlist/', 'playlist/PL1/', 'search/'])
    assert.ok(seen.has(`/api/${path} playlist_last_refresh`), path)

  const made = await app.as('admin').post('/api/playlist/custom/', { playlist_name: 'Mine' }, V05)
  assert.match(made.body.playlist_last_refresh, /T00:00:00\+00:00$/)
  const { body } = await app.as('admin').get('/api/video/v1/', V05)
  assert.equal(body.published, '2024-03-01T00:00:00+00:00')
})

test('an unknown day is null for v0.5, and a text that looks like one stays', async (t) => {
  const app = await testApp(t)
  const description = '"published":"2024-03-01"'
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'v1', channelId: 'UC1', description }))
  await app.given(aQueued({ id: 'v3', published: '' }))

  const queued = (form: object) => app.as('admin').get('/api/download/v3/', form as Record<string, string>)
  assert.equal((await queued(V05)).body.published, null)
  assert.equal((await queued({})).body.published, '')
  assert.equal((await app.as('user').get('/api/video/v1/', V05)).body.description, description)
})

test('the first page of an empty archive is an empty list in both forms', async (t) => {
  const app = await testApp(t)

  for (const form of [V04, V05])
    for (const page of ['', '?page=0', '?page=1']) {
      const { status, body } = await app.as('user').get(`/api/video/${page}`, form)
      assert.deepEqual([status, body.data, body.paginate.total_hits], [200, [], 0])
    }
})

test('a player gets the position, and an unknown channel is returned without subscription', async (t) => {
  const app = await testApp(t)
  await app.given(aChannel(), aVideo({ id: 'v1' }))

  const { body } = await app.as('user').post('/api/video/v1/progress/', { position: 12, youtube_id: null })
  const { player } = (await app.as('user').get('/api/video/v1/')).body
  assert.deepEqual(body, { platform_id: 'v1', youtube_id: 'v1', user_id: 2, ...player, position: 12 })
  assert.equal(typeof body.watched, 'boolean')
  const search = await app.as('user').get(`/api/channel/search/?q=UC${'x'.repeat(22)}`)
  assert.deepEqual([search.status, search.body.channel_subscribed, search.body.data], [404, false, false])
})

test('all preferences of an account exist, including those without effect here; unknown ones are refused', async (t) => {
  const app = await testApp(t)
  const user = app.as('user')
  const before = (await user.get('/api/user/me/')).body
  assert.equal(Object.keys(before).length, 18)
  assert.deepEqual([before.page_size, before.show_subed_only, before.view_style_home], [12, null, 'grid'])

  const change = { view_style_home: 'table', hide_watched: null, grid_items: 5, vid_type_filter: 'shorts' }
  assert.deepEqual((await user.post('/api/user/me/', change)).body, { ...before, ...change })
  assert.deepEqual((await user.get('/api/config/user/')).body, { user_id: 2, grid_items: 5, view_style_home: 'table' })
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

test('simultaneous changes of preferences are all stored', async (t) => {
  const app = await testApp(t)
  const user = app.as('user')
  const choices = { vid_type_filter: 'shorts', file_size_unit: 'metric', show_help_text: false, grid_items: 5 }

  await Promise.all(Object.entries(choices).map(([key, value]) => user.post('/api/user/me/', { [key]: value })))

  const after = (await user.get('/api/user/me/')).body
  for (const [key, value] of Object.entries(choices)) assert.equal(after[key], value, key)
})

test('settings have every key, null means unset, and an invalid one changes nothing', async (t) => {
  const app = await testApp(t)
  const admin = app.as('admin')
  const path = '/api/appsettings/config/'

  const change = {
    downloads: { format: 'best', limit_speed: 500, add_metadata: true, pot_provider_url: 'http://pot:4416' },
    subscriptions: { channel_size: null, playlist_size: 20, extract_flat: false },
  }
  const { body } = await admin.post(path, change)
  assert.deepEqual(
    [body.downloads.format, body.downloads.limit_speed, body.downloads.subtitle, body.downloads.pot_provider_url],
    ['best', 500, null, 'http://pot:4416'],
  )
  const { channel_size, playlist_size, extract_flat } = body.subscriptions
  assert.deepEqual([channel_size, playlist_size, extract_flat], [null, 20, true], 'lists are always queued flat')
  const ours = (await admin.get('/api/config/')).body
  assert.deepEqual(
    [
      ours.downloads.format,
      ours.downloads.add_thumbnail,
      ours.subscriptions.channel_size,
      ours.subscriptions.playlist_size,
    ],
    ['best', true, 0, 20],
  )
  assert.equal((await admin.post(path, { downloads: { format: null } })).body.downloads.format, null)

  const before = (await admin.get(path)).body
  for (const wrong of [
    { downloads: { format: 'x', nope: 1 } },
    { nope: { a: 1 } },
    { constructor: { zz: 5 } },
    { constructor: { name: 'x' } },
    { downloads: { constructor: 'x' } },
    { downloads: { limit_speed: 5, pot_provider_url: 'ftp://pot' } },
    { downloads: 5 },
    { subscriptions: { auto_start: 'yes' } },
    { subscriptions: { extract_flat: 'yes' } },
  ])
    assert.equal((await admin.post(path, wrong)).status, 400, JSON.stringify(wrong))
  assert.deepEqual((await admin.get(path)).body, before)
  assert.equal(Object.hasOwn(Object, 'zz'), false)
  assert.equal((await app.as('user').post(path, {})).status, 403)
  assert.equal((await app.as('user').get(path)).body.downloads.pot_provider_url, null)
})

test('stored settings of the playlist size and of the token provider are converted', async (t) => {
  const app = await testApp(t)
  const stored = {
    'subscriptions.playlist_size': 30,
    'subscriptions.extract_flat': false,
    'downloads.pot_provider_url': 'http://pot',
  }
  const ledger = new Database(join(app.dataDir, 'ledger.sqlite'))
  ledger.exec('CREATE TABLE compat_installation (id INTEGER PRIMARY KEY, kept TEXT NOT NULL) STRICT')
  ledger.prepare('INSERT INTO compat_installation (id, kept) VALUES (1, ?)').run(JSON.stringify(stored))
  for (const [owner, number] of [
    ['compat', 2],
    ['compat', 3],
    ['subscription', 4],
  ] as const)
    ledger.prepare('DELETE FROM migrations WHERE owner = ? AND number = ?').run(owner, number)
  ledger.close()
  await app.as('admin').post('/api/config/', { subscriptions: { channel_size: 7 } })

  await app.restart()

  const { subscriptions, downloads } = (await app.as('admin').get('/api/appsettings/config/')).body
  assert.deepEqual([subscriptions.playlist_size, downloads.pot_provider_url], [30, 'http://pot'])
  assert.equal(app.app.preferences.section('platform').token_provider, 'http://pot')
})

test('media addresses have the configured prefix, in every record of a video, and both prefixes are served', async (t) => {
  const app = await testApp(t, { settings: { compatMediaPrefix: '/youtube' } })
  const said = '"media_url":"/media/ in a text'
  const subtitles = [
    { lang: 'en', ext: 'vtt', name: 'English', source: 'user', url: '', media_url: '/media/UC1/v1.en.vtt' },
  ]
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({
      id: 'v1',
      channelId: 'UC1',
      title: 'Bread one',
      tags: ['bread'],
      description: said,
      playlist: ['PL1'],
      subtitles,
    } as never),
    aVideo({ id: 'v2', channelId: 'UC1', title: 'Bread two', tags: ['bread'] }),
    aPlaylist({ id: 'PL1', entries: [{ platform_id: 'v1', downloaded: true }] }),
  )
  await mkdir(join(app.dataDir, 'media', 'UC1'), { recursive: true })
  await writeFile(join(app.dataDir, 'media', 'UC1', 'v1.mp4'), 'a film')
  const user = app.as('user')

  for (const path of [
    '/api/video/',
    '/api/video/v1/',
    '/api/video/v2/similar/',
    '/api/channel/UC1/video/',
    '/api/playlist/PL1/video/',
    '/api/search/?query=bread',
  ])
    for (const form of [V04, V05]) {
      const { text } = await user.get(path, form)
      assert.match(text, /"media_url":"\/youtube\/UC1\/v1\.mp4"/, path)
      assert.doesNotMatch(text, /"media_url":"\/media/, path)
    }
  const { data } = (await user.get('/api/video/v1/')).body
  assert.deepEqual([data.subtitles[0].media_url, data.description], ['/youtube/UC1/v1.en.vtt', said])
  for (const url of [data.media_url, '/media/UC1/v1.mp4']) assert.equal((await user.get(url)).status, 200, url)
})

test('every answer contains the start time of the server, also for pages of other origins', async (t) => {
  const app = await testApp(t)
  const origin = { origin: 'moz-extension://0b0a0d9e' }
  const stampOf = async (path: string, who: 'user' | 'nobody' = 'user') =>
    (await app.as(who).get(path, origin)).headers.get('x-start-timestamp')

  const first = await stampOf('/api/ping/')
  assert.match(first!, /^\d{10}$/)
  app.clock.advance(5000)
  for (const stamp of [await stampOf('/api/video/nope/'), await stampOf('/api/ping/', 'nobody')])
    assert.equal(stamp, first)
  const { headers } = await app.as('user').get('/api/ping/', origin)
  assert.match(headers.get('access-control-expose-headers')!, /X-Start-Timestamp/)
  await app.restart()
  assert.notEqual(await stampOf('/api/ping/'), first)
})

test('a schedule has its own path', async (t) => {
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

test('the browser signs in and out by the paths of the newer version', async (t) => {
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

test('without the plugin nothing of this exists, and every other answer is the same', async (t) => {
  const answers = await Promise.all(
    [[], ['compat']].map(async (pluginsOff) => {
      const app = await testApp(t, { settings: { pluginsOff } })
      await app.given(
        aChannel({ id: 'UC1' }),
        aVideo({ id: 'v1', channelId: 'UC1', playlist: ['PL1'], tags: ['bread'] }),
        aVideo({ id: 'v2', channelId: 'UC1', tags: ['bread'] }),
        aPlaylist({ id: 'PL1', entries: ['v1', 'v2'] }),
      )
      await app.settled()
      return { app, ...(await everyRead(app)) }
    }),
  )
  const [beside, without] = answers as [(typeof answers)[0], (typeof answers)[0]]

  const ownPaths = [...beside.replies.keys()].filter((path) => !without.replies.has(path))
  assert.ok(ownPaths.length > 15 && without.replies.size > 50, `${ownPaths.length} and ${without.replies.size}`)
  for (const path of ownPaths) assert.equal((await without.app.as('admin').get(path)).status, 404, path)
  for (const [path, reply] of without.replies) assert.deepEqual(reply, beside.replies.get(path), path)

  const user = without.app.as('user')
  const item = await user.get('/api/video/v1/', V05)
  assert.deepEqual([Object.keys(item.body), item.headers.get('vary')], [['data', 'config'], null])
  assert.deepEqual(Object.keys((await user.get('/api/video/v1/comment/', V05)).body), ['data', 'config'])
  assert.equal((await user.delete('/api/video/v1/progress/', undefined, V05)).status, 200)
  assert.equal((await without.app.as('nobody').get('/api/ping/', V05)).status, 401)
  assert.equal((await user.get('/api/ping/')).headers.get('x-start-timestamp'), null)
})

const IDS: Record<string, string> = {
  videoId: 'v1',
  channelId: 'UC1',
  playlistId: 'PL1',
  userId: '1',
  taskName: 'run_backup',
}
/** Routes that list the routes or the plugins, or contain the uptime. */
const OF_THE_PROGRAM = /^\/api\/(schema|docs|plugin|platform|events)\//

/** Times and ids differ between two runs; other programs change the disk's free space. */
const MADE_BY_CHANCE =
  /"(token|schedule|schedule_human|next_run_at|task_id|id|result)":"[^"]*"|"(free|days_until_full)":\d+|av_daily_\w+/g

/** Status and body of each read-only route, as an admin. */
async function everyRead(app: TestApp, form: Record<string, string> = V04) {
  const replies = new Map<string, { status: number; text: string }>()
  for (const { method, path } of app.app.registry.routes) {
    if (method !== 'GET' || !path.startsWith('/api/') || OF_THE_PROGRAM.test(path)) continue
    const asked = path.replace(/:(\w+)/g, (_, name: string) => IDS[name] ?? 'none')
    const { status, text } = await app.as('admin').get(`${asked}?q=UC1&query=bread`, form)
    replies.set(asked, { status, text: text.replaceAll(app.dataDir, '…').replace(MADE_BY_CHANCE, '…') })
  }
  return { replies }
}
