/**
 * Where accounts are signed in: sessions are listed and ended, idle time, new devices, requirements for admins, the
 * log.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS } from '../../../core/base/clock.ts'
import userPlugin from '../../../plugins/user/plugin.ts'
import { PASSWORD, type TestApp, type TestOptions, testApp } from '../../support/testing.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0'
const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36'
const TELEVISION =
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/85.0 TV Safari/537.36'
const MINUTE_MS = 60_000

const userApp = (t: TestContext, more: TestOptions = {}): Promise<TestApp> =>
  testApp(t, { plugins: [userPlugin], ...more })

/** A browser with its cookies. */
class Browser {
  readonly #app: TestApp
  readonly #agent: string
  readonly #cookies = new Map<string, string>()

  constructor(app: TestApp, agent: string) {
    this.#app = app
    this.#agent = agent
  }

  get headers(): Record<string, string> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    return { cookie, 'user-agent': this.#agent, 'x-csrftoken': this.#cookies.get('csrftoken') ?? '' }
  }

  async signIn(username: string, more: object = {}): Promise<this> {
    const body = { username, password: PASSWORD, remember_me: 'on', ...more }
    return this.#keep(await this.#app.as('nobody').post('/login/', body, this.headers))
  }

  async signInWithPin(user_id: number, pin: string): Promise<number> {
    return (await this.#app.as('nobody').post('/api/device/', { user_id, pin }, this.headers)).status
  }

  #keep({ status, headers }: { status: number; headers: Headers }): this {
    assert.equal(status, 204)
    for (const line of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      this.#cookies.set(name!, value!)
    }
    return this
  }

  get = (path: string) => this.#app.as('nobody').get(path, this.headers)
  post = (path: string, body: object) => this.#app.as('nobody').post(path, body, this.headers)
  delete = (path: string) => this.#app.as('nobody').delete(path, undefined, this.headers)
  isIn = async () => (await this.get('/api/ping/')).status === 200
  sessions = async () => (await this.get('/api/own-session/')).body
  newSignIns = async () => (await this.get('/api/session/')).body.attention.sign_ins
}

test('an account sees its named sessions, and ends one without the others', async (t) => {
  const app = await userApp(t)
  const here = await new Browser(app, FIREFOX).signIn('user')
  await app.clock.advance(MINUTE_MS)
  const television = await new Browser(app, TELEVISION).signIn('user')
  await app.clock.advance(MINUTE_MS)
  const other = await new Browser(app, CHROME).signIn('user', { remember_me: 'off' })
  await new Browser(app, CHROME).signIn('admin')

  const listed = await here.sessions()

  assert.deepEqual(
    listed.map(({ browser, system, is_current, address }: Record<string, unknown>) => [
      browser,
      system,
      is_current,
      address,
    ]),
    [
      ['Chrome', 'Windows', false, '127.0.0.1'],
      ['Samsung Internet', 'Tizen', false, '127.0.0.1'],
      ['Firefox', 'Linux', true, '127.0.0.1'],
    ],
  )
  const [, ofTelevision] = listed
  assert.equal((await here.delete(`/api/own-session/${ofTelevision.id}/`)).status, 200)
  assert.deepEqual([await here.isIn(), await television.isIn(), await other.isIn()], [true, false, true])
  assert.equal((await here.delete(`/api/own-session/${ofTelevision.id}/`)).status, 404)
  assert.equal((await here.delete('/api/own-session/')).status, 200)
  assert.deepEqual([await here.isIn(), await other.isIn()], [true, false])
})

test('nobody ends, or sees, sessions of others; no access token sees any', async (t) => {
  const app = await userApp(t)
  const admin = await new Browser(app, FIREFOX).signIn('admin')
  const user = await new Browser(app, CHROME).signIn('user')
  const [{ id }] = await user.sessions()

  assert.equal((await admin.delete(`/api/own-session/${id}/`)).status, 404)
  assert.equal((await admin.delete('/api/own-session/')).status, 200)
  assert.equal(await user.isIn(), true)
  assert.equal((await admin.sessions()).length, 1)
  const { token } = (await app.as('admin').post('/api/access-token/', { name: 'x', scope: 'admin' })).body
  assert.equal((await app.as('nobody').get('/api/own-session/', { authorization: `Token ${token}` })).status, 403)
})

test('on a device whose session was ended, the PIN is no longer enough', async (t) => {
  const app = await userApp(t)
  await app.as('user').post('/api/user/2/', { pin: '471147', current_password: PASSWORD })
  const here = await new Browser(app, FIREFOX).signIn('user')
  const lost = await new Browser(app, TELEVISION).signIn('user')
  assert.equal(await lost.signInWithPin(2, '471147'), 204)

  for (const { id, is_current } of await here.sessions()) if (!is_current) await here.delete(`/api/own-session/${id}/`)

  assert.equal(await lost.signInWithPin(2, '471147'), 400)
  assert.equal(await here.signInWithPin(2, '471147'), 204)
})

test('who signs out everywhere else needs the password there, and still only the PIN here', async (t) => {
  const app = await userApp(t)
  await app.as('user').post('/api/user/2/', { pin: '471147', current_password: PASSWORD })
  const here = await new Browser(app, FIREFOX).signIn('user')
  const lost = await new Browser(app, TELEVISION).signIn('user')

  assert.equal((await here.delete('/api/own-session/')).status, 200)

  assert.equal(await lost.signInWithPin(2, '471147'), 400)
  assert.equal(await here.signInWithPin(2, '471147'), 204)
})

test('a session ends after thirty days without use, and not while it is used; an admin sets the number', async (t) => {
  const app = await userApp(t)
  const [used, idle] = [
    await new Browser(app, TELEVISION).signIn('user'),
    await new Browser(app, CHROME).signIn('user'),
  ]
  for (let weeks = 0; weeks < 4; weeks++) {
    await app.clock.advance(7 * DAY_MS)
    assert.equal(await used.isIn(), true)
  }
  await app.clock.advance(2 * DAY_MS)
  assert.deepEqual([await used.isIn(), await idle.isIn()], [true, false])
  assert.equal((await used.sessions()).length, 1)
  await app.restart()
  assert.equal(await used.isIn(), true, 'when it was used is in the ledger')

  assert.equal((await app.as('admin').post('/api/config/', { accounts: { idle_days: 3 } })).status, 200)
  await app.clock.advance(3 * DAY_MS)
  assert.equal(await used.isIn(), false)
})

test('a sign-in on a new device is reported on the others, until somebody there has seen it', async (t) => {
  const app = await userApp(t)
  const first = await new Browser(app, FIREFOX).signIn('user')
  assert.deepEqual(await first.newSignIns(), [])
  await first.signIn('user')
  assert.deepEqual(await first.newSignIns(), [], 'the same browser again')

  const stranger = await new Browser(app, CHROME).signIn('user', { remember_me: 'off' })

  const [told, ...more] = await first.newSignIns()
  assert.deepEqual([told.browser, told.system, told.address, more], ['Chrome', 'Windows', '127.0.0.1', []])
  assert.deepEqual(await stranger.newSignIns(), [])
  assert.equal((await stranger.delete(`/api/new-sign-in/${told.id}/`)).status, 404)
  assert.equal(
    (await (await new Browser(app, FIREFOX).signIn('admin')).delete(`/api/new-sign-in/${told.id}/`)).status,
    404,
  )
  assert.equal((await first.delete(`/api/new-sign-in/${told.id}/`)).status, 200)
  assert.deepEqual(await first.newSignIns(), [])
})

test('a program that reads the token of an account is reported once, by its name', async (t) => {
  const app = await userApp(t)
  const first = await new Browser(app, FIREFOX).signIn('user')
  const login = () =>
    app.as('nobody').post('/api/login/', { username: 'user', password: PASSWORD }, { 'user-agent': 'curl/8.5.0' })

  assert.deepEqual([(await login()).status, (await login()).status], [200, 200])

  assert.deepEqual(
    (await first.newSignIns()).map(({ browser }: { browser: string }) => browser),
    ['curl'],
  )
})

test('if admins need a second factor, one without it has a user’s rights until it is set up', async (t) => {
  const app = await testApp(t)
  const [admin, user] = [await new Browser(app, FIREFOX).signIn('admin'), await new Browser(app, CHROME).signIn('user')]
  const { token } = (await app.as('admin').post('/api/access-token/', { name: 'x', scope: 'admin' })).body
  const byToken = { authorization: `Token ${token}` }
  assert.equal((await admin.get('/api/user/')).status, 200)

  assert.equal((await admin.post('/api/config/', { accounts: { admins_need_second_factor: true } })).status, 200)

  const refused = await admin.get('/api/user/')
  assert.deepEqual([refused.status, refused.body.code], [403, 'permission_denied'])
  assert.match(refused.body.detail, /requires admins to use a second factor.*Settings → Account/)
  for (const reply of [await app.as('admin').get('/api/user/'), await app.as('nobody').get('/api/user/', byToken)])
    assert.equal(reply.status, 403)
  for (const other of [admin, app.as('admin'), user])
    assert.deepEqual(
      [(await other.post('/api/download/', { data: [] })).status, (await other.get('/api/rule/')).status],
      [403, 403],
    )
  assert.equal((await admin.post('/api/user/2/', { is_staff: true })).status, 403)
  assert.equal((await admin.get('/api/session/')).body.needs_second_factor, true)
  assert.equal((await user.get('/api/session/')).body.needs_second_factor, false)
  assert.equal((await admin.post('/api/totp/', { current_password: PASSWORD })).status, 200)
  const from = { address: '192.0.2.1', agent: undefined, cookies: undefined, way: 'provider' as const }
  const { sessionId } = await app.app.accounts.openSession(1, false, undefined, from)
  assert.equal((await app.as('nobody').get('/api/user/', { cookie: `sessionid=${sessionId}` })).status, 200)
})

test('what would outlive a session requires the password if it was not entered recently', async (t) => {
  const app = await userApp(t)
  const admin = await new Browser(app, FIREFOX).signIn('admin')
  const makeToken = () => admin.post('/api/access-token/', { name: 'x', scope: 'read' })
  assert.equal((await makeToken()).status, 200)
  await app.clock.advance(15 * MINUTE_MS)

  const asked = [
    await makeToken(),
    await admin.get('/api/token/'),
    await admin.post('/api/user/', { username: 'third', password: PASSWORD }),
    await admin.post('/api/user/2/', { password: 'another password' }),
    await admin.post('/api/user/2/', { totp: null }),
    await admin.post('/api/user/2/', { is_staff: true }),
  ]

  for (const { status, body } of asked)
    assert.deepEqual([status, body.code, body.confirm_required], [403, 'permission_denied', true])
  assert.equal((await admin.post('/api/user/2/', { may_download: true })).status, 200)
  assert.equal((await admin.post('/api/user/2/', { is_staff: true, current_password: PASSWORD })).status, 200)
  assert.equal((await admin.post('/api/session/', { current_password: 'wrong' })).status, 400)
  assert.equal((await makeToken()).status, 403)
  assert.equal((await admin.post('/api/session/', { current_password: PASSWORD })).status, 200)
  assert.equal((await makeToken()).status, 200)
  assert.equal((await admin.get('/api/token/')).status, 200)
  await app.clock.advance(15 * MINUTE_MS)
  assert.equal((await makeToken()).status, 403)
  assert.equal((await app.as('admin').get('/api/token/')).status, 200, 'a token is a proof of its own')
})

test('a sign-in while the clock was ahead is no proof once it is right, until the password is entered', async (t) => {
  const app = await userApp(t)
  const right = app.clock.now()
  app.clock.set(right + 30 * DAY_MS)
  const admin = await new Browser(app, FIREFOX).signIn('admin')
  const makeToken = async () => (await admin.post('/api/access-token/', { name: 'x', scope: 'read' })).status

  app.clock.set(right)

  assert.equal(await makeToken(), 403)
  assert.equal((await admin.post('/api/session/', { current_password: PASSWORD })).status, 200)
  assert.equal(await makeToken(), 200)
})
