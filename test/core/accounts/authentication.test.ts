/** Authentication and rights: tokens, sessions, protection against other sites, roles, proxies. */
import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { openSigning } from '../../../core/accounts/signing.ts'
import { openLog } from '../../../core/log.ts'
import { defineRoute, type Route } from '../../../core/plugin/define.ts'
import { openSecretKey } from '../../../core/secret-key.ts'
import { cheapCredentials } from '../../support/password-cost.ts'
import { type TestServer, testServer } from '../http/given.ts'

const route = (method: 'GET' | 'POST', path: string, access: Route['access']) =>
  defineRoute({
    method,
    path,
    access,
    summary: path,
    reply: Type.Unknown(),
    handle: ({ actor, request }) => ({
      ...actor,
      address: request.address,
      isSecure: request.isSecure,
      isCrossSite: request.isCrossSite,
    }),
  })
const ROUTES = [
  route('GET', '/who/', 'user'),
  route('POST', '/who/', 'user'),
  route('GET', '/admin/', 'admin'),
  route('POST', '/admin/', 'admin'),
  route('GET', '/open/', 'open'),
  route('POST', '/open/', 'open'),
]
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

async function signedIn(t: TestContext, isRemembered = false): Promise<TestServer & { cookie: string; csrf: string }> {
  const server = await testServer(t, ROUTES)
  const { sessionId, csrfToken } = await server.accounts.openSession(1, isRemembered)
  return { ...server, cookie: `other=1; sessionid=${sessionId}`, csrf: csrfToken }
}

/** Simulates a start after somebody has deleted the secret key. */
async function withNewKey({ ledger, clock, dataDir }: Pick<TestServer, 'ledger' | 'clock' | 'dataDir'>) {
  await rm(join(dataDir, 'secret.key'))
  const signing = openSigning(await openSecretKey(dataDir))
  return cheapCredentials.open({ ledger, clock, log: openLog('silent'), dataDir, signing })
}

test('without valid credentials the reply is 401, with the text that clients compare', async (t) => {
  const { ask, tokens } = await testServer(t, ROUTES)
  const nothing = await ask('/who/', { as: 'nobody' })
  assert.equal(nothing.status, 401)
  assert.equal(nothing.headers.get('www-authenticate'), 'Token')
  assert.equal(nothing.body['code'], 'not_authenticated')
  const bad: Array<Record<string, string>> = [
    { Authorization: 'Token 0123456789abcdef0123456789abcdef01234567' },
    { Authorization: 'Token short' },
    { Authorization: 'Token' },
    { Authorization: `Bearer ${tokens.admin}` },
    { Authorization: `Token  ${tokens.admin}` },
    { Authorization: `Token ${tokens.admin.toUpperCase()}` },
    { Authorization: tokens.admin },
    { Cookie: 'sessionid=nonsense' },
    { Cookie: `sessionid=${'A'.repeat(43)}.${'A'.repeat(43)}` },
  ]
  for (const headers of bad) {
    const { status, headers: answered, body } = await ask('/who/', { as: 'nobody', headers })
    assert.equal(status, 401, JSON.stringify(headers))
    assert.equal(answered.get('www-authenticate'), 'Token')
    assert.deepEqual(body, {
      detail: 'Invalid token.',
      message: 'Invalid token.',
      error: 'Invalid token.',
      code: 'invalid_token',
    })
  }
})

test('the scheme before the key is case-insensitive', async (t) => {
  const { ask, tokens } = await testServer(t, ROUTES)
  for (const word of ['Token', 'token', 'TOKEN'])
    assert.equal(
      (await ask('/who/', { as: 'nobody', headers: { Authorization: `${word} ${tokens.user}` } })).status,
      200,
    )
})

test('a valid session takes precedence over the header', async (t) => {
  const { ask, cookie } = await signedIn(t)
  const { body } = await ask('/who/', {
    as: 'nobody',
    headers: { Cookie: cookie, Authorization: 'Token of-something-else' },
  })
  assert.equal(body['via'], 'session')
})

test('a token is accepted if the session has ended', async (t) => {
  const { ask, clock, cookie, tokens } = await signedIn(t)
  await clock.advance(3 * DAY)
  const { body } = await ask('/who/', {
    as: 'nobody',
    headers: { Cookie: cookie, Authorization: `Token ${tokens.user}` },
  })
  assert.equal(body['via'], 'token')
  assert.equal((await ask('/who/', { as: 'nobody', headers: { Cookie: cookie } })).status, 401)
})

for (const [isRemembered, days] of [
  [false, 2],
  [true, 365],
] as const) {
  test(`a session ${isRemembered ? 'that is remembered ' : ''}lasts ${days} days`, async (t) => {
    const { ask, clock, cookie } = await signedIn(t, isRemembered)
    const status = async () => (await ask('/who/', { as: 'nobody', headers: { Cookie: cookie } })).status
    // It is used now and then, because an unused session ends earlier.
    for (let day = 20; day < days; day += 20) {
      await clock.advance(20 * DAY)
      assert.equal(await status(), 200)
    }
    await clock.advance((days % 20 || 20) * DAY - MINUTE)
    assert.equal(await status(), 200)
    await clock.advance(2 * MINUTE)
    assert.equal(await status(), 401)
  })
}

test('writes with a session need the value of csrftoken, writes with a token do not', async (t) => {
  const { ask, accounts, cookie, csrf } = await signedIn(t)
  const write = (headers: Record<string, string>) =>
    ask('/who/', { method: 'POST', as: 'nobody', headers: { Cookie: cookie, ...headers } })
  const other = await accounts.openSession(1, false)
  for (const headers of [
    {},
    { 'X-CSRFToken': '' },
    { 'X-CSRFToken': 'x'.repeat(43) },
    { 'X-CSRFToken': other.csrfToken },
    { 'X-CSRFToken': 'ä' },
  ] as Array<Record<string, string>>) {
    const { status, body } = await write(headers)
    assert.equal(status, 403, JSON.stringify(headers))
    assert.equal(body['code'], 'csrf_failed')
  }
  assert.equal((await write({ 'X-CSRFToken': csrf })).status, 200)
  assert.equal((await ask('/who/', { method: 'POST' })).status, 200)
})

test('a refusal caused by a proxy that rewrites Host says so', async (t) => {
  const { ask, cookie, csrf } = await signedIn(t)

  const { status, body } = await ask('/who/', {
    method: 'POST',
    as: 'nobody',
    headers: { Cookie: cookie, 'X-CSRFToken': csrf, Origin: 'https://films.example', 'Sec-Fetch-Site': 'same-origin' },
  })

  assert.equal(status, 403)
  assert.match(String(body['detail']), /a proxy has changed the header Host: let it pass Host on/)
})

test('a page of another site cannot write with the session, even if it knows the value', async (t) => {
  const { ask, cookie, csrf, port } = await signedIn(t)
  const table: Array<[headers: Record<string, string>, status: number]> = [
    [{ Origin: 'https://evil.example' }, 403],
    [{ Origin: 'null' }, 403],
    [{ Origin: `http://127.0.0.1:${port + 1}` }, 403],
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ Origin: `http://127.0.0.1:${port}`, 'Sec-Fetch-Site': 'same-origin' }, 200],
    [{ 'Sec-Fetch-Site': 'none' }, 200],
  ]
  for (const [headers, status] of table) {
    assert.equal(
      (
        await ask('/who/', {
          method: 'POST',
          as: 'nobody',
          headers: { Cookie: cookie, 'X-CSRFToken': csrf, ...headers },
        })
      ).status,
      status,
      JSON.stringify(headers),
    )
    // The browser extension posts from its own origin, with a token.
    assert.equal((await ask('/who/', { method: 'POST', headers })).status, 200)
  }
})

test('the scope of an access token also holds in the query', async (t) => {
  const feed = (path: string, scope?: 'watch') => ({
    ...route('GET', path, 'viewer'),
    tokenInQuery: true as const,
    ...(scope && { scope }),
  })
  const { ask, accounts } = await testServer(t, [feed('/feed/'), feed('/own-feed/', 'watch')])
  const tokenFor = async (scope: 'read' | 'watch') =>
    (await accounts.addAccessToken(1, { name: scope, scope, expiresAt: null })).token
  const [read, watch] = [await tokenFor('read'), await tokenFor('watch')]
  const status = async (path: string, token: string) => (await ask(`${path}?token=${token}`, { as: 'nobody' })).status
  assert.deepEqual(
    [await status('/feed/', read), await status('/own-feed/', read), await status('/own-feed/', watch)],
    [200, 403, 200],
  )
})

test('a new secret key revokes access tokens', async (t) => {
  const { accounts, credentials, ...given } = await testServer(t, ROUTES)
  const { token } = await accounts.addAccessToken(1, { name: 'x', scope: 'admin', expiresAt: null })
  assert.equal(credentials.byToken(token)?.scope, 'admin')
  const after = await withNewKey(given)
  assert.equal(after.byToken(token), undefined)
})

test('each role has its rights', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const table: Array<[path: string, method: 'GET' | 'POST', nobody: number, user: number, admin: number]> = [
    ['/open/', 'GET', 200, 200, 200],
    ['/open/', 'POST', 200, 200, 200],
    ['/who/', 'GET', 401, 200, 200],
    ['/who/', 'POST', 401, 200, 200],
    ['/admin/', 'GET', 401, 403, 200],
    ['/admin/', 'POST', 401, 403, 200],
  ]
  for (const [path, method, ...statuses] of table) {
    const answered = await Promise.all(
      (['nobody', 'user', 'admin'] as const).map(async (as) => (await ask(path, { method, as })).status),
    )
    assert.deepEqual(answered, statuses, `${method} ${path}`)
  }
  assert.equal((await ask('/admin/', { as: 'user' })).body['code'], 'permission_denied')
})

test('a public route ignores invalid credentials', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  assert.equal(
    (await ask('/open/', { as: 'nobody', headers: { Authorization: 'Token wrong', Cookie: 'sessionid=wrong' } })).body[
      'id'
    ],
    0,
  )
})

test('a deactivated account gets the same answer as a wrong token, at once', async (t) => {
  const { ask, accounts } = await testServer(t, ROUTES)
  const { sessionId } = await accounts.openSession(2, false)
  assert.equal((await ask('/who/', { as: 'user' })).status, 200)
  await accounts.change(2, { is_active: false })
  assert.equal((await ask('/who/', { as: 'user' })).body['detail'], 'Invalid token.')
  assert.equal((await ask('/who/', { as: 'nobody', headers: { Cookie: `sessionid=${sessionId}` } })).status, 401)
})

test('a revoked role no longer counts with the next request', async (t) => {
  const { ask, accounts } = await testServer(t, ROUTES)
  await accounts.change(2, { is_staff: true })
  assert.equal((await ask('/admin/', { as: 'user' })).status, 200)
  await accounts.change(2, { is_staff: false })
  assert.equal((await ask('/admin/', { as: 'user' })).status, 403)
})

test('a new secret key ends every session and token', async (t) => {
  const { accounts, credentials, tokens, ...given } = await testServer(t, ROUTES)
  const { sessionId } = await accounts.openSession(1, true)
  assert.ok(credentials.byToken(tokens.admin) && credentials.bySession(sessionId))

  const after = await withNewKey(given)

  assert.equal(after.byToken(tokens.admin), undefined)
  assert.equal(after.bySession(sessionId), undefined)
  const fresh = await after.accounts.token(1)
  assert.notEqual(fresh, tokens.admin)
  assert.equal(after.byToken(fresh)?.account.id, 1)
})

test('only a trusted proxy may forward the client’s address and scheme', async (t) => {
  const headers = { 'X-Forwarded-For': '203.0.113.9', 'X-Forwarded-Proto': 'https' }
  const { ask: plain } = await testServer(t, ROUTES)
  const { ask: behind } = await testServer(t, ROUTES, { settings: { trustedProxies: ['127.0.0.1'] } })
  const direct = (await plain('/who/', { headers })).body
  const forwarded = (await behind('/who/', { headers })).body
  assert.deepEqual([direct['address'], direct['isSecure']], ['127.0.0.1', false])
  assert.deepEqual([forwarded['address'], forwarded['isSecure']], ['203.0.113.9', true])
})

test('behind a proxy that rewrites the host, our own page counts as same-origin', async (t) => {
  const { ask } = await testServer(t, ROUTES, { settings: { trustedProxies: ['loopback'] } })
  const headers = {
    Origin: 'https://archive.example',
    'X-Forwarded-Host': 'archive.example',
    'X-Forwarded-Proto': 'https',
  }
  assert.equal((await ask('/open/', { method: 'POST', as: 'nobody', headers })).body['isCrossSite'], false)
})
