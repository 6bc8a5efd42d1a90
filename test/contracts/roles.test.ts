/**
 * Tests every route as an anonymous client, a user, an admin, with a revoked token, with a session without its CSRF
 * value; and that accounts see only their own data.
 */
import assert from 'node:assert/strict'
import { describe, type TestContext, test } from 'node:test'
import type { TestApp } from 'archivolt/testing'
import { aStoredChannel, fileOf, zipOf } from '../plugins/backup/zips.ts'
import { archive, CHANNEL, CUSTOM, VIDEO } from './api/archive.ts'
import { accessOf, MATRIX, plain } from './api/matrix.ts'
import { ask } from './recordings/exchange.ts'
import '../support/long.ts'

const IDS: Record<string, string> = {
  signInId: '1',
  videoId: VIDEO,
  channelId: CHANNEL,
  playlistId: CUSTOM,
  snapshotId: 'av_daily_x',
  filename: 'av_backup-20260101-auto.zip',
  backupName: 'av_whole-20260101-030000.tar',
  folderName: 'before-restore-20260101T030000',
  taskName: 'run_backup',
  taskId: '00000000-0000-4000-8000-000000000000',
  userId: '2',
  userCode: 'BBB-BBB',
  askId: '1',
  placeId: '1',
  changeId: '1',
  tokenId: '1',
  adoptionId: '1',
  webhookId: '1',
  feedId: '1',
  fileId: '00000000-0000-4000-8000-000000000000',
  signed: '1.none',
  providerId: '1',
  kind: 'video',
  faceId: '1',
  serverId: '1',
  ruleId: '1',
  listId: '1',
  runId: '1',
  groupId: '1',
  number: '0',
  letter: 'a',
  file: 'aB3dE6gH9jK.jpg',
}
const filled = (path: string): string => path.replace(/:(\w+)/g, (_, name: string) => IDS[name] ?? 'x')

/** As in the contract's tables: a route that they lack would have been added without agreement. */
test('the routes are those of the contract, each with its access class and status', async (t) => {
  const { app } = await archive(t, true)
  const agreed = MATRIX.flatMap(([path, methods, of]) =>
    Object.entries(methods).map(
      ([method, status]) => `${method} ${plain(path)} ${accessOf(method, path, of)} ${status}`,
    ),
  )
  const wire = app.registry.plugins.filter(({ name }) => name !== 'web').flatMap(({ routes }) => routes ?? []) // the page is a guest of the contract's server
  const ours = wire.map(
    ({ method, path, access, status }) =>
      `${method} ${plain(path)} ${access} ${status ?? (['/login/', '/logout/'].includes(path) ? 204 : 200)}`,
  )
  assert.deepEqual(ours.filter((route) => !/ \/health/.test(route)).toSorted(), agreed.toSorted())
})

test('an alias of a path has the same access', async (t) => {
  const { app } = await archive(t, true)
  const { plugins, routes } = app.registry
  const routeAt = (place: string) => routes.find(({ method, path }) => `${method} ${path}` === place)
  const adaptations = plugins.flatMap((plugin) => plugin.adaptations ?? [])

  assert.ok(adaptations.length > 40)
  for (const { of, at = of } of adaptations) assert.equal(routeAt(at)?.access, routeAt(of)?.access ?? 'none', at)
})

test('an unsupported method is 405 and names the supported ones', async (t) => {
  const app = await archive(t, true)
  const byPath = new Map<string, string[]>()
  for (const { method, path } of app.app.registry.routes)
    byPath.set(plain(path), [...(byPath.get(plain(path)) ?? []), method])
  const authorization = await tokenOf(app, 'admin')
  for (const { path } of app.app.registry.routes) {
    if (path === '/*') continue // the page at an address that is none
    const methods = byPath.get(plain(path))!
    const allowed = [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].toSorted().join(', ')
    for (const method of ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'].filter((name) => !methods.includes(name))) {
      const { status, headers } = await ask(app.url, { method, path: filled(path), headers: { authorization } })
      assert.deepEqual([status, headers['allow']], [405, allowed], `${method} ${path}`)
    }
  }
})

const tokenOf = async ({ app: { accounts } }: TestApp, who: 'admin' | 'user'): Promise<string> =>
  `Token ${await accounts.token(accounts.list().find(({ is_staff }) => is_staff === (who === 'admin'))!.id)}`

interface Asker {
  who: string
  headers(app: TestApp): Promise<Record<string, string>>
  /** @returns the expected answer, or undefined if it depends on the route */
  refused(access: string, method: string, scope: string | undefined): [status: number, code: string] | undefined
}

const NOT_SIGNED_IN =
  (code: string) =>
  (access: string): [number, string] | undefined =>
    access === 'open' ? undefined : [401, code]
const ASKERS: Asker[] = [
  { who: 'nobody', headers: async () => ({}), refused: NOT_SIGNED_IN('not_authenticated') },
  {
    who: 'a revoked token',
    async headers(app) {
      const authorization = await tokenOf(app, 'admin')
      assert.equal((await app.as('admin').delete('/api/token/')).status, 200)
      return { authorization }
    },
    refused: NOT_SIGNED_IN('invalid_token'),
  },
  {
    who: 'a user that was deactivated',
    async headers(app) {
      const authorization = await tokenOf(app, 'user')
      assert.equal((await app.as('admin').post('/api/user/2/', { is_active: false })).status, 200)
      return { authorization }
    },
    refused: NOT_SIGNED_IN('invalid_token'),
  },
  {
    who: 'a session that there is not',
    headers: async () => ({ cookie: 'sessionid=nonsense' }),
    refused: NOT_SIGNED_IN('invalid_token'),
  },
  {
    who: 'a watcher',
    headers: async (app) => ({ authorization: await tokenOf(app, 'user') }),
    refused: (access) => (access === 'admin' || access === 'downloader' ? [403, 'permission_denied'] : undefined),
  },
  {
    who: 'a downloader',
    async headers(app) {
      assert.equal((await app.as('admin').post('/api/user/2/', { may_download: true })).status, 200)
      return { authorization: await tokenOf(app, 'user') }
    },
    refused: (access) => (access === 'admin' ? [403, 'permission_denied'] : undefined),
  },
  {
    who: 'a child',
    async headers(app) {
      assert.equal((await app.as('admin').post('/api/user/2/', { view: {} })).status, 200)
      return { authorization: await tokenOf(app, 'user') }
    },
    refused: (access) => (access === 'open' || access === 'viewer' ? undefined : [403, 'permission_denied']),
  },
  ...(['read', 'watch', 'download'] as const).map(
    (scope, at): Asker => ({
      who: `an admin, by an access token with the scope ${scope}`,
      async headers({ app: { accounts } }) {
        const { token } = await accounts.addAccessToken(1, { name: scope, scope, expiresAt: null })
        return { authorization: `Token ${token}` }
      },
      refused(access, method, own) {
        const byRole = { admin: 3, downloader: 2 }[access] ?? 1
        const needed = own ? ['read', 'watch', 'download', 'admin', 'none'].indexOf(own) : method === 'GET' ? 0 : byRole
        return access !== 'open' && needed > at ? [403, 'permission_denied'] : undefined
      },
    }),
  ),
  {
    who: 'an admin',
    headers: async (app) => ({ authorization: await tokenOf(app, 'admin') }),
    refused: () => undefined,
  },
  {
    who: 'a session without its proof',
    headers: async (app) => ({ cookie: `sessionid=${await sessionOf(app)}` }),
    refused: (access, method) => (access !== 'open' && method !== 'GET' ? [403, 'csrf_failed'] : undefined),
  },
  {
    who: 'a session, from a page of another site',
    async headers(app) {
      const { sessionid, csrftoken } = await cookiesOf(app)
      return {
        cookie: `sessionid=${sessionid}; csrftoken=${csrftoken}`,
        'x-csrftoken': csrftoken!,
        'sec-fetch-site': 'cross-site',
        origin: 'https://other.example',
      }
    },
    refused: (access, method) => (access !== 'open' && method !== 'GET' ? [403, 'csrf_failed'] : undefined),
  },
]

async function cookiesOf(app: TestApp): Promise<Record<string, string>> {
  const { headers } = await app
    .as('nobody')
    .post('/login/', { username: 'admin', password: 'a password for tests', remember_me: 'off' })
  return Object.fromEntries(
    headers.getSetCookie().map((cookie) => cookie.split(';')[0]!.split('=') as [string, string]),
  )
}
const sessionOf = async (app: TestApp): Promise<string> => (await cookiesOf(app))['sessionid']!

describe('rights of', () => {
  for (const asker of ASKERS) {
    test(`${asker.who}`, async (t: TestContext) => {
      const app = await archive(t, true)
      const headers = await asker.headers(app)
      for (const { method, path, access, scope } of app.app.registry.routes) {
        const expected = asker.refused(access, method, scope)
        // A signed address is requested with an invalid signature.
        if (expected?.[1] === 'not_authenticated' && path.includes('/:signed/')) expected[1] = 'invalid_token'
        // The answer to an empty body is not tested here; an event stream would not end.
        if (path === '/api/events/' && !expected) continue
        const { status, body } = await ask(app.url, {
          method,
          path: filled(path),
          headers: { ...headers, ...(method !== 'GET' && { 'content-type': 'application/json' }) },
          ...(method !== 'GET' && { body: '' }),
        })
        if (expected) assert.deepEqual([status, body?.code], expected, `${method} ${path}`)
        else assert.ok(status < 500 || status === 503, `${method} ${path}: ${status} ${JSON.stringify(body)}`)
        if (!expected && access !== 'open')
          assert.notEqual(status, asker.who === 'an admin' ? 403 : 401, `${method} ${path}: ${status}`)
        if (['/api/token/', '/api/appsettings/token/'].includes(path) && method === 'DELETE' && !expected)
          Object.assign(headers, await asker.headers(app))
        if (['/logout/', '/api/user/logout/'].includes(path) && !expected)
          Object.assign(headers, await asker.headers(app))
      }
    })
  }
})

test('a read-only token gets no secret and no archive file from any route', async (t) => {
  const app = await archive(t, true)
  const secrets = ['messageword', 'hookword', 'proxyword']
  const admin = app.as('admin')
  await app.app.schedules.addOutgoing('update_subscribed', 'json://name:messageword@127.0.0.1:9/')
  const hook = { name: 'Hook', url: 'http://127.0.0.1:9/hook?key=hookword', events: ['video.added'] }
  const { secret: signing } = (await admin.post('/api/webhook/', hook)).body
  await admin.post('/api/config/', { platform: { proxy: 'http://name:proxyword@127.0.0.1:9' } })
  const backup = { 'content-type': 'application/zip' }
  const zip = await zipOf(fileOf('channel', { [CHANNEL]: aStoredChannel(CHANNEL) }))
  await admin.put(`/api/backup/${IDS['filename']}/`, zip, backup)
  await admin.post('/api/task-name/run_backup/')
  await app.settled()
  const [{ task_id: taskId }] = (await admin.get('/api/task-name/run_backup/')).body
  const tellers = async (authorization: string): Promise<string[]> => {
    const found: string[] = []
    for (const { method, path } of app.app.registry.routes) {
      if (method !== 'GET' || path === '/api/events/') continue // endless
      const at = filled(path.replace(':taskId', taskId))
      const { headers, text } = await app.as('nobody').get(at, { authorization })
      const isArchive = headers.get('content-type') === 'application/zip'
      if (isArchive || [...secrets, signing].some((secret) => text.includes(secret))) found.push(path)
    }
    return found.toSorted()
  }
  const { token } = await app.app.accounts.addAccessToken(1, { name: 'reads', scope: 'read', expiresAt: null })

  const [reading, whole] = [await tellers(`Token ${token}`), await tellers(await tokenOf(app, 'admin'))]

  assert.deepEqual(reading, [])
  const DOWNLOAD = '/api/backup/:filename/download/'
  assert.deepEqual(whole, [DOWNLOAD, '/api/schedule/notification/', '/api/task/notification/', '/api/webhook/'])
})

test('positions and settings belong to each user', async (t) => {
  const app = await archive(t)
  const [admin, user] = [app.as('admin'), app.as('user')]
  await admin.post(`/api/video/${VIDEO}/progress/`, { position: 10 })
  await user.post(`/api/video/${VIDEO}/progress/`, { position: 20 })
  await admin.post('/api/config/user/', { page_size: 3 })

  assert.deepEqual(
    [
      (await admin.get(`/api/video/${VIDEO}/progress/`)).body.position,
      (await user.get(`/api/video/${VIDEO}/progress/`)).body.position,
    ],
    [10, 20],
  )
  for (const path of [
    '/api/video/',
    `/api/channel/${CHANNEL}/video/`,
    '/api/video/?watch=continue',
    '/api/search/?query=sourdough',
  ]) {
    const seen = async (client: typeof admin) => {
      const { data, results } = (await client.get(path)).body
      return (data ?? results.video_results).find(({ platform_id }: any) => platform_id === VIDEO).player.position
    }
    assert.deepEqual([await seen(admin), await seen(user)], [10, 20], path)
  }
  await user.delete(`/api/video/${VIDEO}/progress/`)
  assert.equal((await admin.get(`/api/video/${VIDEO}/progress/`)).body.position, 10)
  assert.deepEqual((await user.get('/api/config/user/')).body, { user_id: 2 })
  assert.equal((await user.get('/api/video/')).body.paginate.page_size, 12)
})

test('a user’s token reveals nothing of other users, and revoking one leaves the others', async (t) => {
  const app = await archive(t, true)
  const [admin, user] = [app.as('admin'), app.as('user')]
  const before = (await admin.get('/api/token/')).body.token
  assert.notEqual((await user.get('/api/token/')).body.token, before)

  await user.delete('/api/token/')

  assert.equal((await admin.get('/api/token/')).body.token, before)
  assert.equal(
    (await ask(app.url, { method: 'GET', path: '/api/ping/', headers: { authorization: `Token ${before}` } })).status,
    200,
  )
})
