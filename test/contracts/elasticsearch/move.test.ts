/**
 * Moves all documents from one index to the other and back: what arrives, what an interruption leaves, what is refused.
 */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { moveIndex } from '../../../config/cli/move-documents.ts'
import { systemClock } from '../../../core/base/clock.ts'
import { changeInUse } from '../../../core/index/in-use.ts'
import type { IndexDefinition } from '../../../core/index/mapping.ts'
import type { IndexAdapter } from '../../../core/index/port.ts'
import { openLog } from '../../../core/log.ts'
import { connectElastic } from '../../../plugins/elasticsearch/connection.ts'
import { openElasticIndex } from '../../../plugins/elasticsearch/open.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'
import { lineIndex, type PaperDoc, paperIndex } from '../../contracts/index-suite.ts'
import { testElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { lastFirst } from '../../support/last-first.ts'
import { startServer, until } from '../../support/server.ts'
import { ROOT } from '../../support/sources.ts'
import { aChannel, aVideo, PASSWORD, type TestApp, testApp } from '../../support/testing.ts'
import '../../support/long.ts'

const log = openLog('silent')
const clock = systemClock
const definitions = [paperIndex, lineIndex]

async function embedded(t: TestContext): Promise<IndexAdapter> {
  const index = await openSqliteIndex({
    file: join(await temporaryFolder(t), 'index.sqlite'),
    definitions,
    log,
    clock,
  })
  lastFirst(t).after(() => index.close())
  return index
}

async function onServer(t: TestContext, declared: readonly IndexDefinition[] = definitions): Promise<IndexAdapter> {
  const { url, prefix } = await testElasticsearch(t)
  const connection = connectElastic({ url, names: `${prefix}_*`, log, clock })
  const index = await openElasticIndex({ connection, definitions: declared, log, clock, prefix })
  lastFirst(t).after(() => index.close())
  return index
}

/** All documents with their ids, as texts. */
async function everything(index: IndexAdapter): Promise<string[]> {
  const found: string[] = []
  for (const definition of index.definitions) {
    for await (const batch of index.collection(definition).scan())
      for (const { id, doc } of batch) found.push(`${definition.name} ${id} ${JSON.stringify(doc)}`)
  }
  return found.sort()
}

const papers = (count: number): Array<{ id: string; doc: PaperDoc }> =>
  Array.from({ length: count }, (_, at) => ({
    id: `p${at}`,
    doc: { title: `Paper ${at}`, pages: at, shelf: `s${at % 7}` },
  }))

describe('an index is moved', { skip: withoutElasticsearch() ?? false }, () => {
  test('to Elasticsearch and back: the same documents byte for byte, in the same order of keys, including internal fields', async (t) => {
    const [from, there, back] = [await embedded(t), await onServer(t), await embedded(t)]
    const docs = [
      {
        id: 'a',
        doc: {
          last: { note: 'n' },
          title: 'Żółw 日本語 😀 “q” \u2028 \\ \u0000',
          shelf: 'inner',
          about: { isNew: true, language: 'pl' },
        },
      },
      { id: 'b', doc: { shelf: 's', title: '', topics: [], price: 0.1, pages: 9007199254740991, kind: ' ' } },
      { id: 'c', doc: { title: 'c', 10: 'x', 9: { b: null, a: [1, [2]] }, price: 1e21 } as unknown as PaperDoc },
      // Beyond the first plane, UTF-16 sorts differently from bytes.
      ...['\u{1F600}', '～', 'Z', 'z', '_', '-', 'a b'].map((id) => ({ id, doc: { title: id } })),
      ...papers(1500),
    ]
    assert.deepEqual((await from.collection(paperIndex).putMany(docs)).failed, [])
    await from.collection(lineIndex).put('l1', { text: 'said', saidAt: 5 })
    const before = await everything(from)

    const first = await moveIndex(from, there)
    const second = await moveIndex(there, back)

    assert.deepEqual(first, [
      { collection: 'paper', documents: docs.length, written: docs.length, removed: 0 },
      { collection: 'line', documents: 1, written: 1, removed: 0 },
    ])
    assert.deepEqual(second, first)
    assert.deepEqual(await everything(there), before)
    assert.deepEqual(await everything(back), before)
    assert.deepEqual(await everything(from), before, 'the source is as it was')
    assert.equal(await there.collection(paperIndex).getText('b'), await from.collection(paperIndex).getText('b'))
    assert.equal(
      (await there.collection(paperIndex).find({ filter: { eq: ['shelf', 's3'] } })).total,
      await from.collection(paperIndex).count({ eq: ['shelf', 's3'] }),
    )
  })

  for (const [name, open] of [
    ['Elasticsearch', onServer],
    ['the embedded index', embedded],
  ] as const) {
    test(`into ${name} with existing documents: different ones are written, additional ones deleted, identical ones left alone`, async (t) => {
      const [from, to] = [await embedded(t), await open(t)]
      await from.collection(paperIndex).putMany(papers(1000))
      await moveIndex(from, to)
      await from.collection(paperIndex).patch('p7', { set: { shelf: 'another' } })
      await from.collection(paperIndex).remove(['p0', 'p999'])
      await to.collection(paperIndex).put('0 only there', { title: 'x' })
      await to.collection(paperIndex).put('z only there', { title: 'x' })

      const [moved] = await moveIndex(from, to)

      assert.deepEqual(moved, { collection: 'paper', documents: 998, written: 1, removed: 4 })
      assert.deepEqual(await everything(to), await everything(from))
    })

    test(`into ${name}, interrupted halfway: the next run writes only what is missing`, async (t) => {
      const [from, to] = [await embedded(t), await open(t)]
      await from.collection(paperIndex).putMany(papers(4000))
      const stop = new AbortController()
      const broken = moveIndex(from, to, {
        signal: stop.signal,
        progress: (_, done) => done >= 2000 && stop.abort(new Error('enough')),
      })
      await assert.rejects(broken, /enough/)
      await to.refresh()
      const half = await to.collection(paperIndex).count()
      assert.ok(half > 0 && half < 4000, `${half}`)

      const [moved] = await moveIndex(from, to)

      assert.deepEqual(moved, { collection: 'paper', documents: 4000, written: 4000 - half, removed: 0 })
      assert.deepEqual(await everything(to), await everything(from))
    })
  }

  test('a document that cannot be written is named, and all others arrive', async (t) => {
    const other = { ...paperIndex, fields: { ...paperIndex.fields, kind: { type: 'long' as const, filter: true } } }
    const [from, to] = [await embedded(t), await onServer(t, [other, lineIndex])]
    await from.collection(paperIndex).putMany([...papers(10), { id: 'far', doc: { title: 'x', kind: 'letter' } }])

    await assert.rejects(
      moveIndex(from, to),
      /^Error: 1 documents could not be written, all others were copied: paper far: kind/,
    )

    assert.equal(await to.collection(paperIndex).count(), 10)
  })

  test('an index that loses documents is detected by counting', async (t) => {
    const [from, whole] = [await embedded(t), await embedded(t)]
    await from.collection(paperIndex).putMany(papers(10))
    const forgetful = {
      ...whole,
      collection: () => ({
        ...whole.collection(paperIndex),
        putMany: async (docs: unknown[]) => ({ written: docs.length, failed: [] }),
      }),
    } as unknown as IndexAdapter

    await assert.rejects(moveIndex(from, forgetful), /paper: 0 of 10 documents were copied/)
  })
})

function command(
  env: Record<string, string>,
  ...args: string[]
): Promise<{ code: number | string | null | undefined; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [join(ROOT, 'dist/main.js'), 'index-move', ...args],
      { env: environment(env), timeout: 120_000 },
      (error, stdout, stderr) => resolve({ code: error ? error.code : 0, stdout, stderr }),
    )
  })
}

const environment = (env: Record<string, string>) => ({
  ...Object.fromEntries(Object.entries(process.env).filter(([key]) => !key.startsWith('AV_'))),
  ...env,
})

/** Without the server's own changes: between two reads it may have requested the oldest from the platform, in vain. */
const documents = async ({ app }: TestApp): Promise<string[]> =>
  (await everything(app.index)).map((text) => text.replace(/"refreshed_at":\d+/, ''))

describe('index-move', { skip: withoutElasticsearch() ?? false }, () => {
  test('moves a data folder there and back, also after a kill halfway; the server does not start on an incomplete index', async (t) => {
    const { url, prefix } = await testElasticsearch(t)
    const app = await testApp(lastFirst(t), { settings: { prefix } })
    await app.given(aChannel())
    const videos = app.app.index.definitions.find(({ name }) => name === 'video')!
    await app.app.index
      .collection(videos)
      .putMany(Array.from({ length: 6000 }, (_, at) => aVideo({ id: `v${at}`, description: 'word '.repeat(100) })))
    const before = await documents(app)
    await app.close()
    const embeddedOnly = { AV_DATA_DIR: app.dataDir, AV_PREFIX: prefix, AV_USERNAME: 'admin', AV_PASSWORD: PASSWORD }
    const env = { ...embeddedOnly, AV_ELASTICSEARCH_URL: url }

    const child = spawn(process.execPath, [join(ROOT, 'dist/main.js'), 'index-move', 'elasticsearch'], {
      env: environment(env),
      stdio: 'ignore',
    })
    const ended = new Promise((resolve) => child.once('exit', (_, signal) => resolve(signal)))
    const count = async () =>
      ((await (await fetch(`${url}/${prefix}_video/_count?ignore_unavailable=true`)).json()) as { count?: number })
        .count ?? 0
    await until('some are there', count, (found) => found > 0)
    child.kill('SIGKILL')
    assert.equal(await ended, 'SIGKILL')
    assert.ok((await count()) < 6000)
    await assert.rejects(
      startServer(t, app.dataDir, env),
      /move of the documents to Elasticsearch was interrupted.*archivolt index-move elasticsearch/,
    )
    await (await startServer(t, app.dataDir, embeddedOnly)).end('SIGTERM')

    const there = await command(env, 'elasticsearch')

    assert.equal(there.code, 0, there.stderr)
    assert.match(there.stdout, /video: 6000 of 6000 documents\n/)
    assert.match(
      there.stdout,
      /All 6001 documents are in Elasticsearch; the counts match \((\d+) written now\)\. Start the server with AV_ELASTICSEARCH_URL as it is set now/,
    )
    const server = await startServer(t, app.dataDir, env)
    assert.equal((await server.api('GET', '/api/video/')).status, 200)
    assert.match((await command(env, 'embedded')).stderr, /already using the data folder/)
    await server.end('SIGTERM')
    assert.match(
      (await command(env, 'elasticsearch')).stderr,
      /last stored in Elasticsearch: those of the embedded index are older.*--anyway/,
    )

    for (const end of ['', '-wal', '-shm']) await rm(join(app.dataDir, `index.sqlite${end}`), { force: true })
    const home = await command(env, 'embedded')

    assert.equal(home.code, 0, home.stderr)
    assert.match(
      home.stdout,
      /All 6001 documents are in the embedded index.*Remove the setting AV_ELASTICSEARCH_URL and start the server/,
    )
    await app.restart()
    const after = await documents(app)
    assert.deepEqual(
      after.filter((text, at) => text !== before[at]),
      [],
    )
    assert.equal(after.length, before.length)
  })

  test('names what is missing, and moves nothing', async (t) => {
    const { url, prefix } = await testElasticsearch(t)
    const env = { AV_DATA_DIR: await temporaryFolder(t), AV_PREFIX: prefix }

    for (const [args, settings, says] of [
      [[], { AV_ELASTICSEARCH_URL: url }, /Missing <index>\. Usage: archivolt index-move <index> \[--anyway\]/],
      [
        ['nowhere'],
        { AV_ELASTICSEARCH_URL: url },
        /Use archivolt index-move elasticsearch or archivolt index-move embedded/,
      ],
      [['elasticsearch'], {}, /Set AV_ELASTICSEARCH_URL/],
      [['elasticsearch'], { AV_ELASTICSEARCH_URL: url }, /the embedded index has no documents/],
      [['embedded'], { AV_ELASTICSEARCH_URL: url }, /Elasticsearch has no documents/],
    ] as const) {
      const { code, stderr } = await command({ ...env, ...settings }, ...args)
      assert.equal(code, 1)
      assert.match(stderr, says)
      assert.doesNotMatch(stderr, /^\s+at /m)
    }
  })

  test('moves nothing while the index has a collection of an earlier version, however often it is run', async (t) => {
    const { url, prefix } = await testElasticsearch(t)
    const app = await testApp(lastFirst(t), { settings: { prefix } })
    await app.given(aChannel())
    await app.close()
    await changeInUse(app.dataDir, { opened: { sqlite: ['channel', 'download'] } })
    const env = { AV_DATA_DIR: app.dataDir, AV_PREFIX: prefix, AV_ELASTICSEARCH_URL: url }

    for (let time = 0; time < 2; time++)
      assert.match(
        (await command(env, 'elasticsearch')).stderr,
        /the embedded index has documents .* \(download\): start the server once/,
      )
    await app.restart()
    await app.close()

    assert.equal((await command(env, 'elasticsearch')).code, 0)
  })
})
