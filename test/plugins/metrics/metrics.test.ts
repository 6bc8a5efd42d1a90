/** The metrics for Prometheus. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { aChannel, aQueued, aVideo, type TestApp, testApp } from 'archivolt/testing'
import { temporaryFolder } from '../../support/folder.ts'
import { startServer } from '../../support/server.ts'

const read = async (app: TestApp): Promise<string> => (await app.as('admin').get('/metrics')).text
const value = (text: string, series: string): number | undefined => {
  const line = text.split('\n').find((one) => one.startsWith(`${series} `))
  return line === undefined ? undefined : Number(line.slice(series.length + 1))
}

/** An address that was free a moment ago. */
async function freeAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return `127.0.0.1:${port}`
}

test('videos, queue items and jobs are counted when the metrics are read', async (t) => {
  const app = await testApp(t)
  await app.given(
    aChannel({ id: 'UC1' }),
    aVideo({ id: 'v1', media_size: 100 }),
    aVideo({ id: 'v2', media_size: 20, vid_type: 'shorts' }),
    aQueued({ id: 'waiting0001' }),
  )

  const text = await read(app)

  assert.equal(value(text, 'archivolt_videos{type="videos"}'), 1)
  assert.equal(value(text, 'archivolt_videos{type="shorts"}'), 1)
  assert.equal(value(text, 'archivolt_library_bytes'), 120)
  assert.equal(value(text, 'archivolt_queue_items{status="pending"}'), 1)
  assert.equal(value(text, `archivolt_platform_state{state="${app.app.platform.state().state}"}`), 1)
  assert.equal(value(text, `archivolt_info{version="${app.app.version}"}`), 1)
  assert.ok(value(text, 'process_resident_memory_bytes')! > 1e6)
})

test('replies and index queries are timed by route, without any of their content', async (t) => {
  const [app, other] = [await testApp(t), await testApp(t)]
  await app.given(aChannel({ id: 'UC1' }), aVideo({ id: 'secretVideo' }))
  await read(app)

  await app.as('admin').get('/api/video/secretVideo/')
  await app.as('admin').get('/api/video/unknownVide/')
  await app.as('admin').get('/secretPath/?secretQuery=1')
  await other.as('admin').get('/api/video/unknownVide/')
  const text = await read(app)

  const counted = 'archivolt_http_request_duration_seconds_count'
  assert.equal(value(text, `${counted}{method="GET",route="/api/video/:videoId/",status="2xx"}`), 1)
  assert.equal(value(text, `${counted}{method="GET",route="/api/video/:videoId/",status="4xx"}`), 1)
  assert.ok(value(text, 'archivolt_index_duration_seconds_count{collection="video",operation="getText"}')! > 0)
  assert.doesNotMatch(text, /secret/)
})

test('only admins can read them; at their own address, everybody who can reach it', async (t) => {
  const address = await freeAddress()
  const app = await testApp(t, { settings: { metricsListen: address } })
  assert.equal((await app.as('user').get('/metrics')).status, 403)
  assert.equal((await app.as('nobody').get('/metrics')).status, 401)
  const reply = await app.as('admin').get('/metrics')
  assert.match(reply.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/)

  const answer = await fetch(`http://${address}/metrics`)

  assert.equal(answer.status, 200)
  assert.match(await answer.text(), /^archivolt_info\{/m)
  assert.equal((await fetch(`http://${address}/api/video/`)).status, 404)
  await app.close()
  await assert.rejects(fetch(`http://${address}/metrics`))
})

test('an address that is in use stops the start, with its name', async (t) => {
  const address = await freeAddress()
  await testApp(t, { settings: { metricsListen: address } })

  await assert.rejects(
    testApp(t, { settings: { metricsListen: address } }),
    /AV_METRICS_LISTEN: cannot listen at 127\.0\.0\.1:\d+ .*: set another address/,
  )
  await assert.rejects(testApp(t, { settings: { metricsListen: 'somewhere' } }), /AV_METRICS_LISTEN|metricsListen/)
})

test('the built program serves them, too', async (t) => {
  const server = await startServer(t, await temporaryFolder(t))

  const { status, bytes } = await server.api('GET', '/metrics')

  assert.equal(status, 200)
  assert.match(bytes.toString(), /^archivolt_videos\{type="videos"\} 0$/m)
})
