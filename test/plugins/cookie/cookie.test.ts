/** The cookie through the API, validated by the real yt-dlp at the loopback platform. */
import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform, type TestPlatform } from '../../platform/start.ts'
import { aNewItem, type TestApp, testApp } from '../../support/testing.ts'

const jarWith = (...names: string[]) =>
  `# Netscape HTTP Cookie File\n${names.map((name) => `127.0.0.1\tFALSE\t/\tFALSE\t0\t${name}\tvery-secret-${name}`).join('\n')}\n`
const SIGNED_IN = jarWith('SID', 'LOGIN_INFO')
const SIGNED_OUT = jarWith('VISITOR')

const NO_COOKIE = { cookie_enabled: false, status: false, validated: 0, validated_str: '' }

async function given(t: TestContext): Promise<{ app: TestApp; loopback: TestPlatform; path: string }> {
  const loopback = await startTestPlatform(t)
  const app = await testApp(t, { settings: loopback.settings })
  return { app, loopback, path: join(app.dataDir, 'cookie.txt') }
}

test('a jar that the platform accepts is stored readable for the server alone, and used from then on', async (t) => {
  const { app, loopback, path } = await given(t)
  const admin = app.as('admin')
  assert.deepEqual((await admin.get('/api/cookie/')).body, NO_COOKIE)
  assert.deepEqual((await admin.post('/api/cookie/')).body, { cookie_validated: false })

  const reply = await admin.put('/api/cookie/', { cookie: SIGNED_IN })

  assert.deepEqual([reply.status, reply.body], [200, { cookie_import: 'done', cookie_validated: true }])
  assert.equal((await stat(path)).mode & 0o777, 0o600)
  const status = (await admin.get('/api/cookie/')).body
  assert.deepEqual(status, {
    cookie_enabled: true,
    status: true,
    validated: app.clock.now() / 1000,
    validated_str: status.validated_str,
  })
  assert.match(status.validated_str, /^2026-01-15 \d\d:\d\d$/)
  assert.equal((await admin.get('/api/config/')).body.downloads.cookie_import, true)

  loopback.platform.faults.set(VIDEO.ferry, 'cookie_required')
  const metadata = await app.app.platform.video(VIDEO.ferry, { asker: 'test' })
  assert.equal(metadata.title, 'Why the old ferry still runs')
  assert.deepEqual((await admin.post('/api/cookie/')).body, { cookie_validated: true })
})

test('an invalid jar, or one without a session, is refused and leaves the stored one in use', async (t) => {
  const { app, path } = await given(t)
  const admin = app.as('admin')
  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  const before = [(await admin.get('/api/cookie/')).body, await readFile(path, 'utf8')]
  await app.clock.advance(60_000)

  for (const cookie of [
    SIGNED_OUT,
    'SID=very-secret-SID; LOGIN_INFO=x',
    '# Netscape HTTP Cookie File\n',
    SIGNED_IN.replaceAll('\t', ' '),
  ]) {
    const reply = await admin.put('/api/cookie/', { cookie })
    assert.equal(reply.status, 400, cookie)
    assert.equal(reply.body.cookie_import, 'fail')
    assert.equal(reply.body.cookie_validated, false)
    assert.doesNotMatch(reply.text, /very-secret/)
  }
  for (const body of [{}, { cookie: '' }, { cookie: 7 }, 'no JSON']) {
    const reply = await admin.put('/api/cookie/', body, { 'content-type': 'application/json' })
    assert.deepEqual(
      [reply.status, reply.body.cookie_import, reply.body.cookie_validated],
      [400, 'fail', false],
      JSON.stringify(body),
    )
  }
  const { status, body } = await app.as('user').put('/api/cookie/', { cookie: SIGNED_IN })
  assert.deepEqual([status, 'cookie_import' in body], [403, false])
  assert.equal((await app.as('user').get('/api/cookie/')).status, 403)

  assert.deepEqual([(await admin.get('/api/cookie/')).body, await readFile(path, 'utf8')], before)
})

test('while the platform does not answer nothing is stored, and the answer says that the cookie is not the cause', async (t) => {
  const { app, loopback, path } = await given(t)
  loopback.platform.faults.set('global', { name: 'api_status', status: 503 })

  const reply = await app.as('admin').put('/api/cookie/', { cookie: SIGNED_IN })

  assert.deepEqual([reply.status, reply.body.cookie_import, reply.body.cookie_validated], [400, 'fail', false])
  assert.match(reply.body.message, /The cookie may be valid/)
  assert.match(reply.headers.get('retry-after')!, /^\d+$/)
  assert.deepEqual((await app.as('admin').get('/api/cookie/')).body, NO_COOKIE)
  await assert.rejects(stat(path), { code: 'ENOENT' })
  assert.ok(!(await readdir(app.dataDir)).some((name) => name.startsWith('cookie')))
})

test('the cookie survives a restart, and deleting it leaves nothing', async (t) => {
  const { app, path } = await given(t)
  await app.as('admin').put('/api/cookie/', { cookie: SIGNED_IN })
  const before = (await app.as('admin').get('/api/cookie/')).body

  await app.restart()
  assert.deepEqual((await app.as('admin').get('/api/cookie/')).body, before)

  assert.deepEqual((await app.as('admin').delete('/api/cookie/')).body, NO_COOKIE)
  await assert.rejects(stat(path), { code: 'ENOENT' })
  assert.equal((await app.as('admin').get('/api/config/')).body.downloads.cookie_import, false)
})

test('a jar that the disk has damaged is not used, and every account is told', async (t) => {
  const { app, path } = await given(t)
  await app.as('admin').put('/api/cookie/', { cookie: SIGNED_IN })
  await app.close()
  const damaged = SIGNED_IN.replaceAll('\t', '\0')
  await writeFile(path, damaged)

  await app.restart()

  assert.equal((await app.as('admin').get('/api/cookie/')).body.cookie_enabled, false)
  const isTold = async () =>
    (await app.as('user').get('/api/notification/')).body.some(({ title }: any) => title === 'The cookie is damaged')
  assert.ok(await isTold())
  assert.equal(await readFile(path, 'utf8'), damaged)
  await app.as('admin').put('/api/cookie/', { cookie: SIGNED_IN })
  assert.equal((await app.as('admin').get('/api/cookie/')).body.cookie_enabled, true)
  assert.ok(!(await isTold()), 'the new cookie is intact')
})

test('a stored cookie is not used while the setting is off', async (t) => {
  const { app, loopback } = await given(t)
  const admin = app.as('admin')
  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  loopback.platform.faults.set(VIDEO.ferry, 'cookie_required')

  await admin.post('/api/config/', { downloads: { cookie_import: false } })

  assert.equal((await admin.get('/api/cookie/')).body.cookie_enabled, false)
  await assert.rejects(app.app.platform.video(VIDEO.ferry, { asker: 'test' }), { failure: 'login_required' })
  await admin.post('/api/config/', { downloads: { cookie_import: true } })
  await app.app.platform.video(VIDEO.ferry, { asker: 'test' })
})

test('a jar that the platform renews is stored', async (t) => {
  const { app, loopback, path } = await given(t)
  await app.as('admin').put('/api/cookie/', { cookie: SIGNED_IN })
  loopback.platform.setCookies = ['SID=renewed; Path=/']

  assert.deepEqual((await app.as('admin').post('/api/cookie/')).body, { cookie_validated: true })

  assert.match(await readFile(path, 'utf8'), /SID\trenewed/)
  assert.equal((await stat(path)).mode & 0o777, 0o600)
})

test('a new jar stays, whatever a download with the previous one returns', async (t) => {
  const { app, loopback, path } = await given(t)
  const admin = app.as('admin')
  await admin.put('/api/cookie/', { cookie: SIGNED_IN })
  await admin.post('/api/download/', { data: [{ youtube_id: VIDEO.fog }] })
  await app.settled()
  loopback.platform.setCookies = ['SID=renewed; Path=/']
  loopback.platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 60_000 })
  await admin.post(`/api/download/${VIDEO.fog}/`, { status: 'priority' })
  while ((await admin.get(`/api/download/${VIDEO.fog}/`)).body.data?.progress === undefined)
    await new Promise(setImmediate)
  loopback.platform.setCookies = []

  const reply = await admin.put('/api/cookie/', { cookie: SIGNED_IN.replaceAll('very-secret', 'another') })
  loopback.platform.faults.clear()
  await app.settled()
  // after all pending writes
  assert.deepEqual((await admin.post('/api/cookie/')).body, { cookie_validated: true })

  assert.equal(reply.status, 200)
  assert.deepEqual(await app.ids('video'), [VIDEO.fog])
  assert.match(await readFile(path, 'utf8'), /SID\tanother-SID/)
})

for (const [what, isSwitched] of [
  ['another cookie', false],
  ['a cookie that is switched on again', true],
] as const)
  test(`with ${what} the queue retries items that needed an account`, async (t) => {
    const { app } = await given(t)
    const { queue } = app.app
    const admin = app.as('admin')
    const turn = (isOn: boolean) => admin.post('/api/config/', { downloads: { cookie_import: isOn } })
    if (isSwitched) await admin.put('/api/cookie/', { cookie: SIGNED_IN })
    if (isSwitched) await turn(false)
    for (const [id, errorClass] of [
      ['needsLogin1', 'login_required'],
      ['needsAge001', 'age'],
      ['isGone00001', 'gone'],
    ] as const) {
      await queue.add([aNewItem(id)], 'pending', { failure: { message: 'no', errorClass } })
    }

    const retried = new Promise<void>((resolve) => {
      const retry = queue.retryWithAccount
      t.mock.method(queue, 'retryWithAccount', () => retry().finally(resolve))
    })

    await (isSwitched ? turn(true) : admin.put('/api/cookie/', { cookie: SIGNED_IN }))
    await retried

    const items = (await admin.get('/api/download/?error=true')).body.data
    assert.deepEqual(
      items.map(({ platform_id }: { platform_id: string }) => platform_id),
      ['isGone00001'],
    )
  })
