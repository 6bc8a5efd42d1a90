/**
 * Reads a running Elasticsearch of TubeArchivist in place of a backup, without writing to it or storing its password.
 */
import assert from 'node:assert/strict'
import { readdir, readFile, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { testApp } from 'archivolt/testing'
import { documentsOf } from '../../plugins/backup/zips.ts'
import { commanded } from '../../support/adopting.ts'
import { testElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { makeLibraries } from '../../support/libraries.ts'
import { listening } from '../../support/listening.ts'
import { type PlacesApp, withPlaces } from '../../support/places.ts'
import '../../support/long.ts'

const NAME = 'tubearchivist-v05'
const SECRET = 'kept-in-memory-alone'
const CREDENTIALS = { username: 'elastic', password: SECRET }
const AUTHORIZATION = `Basic ${Buffer.from(`elastic:${SECRET}`).toString('base64')}`
const ID_OF = {
  ...{ video: 'youtube_id', channel: 'channel_id', playlist: 'playlist_id', download: 'youtube_id' },
  comment: 'youtube_id',
} as const

async function aLibrary(given: TestContext, privateHosts = ['127.0.0.1']) {
  const scope = lastFirst(given)
  const root = await temporaryFolder(scope)
  await makeLibraries(root, [NAME])
  const app = withPlaces(
    await testApp(scope, { settings: { libraryRoots: [root], privateHosts, pageSize: 200 } }),
    root,
  )
  const folder = join(root, NAME, 'cache/backup')
  const [name = ''] = await readdir(folder)
  const backup = join(folder, name)
  return { app, root, place: await app.place(join(NAME, 'media')), backup }
}

async function look(app: PlacesApp, place: number, more: object) {
  const { status, body } = await app.as('admin').post('/api/adoption/', { place, ...more })
  assert.equal(status, 200, JSON.stringify(body))
  await app.app.jobs.ended(body.task_id)
  const plan = (await app.as('admin').get(`/api/adoption/${body.id}/`)).body
  const rows = (await app.as('admin').get(`/api/adoption/${body.id}/item/`)).body.data
  return { plan, rows }
}

/** A proxy in front of the server that requires the password, and permits only searches. */
async function guarded(t: TestContext, url: string) {
  const asked: string[] = []
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    asked.push(`${request.method} ${request.url?.replace(/\?.*/, '')}`)
    const body = await buffer(request)
    if (request.headers.authorization !== AUTHORIZATION) return void response.writeHead(401).end('{}')
    const { 'content-type': type = '' } = request.headers
    const reply = await fetch(`${url}${request.url}`, { method: 'POST', body, headers: { 'content-type': type } })
    response.writeHead(reply.status, { 'content-type': 'application/json' }).end(await reply.text())
  }
  const server = createServer((request, response) => void answer(request, response))
  return { asked, address: `http://${await listening(t, server)}` }
}

async function fill(url: string, documents: Awaited<ReturnType<typeof documentsOf>>): Promise<void> {
  const send = async (path: string, method: string, body: string, type = 'application/json') => {
    const reply = await fetch(`${url}/${path}`, { method, body, headers: { 'content-type': type } })
    assert.ok(reply.ok, await reply.text())
  }
  for (const [kind, id] of Object.entries(ID_OF)) {
    const properties = { [id]: { type: 'keyword' }, status: { type: 'keyword' } }
    await send(`ta_${kind}`, 'PUT', JSON.stringify({ mappings: { dynamic: false, properties } }))
    const lines = Object.entries(documents[kind] ?? {}).flatMap(([key, document]) => [
      JSON.stringify({ index: { _id: key } }),
      JSON.stringify(document),
    ])
    if (lines.length > 0)
      await send(`ta_${kind}/_bulk?refresh=true`, 'POST', `${lines.join('\n')}\n`, 'application/x-ndjson')
  }
}

describe('with a real server', { skip: withoutElasticsearch() ?? false }, () => {
  test('it returns the same as a backup, is only searched, and its password is stored nowhere', async (t) => {
    const { app, place, backup } = await aLibrary(t)
    const { url } = await testElasticsearch(t, 'ta_')
    await fill(url, await documentsOf(await readFile(backup)))
    const { asked, address } = await guarded(t, url)
    const byBackup = await look(app, place, {})
    await rm(backup)

    const refused = await look(app, place, { catalog: address })
    assert.deepEqual([refused.plan.state, /requires a login: scan again/.test(refused.plan.reason)], ['failed', true])

    const live = await look(app, place, { catalog: address, credentials: CREDENTIALS })

    assert.deepEqual(live.rows, byBackup.rows)
    assert.deepEqual([live.plan.along, live.plan.map], [byBackup.plan.along, byBackup.plan.map])
    assert.deepEqual([live.plan.source, live.plan.catalog, live.plan.state], ['tubearchivist', address, 'planned'])
    assert.deepEqual(
      [...new Set(asked)].sort(),
      Object.keys(ID_OF)
        .map((kind) => `POST /ta_${kind}/_search`)
        .sort(),
    )

    const said = JSON.stringify([live, refused, app.app.jobs.notifications(), app.app.jobs.list()])
    assert.ok(!said.includes(SECRET))
    await app.close()
    for (const file of await readdir(app.dataDir, { recursive: true, withFileTypes: true })) {
      if (!file.isFile()) continue
      const bytes = await readFile(join(file.parentPath ?? file.path, file.name))
      assert.ok(!bytes.includes(SECRET) && !bytes.includes(AUTHORIZATION.slice(6)), file.name)
    }
  })

  test('a large number of documents is read page by page, each once', async (t) => {
    const { app, place, backup } = await aLibrary(t)
    const { url } = await testElasticsearch(t, 'ta_')
    const documents = await documentsOf(await readFile(backup))
    const ignored = Array.from({ length: 250 }, (_, at) => `ignored${String(at).padStart(4, '0')}`)
    documents['download'] = Object.fromEntries(
      ignored.map((id) => [id, { youtube_id: id, status: 'ignore', title: id }]),
    )
    await fill(url, documents)
    await rm(backup)

    const { plan } = await look(app, place, { catalog: url })

    const { count } = plan.along.find(({ kind }: { kind: string }) => kind === 'ignore')
    assert.equal(count, 250)
  })

  test('comments are imported, except those of a video with too many', async (t) => {
    const { app, place, backup } = await aLibrary(t)
    const { url } = await testElasticsearch(t, 'ta_')
    const documents = await documentsOf(await readFile(backup))
    const [kept] = Object.values(documents['comment']!)
    const many = Array.from({ length: 3000 }, (_, at) => ({
      comment_id: `c${at}`,
      comment_text: 'x'.repeat(at < 1000 ? 3000 : 300),
    }))
    const more = (id: string, comments: object[]) => ({ ...kept, youtube_id: id, comment_comments: comments })
    documents['comment'] = {
      '-breakwater': kept!,
      // Each fits, but not both together.
      '6Qh9CyDYDT4': more('6Qh9CyDYDT4', many.slice(0, 2000)),
      goneMill001: more('goneMill001', [...many, ...many, ...many]),
      zzzzzzzzzzz: more('zzzzzzzzzzz', many),
    }
    await fill(url, documents)
    await rm(backup)
    const { plan } = await look(app, place, { catalog: url })

    await commanded(app, plan.id, { command: 'adopt' })

    const countOf = async (id: string) => (await app.as('user').get(`/api/video/${id}/`)).body.comment_count
    assert.deepEqual(
      [await countOf('-breakwater'), await countOf('6Qh9CyDYDT4'), await countOf('goneMill001')],
      [1, 2000, undefined],
    )
  })
})

test('an invalid address, one with a password in it, and that of another program are refused', async (t) => {
  const { app, place } = await aLibrary(t)
  for (const [catalog, source, why] of [
    ['http://', undefined, /is not a valid address/],
    ['http://elastic:secret@127.0.0.1:9200', undefined, /into "credentials"/],
    ['http://127.0.0.1:9200/?q=1', undefined, /must contain only the server/],
    ['http://127.0.0.1:9200', 'pinchflat', /is not read from a server/],
  ] as const) {
    const { status, body } = await app.as('admin').post('/api/adoption/', { place, catalog, ...(source && { source }) })
    assert.deepEqual(
      [status, why.test(body.message), body.message.includes('secret')],
      [422, true, false],
      body.message,
    )
  }
})

const hit = (id: string) => ({ _index: 'ta_video', _id: id, _source: { youtube_id: id }, sort: [id] })
for (const [what, answer, why] of [
  ['is none', () => [200, '<html>'], /no documents/],
  ['has no such index', () => [404, '{}'], /has no ta_channel/],
  ['is broken', () => [500, '{}'], /status 500/],
  ['leads elsewhere', () => [302, '', { location: 'http://192.0.2.1/' }], /status 302/],
  ['answers with very much', () => [200, 'x'.repeat(9_000_000)], /more than 8000000 bytes/],
  [
    'has no end, with as many values as fill the memory',
    () => [200, `{"hits":{"hits":[${JSON.stringify(hit('x'))}${',{}'.repeat(1_600_000)}]}}`],
    /no documents/,
  ],
] as Array<[string, () => [number, string, Record<string, string>?], RegExp]>)
  test(`a server that ${what} is reported, and nothing is planned`, async (t) => {
    const { app, place } = await aLibrary(t)
    const [status, text, headers = {}] = answer()
    const server = createServer((_request, response) => response.writeHead(status, headers).end(text))
    const { plan } = await look(app, place, { catalog: `http://${await listening(t, server)}` })
    assert.equal(plan.state, 'failed')
    assert.match(plan.reason, why)
  })

test('a server in a private network is used only if an operator has allowed it', async (t) => {
  const { app, place } = await aLibrary(t, [])
  const { plan } = await look(app, place, { catalog: 'http://127.0.0.1:9', credentials: CREDENTIALS })
  assert.deepEqual([plan.state, /AV_PRIVATE_HOSTS/.test(plan.reason)], ['failed', true], plan.reason)
})
