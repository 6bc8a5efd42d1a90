/** Signing in by the header of a proxy: which proxies are trusted, which names are valid, and whose session it is. */
import assert from 'node:assert/strict'
import { request as ask } from 'node:http'
import { type TestContext, test } from 'node:test'
import type { Settings } from '../../../config/schema.ts'
import { openLog } from '../../../core/log.ts'
import { Jar } from '../../support/browser-jar.ts'
import { type TestApp, testApp } from '../../support/testing.ts'

const HEADER = 'remote-user'
const behind = (t: TestContext, more: Partial<Settings> = {}): Promise<TestApp> =>
  testApp(t, { settings: { trustedProxies: ['loopback'], forwardedUser: HEADER, ...more } })

const shown = async (app: TestApp, name: string) =>
  (await app.as('nobody').get('/api/forwarded/', { [HEADER]: name })).body

test('an account named by a trusted proxy has a session, which ends once the proxy names another', async (t) => {
  const app = await behind(t)
  const jar = new Jar()
  const as = (name: string) => ({ headers: { [HEADER]: name } })
  assert.deepEqual(await shown(app, 'user'), { name: 'user', has_account: true })

  assert.equal((await jar.ask(`${app.url}api/forwarded/`, { method: 'POST', ...as('user') })).status, 204)
  assert.equal((await jar.ask(`${app.url}api/ping/`, as('user'))).status, 200)
  assert.equal((await jar.ask(`${app.url}api/ping/`)).status, 200)
  assert.equal((await jar.ask(`${app.url}api/ping/`, as('admin'))).status, 401)
  assert.equal((await jar.ask(`${app.url}api/ping/`, as('nobody here'))).status, 401)
  // As always, a change must prove that it comes from our own page.
  const body = { method: 'POST', body: '{}', headers: { ...as('user').headers, 'content-type': 'application/json' } }
  assert.equal((await jar.ask(`${app.url}api/config/user/`, body)).status, 403)
  const proved = { ...body, headers: { ...body.headers, 'x-csrftoken': jar.cookie(app.url, 'csrftoken')! } }
  assert.equal((await jar.ask(`${app.url}api/config/user/`, proved)).status, 200)
})

test('a token belongs to its account, whatever name the proxy sends', async (t) => {
  const app = await behind(t)

  assert.equal((await app.as('admin').get('/api/user/', { [HEADER]: 'user' })).status, 200)
})

test('no other client is trusted, and the log says so once', async (t) => {
  const lines: string[] = []
  const log = openLog('warn', { write: (line) => void lines.push(line) })
  const app = await testApp(t, { log, settings: { trustedProxies: ['192.0.2.1'], forwardedUser: HEADER } })
  const headers = { [HEADER]: 'admin', 'x-forwarded-for': '192.0.2.1' }

  for (let times = 0; times < 3; times++) {
    assert.deepEqual((await app.as('nobody').get('/api/forwarded/', headers)).body, { name: null, has_account: false })
    assert.equal((await app.as('nobody').post('/api/forwarded/', {}, headers)).status, 403)
  }

  assert.equal(lines.filter((line) => line.includes('is not a trusted proxy')).length, 1)
})

test('without the setting the header is ignored', async (t) => {
  const app = await testApp(t, { settings: { trustedProxies: ['loopback'] } })

  assert.deepEqual(await shown(app, 'admin'), { name: null, has_account: false })
  assert.equal((await app.as('nobody').post('/api/forwarded/', {}, { [HEADER]: 'admin' })).status, 403)
})

test('it does not start if any client could send the header', async (t) => {
  await assert.rejects(testApp(t, { settings: { forwardedUser: HEADER } }), {
    message: /plugin user: AV_FORWARDED_USER is set, but AV_TRUSTED_PROXIES is not/,
  })
})

test('invalid names are anonymous, and a deactivated account cannot sign in', async (t) => {
  const app = await behind(t)
  await app.app.accounts.create({ username: 'jörg', password: 'a long password', isStaff: false })
  await app.app.accounts.change(2, { is_active: false })

  for (const name of ['user, admin', 'Admin', 'admin;', '', 'x'.repeat(5000), 'user'])
    assert.equal((await app.as('nobody').post('/api/forwarded/', {}, { [HEADER]: name })).status, 403, name)
  assert.equal((await shown(app, 'x'.repeat(5000))).name.length, 150)
  assert.equal((await shown(app, Buffer.from('jörg').toString('latin1'))).has_account, true)
  const status = await new Promise((resolve, reject) => {
    const sent = ask(
      `${app.url}api/forwarded/`,
      { method: 'POST', headers: { [HEADER]: ['admin', 'admin'] } },
      (reply) => {
        reply.resume()
        resolve(reply.statusCode)
      },
    )
    sent.on('error', reject).end()
  })
  assert.equal(status, 403, 'two of them')
})

test('another site’s page signs nobody in', async (t) => {
  const app = await behind(t)
  const headers = { [HEADER]: 'admin', 'sec-fetch-site': 'cross-site' }

  const { status, body } = await app.as('nobody').post('/api/forwarded/', {}, headers)
  assert.deepEqual([status, body.code], [403, 'csrf_failed'])
})

test('with AV_PUBLIC_URL only its own page signs in, whatever Host the proxy sends', async (t) => {
  const app = await behind(t, { publicUrl: 'https://archive.example/' })
  const { port } = new URL(app.url)
  const statusOf = (headers: Record<string, string>) =>
    new Promise<number>((resolve, reject) =>
      ask({
        host: '127.0.0.1',
        port,
        method: 'POST',
        path: '/api/forwarded/',
        headers: { [HEADER]: 'user', ...headers },
      })
        .on('response', (answer) => resolve(answer.resume().statusCode!))
        .on('error', reject)
        .end(),
    )

  for (const headers of [
    { host: 'archivolt:8000', origin: 'https://archive.example' },
    { host: 'archive.example:443' },
    { host: 'archivolt:8000', 'x-forwarded-host': 'archive.example' },
  ] as Array<Record<string, string>>)
    assert.equal(await statusOf(headers), 204, JSON.stringify(headers))

  // The name of another site that resolves to the proxy.
  for (const headers of [
    { host: 'evil.example', origin: 'https://evil.example' },
    { host: 'evil.example', origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' },
    { host: 'archive.example', origin: 'http://archive.example' },
    { host: 'evil.example' },
    { host: 'archive.example', origin: 'null' },
  ] as Array<Record<string, string>>)
    assert.equal(await statusOf(headers), 403, JSON.stringify(headers))
})
