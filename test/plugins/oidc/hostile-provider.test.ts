/** A malicious or broken provider: nobody can sign in, whatever is signed or sent. */
import assert from 'node:assert/strict'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { exportJWK, exportSPKI, generateKeyPair, SignJWT, UnsecuredJWT } from 'jose'
import { Jar } from '../../support/browser-jar.ts'
import { type TestApp, testApp } from '../../support/testing.ts'
import '../../support/slow.ts'

const CLIENT_ID = 'archivolt'
const { publicKey, privateKey } = await generateKeyPair('RS256', { extractable: true })
const other = await generateKeyPair('RS256', { extractable: true })

interface Asked {
  issuer: string
  nonce: string
  /** In seconds; the clock of the archive is stopped. */
  now: number
}

interface Hostile {
  issuer: string
  /** The answer of the token endpoint. */
  token: (asked: Asked) => Promise<object>
  /** Replaces the usual answer at a path. */
  odd: Map<string, (response: ServerResponse) => void>
  metadata: object
}

async function hostileProvider(t: TestContext): Promise<Hostile> {
  const jwk = { ...(await exportJWK(publicKey)), kid: 'first', use: 'sig', alg: 'RS256' }
  const json = (response: ServerResponse, value: object) =>
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))
  let nonce = ''
  const server = createServer((request, response) => {
    const url = new URL(request.url!, hostile.issuer)
    const odd = hostile.odd.get(url.pathname)
    if (odd) return odd(response)
    if (url.pathname === '/.well-known/openid-configuration')
      return json(response, {
        ...{ issuer: hostile.issuer, jwks_uri: `${hostile.issuer}/jwks`, token_endpoint: `${hostile.issuer}/token` },
        ...{ authorization_endpoint: `${hostile.issuer}/auth`, response_types_supported: ['code'] },
        ...{ subject_types_supported: ['public'], id_token_signing_alg_values_supported: ['RS256'] },
        ...hostile.metadata,
      })
    if (url.pathname === '/jwks') return json(response, { keys: [jwk] })
    if (url.pathname === '/auth') {
      nonce = url.searchParams.get('nonce')!
      const back = new URL(url.searchParams.get('redirect_uri')!)
      back.search = String(new URLSearchParams({ code: 'x', state: url.searchParams.get('state')! }))
      return response.writeHead(302, { location: back.href }).end()
    }
    const now = Math.floor(Date.now() / 1000)
    hostile.token({ issuer: hostile.issuer, nonce, now }).then((answer) => json(response, answer), assert.fail)
  }).listen(0, '127.0.0.1')
  t.after(() => (server.closeAllConnections(), server.close()))
  await new Promise((resolve) => server.once('listening', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const hostile: Hostile = { issuer, odd: new Map(), metadata: {}, token: async () => ({}) }
  return hostile
}

const claimsOf = ({ issuer, nonce, now }: Asked, more: object = {}) => ({
  ...{ iss: issuer, aud: CLIENT_ID, sub: 's-1', preferred_username: 'ann', groups: ['keepers'] },
  ...{ iat: now, exp: now + 300, nonce },
  ...more,
})
const signed = (claims: Record<string, unknown>, key = privateKey, header: object = {}) =>
  new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'first', ...header }).sign(key)
const answer = (id_token: unknown) => ({ access_token: 'a', token_type: 'Bearer', id_token })

async function given(t: TestContext): Promise<{ app: TestApp; hostile: Hostile }> {
  const hostile = await hostileProvider(t)
  const settings = { oidcIssuer: hostile.issuer, oidcClientId: CLIENT_ID, oidcClientSecret: 'b', oidcCreate: true }
  const app = await testApp(t, { settings: { ...settings, privateHosts: ['127.0.0.1'], oidcAdmins: ['keepers'] } })
  return { app, hostile }
}

const goThere = async (jar: Jar, { url }: TestApp): Promise<string> => {
  const { url: ended } = await jar.follow(`${url}login/oidc/`, `${url}login/?`)
  return ended.slice(url.length - 1)
}

test('a valid answer signs in: each other case differs from it in one point', async (t) => {
  const { app, hostile } = await given(t)
  hostile.token = async (asked) => answer(await signed(claimsOf(asked)))
  const jar = new Jar()

  await jar.follow(`${app.url}login/oidc/`, `${app.url}?`).catch(() => undefined)

  assert.deepEqual(
    app.app.accounts.list().map(({ username }) => username),
    ['admin', 'user', 'ann'],
  )
})

const FORGED: Array<[why: string, token: Hostile['token']]> = [
  ['not signed (alg none)', async (asked) => answer(new UnsecuredJWT(claimsOf(asked)).encode())],
  [
    'signed with the public key as a secret (HS256)',
    async (asked) =>
      answer(
        await new SignJWT(claimsOf(asked))
          .setProtectedHeader({ alg: 'HS256', kid: 'first' })
          .sign(new TextEncoder().encode(await exportSPKI(publicKey))),
      ),
  ],
  [
    'signed with the client’s secret (HS256)',
    async (asked) =>
      answer(
        await new SignJWT(claimsOf(asked)).setProtectedHeader({ alg: 'HS256' }).sign(new TextEncoder().encode('b')),
      ),
  ],
  ['signed with another key', async (asked) => answer(await signed(claimsOf(asked), other.privateKey))],
  [
    'signed with a key that it brings along',
    async (asked) =>
      answer(await signed(claimsOf(asked), other.privateKey, { kid: 'mine', jwk: await exportJWK(other.publicKey) })),
  ],
  ['for somebody else', async (asked) => answer(await signed(claimsOf(asked, { aud: 'another' })))],
  ['of another provider', async (asked) => answer(await signed(claimsOf(asked, { iss: 'https://id.example' })))],
  ['too old', async (asked) => answer(await signed(claimsOf(asked, { exp: asked.now - 300, iat: asked.now - 600 })))],
  ['of another sign-in', async (asked) => answer(await signed(claimsOf(asked, { nonce: 'another' })))],
  ['without a nonce', async (asked) => answer(await signed(claimsOf(asked, { nonce: undefined })))],
  ['without a subject', async (asked) => answer(await signed(claimsOf(asked, { sub: undefined })))],
  [
    'changed after it was signed',
    async (asked) => answer((await signed(claimsOf(asked))).replace(/\.[^.]+\./, (part) => `${part.slice(0, -4)}AAA.`)),
  ],
  ['left out', async () => ({ access_token: 'a', token_type: 'Bearer' })],
  ['no text', async () => answer({ sub: 's-1' })],
]

for (const [why, token] of FORGED)
  test(`a token that is ${why} signs nobody in`, async (t) => {
    const { app, hostile } = await given(t)
    hostile.token = token
    const jar = new Jar()

    assert.equal(await goThere(jar, app), '/login/?refused=failed')
    assert.equal(jar.cookie(app.url, 'sessionid'), undefined)
    assert.equal(app.app.accounts.list().length, 2)
  })

const ODD: Array<[why: string, path: string, act: (response: ServerResponse) => void, ends: string]> = [
  [
    'a token endpoint that leads elsewhere',
    '/token',
    (r) => r.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
    'failed',
  ],
  [
    'a token endpoint without end',
    '/token',
    (r) => r.writeHead(200, { 'content-type': 'application/json' }).end(`{"x":"${'x'.repeat(2_000_000)}"}`),
    'failed',
  ],
  [
    'keys that are none',
    '/jwks',
    (r) => r.writeHead(200, { 'content-type': 'application/json' }).end('{"keys":[]}'),
    'failed',
  ],
  ['a description that is none', '/.well-known/openid-configuration', (r) => r.writeHead(200).end('<html>'), 'away'],
  [
    'a description that leads elsewhere',
    '/.well-known/openid-configuration',
    (r) => r.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    'away',
  ],
  ['a provider that is broken', '/.well-known/openid-configuration', (r) => r.writeHead(500).end(), 'away'],
]
for (const [why, path, act, ends] of ODD)
  test(`${why}: nobody can sign in, and the sign-in page says so`, async (t) => {
    const { app, hostile } = await given(t)
    hostile.token = async (asked) => answer(await signed(claimsOf(asked)))
    hostile.odd.set(path, act)

    assert.equal(await goThere(new Jar(), app), `/login/?refused=${ends}`)
    hostile.odd.clear()
    await app.clock.advance(5000)
    assert.notEqual(await goThere(new Jar(), app).catch(() => 'in'), '/login/?refused=away', 'it is asked anew')
  })

test('the metadata of another provider, or with addresses in a private network, is refused', async (t) => {
  const { app, hostile } = await given(t)
  hostile.metadata = { issuer: 'https://id.example' }
  assert.equal(await goThere(new Jar(), app), '/login/?refused=away')
  await app.clock.advance(5000)
  hostile.metadata = { token_endpoint: 'http://169.254.169.254/latest/', jwks_uri: 'http://10.0.0.1/' }
  assert.equal(await goThere(new Jar(), app), '/login/?refused=failed')
})

test('a broken provider is asked once in five seconds, however many people try to sign in', async (t) => {
  const { app, hostile } = await given(t)
  let asked = 0
  hostile.odd.set('/.well-known/openid-configuration', (response) => (asked++, response.writeHead(500).end()))

  for (let times = 0; times < 20; times++) assert.equal(await goThere(new Jar(), app), '/login/?refused=away')

  assert.equal(asked, 1)
  await app.clock.advance(5000)
  await goThere(new Jar(), app)
  assert.equal(asked, 2)
})

test('a provider that was out of reach while the clock was ahead is asked again once it is right', async (t) => {
  const { app, hostile } = await given(t)
  const right = app.clock.now()
  hostile.odd.set('/.well-known/openid-configuration', (response) => response.writeHead(500).end())
  app.clock.set(right + 4000 * 86_400_000)
  assert.equal(await goThere(new Jar(), app), '/login/?refused=away')

  hostile.odd.clear()
  app.clock.set(right)
  await app.clock.advance(5000)

  assert.notEqual(await goThere(new Jar(), app).catch(() => 'in'), '/login/?refused=away')
})

test('a provider that does not answer times out after ten seconds', async (t) => {
  const { app, hostile } = await given(t)
  const asked = new Promise<void>((resolve) => hostile.odd.set('/.well-known/openid-configuration', () => resolve()))
  const gone = goThere(new Jar(), app)
  await asked
  await app.clock.advance(10_000)

  assert.equal(await gone, '/login/?refused=away')
})

for (const [next, to] of [
  ['/video/abc/?t=5', '/video/abc/?t=5'],
  ['//evil.example/', '/'],
  ['/\\evil.example/', '/'],
  ['https://evil.example/', '/'],
  ['https:evil.example', '/'],
  ['javascript:alert(1)', '/'],
  ['/\t/evil.example/', '/'],
  ['/./\\evil.example', '/'],
  ['/..//evil.example', '/'],
  ['', '/'],
] as const)
  test(`a sign-in with next=${JSON.stringify(next)} continues at ${to}`, async (t) => {
    const { app, hostile } = await given(t)
    hostile.token = async (asked) => answer(await signed(claimsOf(asked)))
    const jar = new Jar()
    const { url } = await jar.follow(
      `${app.url}login/oidc/?next=${encodeURIComponent(next)}`,
      `${app.url}login/oidc/back/`,
    )

    assert.equal((await jar.ask(url)).headers.get('location'), to)
  })
