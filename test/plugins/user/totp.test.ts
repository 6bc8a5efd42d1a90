/** The second factor: codes of an authenticator app, recovery codes, and who can remove it. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type TestContext, test } from 'node:test'
import { PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import { removeTotp } from '../../../plugins/user/commands.ts'
import userPlugin from '../../../plugins/user/plugin.ts'

const STEP_MS = 30_000
const WRONG = '000000'

/** The code that an authenticator app shows (RFC 6238, computed independently). */
function codeOf(secret: string, timeMs: number): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
  const bits = [...secret].map((letter) => letters.indexOf(letter).toString(2).padStart(5, '0')).join('')
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(timeMs / STEP_MS)))
  const digest = createHmac('sha1', key).update(counter).digest()
  const number = digest.readUInt32BE(digest.at(-1)! & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}

interface Household {
  app: TestApp
  secret: string
  recovery: string[]
  /** The current code. */
  code: () => string
  login: (more?: object, path?: string) => ReturnType<ReturnType<TestApp['as']>['post']>
}

/** The account `user` has an authenticator app; the time step of the code that enabled it has passed. */
async function household(t: TestContext): Promise<Household> {
  const app = await testApp(t, { plugins: [userPlugin] })
  const user = app.as('user')
  const { secret } = (await user.post('/api/totp/', { current_password: PASSWORD })).body
  const code = () => codeOf(secret, app.clock.now())
  const { status, body } = await user.put('/api/totp/', { code: code() })
  assert.equal(status, 200, JSON.stringify(body))
  await app.clock.advance(STEP_MS)
  const login = (more: object = {}, path = '/login/') =>
    app.as('nobody').post(path, { username: 'user', password: PASSWORD, ...more })
  return { app, secret, recovery: body.recovery_codes, code, login }
}

test('setting it up needs the password, and it is required only after a code was entered', async (t) => {
  const app = await testApp(t, { plugins: [userPlugin] })
  const user = app.as('user')
  const login = () => app.as('nobody').post('/login/', { username: 'user', password: PASSWORD })
  assert.equal((await user.post('/api/totp/', { current_password: 'wrong' })).status, 400)
  assert.equal((await user.put('/api/totp/', { code: WRONG })).status, 400)
  const { secret, uri } = (await user.post('/api/totp/', { current_password: PASSWORD })).body
  assert.match(secret, /^[A-Z2-7]{32}$/)
  assert.equal(new URL(uri).searchParams.get('secret'), secret)
  assert.match(uri, /^otpauth:\/\/totp\/Archivolt:user\?/)

  const wrong = await user.put('/api/totp/', { code: WRONG })
  assert.deepEqual([wrong.status, wrong.body.fields], [400, { code: 'is wrong' }])
  assert.equal((await login()).status, 204)
  const { body } = await user.put('/api/totp/', { code: codeOf(secret, app.clock.now()) })
  assert.equal(new Set(body.recovery_codes).size, 10)
  assert.equal((await login()).status, 400)
  assert.deepEqual((await user.get('/api/totp/')).body, { enabled: true, recovery_codes: 10 })
  assert.equal((await user.post('/api/totp/', { current_password: PASSWORD })).status, 409)
})

test('sessions that began without a code end when it is enabled, except for the one that enabled it', async (t) => {
  const app = await testApp(t, { plugins: [userPlugin] })
  const nobody = app.as('nobody')
  const browser = async (more: object = {}) => {
    const { status, headers } = await nobody.post('/login/', { username: 'user', password: PASSWORD, ...more })
    assert.equal(status, 204)
    const cookie = headers.getSetCookie().map((one) => one.split(';')[0])
    return { cookie: cookie.join('; '), 'x-csrftoken': cookie.find((one) => one!.startsWith('csrftoken='))!.slice(10) }
  }
  const isIn = async (headers: Record<string, string>) => (await nobody.get('/api/ping/', headers)).status === 200
  const [here, elsewhere] = [await browser(), await browser()]
  const { secret } = (await nobody.post('/api/totp/', { current_password: PASSWORD }, here)).body
  const code = () => codeOf(secret, app.clock.now())

  assert.equal((await nobody.put('/api/totp/', { code: code() }, here)).status, 200)

  assert.deepEqual([await isIn(here), await isIn(elsewhere)], [true, false])
  await app.clock.advance(STEP_MS)
  const later = await browser({ code: code() })
  await app.clock.advance(STEP_MS)
  assert.equal((await nobody.delete('/api/totp/', { current_password: PASSWORD, code: code() }, here)).status, 200)
  assert.deepEqual([await isIn(here), await isIn(later)], [true, false])
})

test('a password that was checked before it was enabled starts no session afterwards', async (t) => {
  const app = await testApp(t, { plugins: [userPlugin] })
  const { accounts } = app.app
  const { id } = accounts.list().find(({ username }) => username === 'user')!
  const proof = (await accounts.checkPassword('user', PASSWORD, '192.0.2.1'))!
  const { secret } = await accounts.beginTotp(id, proof)
  await accounts.enableTotp(id, codeOf(secret, app.clock.now()))

  await assert.rejects(accounts.openSession(id, true, proof), /sign in/)
  await assert.rejects(accounts.token(id, proof), /sign in/)
})

test('a login with the password alone says what is missing, and what an app needs that cannot ask', async (t) => {
  const { app, login, code } = await household(t)
  for (const path of ['/login/', '/api/login/']) {
    const { status, body, headers } = await login({}, path)
    assert.deepEqual([status, body.code, body.code_required], [400, 'bad_request', true])
    assert.deepEqual(body.fields, { code: 'is required' })
    assert.match(body.detail, /code from its authenticator app.* token instead/)
    assert.deepEqual(body.non_field_errors, [body.detail])
    assert.deepEqual(headers.getSetCookie(), [])
    assert.equal((await login({ password: 'wrong', code: code() }, path)).body.code_required, undefined)
  }
  assert.equal((await login({ code: code() })).status, 204)
  await app.clock.advance(STEP_MS)
  assert.match((await login({ code: code() }, '/api/login/')).body.token, /^[0-9a-f]{40}$/)
  assert.equal((await app.as('user').get('/api/ping/')).status, 200) // tokens go on as they did
})

test('a code is accepted once, even if it is sent twice at the same time; and none from before it', async (t) => {
  const { app, secret, login, code } = await household(t)
  const answers = await Promise.all([login({ code: code() }), login({ code: code() })])
  assert.deepEqual(answers.map(({ status }) => status).toSorted(), [204, 400])
  assert.equal((await login({ code: code() })).status, 400)
  assert.equal((await login({ code: codeOf(secret, app.clock.now() - STEP_MS) })).status, 400)
  // a phone whose clock is ahead
  assert.equal((await login({ code: codeOf(secret, app.clock.now() + STEP_MS) })).status, 204)
})

test('an expired or future code is wrong', async (t) => {
  const { app, secret, login } = await household(t)
  await app.clock.advance(10 * STEP_MS)
  for (const steps of [-2, 2]) {
    const code = codeOf(secret, app.clock.now() + steps * STEP_MS)
    assert.equal((await login({ code })).status, 400, String(steps))
  }
  assert.equal((await login({ code: codeOf(secret, app.clock.now() - STEP_MS) })).status, 204)
})

test('wrong codes are throttled like wrong passwords, and the right password without a code resets nothing', async (t) => {
  const { login, code } = await household(t)
  for (let attempt = 0; attempt < 5; attempt++) {
    assert.equal((await login({ code: WRONG })).status, 400)
    assert.equal((await login()).body.code_required, attempt < 4 ? true : undefined)
  }
  const { status, body } = await login({ code: code() })
  assert.deepEqual([status, body.code], [429, 'throttled'])
})

test('a recovery code signs in once, however it is written', async (t) => {
  const { app, recovery, login } = await household(t)
  assert.match(recovery[0]!, /^([A-Z2-7]{4}-){3}[A-Z2-7]{4}$/)
  assert.equal((await login({ code: recovery[0]!.toLowerCase().replaceAll('-', ' ') })).status, 204)
  assert.equal((await login({ code: recovery[0]! })).status, 400)
  assert.equal((await app.as('user').get('/api/totp/')).body.recovery_codes, 9)
  const rows = JSON.stringify(app.app.ledger.sql('SELECT * FROM recovery_codes').all())
  for (const one of recovery) assert.ok(!rows.includes(one.replaceAll('-', '')))
})

test('removing it needs password and code together', async (t) => {
  const { app, login, code } = await household(t)
  const user = app.as('user')
  for (const given of [
    { current_password: 'wrong', code: code() },
    { current_password: PASSWORD, code: WRONG },
    { current_password: PASSWORD },
    { code: code() },
  ])
    assert.equal((await user.delete('/api/totp/', given)).status, 400, JSON.stringify(given))
  assert.equal((await user.delete('/api/totp/', { current_password: PASSWORD, code: code() })).status, 200)
  assert.deepEqual((await user.get('/api/totp/')).body, { enabled: false, recovery_codes: 0 })
  assert.equal((await login()).status, 204)
})

test('an admin removes it from others, but nobody from their own account in this way; the command does, too', async (t) => {
  const { app, login } = await household(t)
  const admin = app.as('admin')
  assert.equal((await admin.get('/api/user/2/')).body.has_totp, true)
  assert.equal((await app.as('user').post('/api/user/2/', { totp: null })).status, 403)
  assert.equal((await admin.post('/api/user/1/', { totp: null })).status, 403)
  assert.equal((await admin.post('/api/user/2/', { totp: null, is_staff: true, view: {} })).status, 400)
  assert.equal((await admin.get('/api/user/2/')).body.has_totp, true) // of a change that is refused nothing is done
  assert.equal((await admin.post('/api/user/2/', { totp: null })).body.has_totp, false)
  assert.equal((await login()).status, 204)

  const { secret } = (await app.as('user').post('/api/totp/', { current_password: PASSWORD })).body
  await app.as('user').put('/api/totp/', { code: codeOf(secret, app.clock.now()) })
  assert.equal((await login()).status, 400)
  const said: string[] = []
  const input = { options: {}, say: (text: string) => void said.push(text), secret: async () => '', log: app.app.log }
  await removeTotp.run({ taken: ['user'], ...input }, app.app)
  assert.deepEqual(said, ['user now signs in with the password only'])
  assert.equal((await login()).status, 204)
  await assert.rejects(removeTotp.run({ taken: ['nobody'], ...input }, app.app), /No account named “nobody”/)
})
