/**
 * Signing in through a real provider: who may, as which account, with which rights; and browsers that return in unusual
 * ways.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Settings } from '../../../config/schema.ts'
import { openLog } from '../../../core/log.ts'
import { Jar } from '../../support/browser-jar.ts'
import { CLIENT_ID, CLIENT_SECRET, type IdentityProvider, identityProvider } from '../../support/identity-provider.ts'
import { PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/slow.ts'

interface Given {
  app: TestApp
  provider: IdentityProvider
}

async function given(t: TestContext, more: Partial<Settings> = {}): Promise<Given> {
  const provider = await identityProvider(t)
  const settings = {
    ...{ oidcIssuer: provider.issuer, oidcClientId: CLIENT_ID, oidcClientSecret: CLIENT_SECRET },
    ...{ privateHosts: ['127.0.0.1'], ...more },
  }
  const app = await testApp(t, { settings })
  await provider.admit(app.url)
  return { app, provider }
}

/**
 * Fills in the provider's form, whose answer redirects back.
 * @returns the redirect's address
 */
async function away(jar: Jar, { app, provider }: Given, from: string, who: string): Promise<string> {
  const { url } = await jar.follow(from)
  assert.ok(url.startsWith(`${provider.issuer}/interaction/`), url)
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const answered = await jar.ask(url, { method: 'POST', headers, body: `who=${who}` })
  const next = new URL(answered.headers.get('location')!, url).href
  return (await jar.follow(next, `${app.url}login/oidc/back/`)).url
}

/** A browser of an account that has signed in with its password, and a function that requests the connection. */
async function connecting({ app }: Given, username: string) {
  const jar = new Jar()
  const headers = { 'content-type': 'application/json' }
  await jar.ask(`${app.url}login/`, { method: 'POST', headers, body: JSON.stringify({ username, password: PASSWORD }) })
  const proved = { ...headers, 'x-csrftoken': jar.cookie(app.url, 'csrftoken')! }
  const ask = (password: string, given: Record<string, string> = proved) =>
    jar.ask(`${app.url}api/oidc/link/`, {
      ...{ method: 'POST', headers: given, body: JSON.stringify({ current_password: password }) },
    })
  return { jar, ask, unproved: headers }
}

/** @returns the browser, and the address to which it is redirected */
async function connectingAs(all: Given, username: string, who: string) {
  const { jar, ask } = await connecting(all, username)
  const { url } = (await (await ask(PASSWORD)).json()) as { url: string }
  return { jar, back: await away(jar, all, url, who) }
}

/** @returns the final path on this server */
async function signIn(given: Given, who: string, { jar = new Jar(), next = '/' } = {}) {
  const { url } = given.app
  const back = await away(jar, given, `${url}login/oidc/?next=${encodeURIComponent(next)}`, who)
  const response = await jar.ask(back)
  assert.equal(response.status, 302)
  return { jar, back, to: response.headers.get('location')! }
}

/** The account of this browser, or undefined. */
async function me(jar: Jar, { app }: Given) {
  const { user } = (await (await jar.ask(`${app.url}api/ping/`)).json()) as { user?: number }
  return user === undefined ? undefined : app.app.accounts.get(user)
}

test('a new user gets an account with the rights of its groups, and the same account later, with the groups of that time', async (t) => {
  const all = await given(t, { oidcCreate: true, oidcAdmins: ['keepers'], oidcDownloaders: ['fetchers', 'more'] })
  all.provider.people.set('s-1', { preferred_username: 'ann', groups: ['fetchers'] })

  const first = await signIn(all, 's-1', { next: '/channels/?q=a' })
  assert.equal(first.to, '/channels/?q=a')
  const ann = await me(first.jar, all)
  assert.deepEqual([ann?.username, ann?.is_staff, ann?.may_download], ['ann', false, true])
  assert.notEqual(ann?.last_login, null)
  assert.equal((await first.jar.ask(`${all.app.url}api/video/`)).status, 200)
  all.provider.people.set('s-1', { preferred_username: 'anna', groups: ['keepers'] })
  const second = await signIn(all, 's-1')

  const now = await me(second.jar, all)
  assert.deepEqual([now?.id, now?.username, now?.is_staff], [ann?.id, 'ann', true])
  all.provider.people.set('s-1', { groups: 'fetchers' })
  assert.equal((await me((await signIn(all, 's-1')).jar, all))?.is_staff, false)
})

test("a user without an account cannot sign in until an account's password has connected it", async (t) => {
  const all = await given(t)
  all.provider.people.set('s-2', { preferred_username: 'user' })
  const { app } = all

  const refused = await signIn(all, 's-2')
  assert.equal(refused.to, '/login/?refused=unknown')
  assert.equal(await me(refused.jar, all), undefined)

  const { ask, unproved } = await connecting(all, 'user')
  assert.equal((await ask('wrong')).status, 400)
  assert.equal((await ask(PASSWORD, unproved)).status, 403)
  const { jar, back } = await connectingAs(all, 'user', 's-2')
  assert.equal((await jar.ask(back)).headers.get('location'), '/settings/account/')

  assert.deepEqual((await app.as('user').get('/api/oidc/link/')).body, { connected: true })
  assert.deepEqual((await app.as('admin').get('/api/oidc/link/')).body, { connected: false })
  assert.equal((await me((await signIn(all, 's-2')).jar, all))?.username, 'user')
  await app.as('user').delete('/api/oidc/link/')
  assert.equal((await signIn(all, 's-2')).to, '/login/?refused=unknown')
})

test('a name at the provider never opens another person’s account', async (t) => {
  const all = await given(t, { oidcCreate: true })
  all.provider.people.set('s-3', { preferred_username: 'admin' })
  all.provider.people.set('s-4', { preferred_username: 'two\nlines' })
  all.provider.people.set('s-5', {})

  assert.equal((await signIn(all, 's-3')).to, '/login/?refused=taken')
  assert.equal((await signIn(all, 's-4')).to, '/login/?refused=name')
  assert.equal((await signIn(all, 's-5')).to, '/login/?refused=name')
  assert.equal((await signIn(all, 'nobody')).to, '/login/?refused=denied')
  assert.deepEqual(
    all.app.app.accounts.list().map(({ username }) => username),
    ['admin', 'user'],
  )
})

test('a user in none of the groups, or deactivated here, cannot sign in; the last admin stays admin', async (t) => {
  const all = await given(t, { oidcCreate: true, oidcUsers: ['family'], oidcAdmins: ['family'] })
  const { accounts } = all.app.app
  all.provider.people.set('s-6', { preferred_username: 'eve', groups: ['strangers', { family: true }] })
  all.provider.people.set('s-7', { preferred_username: 'bob', groups: ['family'] })

  assert.equal((await signIn(all, 's-6')).to, '/login/?refused=group')
  const { jar } = await signIn(all, 's-7')
  const bob = (await me(jar, all))!
  await accounts.change(bob.id, { is_active: false })
  assert.equal((await signIn(all, 's-7')).to, '/login/?refused=off')
  assert.equal(await me(jar, all), undefined)
  await accounts.change(bob.id, { is_active: true })
  await all.app.as('bob').delete('/api/user/1/')
  all.provider.people.set('s-7', { groups: ['strangers'] })
  assert.equal((await signIn(all, 's-7')).to, '/login/?refused=group')
  assert.equal(accounts.get(bob.id)?.is_staff, true)
})

test('a deleted account is no longer connected', async (t) => {
  const all = await given(t, { oidcCreate: true })
  all.provider.people.set('s-8', { preferred_username: 'kim' })
  const kim = (await me((await signIn(all, 's-8')).jar, all))!

  assert.equal((await all.app.as('admin').delete(`/api/user/${kim.id}/`)).status, 200)
  assert.equal(all.app.app.oidc.links.isConnected(kim.id), false)
  const anew = (await me((await signIn(all, 's-8')).jar, all))!
  assert.notEqual(anew.id, kim.id)
})

test('only the browser that was sent to the provider returns, once, with its own answer, in time', async (t) => {
  const all = await given(t, { oidcCreate: true })
  const { app } = all
  all.provider.people.set('s-9', { preferred_username: 'ida' })
  const from = `${app.url}login/oidc/`
  const expired = '/login/?refused=expired'
  const come = async (jar: Jar, back: string) => (await jar.ask(back)).headers.get('location')

  const jar = new Jar()
  const back = await away(jar, all, from, 's-9')
  assert.equal(await come(new Jar(), back), expired, 'a link that somebody else was sent')
  const thief = new Jar()
  await thief.ask(from)
  assert.equal(await come(thief, back), '/login/?refused=failed', 'the answer to somebody else')
  assert.equal(await come(jar, back), '/')
  assert.equal(await come(jar, back), expired, 'once more')

  for (const [why, change] of [
    ['another state', (url: URL) => url.searchParams.set('state', 'x')],
    ['no state', (url: URL) => url.searchParams.delete('state')],
    ['another code', (url: URL) => url.searchParams.set('code', 'x')],
    ['no code', (url: URL) => url.searchParams.delete('code')],
    ['another issuer', (url: URL) => url.searchParams.set('iss', 'http://127.0.0.1:1')],
    ['an error of the provider', (url: URL) => url.searchParams.set('error', 'server_error')],
  ] as Array<[string, (url: URL) => void]>) {
    const own = new Jar()
    const url = new URL(await away(own, all, from, 's-9'))
    change(url)
    assert.equal(await come(own, url.href), '/login/?refused=failed', why)
    assert.equal(await me(own, all), undefined, why)
    assert.equal(own.cookie(app.url, 'av_oidc'), undefined, why)
  }

  const late = new Jar()
  const answer = await away(late, all, from, 's-9')
  await app.clock.advance(601_000)
  assert.equal(await come(late, answer), expired)
  const fixed = new Jar()
  fixed.put(app.url, 'sessionid', 'chosen-by-somebody-else')
  await signIn(all, 's-9', { jar: fixed })
  assert.notEqual(fixed.cookie(app.url, 'sessionid'), 'chosen-by-somebody-else')
})

test('a user at the provider can return, however many others were sent there, and after a restart', async (t) => {
  const all = await given(t, { oidcCreate: true })
  const { app } = all
  all.provider.people.set('s-11', { preferred_username: 'eva' })
  const jar = new Jar()
  const back = await away(jar, all, `${app.url}login/oidc/?next=/channels/`, 's-11')

  for (let many = 0; many < 1100; many++) await new Jar().ask(`${app.url}login/oidc/`)
  await app.restart()

  const at = new URL(back)
  const moved = new URL(at.pathname + at.search, app.url).href
  jar.put(app.url, 'av_oidc', jar.cookie(back, 'av_oidc')!)
  assert.equal((await jar.ask(moved)).headers.get('location'), '/channels/')
  assert.equal((await me(jar, all))?.username, 'eva')
})

test('the cookie of a pending sign-in is sealed, short-lived and inaccessible to scripts', async (t) => {
  const { app } = await given(t, { trustedProxies: ['127.0.0.1'] })
  const goTo = async (path: string) => {
    const response = await fetch(app.url + path, {
      ...{ redirect: 'manual', headers: { 'x-forwarded-proto': 'https' } },
    })
    const { searchParams } = new URL(response.headers.get('location')!)
    return { cookie: response.headers.getSetCookie()[0]!, searchParams }
  }

  const { cookie, searchParams } = await goTo('login/oidc/?next=/somewhere/')
  const long = await goTo(`login/oidc/?next=/${'%F0%9F%98%80'.repeat(450)}`)

  assert.match(cookie, /; Max-Age=600;.*HttpOnly;.*Secure; SameSite=Lax/)
  for (const hidden of [searchParams.get('state')!, searchParams.get('nonce')!, 'somewhere', 'verifier'])
    assert.ok(!cookie.includes(hidden), hidden)
  assert.ok(long.cookie.length < 4096, String(long.cookie.length))
})

test('requests to the provider, and log lines, are limited per address', async (t) => {
  const lines: string[] = []
  const log = openLog('warn', { write: (line: string) => void lines.push(line) })
  const provider = await identityProvider(t)
  const settings = {
    ...{ oidcIssuer: provider.issuer, oidcClientId: CLIENT_ID, oidcClientSecret: CLIENT_SECRET },
    ...{ privateHosts: ['127.0.0.1'], oidcCreate: true },
  }
  const app = await testApp(t, { settings, log })
  await provider.admit(app.url)
  provider.people.set('s-12', { preferred_username: 'ole' })
  const forge = async () => {
    const jar = new Jar()
    const to = new URL((await jar.ask(`${app.url}login/oidc/`)).headers.get('location')!)
    const state = to.searchParams.get('state')!
    const query = new URLSearchParams({ code: 'made up', state, iss: provider.issuer })
    return (await jar.ask(`${app.url}login/oidc/back/?${query}`)).headers.get('location')
  }

  const ends: Array<string | null> = []
  for (let times = 0; times < 25; times++) ends.push(await forge())

  assert.deepEqual(ends, [
    ...Array<string>(20).fill('/login/?refused=failed'),
    ...Array<string>(5).fill('/login/?refused=busy'),
  ])
  assert.equal(lines.filter((line) => line.includes('OpenID')).length, 5)
  await app.clock.advance(600_000)
  assert.equal((await signIn({ app, provider }, 's-12')).to, '/')
})

test('only its own browser connects an account, and a person is connected to one account', async (t) => {
  const all = await given(t, { oidcCreate: true })
  const { app } = all
  all.provider.people.set('s-10', { preferred_username: 'lou' })
  await signIn(all, 's-10')

  const taken = await connectingAs(all, 'user', 's-10')
  assert.equal((await taken.jar.ask(taken.back)).headers.get('location'), '/settings/account/?refused=other')
  const left = await connectingAs(all, 'admin', 's-10')
  left.jar.put(app.url, 'sessionid', taken.jar.cookie(app.url, 'sessionid')!)
  assert.equal((await left.jar.ask(left.back)).headers.get('location'), '/settings/account/?refused=other')
  assert.deepEqual((await app.as('admin').get('/api/oidc/link/')).body, { connected: false })
  const { token } = (await app.as('user').post('/api/access-token/', { name: 'x', scope: 'watch' })).body
  const headers = { authorization: `Token ${token}` }
  assert.equal((await app.as('nobody').post('/api/oidc/link/', { current_password: PASSWORD }, headers)).status, 403)
})

test('without the setting nothing of it exists', async (t) => {
  const app = await testApp(t)

  assert.deepEqual((await app.as('nobody').get('/api/oidc/')).body, { name: null })
  for (const path of ['/login/oidc/', '/login/oidc/back/?code=x&state=y'])
    assert.equal((await app.as('nobody').get(path)).status, 404)
  assert.equal((await app.as('user').post('/api/oidc/link/', { current_password: PASSWORD })).status, 404)
})

const REFUSED: Array<[why: string, settings: Partial<Settings>, says: RegExp]> = [
  ['no provider', { oidcClientId: 'x' }, /AV_OIDC_ISSUER is missing/],
  ['no client', { oidcIssuer: 'https://id.example' }, /AV_OIDC_CLIENT_ID is missing/],
  [
    'a provider that anybody could play',
    { oidcIssuer: 'http://id.example', oidcClientId: 'x' },
    /http:\/\/id\.example does not use https.* AV_PRIVATE_HOSTS/,
  ],
  ['scopes without openid', { oidcScopes: 'profile' }, /oidcScopes|AV_OIDC_SCOPES/],
]
for (const [why, settings, says] of REFUSED)
  test(`${why} stops the start with a sentence`, async (t) => {
    await assert.rejects(testApp(t, { settings }), { message: says })
  })
