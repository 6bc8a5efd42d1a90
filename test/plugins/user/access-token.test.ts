/** Access tokens: what a scope permits, how tokens end, and that a token is shown once. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { aQueued, aVideo, PASSWORD, type TestApp, testApp } from 'archivolt/testing'
import { NO_PLATFORM } from '../../platform/start.ts'

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000
const VIDEO = 'aB3dE6gH9jK'

async function archive(t: TestContext): Promise<TestApp> {
  const app = await testApp(t, { settings: NO_PLATFORM })
  await app.given(aVideo({ id: VIDEO }), aQueued({ id: 'q1' }))
  return app
}

/** A client that sends this token. */
function by(app: TestApp, token: string) {
  const headers = { authorization: `Token ${token}` }
  const nobody = app.as('nobody')
  return {
    get: (path: string) => nobody.get(path, headers),
    post: (path: string, body: object) => nobody.post(path, body, headers),
    delete: (path: string) => nobody.delete(path, undefined, headers),
  }
}

async function made(app: TestApp, scope: string, more: object = {}, as: 'admin' | 'user' = 'admin') {
  const { status, body } = await app.as(as).post('/api/access-token/', { name: `for ${scope}`, scope, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  return { ...body, client: by(app, body.token) }
}

const queue = { data: [{ youtube_id: 'zZ3dE6gH9jK', status: 'pending' }] }
const watched = { id: VIDEO, is_watched: true }

test('a scope permits what it names and all lower scopes, and a refusal names the missing one', async (t) => {
  const app = await archive(t)
  const statuses: Record<string, number[]> = {}
  for (const scope of ['read', 'watch', 'download', 'admin']) {
    const { client } = await made(app, scope)
    statuses[scope] = [
      (await client.get('/api/user/')).status, // what an admin may see
      (await client.post('/api/watched/', watched)).status,
      (await client.post('/api/download/', queue)).status,
      (await client.post('/api/config/', { application: { enable_cast: true } })).status,
    ]
  }
  assert.deepEqual(statuses, {
    read: [200, 403, 403, 403],
    watch: [200, 200, 403, 403],
    download: [200, 200, 200, 403],
    admin: [200, 200, 200, 200],
  })
  const { client } = await made(app, 'watch')
  const refused = await client.post('/api/config/', {})
  assert.deepEqual(
    [refused.body.code, refused.body.detail],
    ['permission_denied', 'This access token has the scope watch; this request needs the scope admin'],
  )
})

test('within a request, an admin’s token with the download scope has no admin rights', async (t) => {
  const app = await archive(t)
  const { client } = await made(app, 'download')
  assert.equal((await client.post('/api/download/?force=true', queue)).status, 403)
  const { client: admin } = await made(app, 'admin')
  assert.equal((await admin.post('/api/download/?force=true', queue)).status, 200)
})

test('no access token creates, shows or revokes tokens, whatever its scope', async (t) => {
  const app = await archive(t)
  const { client, id } = await made(app, 'admin')
  for (const answer of [
    await client.get('/api/token/'),
    await client.get('/api/appsettings/token/'),
    await client.delete('/api/token/'),
    await client.get('/api/access-token/'),
    await client.post('/api/access-token/', { name: 'another', scope: 'admin' }),
    await client.delete(`/api/access-token/${id}/`),
  ])
    assert.deepEqual([answer.status, answer.body.code], [403, 'permission_denied'])
  assert.equal((await app.as('admin').get('/api/access-token/')).body.length, 1)
})

test('a token never exceeds its user’s rights, also if these have been reduced', async (t) => {
  const app = await archive(t)
  const user = app.as('user')
  const refused = await user.post('/api/access-token/', { name: 'x', scope: 'download' })
  assert.deepEqual([refused.status, refused.body.fields], [400, { scope: 'can be at most watch for this account' }])

  await app.as('admin').post('/api/user/2/', { may_download: true })
  const { client } = await made(app, 'download', {}, 'user')
  assert.equal((await client.post('/api/download/', queue)).status, 200)
  await app.as('admin').post('/api/user/2/', { may_download: false })
  assert.equal((await client.post('/api/download/', queue)).status, 403)
})

test('it ends at its time, by a revocation, and when the password changes; the account’s own token is separate', async (t) => {
  const app = await archive(t)
  const expires = new Date(app.clock.now() + 10 * MINUTE_MS).toISOString()
  const timed = await made(app, 'read', { expires })
  const revoked = await made(app, 'read')
  const kept = await made(app, 'read')
  assert.equal((await timed.client.get('/api/ping/')).status, 200)
  await app.clock.advance(10 * MINUTE_MS)
  assert.equal((await timed.client.get('/api/ping/')).body.detail, 'Invalid token.')

  assert.equal((await app.as('user').delete(`/api/access-token/${revoked.id}/`)).status, 404)
  assert.equal((await app.as('admin').delete(`/api/access-token/${revoked.id}/`)).status, 200)
  assert.equal((await revoked.client.get('/api/ping/')).status, 401)
  assert.equal((await app.as('admin').delete('/api/token/')).status, 200)
  assert.equal((await kept.client.get('/api/ping/')).status, 200)

  await app.as('admin').post('/api/user/1/', { password: 'another password', current_password: PASSWORD })
  assert.equal((await kept.client.get('/api/ping/')).status, 401)
  assert.deepEqual((await app.as('admin').get('/api/access-token/')).body, [])
})

test('its last use is recorded to the minute, and the ledger contains no readable token', async (t) => {
  const app = await archive(t)
  const { client, token } = await made(app, 'read')
  const listed = async () => (await app.as('admin').get('/api/access-token/')).body[0]
  assert.equal((await listed()).last_used, null)
  assert.equal((await listed()).token, undefined)
  const first = new Date(Math.floor(app.clock.now() / 1000) * 1000).toISOString()
  await client.get('/api/ping/')
  await app.app.ledger.write(() => undefined) // all earlier writes have ended
  assert.equal((await listed()).last_used, first)

  await app.clock.advance(MINUTE_MS - 1000)
  await client.get('/api/ping/')
  await app.app.ledger.write(() => undefined)
  assert.equal((await listed()).last_used, first)
  await app.clock.advance(1000)
  await client.get('/api/ping/')
  await app.app.ledger.write(() => undefined)
  assert.equal(Date.parse((await listed()).last_used) - Date.parse(first), MINUTE_MS)

  app.clock.set(Date.parse(first) - 60 * MINUTE_MS)
  await client.get('/api/ping/')
  await app.app.ledger.write(() => undefined)
  assert.equal(Date.parse((await listed()).last_used), Date.parse(first) - 60 * MINUTE_MS, 'the clock was ahead')

  const rows = app.app.ledger.sql('SELECT * FROM access_tokens').all()
  assert.ok(!JSON.stringify(rows).includes(token))
})

test('a sign-in lists the account’s own tokens that have ended, or end within a week', async (t) => {
  const app = await archive(t)
  const told = async (as: 'admin' | 'user' = 'admin') =>
    (await app.as(as).get('/api/session/')).body.attention.access_tokens.map(({ name }: { name: string }) => name)
  const ending = async (name: string, days: number) =>
    made(app, 'read', { name, expires: new Date(app.clock.now() + days * DAY_MS).toISOString() })
  await made(app, 'read', { name: 'Endless' })
  const { expires, id, client } = await ending('Kodi', 8)
  await ending('Script', 30)
  assert.deepEqual(await told(), [])

  app.clock.set(app.clock.now() + DAY_MS)
  assert.deepEqual(await told(), ['Kodi'])
  assert.deepEqual(await told('user'), [])
  assert.deepEqual((await client.get('/api/session/')).body.attention.access_tokens, [])

  app.clock.set(app.clock.now() + 20 * DAY_MS)
  const { attention } = (await app.as('admin').get('/api/session/')).body
  assert.deepEqual(attention.access_tokens, [{ id, name: 'Kodi', expires }])
  app.clock.set(app.clock.now() + 2 * DAY_MS)
  assert.deepEqual(await told(), ['Kodi', 'Script'])
  await app.as('admin').delete(`/api/access-token/${id}/`)
  assert.deepEqual(await told(), ['Script'])
})

test('an account has at most fifty, and a child has its own', async (t) => {
  const app = await archive(t)
  for (let at = 0; at < 50; at++)
    await app.app.accounts.addAccessToken(1, { name: 'n', scope: 'read', expiresAt: null })
  assert.equal((await app.as('admin').post('/api/access-token/', { name: 'x', scope: 'read' })).status, 409)

  await app.as('admin').post('/api/user/2/', { view: {} })
  const { client } = await made(app, 'watch', {}, 'user')
  assert.equal((await client.get('/api/video/')).status, 200)
  assert.equal((await client.get(`/api/video/${VIDEO}/`)).status, 404)
  assert.equal((await client.get('/api/user/')).status, 403)
})

test('a login still returns the account’s own token, which has no scope', async (t) => {
  const app = await archive(t)
  await made(app, 'read')
  const { body } = await app.as('nobody').post('/api/login/', { username: 'admin', password: PASSWORD })
  assert.equal((await by(app, body.token).post('/api/config/', {})).status, 200)
})
