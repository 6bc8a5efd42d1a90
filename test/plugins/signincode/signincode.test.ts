/** Sign-in codes in the API: shown, approved or refused elsewhere, used once, expired, throttled; and by whom. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import signInCodePlugin from '../../../plugins/signincode/plugin.ts'
import userPlugin from '../../../plugins/user/plugin.ts'
import { PASSWORD, type TestApp, testApp } from '../../support/testing.ts'

const TELEVISION =
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 6.5) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/4.0 Chrome/85.0 TV Safari/537.36'
const MINUTE_MS = 60_000
const [ADMIN, USER, CHILD] = [1, 2, 3]

/** A browser that keeps its cookies while the server restarts. */
class Browser {
  readonly #cookies = new Map<string, string>()
  readonly #app: TestApp
  constructor(app: TestApp) {
    this.#app = app
  }

  async ask(method: 'get' | 'post' | 'delete', path: string, body?: object, more: Record<string, string> = {}) {
    const headers = {
      cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
      'user-agent': TELEVISION,
      'x-csrftoken': this.#cookies.get('csrftoken') ?? '',
      ...more,
    }
    const nobody = this.#app.as('nobody')
    const reply = await (method === 'get' ? nobody.get(path, headers) : nobody[method](path, body, headers))
    for (const line of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^(\w+)=([^;]*)/.exec(line) ?? []
      this.#cookies.set(name, value)
    }
    return reply
  }

  async signIn(username: string): Promise<this> {
    const reply = await this.ask('post', '/login/', { username, password: PASSWORD, remember_me: 'on' })
    assert.equal(reply.status, 204)
    return this
  }

  asks = async () => (await this.ask('get', '/api/ping/')).body.user
  code = async () => (await this.ask('post', '/api/sign-in-code/')).body
  enter = async (device_code: string) => (await this.ask('post', '/login/code/', { device_code })).body.state
  show = (code: string) => this.ask('get', `/api/sign-in-code/${code}/`)
  approve = (code: string, user_id: number, more: object = {}) =>
    this.ask('post', `/api/sign-in-code/${code}/`, { user_id, ...more })
  refuse = (code: string) => this.ask('delete', `/api/sign-in-code/${code}/`)
}

async function household(t: TestContext) {
  const app = await testApp(t, { plugins: [userPlugin, signInCodePlugin] })
  await app.as('admin').post('/api/user/', { username: 'child', password: PASSWORD, view: {} })
  return { app, television: new Browser(app), open: (name: string) => new Browser(app).signIn(name) }
}

test('a television shows a code, a phone approves it, and the television is signed in, once', async (t) => {
  const { app, television, open } = await household(t)
  const phone = await open('user')
  const asked = await television.code()
  assert.match(asked.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{3}-[BCDFGHJKLMNPQRSTVWXZ]{3}$/)
  assert.deepEqual(
    [asked.verification_uri, asked.verification_uri_complete, asked.expires_in],
    [`${app.url}link/`, `${app.url}link/?code=${asked.user_code}`, 600],
  )
  assert.equal(await television.enter(asked.device_code), 'waiting')

  const typed = asked.user_code.toLowerCase().replace('-', '')
  const { body: shown } = await phone.show(typed)
  assert.deepEqual(
    [shown.browser, shown.system, shown.address, Date.parse(shown.expires) - Date.parse(shown.created)],
    ['Samsung Internet', 'Tizen', '127.0.0.1', 600_000],
  )
  assert.deepEqual(shown.profiles, [{ id: USER, username: 'user', picture: null, needs_pin: false }])
  assert.equal((await phone.approve(typed, USER)).status, 200)
  assert.equal((await phone.approve(typed, USER)).status, 404, 'it has been answered')

  assert.equal(await television.enter(asked.device_code), 'signed_in')
  assert.equal(await television.asks(), USER)
  assert.equal(await new Browser(app).enter(asked.device_code), 'expired', 'single use')
  const { body: sessions } = await television.ask('get', '/api/own-session/')
  assert.deepEqual(sessions.map(({ way, is_current }: any) => [way, is_current]).toSorted(), [
    ['code', true],
    ['password', false],
  ])
  // The person in front of the television has entered no password.
  const token = await television.ask('get', '/api/token/')
  assert.deepEqual([token.status, token.body.confirm_required], [403, true])
  assert.equal((await television.ask('post', '/api/session/', { current_password: PASSWORD })).status, 200)
  assert.equal((await television.ask('get', '/api/token/')).status, 200)
  const { body: session } = await phone.ask('get', '/api/session/')
  assert.equal(session.attention.sign_ins[0].system, 'Tizen', 'the phone tells of the new device')
})

test('a code survives a restart, ends after ten minutes, and a refused one ends at once', async (t) => {
  const { app, television, open } = await household(t)
  const phone = await open('user')
  const first = await television.code()
  await app.restart()
  assert.equal((await phone.approve(first.user_code, USER)).status, 200)
  await app.restart()
  assert.equal(await television.enter(first.device_code), 'signed_in')

  const late = await television.code()
  assert.equal((await phone.approve(late.user_code, USER)).status, 200)
  const unanswered = await television.code()
  await app.clock.advance(10 * MINUTE_MS)
  assert.equal(await television.enter(late.device_code), 'expired')
  assert.equal((await phone.show(unanswered.user_code)).status, 404)
  assert.equal((await phone.approve(unanswered.user_code, USER)).status, 404)

  const unwanted = await television.code()
  assert.equal((await phone.refuse(unwanted.user_code)).status, 200)
  assert.equal((await phone.approve(unwanted.user_code, USER)).status, 404)
  assert.equal(await television.enter(unwanted.device_code), 'refused')
  assert.equal(await television.enter(unwanted.device_code), 'expired')
})

test('people approve for their own account, admins also for accounts with a view, and nobody for any other', async (t) => {
  const { television, open } = await household(t)
  const [parent, user, child] = [await open('admin'), await open('user'), await open('child')]
  const { user_code, device_code } = await television.code()
  const names = async (browser: Browser) =>
    (await browser.show(user_code)).body.profiles.map(({ username }: any) => username)
  assert.deepEqual(await names(parent), ['admin', 'child'])
  assert.deepEqual(await names(child), ['child'])
  assert.equal((await user.approve(user_code, ADMIN)).status, 403)
  assert.equal((await child.approve(user_code, USER)).status, 403)
  assert.equal((await parent.approve(user_code, USER)).status, 403)
  assert.equal((await parent.approve(user_code, 99)).status, 403)
  assert.equal(await television.enter(device_code), 'waiting')
  assert.equal((await parent.approve(user_code, CHILD)).status, 200)
  assert.equal(await television.enter(device_code), 'signed_in')
  assert.equal(await television.asks(), CHILD)
})

test('if a PIN opens an account, that PIN is required; otherwise a recent password', async (t) => {
  const { app, television, open } = await household(t)
  const phone = await open('user')
  await app.as('admin').post('/api/user/1/', { pin: '4711', current_password: PASSWORD })
  await phone.signIn('admin')
  await phone.signIn('user')
  const { user_code, device_code } = await television.code()
  assert.deepEqual(
    (await phone.show(user_code)).body.profiles.map(({ id, needs_pin }: any) => [id, needs_pin]),
    [
      [USER, false],
      [ADMIN, true],
    ],
  )
  for (const more of [{}, { pin: '0000' }]) {
    const { status, body } = await phone.approve(user_code, ADMIN, more)
    assert.deepEqual([status, Object.keys(body.fields)], [400, ['pin']])
  }
  assert.equal((await phone.approve(user_code, ADMIN, { pin: '4711' })).status, 200)
  assert.equal(await television.enter(device_code), 'signed_in')
  assert.equal(await television.asks(), ADMIN)
  const { body: known } = await television.ask('get', '/api/device/')
  assert.deepEqual(
    known.map(({ id }: any) => id),
    [ADMIN],
    'its PIN is enough there from now on',
  )

  const later = await television.code()
  app.clock.set(app.clock.now() + 16 * MINUTE_MS)
  const anew = await television.code()
  const unproven = await phone.approve(anew.user_code, USER)
  assert.deepEqual([unproven.status, unproven.body.confirm_required], [403, true])
  assert.equal((await phone.approve(later.user_code, USER)).status, 404)
})

test('an approval ends with the password of its account, and with the account', async (t) => {
  const { app, television, open } = await household(t)
  const phone = await open('user')
  const changed = await television.code()
  await phone.approve(changed.user_code, USER)
  await app.as('admin').post('/api/user/2/', { password: 'another password for tests' })
  assert.equal(await television.enter(changed.device_code), 'expired')

  const parent = await open('admin')
  const [off, gone] = [await television.code(), await television.code()]
  for (const { user_code } of [off, gone]) assert.equal((await parent.approve(user_code, CHILD)).status, 200)
  await app.as('admin').post('/api/user/3/', { is_active: false })
  assert.equal(await television.enter(off.device_code), 'expired')
  await app.as('admin').delete('/api/user/3/')
  assert.equal(await television.enter(gone.device_code), 'expired')
})

test('a new password ends the sessions that began with a code; a new PIN ends those that the PIN has approved', async (t) => {
  const { app, television, open } = await household(t)
  const phone = await open('admin')
  await phone.ask('post', '/api/user/1/', { pin: '4711', current_password: PASSWORD })
  await phone.signIn('user')
  await phone.ask('post', '/api/user/2/', { pin: '1234', current_password: PASSWORD })
  await phone.signIn('admin')
  const byPin = async (screen: Browser) => {
    const { user_code, device_code } = await screen.code()
    assert.equal((await phone.approve(user_code, USER, { pin: '1234' })).status, 200)
    return device_code
  }
  const other = new Browser(app)
  const late = await byPin(other)
  assert.equal(await television.enter(await byPin(television)), 'signed_in')
  const [projector, browser] = [new Browser(app), new Browser(app)]
  assert.equal((await phone.ask('post', '/api/device/', { user_id: USER, pin: '1234' })).status, 204)
  const owners: Array<[Browser, Browser]> = [
    [phone, projector],
    [await open('user'), browser],
  ]
  for (const [owner, screen] of owners) {
    const { user_code, device_code } = await screen.code()
    assert.equal((await owner.approve(user_code, USER)).status, 200)
    assert.equal(await screen.enter(device_code), 'signed_in')
  }
  const { body: sessions } = await television.ask('get', '/api/own-session/')
  assert.equal(sessions.filter(({ way }: any) => way === 'code').length, 3)
  assert.equal((await television.ask('get', '/api/token/')).status, 403, 'a PIN elsewhere is no recent proof here')

  await app.as('user').post('/api/user/2/', { pin: '9876', current_password: PASSWORD })

  for (const screen of [television, projector, phone]) assert.equal((await screen.ask('get', '/api/ping/')).status, 401)
  assert.equal(await other.enter(late), 'expired', 'an approval by the former PIN')
  assert.equal(await browser.asks(), USER, 'no PIN has approved it')
  await app.as('user').post('/api/user/2/', { password: 'another password for tests', current_password: PASSWORD })
  assert.equal((await browser.ask('get', '/api/ping/')).status, 401)
})

test('other sites, access tokens and anonymous clients can neither ask nor answer', async (t) => {
  const { app, television, open } = await household(t)
  const phone = await open('user')
  const { user_code, device_code } = await television.code()
  const foreign: Record<string, string>[] = [{ origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }]
  for (const headers of foreign) {
    assert.equal((await television.ask('post', '/api/sign-in-code/', undefined, headers)).status, 403)
    assert.equal((await television.ask('post', '/login/code/', { device_code }, headers)).status, 403)
    assert.equal((await phone.ask('post', `/api/sign-in-code/${user_code}/`, { user_id: USER }, headers)).status, 403)
  }
  const forged = await phone.ask('post', `/api/sign-in-code/${user_code}/`, { user_id: USER }, { 'x-csrftoken': 'x' })
  assert.deepEqual([forged.status, forged.body.code], [403, 'csrf_failed'])
  assert.equal((await new Browser(app).show(user_code)).status, 401)
  const { body: made } = await phone.ask('post', '/api/access-token/', { name: 'Kodi', scope: 'watch' })
  const bearer = { authorization: `Token ${made.token}` }
  assert.equal((await new Browser(app).ask('get', `/api/sign-in-code/${user_code}/`, undefined, bearer)).status, 403)
  assert.equal(await television.enter('nonsense'), 'expired')
  assert.equal(await television.enter(device_code), 'waiting')
})

test('requests for codes, wrong codes and their redemption are throttled', async (t) => {
  const { app, television, open } = await household(t)
  const [phone, other] = [await open('user'), await open('child')]
  const { user_code } = await television.code()
  for (let count = 0; count < 20; count++) assert.equal((await phone.show('BBB-BBB')).status, 404)
  const guessing = await phone.show(user_code)
  assert.deepEqual([guessing.status, guessing.headers.get('retry-after')], [429, '600'])
  assert.equal((await phone.approve(user_code, USER)).status, 429)
  assert.equal((await other.show(user_code)).status, 200, 'others are not locked out')

  for (let count = 1; count < 20; count++) await television.code()
  assert.equal((await television.ask('post', '/api/sign-in-code/')).status, 429)
  for (let count = 0; count < 120; count++) await television.enter('nonsense')
  assert.equal((await television.ask('post', '/login/code/', { device_code: 'nonsense' })).status, 429)
  await app.clock.advance(10 * MINUTE_MS)
  assert.equal((await television.ask('post', '/api/sign-in-code/')).status, 200)
  assert.equal((await phone.show('BBB-BBB')).status, 404)
})
