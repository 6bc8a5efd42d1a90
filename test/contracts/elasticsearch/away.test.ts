/**
 * Elasticsearch becomes unavailable at any moment and returns: requests are told, and accepted work continues. With a
 * real node, a real yt-dlp and the running program.
 */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import shelf1, { shelfIndex } from '../../data/plugins/shelf-1/plugin.ts'
import { makeNode } from '../../elasticsearch/node.ts'
import { VIDEO } from '../../platform/seed.mjs'
import { startTestPlatform } from '../../platform/start.ts'
import { testElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { mayTake } from '../../support/hanging.ts'
import { lastFirst } from '../../support/last-first.ts'
import { archivedIds, assertWhole, queuedIds } from '../../support/library.ts'
import { WITH_TEXTS } from '../../support/preferences.ts'
import { startProxy } from '../../support/proxy.ts'
import { allQuiet, type Server, startServer, until } from '../../support/server.ts'
import { testApp, testClock } from '../../support/testing.ts'
import '../../support/long.ts'

const skip = withoutElasticsearch()
const SHELF_2 = { AV_PLUGINS_DIR: fileURLToPath(new URL('../../data/plugins/shelf-2', import.meta.url)) }
const ids = (...keys: string[]): string[] => keys.map((key) => VIDEO[key] as string)

interface Line {
  level: string
  msg: string
}

const linesOf = (server: Server): Line[] =>
  server
    .output()
    .split('\n')
    .flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [JSON.parse(line) as Line] : []))
const said = (server: Server, wanted: RegExp) => linesOf(server).filter(({ msg }) => wanted.test(msg)).length
const AWAY = /^Elasticsearch does not respond/
const BACK = /^Elasticsearch responds again/

const add = (server: Server, videos: string[]) =>
  server.api('POST', '/api/download/?autostart=true', { data: videos.map((id) => ({ youtube_id: id })) })

async function allArchived(server: Server, folder: string, videos: string[]): Promise<void> {
  await until(
    'it serves',
    () => server.api('GET', '/api/video/'),
    ({ status }) => status === 200,
  )
  await until(
    'all are archived',
    () => archivedIds(server),
    (found) => videos.every((id) => found.includes(id)),
    120_000,
  )
  await until(
    'the queue is empty',
    () => queuedIds(server),
    (left) => left.length === 0,
  )
  await allQuiet(server)
  await assertWhole(server, folder)
}

async function assertRefused(server: Server, method: string, path: string, body?: unknown): Promise<void> {
  const reply = await server.api(method, path, body)
  assert.equal(reply.status, 503, `${method} ${path}`)
  assert.ok(Number(reply.headers.get('retry-after')) > 0)
  assert.match(reply.body.message, /Elasticsearch/)
}

test('unavailable at the start, and during a download: the server listens, says so once, and continues', {
  skip,
  timeout: 400_000,
}, async (t) => {
  mayTake(600)
  const folder = await temporaryFolder(t)
  const { platform, env: outside } = await startTestPlatform(t)
  const node = await makeNode({ heapMb: 256 })
  lastFirst(t).after(() => node.close())
  const env = { ...outside, AV_ELASTICSEARCH_URL: node.url }

  const server = await startServer(t, folder, env, 'listening')
  assert.equal((await fetch(`${server.baseUrl}/health`)).status, 200)
  const early = await fetch(`${server.baseUrl}/api/ping/`)
  assert.equal(early.status, 503)
  assert.ok(Number(early.headers.get('retry-after')) > 0)
  await node.start()
  await until(
    'the start goes on',
    () => fetch(`${server.baseUrl}/api/login/`, { method: 'POST' }),
    ({ status }) => status !== 503,
  )
  assert.equal(said(server, /^Waiting for Elasticsearch/), 1, 'a line a minute at most')
  await server.api('POST', '/api/config/', { downloads: WITH_TEXTS })

  const first = ids('breakwater', 'lighthouse', 'fog')
  platform.faults.set(first[0], { name: 'media_slow', bytesPerSecond: 300_000 })
  await add(server, first)
  await until(
    'a download is on its way',
    () => server.api('GET', `/api/download/${first[0]}/`),
    ({ body }) => (body?.data?.progress?.fraction ?? 0) > 0.1,
  )
  await node.stop('SIGKILL')

  await until(
    'requests are told',
    () => server.api('GET', '/api/video/'),
    ({ status }) => status === 503,
  )
  await assertRefused(server, 'GET', '/api/channel/')
  await assertRefused(server, 'GET', '/api/search/?query=tide')
  await assertRefused(server, 'DELETE', `/api/video/${first[1]}/`)
  assert.equal((await server.api('GET', '/api/ping/')).status, 200, 'what needs no documents is served')
  assert.equal((await server.api('GET', '/api/download/')).status, 200, 'the queue lies in the ledger')
  const late = ids('pilots')
  const accepted = (await add(server, late)).status === 200
  platform.faults.clear()
  await node.start()

  await allArchived(server, folder, [...first, ...(accepted ? late : [])])
  assert.ok(accepted)
  assert.equal(said(server, AWAY), 1, 'once that it went away')
  assert.equal(said(server, BACK), 1, 'once that it is back')
  assert.deepEqual(
    linesOf(server)
      .filter(({ level }) => level === 'error' || level === 'fatal')
      .map(({ msg }) => msg.replace(AWAY, 'away').slice(0, 4)),
    ['away'],
  )
})

test('a connection that is cut, delayed and refused: every download ends with all its documents', {
  skip,
  timeout: 300_000,
}, async (t) => {
  const folder = await temporaryFolder(t)
  const { env: outside } = await startTestPlatform(t)
  const { url, prefix } = await testElasticsearch(t)
  const proxy = await startProxy(t, url)
  const env = { ...outside, AV_ELASTICSEARCH_URL: proxy.url, AV_PREFIX: prefix }
  const server = await startServer(t, folder, env)
  await server.api('POST', '/api/config/', { downloads: WITH_TEXTS })
  const videos = ids('breakwater', 'lighthouse', 'fog', 'nets', 'ferry')

  proxy.break({ on: /_bulk/, times: 2, what: { cutAfterBytes: 30 } })
  proxy.break({ on: /_bulk/, times: 1, what: 'cut' })
  proxy.break({ on: /_bulk/, times: 1, what: { status: 429, body: {} } })
  proxy.break({ on: /_bulk/, times: 1, what: { status: 503, body: {} } })
  proxy.break({ on: /_(search|mget)/, times: 20, what: { delayMs: 100 } })
  await add(server, videos)
  await until(
    'something is archived',
    async () => (await server.api('GET', '/api/video/')).body?.paginate?.total_hits ?? 0,
    (count) => count > 0,
    120_000,
  )
  await proxy.refuse()
  await until(
    'it is known',
    () => server.api('GET', '/api/video/'),
    ({ status }) => status === 503,
  )
  await proxy.accept()
  await until(
    'more is archived',
    async () => (await server.api('GET', '/api/video/')).body?.paginate?.total_hits ?? 0,
    (count) => count > 1,
  )
  // Both at the same time.
  await Promise.all([proxy.refuse(), server.end('SIGKILL')])
  const next = await startServer(t, folder, env, 'listening')
  await until(
    'it waits',
    async () => said(next, /^Waiting for Elasticsearch/),
    (count) => count === 1,
  )
  await proxy.accept()
  await until(
    'the start goes on',
    () => fetch(`${next.baseUrl}/api/login/`, { method: 'POST' }),
    ({ status }) => status !== 503,
  )

  await allArchived(next, folder, videos)
})

test('while the disk of the index is full, existing videos are served, and downloads wait and continue later', {
  skip,
  timeout: 200_000,
}, async (t) => {
  const folder = await temporaryFolder(t)
  const { env: outside } = await startTestPlatform(t)
  const { url, prefix } = await testElasticsearch(t)
  const server = await startServer(t, folder, { ...outside, AV_ELASTICSEARCH_URL: url, AV_PREFIX: prefix })
  const [first, second] = [ids('fog'), ids('nets')]
  await server.api('POST', '/api/config/', { downloads: { sleep_interval: 0 } })
  await add(server, first)
  await allArchived(server, folder, first)
  const block = (value: boolean | null) =>
    fetch(`${url}/${prefix}_*/_settings`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ 'index.blocks.read_only_allow_delete': value }),
    })

  await block(true)
  await add(server, second)
  await until(
    'it has met the full disk',
    async () => said(server, /disk is too full/),
    (count) => count === 1,
  )
  assert.deepEqual(await archivedIds(server), first)
  const reply = await server.api('POST', `/api/watched/`, { id: first[0], is_watched: true })
  assert.equal(reply.status, 503, JSON.stringify(reply.body))
  assert.match(reply.body.message, /disk is too full/)
  await block(null)

  await allArchived(server, folder, [...first, ...second])
  assert.equal(said(server, /disk is too full/), 1)
  assert.equal(said(server, BACK), 1)
})

/** An index of the shelf's first version, and the data folder of the server that created it. */
async function filledShelf(t: TestContext, count: number): Promise<{ url: string; prefix: string; dataDir: string }> {
  const { url, prefix } = await testElasticsearch(t)
  const dataDir = await temporaryFolder(t)
  const app = await testApp(
    { after: () => undefined },
    { replace: [shelf1], clock: testClock(Date.now()), dataDir, settings: { elasticsearchUrl: url, prefix } },
  )
  await app.app.index.collection(shelfIndex).putMany(
    Array.from({ length: count }, (_, number) => ({
      id: `s${number}`,
      doc: { title: `Shelf ${number}`, place: `room ${number % 3}`, year: 2000 + number, code: `c${number}` },
    })),
    { visible: true },
  )
  await app.close()
  return { url, prefix, dataDir }
}

async function assertMigrated(server: Server, count: number): Promise<void> {
  await until(
    'it is ready',
    () => fetch(`${server.baseUrl}/api/login/`, { method: 'POST' }),
    ({ status }) => status !== 503,
    120_000,
  )
  const { body } = await server.api('GET', '/api/shelf/?q=room')
  assert.equal(body.paginate.total_hits, count)
  for (const page of [1, 40, 80]) {
    for (const { code, year } of (await server.api('GET', `/api/shelf/?q=room&page=${page}`)).body.data)
      assert.equal(code, `second c${year - 2000}`)
  }
}

test('a migration during which Elasticsearch disappears and the process is killed completes later', {
  skip,
  timeout: 200_000,
}, async (t) => {
  const COUNT = 2000
  const { url, prefix, dataDir } = await filledShelf(t, COUNT)
  const proxy = await startProxy(t, url)
  const env = {
    AV_ELASTICSEARCH_URL: proxy.url,
    AV_PREFIX: prefix,
    AV_USERNAME: 'admin',
    AV_PASSWORD: 'a password for tests',
    ...SHELF_2,
  }

  await assert.rejects(startServer(t, dataDir, { ...env, SHELF_DIES_AT: '1200' }), /ended with null/)
  proxy.break({ on: /_bulk/, times: 1, what: { cutAfterBytes: 10 } })
  proxy.break({ on: /_bulk/, times: 2, what: { status: 503, body: {} } })
  proxy.asked.length = 0
  const server = await startServer(t, dataDir, env, 'listening')
  await until(
    'it is in the middle',
    async () => proxy.asked.filter((line) => line.includes('_bulk')).length,
    (count) => count >= 2,
  )
  await proxy.refuse()
  await until(
    'it is known',
    async () => said(server, AWAY),
    (count) => count === 1,
  )
  await proxy.accept()

  await assertMigrated(server, COUNT)
})

test('of two servers that start at once on one cluster, one migrates the index and the other waits', {
  skip,
  timeout: 200_000,
}, async (t) => {
  const COUNT = 2000
  const { url, prefix } = await filledShelf(t, COUNT)
  const proxy = await startProxy(t, url)
  proxy.break({ on: /_bulk/, what: { delayMs: 200 } })
  const env = { AV_ELASTICSEARCH_URL: proxy.url, AV_PREFIX: prefix, ...SHELF_2 }

  const servers = await Promise.all([1, 2].map(async () => startServer(t, await temporaryFolder(t), env, 'listening')))

  await Promise.all(servers.map((server) => assertMigrated(server, COUNT)))
  assert.deepEqual(servers.map((server) => said(server, /^index shelf: rebuilding/)).toSorted(), [0, 1])
  assert.equal(servers.filter((server) => said(server, /^another server is working on the index/) > 0).length, 1)
})
