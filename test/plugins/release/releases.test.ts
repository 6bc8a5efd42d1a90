/** The check for a newer version, only if a setting says where to look. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { isNewer } from '../../../plugins/release/releases.ts'

async function releases(t: TestContext, body: string, status = 200) {
  const server = createServer((_request, response) => void response.writeHead(status).end(body))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  const releasesUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/latest`
  const app = await testApp(t, { settings: { releasesUrl } })
  const job = await app.app.jobs.start('version_check')
  const { state, result } = await app.app.jobs.ended(job.id)
  return {
    app,
    state,
    result,
    messages: app.app.jobs.notifications().flatMap(({ title, messages }) => (title === 'New version' ? messages : [])),
  }
}

test('a newer version is reported', async (t) => {
  const { state, messages } = await releases(t, '{"tag_name": "v99.1.0"}')
  assert.equal(state, 'SUCCESS')
  assert.match(messages.join(), /Archivolt v99\.1\.0 is available/)
})

test('clients are told with each ping, after a restart, too, until it is no longer newer', async (t) => {
  const { app } = await releases(t, '{"tag_name": "v99.1.0"}')
  const update = async () => (await app.as('user').get('/api/ping/')).body.ta_update
  const newer = { status: true, version: 'v99.1.0', is_breaking: true }

  assert.deepEqual(await update(), newer)
  await app.restart()
  assert.deepEqual(await update(), newer)
  await app.app.releases.found('v1.99.0')
  assert.deepEqual(await update(), { status: true, version: 'v1.99.0', is_breaking: false })
  await app.app.releases.found('v0.1.0')
  assert.equal(await update(), undefined)
})

test('a version found before the plugin had its own table is reported until the next check', async (t) => {
  const { app } = await releases(t, '{"tag_name": "v0.0.1"}')
  await app.app.ledger.write(() => {
    app.app.ledger.sql('DELETE FROM release_latest').run()
    app.app.ledger.sql("INSERT INTO library_release (id, version) VALUES (1, 'v98.0.0')").run()
  })

  await app.restart()

  assert.equal(app.app.releases.newer()?.version, 'v98.0.0')
  await app.app.releases.found('v99.0.0')
  await app.restart()
  assert.equal(app.app.releases.newer()?.version, 'v99.0.0')
})

for (const left of ['library', 'release'])
  test(`the archive starts if ${left} was disabled from the beginning`, async (t) => {
    const others = left === 'library' ? ['adoption', 'playable', 'sidecar'] : []
    const app = await testApp(t, { settings: { pluginsOff: [left, ...others] } })

    const { status, body } = await app.as('admin').get('/api/ping/')

    assert.deepEqual([status, body.ta_update], [200, undefined])
  })

test('an older version is not reported', async (t) => {
  const { state, result, messages } = await releases(t, '{"version": "0.0.1"}')
  assert.deepEqual({ state, result, messages }, { state: 'SUCCESS', result: null, messages: [] })
})

test('without the setting no request is sent', async (t) => {
  const app = await testApp(t)
  const job = await app.app.jobs.start('version_check')
  const { state, result } = await app.app.jobs.ended(job.id)
  assert.deepEqual({ state, result }, { state: 'SUCCESS', result: null })
})

for (const [what, body, status] of [
  ['no JSON', '<html>', 200],
  ['no version', '{"version": "latest <script>"}', 200],
  ['an error', '{}', 500],
  ['something endless', ' '.repeat(3 << 20), 200],
] as const) {
  test(`a list of releases that is ${what} fails with a sentence`, async (t) => {
    const { state, result } = await releases(t, body, status)
    assert.equal(state, 'FAILURE')
    assert.match(result ?? '', /^The list of releases /)
  })
}

test('versions are compared by their numbers', () => {
  for (const [version, than, expected] of [
    ['1.0.1', '1.0.0', true],
    ['v1.10.0', '1.9.9', true],
    ['2.0', '1.99.99', true],
    ['1.0.0', 'v1.0.0', false],
    ['1.0.0', '1.0.1', false],
    ['1.1.0-rc.1', '1.1.0', false],
    ['1.1.0', '1.1.0-rc.1', true],
    ['nonsense', '1.0.0', false],
  ] as const) {
    assert.equal(isNewer(version, than), expected, `${version} newer than ${than}`)
  }
})
