/** Signing in and out, tokens, settings and accounts, as clients see them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { openLog } from '../../../core/log.ts'
import userPlugin from '../../../plugins/user/plugin.ts'
import { type TestApp, testApp } from '../../support/testing.ts'
import '../../support/slow.ts'

const PASSWORD = 'a password for tests'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const DAY_MS = 86_400_000

const userApp = (t: TestContext): Promise<TestApp> => testApp(t, { plugins: [userPlugin] })

/** Signs in as a browser does. */
async function browser(app: TestApp, username: string, rememberMe = 'off') {
  const reply = await app.as('nobody').post('/login/', { username, password: PASSWORD, remember_me: rememberMe })
  assert.equal(reply.status, 204)
  const setCookies = reply.headers.getSetCookie()
  const values = Object.fromEntries(setCookies.map((cookie) => cookie.split(';', 1)[0]!.split('=') as [string, string]))
  return {
    setCookies,
    csrf: values['csrftoken']!,
    reading: { cookie: `sessionid=${values['sessionid']}` },
    writing: { cookie: `sessionid=${values['sessionid']}`, 'x-csrftoken': values['csrftoken']! },
  }
}

test('a login returns the account’s token, as JSON and as a form, under either name', async (t) => {
  const app = await userApp(t)
  const nobody = app.as('nobody')
  const expected = { token: await app.app.accounts.token(1), user_id: 1 }
  assert.deepEqual((await nobody.post('/api/login/', { username: 'admin', password: PASSWORD })).body, expected)
  assert.deepEqual((await nobody.post('/api/login', { name: 'admin', password: PASSWORD })).body, expected)
  assert.deepEqual(
    (await nobody.post('/api/login/', `username=admin&password=${encodeURIComponent(PASSWORD)}`, FORM)).body,
    expected,
  )
  const withBadHeaders = { authorization: 'Token nonsense', cookie: 'sessionid=nonsense' }
  const reply = await nobody.post('/api/login/', { username: 'admin', password: PASSWORD }, withBadHeaders)
  assert.deepEqual(reply.body, expected)
  assert.deepEqual(reply.headers.getSetCookie(), [])
})

test('a login that is refused says why', async (t) => {
  const app = await userApp(t)
  const table: Array<[body: object, fields: object | undefined]> = [
    [{}, { username: 'is required', password: 'is required' }],
    [{ username: 'admin' }, { password: 'is required' }],
    [{ password: 'x' }, { username: 'is required' }],
    [{ username: 'admin', password: 5 }, { password: 'must be a string' }],
    [{ username: 'admin', password: 'x'.repeat(1025) }, { password: 'must have at most 1024 characters' }],
    [{ username: 'admin', password: 'wrong' }, undefined],
    [{ username: 'nobody', password: PASSWORD }, undefined],
  ]
  for (const [body, fields] of table) {
    const reply = await app.as('nobody').post('/api/login/', body)
    assert.equal(reply.status, 400, JSON.stringify(body))
    assert.deepEqual(reply.body.fields, fields)
    if (!fields) assert.deepEqual(reply.body.non_field_errors, [reply.body.error])
  }
})

test('the sixth attempt after five failures is told to wait', async (t) => {
  const app = await userApp(t)
  for (let attempt = 0; attempt < 5; attempt++)
    assert.equal((await app.as('nobody').post('/api/login/', { username: 'user', password: 'wrong' })).status, 400)
  const refused = await app.as('nobody').post('/login/', { username: 'user', password: PASSWORD })
  assert.equal(refused.status, 429)
  assert.equal(refused.body.code, 'throttled')
  assert.ok(Number(refused.headers.get('retry-after')) >= 30)
})

test('ping returns the account and the version', async (t) => {
  const app = await userApp(t)
  const { body } = await app.as('user').get('/api/ping')
  assert.match(body.version, /^v\d+\.\d+\.\d+$/)
  assert.deepEqual({ ...body, version: '' }, { response: 'pong', user: 2, version: '' })
})

test('a browser gets a session of 2 days, or of a year, whose writes need the CSRF value', async (t) => {
  const app = await userApp(t)
  const short = await browser(app, 'user')
  const long = await browser(app, 'user', 'on')
  assert.match(short.setCookies[0]!, /^sessionid=[\w.-]+; Max-Age=172800; Path=\/; HttpOnly; SameSite=Lax$/)
  assert.match(short.setCookies[1]!, /^csrftoken=[\w-]+; Max-Age=172800; Path=\/; SameSite=Lax$/)
  assert.match(long.setCookies[0]!, /Max-Age=31536000/)
  const nobody = app.as('nobody')
  assert.equal((await nobody.get('/api/ping/', short.reading)).body.user, 2)
  assert.equal((await nobody.post('/api/config/user/', { page_size: 5 }, short.reading)).body.code, 'csrf_failed')
  assert.equal((await nobody.post('/api/config/user/', { page_size: 5 }, short.writing)).status, 200)
  await app.clock.advance(3 * DAY_MS)
  assert.equal((await nobody.get('/api/ping/', short.reading)).status, 401)
  assert.equal((await nobody.get('/api/ping/', long.reading)).status, 200)
})

test('another site’s page can neither sign its visitor in nor out', async (t) => {
  const app = await userApp(t)
  const body = { username: 'user', password: PASSWORD }
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const reply = await app.as('nobody').post('/login/', body, headers as unknown as Record<string, string>)
    assert.equal(reply.status, 403)
    assert.equal(reply.body.code, 'csrf_failed')
  }
  const { reading } = await browser(app, 'user')
  assert.equal((await app.as('nobody').post('/logout/', {}, reading)).status, 403)
})

test('signing out ends the session and removes its cookies', async (t) => {
  const app = await userApp(t)
  const { reading, writing } = await browser(app, 'user')
  const reply = await app.as('nobody').post('/logout/', {}, writing)
  assert.equal(reply.status, 204)
  assert.deepEqual(
    reply.headers.getSetCookie().map((cookie) => /^\w+=; Max-Age=0/.test(cookie)),
    [true, true],
  )
  assert.equal((await app.as('nobody').get('/api/ping/', reading)).status, 401)
})

test('a revoked token is invalid, and the next request creates another', async (t) => {
  const app = await userApp(t)
  const { token } = (await app.as('user').get('/api/token/')).body
  assert.deepEqual((await app.as('user').delete('/api/token/')).body, { success: true })
  assert.equal(
    (await app.as('nobody').get('/api/ping/', { authorization: `Token ${token}` })).body.detail,
    'Invalid token.',
  )
  assert.notEqual((await app.as('user').get('/api/token/')).body.token, token)
})

test('a user’s settings belong to that user; an unknown key or value changes nothing', async (t) => {
  const app = await userApp(t)
  assert.deepEqual((await app.as('user').get('/api/config/user/')).body, { user_id: 2 })
  assert.deepEqual((await app.as('user').post('/api/config/user/', { page_size: 24, hide_watched: true })).body, {
    page_size: 24,
    hide_watched: true,
    user_id: 2,
  })
  const refused = [
    { page_size: 201 },
    { page_size: '12' },
    { grid_items: 2 },
    { view_style_home: 'heap' },
    { look: 'pink' },
    { stylesheet: '../x' },
    { colour: 'red' },
    { sort_order: 'asc', other: 1 },
  ]
  for (const body of refused)
    assert.equal((await app.as('user').post('/api/config/user/', body)).status, 400, JSON.stringify(body))
  assert.deepEqual((await app.as('user').get('/api/config/user/')).body, {
    page_size: 24,
    hide_watched: true,
    user_id: 2,
  })
  assert.deepEqual((await app.as('admin').get('/api/config/user/')).body, { user_id: 1 })
})

test('an admin changes the installation’s settings, all of the given ones or none', async (t) => {
  const app = await userApp(t)
  assert.deepEqual((await app.as('admin').get('/api/config/')).body, {
    application: { enable_cast: false },
    accounts: { idle_days: 30, admins_need_second_factor: false },
  })
  for (const body of [
    { application: { enable_cast: 'yes' } },
    { application: { enable_cast: true, other: 1 } },
    { nothing: {} },
    { application: 5 },
  ]) {
    assert.equal((await app.as('admin').post('/api/config/', body)).status, 400, JSON.stringify(body))
  }
  assert.deepEqual((await app.as('admin').get('/api/config/')).body, {
    application: { enable_cast: false },
    accounts: { idle_days: 30, admins_need_second_factor: false },
  })
  assert.deepEqual((await app.as('admin').post('/api/config/', { application: { enable_cast: true } })).body, {
    application: { enable_cast: true },
    accounts: { idle_days: 30, admins_need_second_factor: false },
  })
})

test('an admin adds, changes and removes accounts', async (t) => {
  const app = await userApp(t)
  const admin = app.as('admin')
  const added = {
    id: 3,
    username: 'new.one@home',
    is_staff: false,
    is_active: true,
    may_download: false,
    view: null,
    has_pin: false,
    has_totp: false,
    picture: null,
    last_login: null,
  }
  assert.deepEqual((await admin.post('/api/user/', { username: 'new.one@home', password: PASSWORD })).body, added)
  assert.equal((await admin.post('/api/user/', { username: 'new.one@home', password: PASSWORD })).status, 409)
  assert.deepEqual(
    (await admin.get('/api/user/')).body.map(({ username }: { username: string }) => username),
    ['admin', 'user', 'new.one@home'],
  )
  assert.deepEqual((await admin.post('/api/user/3/', { is_staff: true })).body, {
    ...added,
    is_staff: true,
    may_download: true,
  })
  assert.deepEqual((await admin.delete('/api/user/3/')).body, { success: true })
  for (const ask of [
    () => admin.get('/api/user/3/'),
    () => admin.delete('/api/user/3/'),
    () => admin.post('/api/user/3/', { is_staff: true }),
    () => admin.get('/api/user/0/'),
    () => admin.get('/api/user/x/'),
  ]) {
    assert.equal((await ask()).status, 404)
  }
})

for (const [taken, alike, why] of [
  ['Admin', 'aDMIN', 'case'],
  ['anna', 'аnnа', 'Cyrillic letters'],
  ['сора', 'copa', 'all of it Cyrillic'],
  ['ВОВ', 'BOB', 'Cyrillic capitals'],
  ['oval', 'ονal', 'Greek letters'],
  ['paul', 'pau1', 'a digit'],
  ['Ⅷ', 'VIII', 'another form of Unicode'],
  ['ｍａｘ', 'max', 'full width'],
  ['corner', 'comer', 'two letters like one'],
] as Array<[string, string, string]>)
  test(`a name that looks like an existing one is refused: ${why}`, async (t) => {
    const app = await userApp(t)
    const admin = app.as('admin')
    if (taken !== 'Admin')
      assert.equal((await admin.post('/api/user/', { username: taken, password: PASSWORD })).status, 200)

    for (const name of [alike, taken.toUpperCase()])
      assert.ok(
        [409, 400].includes((await admin.post('/api/user/', { username: name, password: PASSWORD })).status),
        name,
      )
    assert.equal((await admin.post('/api/user/', { username: 'someone-else', password: PASSWORD })).status, 200)
  })

test('a name has no invisible characters, and letters of one script, or of scripts that are used together', async (t) => {
  const app = await userApp(t)
  const add = async (username: string) =>
    (await app.as('admin').post('/api/user/', { username, password: PASSWORD })).status

  for (const name of ['ann\u3164', 'ann\u115f', 'a\u200bnn', 'pаypаl', 'Ωmega', 'Ωмега'])
    assert.equal(await add(name), 400, JSON.stringify(name))
  for (const name of ['Müller', 'Женя', 'Ωμέγα', '田中ケンtanaka', '김철수', 'x.y+z@home', 'דוד', '42'])
    assert.equal(await add(name), 200, name)
})

test('a new password is long enough and not one of the most common ones', async (t) => {
  const app = await userApp(t)
  const admin = app.as('admin')
  const add = (username: string, password: string) => admin.post('/api/user/', { username, password })
  const table: Array<[password: string, says: RegExp]> = [
    ['elevenchars', /must have at least 12 characters/],
    ['aaaaaaaaaaaa', /only a few different characters/],
    ['1212121212121212', /only a few different characters/],
    ['1qaz2wsx3edc', /is one of the most common passwords/],
    ['QwertyQwerty', /is one of the most common passwords/],
    ['１ｑａｚ２ｗｓｘ３ｅｄｃ', /is one of the most common passwords/],
    ['Someone2024!!', /too similar to a known name/],
    ['archivolt-someone', /too similar to a known name/],
  ]
  for (const [password, says] of table) {
    const { status, body } = await add('someone', password)
    assert.deepEqual([status, body.code], [400, 'bad_request'], password)
    assert.match(body.fields.password, says, password)
  }
  const ofOwn = await app.as('user').post('/api/user/2/', { password: 'qwertyqwerty', current_password: PASSWORD })
  assert.equal(ofOwn.status, 400)
  assert.equal((await admin.post('/api/user/2/', { password: 'qwertyqwerty' })).status, 400)
  assert.equal((await add('someone', 'twelve chars')).status, 200)

  const command = await app.command('user add ann', { secrets: ['qwertyqwerty'] })
  assert.match(command.error!, /password is one of the most common passwords/)
})

test('an account with a weak password signs in as before, and the log warns about a weak AV_PASSWORD', async (t) => {
  const lines: string[] = []
  const log = openLog('warn', { write: (line: string) => void lines.push(line) })
  const app = await testApp(t, { plugins: [userPlugin], settings: { password: 'short' }, log })
  const warned = () => lines.filter((line) => line.includes('AV_PASSWORD')).length

  await app.app.accounts.change(1, { password: 'short' })
  await app.restart()

  const { status } = await app.as('nobody').post('/login/', { username: 'admin', password: 'short' })
  assert.deepEqual([status, warned()], [204, 1])
  const change = { password: 'a longer password', current_password: 'short' }
  assert.equal((await app.as('admin').post('/api/user/1/', change)).status, 200)

  await app.restart()
  assert.equal(warned(), 1)
  assert.ok(!lines.join('').includes('"short"'))
})

test('an admin, too, confirms the current password to change their own password or PIN', async (t) => {
  const app = await userApp(t)
  const { writing } = await browser(app, 'admin')
  for (const change of [
    { password: 'a new password' },
    { pin: '4711' },
    { pin: null },
    { password: 'a new password', is_staff: true },
  ]) {
    const { status, body } = await app.as('nobody').post('/api/user/1/', change, writing)
    assert.deepEqual([status, body.fields], [400, { current_password: 'is required' }], JSON.stringify(change))
    assert.equal((await app.as('admin').post('/api/user/1/', change)).status, 400)
  }
  assert.equal((await app.as('nobody').post('/login/', { username: 'admin', password: PASSWORD })).status, 204)

  assert.equal((await app.as('nobody').post('/api/user/2/', { password: 'a new password' }, writing)).status, 200)
})

for (const [why, change] of [
  ['it becomes an admin', { is_staff: true }],
  ['an admin takes its second factor off', { totp: null }],
  ['an admin gives it another password', { password: 'a new password' }],
  ['it is switched off', { is_active: false }],
] as Array<[string, object]>)
  test(`sessions of an account end when ${why}`, async (t) => {
    const app = await userApp(t)
    const { reading } = await browser(app, 'user')
    assert.equal((await app.as('nobody').get('/api/ping/', reading)).status, 200)

    assert.equal((await app.as('admin').post('/api/user/2/', change)).status, 200)

    assert.equal((await app.as('nobody').get('/api/ping/', reading)).status, 401)
    await app.as('admin').post('/api/user/2/', { is_active: true })
    assert.equal((await app.as('nobody').get('/api/ping/', reading)).status, 401)
  })

test('an account needs a name of permitted characters and a password of twelve', async (t) => {
  const app = await userApp(t)
  for (const body of [
    { username: 'a b', password: PASSWORD },
    { username: '', password: PASSWORD },
    { username: 'x'.repeat(151), password: PASSWORD },
    { username: 'ok', password: 'elevenchars' },
    { username: 'ok' },
  ]) {
    assert.equal((await app.as('admin').post('/api/user/', body)).status, 400, JSON.stringify(body))
  }
})

test('the last active admin remains an admin', async (t) => {
  const app = await userApp(t)
  for (const ask of [
    () => app.as('admin').delete('/api/user/1/'),
    () => app.as('admin').post('/api/user/1/', { is_staff: false }),
    () => app.as('admin').post('/api/user/1/', { is_active: false }),
  ]) {
    assert.equal((await ask()).body.code, 'conflict')
  }
})

test('a user sees only its own account, and changes only its password, confirming the current one', async (t) => {
  const app = await userApp(t)
  const user = app.as('user')
  assert.equal((await user.get('/api/user/2/')).body.username, 'user')
  const password = 'a new password'
  const table: Array<[path: string, body: object, status: number]> = [
    ['/api/user/1/', { password, current_password: PASSWORD }, 403],
    ['/api/user/9/', { password, current_password: PASSWORD }, 403],
    ['/api/user/2/', { is_staff: true }, 403],
    ['/api/user/2/', { password, current_password: PASSWORD, is_staff: true }, 403],
    ['/api/user/2/', {}, 400],
    ['/api/user/2/', { password }, 400],
    ['/api/user/2/', { password, current_password: 'wrong' }, 400],
    ['/api/user/2/', { password: 'short', current_password: PASSWORD }, 400],
  ]
  for (const [path, body, status] of table)
    assert.equal((await user.post(path, body)).status, status, `${path} ${JSON.stringify(body)}`)
  assert.equal((await user.get('/api/user/1/')).status, 403)
  assert.equal((await user.get('/api/user/')).status, 403)

  const [here, elsewhere] = [await browser(app, 'user'), await browser(app, 'user')]
  const { token } = (await user.get('/api/token/')).body
  assert.equal(
    (await app.as('nobody').post('/api/user/2/', { password, current_password: PASSWORD }, here.writing)).status,
    200,
  )
  assert.equal((await app.as('nobody').get('/api/ping/', here.reading)).status, 200)
  assert.equal((await app.as('nobody').get('/api/ping/', elsewhere.reading)).status, 401)
  assert.equal((await app.as('nobody').get('/api/ping/', { authorization: `Token ${token}` })).status, 401)
  assert.equal((await app.as('nobody').post('/api/login/', { username: 'user', password })).status, 200)
})

test('the last login is recorded on the account', async (t) => {
  const app = await userApp(t)
  await browser(app, 'user')
  const { last_login } = (await app.as('user').get('/api/user/2/')).body
  assert.equal(last_login, new Date(Math.floor(app.clock.now() / 1000) * 1000).toISOString())
})

test('an account may choose any sort of the list of videos', async (t) => {
  const app = await testApp(t)
  const { paths } = (await app.as('user').get('/api/schema/')).body

  const { parameters } = paths['/api/video/'].get
  const { properties } = paths['/api/config/user/'].post.requestBody.content['application/json'].schema

  const { schema } = parameters.find(({ name }: { name: string }) => name === 'sort')
  assert.deepEqual(properties.sort_by.enum, schema.enum)
})
