/** Switching accounts on a shared device with a PIN: where it is enough, and everything that ends it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import userPlugin from '../../../plugins/user/plugin.ts'
import { type TestApp, testApp } from '../../support/testing.ts'

const PASSWORD = 'a password for tests'
const PIN = '4711'
const DAY_MS = 86_400_000
const YEAR_MS = 365 * DAY_MS

/** A browser that keeps its cookies. */
class Browser {
  readonly cookies = new Map<string, string>()
  readonly #app: TestApp
  constructor(app: TestApp) {
    this.#app = app
  }

  async ask(method: 'get' | 'post' | 'delete', path: string, body?: object, more: Record<string, string> = {}) {
    const headers = {
      cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'x-csrftoken': this.cookies.get('csrftoken') ?? '',
      ...more,
    }
    const nobody = this.#app.as('nobody')
    const reply = await (method === 'get' ? nobody.get(path, headers) : nobody[method](path, body ?? {}, headers))
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name, value] = /^(\w+)=([^;]*)/.exec(cookie)!
      if (value) this.cookies.set(name!, value)
      else this.cookies.delete(name!)
    }
    return reply
  }

  async signIn(username: string, remember_me = 'on', password = PASSWORD) {
    const reply = await this.ask('post', '/login/', { username, password, remember_me })
    assert.equal(reply.status, 204)
    return reply
  }

  known = async (): Promise<string[]> =>
    (await this.ask('get', '/api/device/')).body.map(({ username }: { username: string }) => username)
  enter = (user_id: number, pin = PIN) => this.ask('post', '/api/device/', { user_id, pin })
  asks = async (): Promise<number | undefined> => (await this.ask('get', '/api/ping/')).body.user
}

const setPin = async (app: TestApp, who: 'admin' | 'user', pin = PIN) => {
  const id = who === 'admin' ? 1 : 2
  const reply = await app.as(who).post(`/api/user/${id}/`, { pin, current_password: PASSWORD })
  assert.equal(reply.status, 200)
  return reply
}

/** A television on which both have signed in, each with a PIN. */
async function household(t: TestContext) {
  const app = await testApp(t, { plugins: [userPlugin] })
  await setPin(app, 'admin', '12345678')
  await setPin(app, 'user')
  const television = new Browser(app)
  await television.signIn('admin')
  await television.signIn('user')
  return { app, television }
}

test('on a device where they have signed in, people switch accounts with their PIN', async (t) => {
  const { app, television } = await household(t)
  const { body } = await television.ask('get', '/api/device/')
  assert.deepEqual(body, [
    { id: 1, username: 'admin', picture: null },
    { id: 2, username: 'user', picture: null },
  ])

  await television.ask('post', '/logout/')
  assert.equal(await television.asks(), undefined)
  const reply = await television.enter(1, '12345678')
  assert.equal(reply.status, 204)
  assert.match(
    reply.headers.getSetCookie()[0]!,
    /^sessionid=[\w.-]+; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/,
  )
  assert.match(reply.headers.getSetCookie()[2]!, /^device=[\w.-]+; Max-Age=31536000; Path=\/; HttpOnly; SameSite=Lax$/)
  assert.equal(await television.asks(), 1)

  await television.enter(2)
  assert.equal(await television.asks(), 2)
  assert.equal((await television.ask('post', '/api/config/user/', { page_size: 7 })).status, 200)
  const { last_login } = (await app.as('user').get('/api/user/2/')).body
  assert.equal(last_login, new Date(Math.floor(app.clock.now() / 1000) * 1000).toISOString())
})

test('a PIN is useless on another device, and so is a device’s id without the PIN', async (t) => {
  const { app, television } = await household(t)
  const elsewhere = new Browser(app)

  const forged = { cookie: 'device=nonsense' }
  const [id, proof] = television.cookies.get('device')!.split('.')
  const unsigned = { cookie: `device=${id}.${proof!.split('').reverse().join('')}` }
  const session = { cookie: `device=${television.cookies.get('sessionid')}` }
  for (const headers of [{ cookie: '' }, forged, unsigned, session]) {
    assert.deepEqual((await elsewhere.ask('get', '/api/device/', undefined, headers)).body, [])
    const reply = await elsewhere.ask('post', '/api/device/', { user_id: 2, pin: PIN }, headers)
    assert.deepEqual([reply.status, reply.headers.getSetCookie()], [400, []])
    assert.match(reply.body.error, /Sign in with the password/)
  }
  // The reply does not reveal whether there is such an account.
  const [there, none] = [await elsewhere.enter(2), await elsewhere.enter(99)]
  assert.deepEqual([none.status, none.body.error], [there.status, there.body.error])

  const wrong = await television.enter(2, '0000')
  assert.deepEqual([wrong.status, wrong.body.error, wrong.body.non_field_errors], [400, 'Wrong PIN', ['Wrong PIN']])
  assert.equal((await television.enter(1, PIN)).status, 400, 'it is somebody else’s PIN')
})

test('a device is remembered if people want that, and have a PIN', async (t) => {
  const app = await testApp(t, { plugins: [userPlugin] })
  // Set instead of advanced, so that no jobs run for a year.
  const later = (ms: number) => app.clock.set(app.clock.now() + ms)
  await setPin(app, 'user')
  const [briefly, without] = [new Browser(app), new Browser(app)]

  await briefly.signIn('user', 'off')
  await without.signIn('admin')

  assert.deepEqual([await briefly.known(), await without.known()], [[], []])
  const body = { pin: '12345678', current_password: PASSWORD }
  const { body: changed } = await without.ask('post', '/api/user/1/', body)
  assert.equal(changed.has_pin, true)
  assert.deepEqual(await without.known(), ['admin'], 'it was set here, with the password')
  later(YEAR_MS - DAY_MS)
  assert.deepEqual(await without.known(), ['admin'])
  assert.equal((await without.enter(1, '12345678')).status, 204)
  later(YEAR_MS - DAY_MS)
  assert.deepEqual(await without.known(), ['admin'], 'it was used in between')
  later(2 * DAY_MS)
  assert.deepEqual(await without.known(), [])
  assert.equal((await without.enter(1, '12345678')).status, 400)
})

test('after five wrong PINs the account needs its password there, whatever the time between', async (t) => {
  const { app, television } = await household(t)
  for (let attempt = 0; attempt < 5; attempt++) {
    assert.deepEqual(await television.known(), ['admin', 'user'])
    assert.equal((await television.enter(2, '0000')).body.error, 'Wrong PIN')
    await app.clock.advance(DAY_MS)
  }

  assert.deepEqual(await television.known(), ['admin'])
  assert.match((await television.enter(2)).body.error, /Sign in with the password/)
  assert.equal((await television.enter(1, '12345678')).status, 204, 'others are not concerned')
  await television.signIn('user')
  assert.deepEqual(await television.known(), ['admin', 'user'])
  assert.equal((await television.enter(2)).status, 204)
})

test('five attempts are five, also simultaneously from many addresses', async (t) => {
  const { app, television } = await household(t)
  const { accounts } = app.app
  const cookies = `device=${television.cookies.get('device')}`

  const answers = await Promise.allSettled(
    Array.from({ length: 12 }, (_, at) => accounts.checkPin(2, '0000', { cookies, address: `192.0.2.${at + 1}` })),
  )

  assert.equal(answers.filter(({ status }) => status === 'fulfilled').length, 5)
})

test('wrong PINs also delay passwords', async (t) => {
  const { television } = await household(t)
  for (let attempt = 0; attempt < 5; attempt++) await television.enter(2, '0000')

  const reply = await television.ask('post', '/login/', { username: 'user', password: PASSWORD })

  assert.deepEqual([reply.status, reply.body.code], [429, 'throttled'])
})

test('a correct PIN in time resets the count of wrong ones', async (t) => {
  const { app, television } = await household(t)
  for (let round = 0; round < 3; round++) {
    for (let attempt = 0; attempt < 4; attempt++) await television.enter(2, '0000')
    assert.equal((await television.enter(2)).status, 204)
    await app.clock.advance(DAY_MS)
  }
})

for (const [what, take, back] of [
  ['a changed password', { password: 'another password' }, 'another password'],
  ['a removed PIN', { pin: null }, undefined],
  ['a lock', { is_active: false }, undefined],
] as const) {
  test(`${what} removes an account from all devices`, async (t) => {
    const { app, television } = await household(t)
    const second = new Browser(app)
    await second.signIn('user')

    assert.equal((await app.as('admin').post('/api/user/2/', take)).status, 200)

    assert.deepEqual([await television.known(), await second.known()], [['admin'], []])
    for (const device of [television, second]) assert.equal((await device.enter(2)).status, 400)
    if (back === undefined) return
    await television.signIn('user', 'on', back)
    assert.equal((await television.enter(2)).status, 204)
  })
}

for (const [what, who, pin] of [
  ['changed by its account', 'user', '0815'],
  ['removed by an admin', 'admin', null],
] as const)
  test(`a PIN that is ${what} ends the sessions that began with it, and no others`, async (t) => {
    const { app, television } = await household(t)
    const phone = new Browser(app)
    await phone.signIn('user')
    await television.enter(2)

    const reply = await app.as(who).post('/api/user/2/', { pin, ...(pin && { current_password: PASSWORD }) })

    assert.equal(reply.status, 200)
    assert.deepEqual([await television.asks(), await phone.asks()], [undefined, 2])
    assert.equal((await television.enter(2)).status, 400)
    assert.equal((await television.enter(1, '12345678')).status, 204, 'another account has its own PIN')
  })

test('who changes their PIN in a session that began with the former one stays signed in', async (t) => {
  const { app, television } = await household(t)
  const tablet = new Browser(app)
  await tablet.signIn('user')
  for (const device of [television, tablet]) await device.enter(2)

  const reply = await tablet.ask('post', '/api/user/2/', { pin: '0815', current_password: PASSWORD })

  assert.equal(reply.status, 200)
  assert.deepEqual([await television.asks(), await tablet.asks()], [undefined, 2])
})

test('a deleted account is removed from devices', async (t) => {
  const { app, television } = await household(t)
  assert.equal((await app.as('admin').delete('/api/user/2/')).status, 200)

  assert.deepEqual(await television.known(), ['admin'])
  assert.equal((await television.enter(2)).status, 400)
  assert.deepEqual(app.app.ledger.sql('SELECT user_id FROM device_accounts').all(), [{ user_id: 1 }])
})

test('one device forgets an account', async (t) => {
  const { app, television } = await household(t)
  const second = new Browser(app)
  await second.signIn('user')

  assert.deepEqual((await television.ask('delete', '/api/device/2/')).body, { success: true })
  assert.deepEqual((await television.ask('delete', '/api/device/2/')).body, { success: true }, 'it is gone already')
  assert.deepEqual((await new Browser(app).ask('delete', '/api/device/2/')).body, { success: true })

  assert.deepEqual([await television.known(), await second.known()], [['admin'], ['user']])
  assert.equal((await television.enter(2)).status, 400)
})

test('another site’s page can neither sign in nor forget', async (t) => {
  const { television } = await household(t)
  for (const headers of [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]) {
    const from = headers as unknown as Record<string, string>
    const entered = await television.ask('post', '/api/device/', { user_id: 1, pin: '12345678' }, from)
    const forgotten = await television.ask('delete', '/api/device/1/', undefined, from)
    for (const { status, body } of [entered, forgotten]) assert.deepEqual([status, body.code], [403, 'csrf_failed'])
  }
  assert.deepEqual(await television.known(), ['admin', 'user'])
})

test('a PIN has four to eight digits, and belongs to its account', async (t) => {
  const app = await testApp(t, { plugins: [userPlugin] })
  const proven = { current_password: PASSWORD }
  for (const [who, path, body, status] of [
    ['user', '/api/user/2/', { ...proven, pin: '123' }, 400],
    ['user', '/api/user/2/', { ...proven, pin: '123456789' }, 400],
    ['user', '/api/user/2/', { ...proven, pin: '12a4' }, 400],
    ['user', '/api/user/2/', { ...proven, pin: '١٢٣٤' }, 400],
    ['user', '/api/user/2/', { ...proven, pin: 4711 }, 400],
    ['user', '/api/user/2/', { pin: PIN }, 400],
    ['user', '/api/user/2/', { pin: null }, 400],
    ['user', '/api/user/2/', { pin: PIN, current_password: 'wrong' }, 400],
    ['user', '/api/user/1/', { ...proven, pin: PIN }, 403],
    ['admin', '/api/user/1/', { pin: PIN }, 400],
    ['admin', '/api/user/2/', { ...proven, pin: PIN }, 403],
  ] as const)
    assert.equal((await app.as(who).post(path, body)).status, status, `${who} ${path} ${JSON.stringify(body)}`)
  assert.deepEqual(
    (await app.as('admin').get('/api/user/')).body.map(({ has_pin }: { has_pin: boolean }) => has_pin),
    [false, false],
  )

  const { text, body } = await setPin(app, 'user')

  assert.equal(body.has_pin, true)
  const [row] = app.app.ledger.sql<{ pin: string }>('SELECT pin FROM users WHERE id = 2').all()
  assert.match(row!.pin, /^scrypt\$/)
  assert.ok(!text.includes(PIN) && !text.includes(row!.pin) && !row!.pin.includes(PIN))
  assert.equal((await app.as('admin').post('/api/user/2/', { pin: null })).body.has_pin, false)
  for (const body of [{}, { user_id: 2 }, { pin: PIN }, { user_id: 'x', pin: PIN }, { user_id: 2, pin: 'x'.repeat(9) }])
    assert.equal((await app.as('nobody').post('/api/device/', body)).status, 400, JSON.stringify(body))
})

test('a child switches accounts, too, and remains a child there', async (t) => {
  const { app, television } = await household(t)
  assert.equal((await app.as('admin').post('/api/user/2/', { view: { channel: [] } })).status, 400, 'no such kind here')
  await app.app.accounts.change(2, { view: { channel: [] } })

  assert.equal((await television.enter(2)).status, 204)

  assert.equal((await television.ask('get', '/api/user/')).body.code, 'permission_denied')
  assert.deepEqual((await television.ask('get', '/api/user/2/')).body.view, { channel: [] })
  const fresh = { pin: '9999', current_password: PASSWORD }
  assert.equal((await television.ask('post', '/api/user/2/', fresh)).status, 200, 'and chooses its PIN')
  assert.equal((await television.enter(2)).status, 400)
  assert.equal((await television.enter(2, '9999')).status, 204)
})

test('a device has twenty accounts at most, an account a hundred devices', async (t) => {
  const { app, television } = await household(t)
  const { accounts, ledger } = app.app
  const proof = (await accounts.checkPassword('user', PASSWORD, '192.0.2.1'))!
  for (let at = 0; at < 110; at++) {
    await app.clock.advance(1000)
    await accounts.keepOnDevice(2, undefined, proof)
  }
  const count = ledger.sql<{ rows: number }>('SELECT count(*) AS rows FROM device_accounts WHERE user_id = ?')
  assert.equal(count.get(2)!.rows, 100)

  const cookies = `device=${television.cookies.get('device')}`
  for (let at = 0; at < 21; at++) {
    const { id, username } = await accounts.create({ username: `more${at}`, password: PASSWORD, isStaff: false })
    await accounts.change(id, { pin: PIN })
    await app.clock.advance(1000)
    await accounts.keepOnDevice(id, cookies, (await accounts.checkPassword(username, PASSWORD, '192.0.2.1'))!)
  }
  const known = accounts.onDevice(cookies).map(({ username }) => username)
  assert.deepEqual([known.length, known[0], known.at(-1)], [20, 'more1', 'more20'])
})

test('an account that forgets the device while its PIN is checked is not signed in', async (t) => {
  const { app, television } = await household(t)
  const { accounts } = app.app
  const cookies = `device=${television.cookies.get('device')}`
  const proof = (await accounts.checkPin(2, PIN, { cookies, address: '192.0.2.1' }))!
  await accounts.forgetOnDevice(2, cookies)

  await assert.rejects(accounts.openSession(2, true, proof), { code: 'bad_request' })
})
