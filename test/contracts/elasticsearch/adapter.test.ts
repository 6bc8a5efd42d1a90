/**
 * What only the Elasticsearch adapter has: aliases and versions, a migration interrupted at each step, a lock between
 * servers, snapshots.
 */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, describe, test } from 'node:test'
import { systemClock } from '../../../core/base/clock.ts'
import { isAppError } from '../../../core/base/error.ts'
import { defineIndex, type IndexDefinition } from '../../../core/index/mapping.ts'
import { openLog } from '../../../core/log.ts'
import {
  connectElastic,
  type ElasticConnection,
  type ElasticOptions,
} from '../../../plugins/elasticsearch/connection.ts'
import { type ElasticIndex, type ElasticIndexOptions, openElasticIndex } from '../../../plugins/elasticsearch/open.ts'
import { bookIndex, bookOf } from '../../plugins/sqlite/books.ts'
import { testElasticsearch, withoutElasticsearch } from '../../support/elasticsearch.ts'
import { lastFirst } from '../../support/last-first.ts'

const log = openLog('silent')
const changed = defineIndex({
  ...bookIndex,
  fields: { ...bookIndex.fields, owner: { type: 'keyword', filter: true }, subtitle: { type: 'text', search: 1 } },
})
const grown = defineIndex({
  ...bookIndex,
  fields: {
    ...bookIndex.fields,
    year: { type: 'long', filter: true, sort: true },
    marks: { type: 'keyword', multi: true, filter: true },
  },
})
const COUNT = 40

/** Simulates a power failure just before the n-th request to Elasticsearch. */
function cutAt(connection: ElasticConnection, step: number): { connection: ElasticConnection; steps(): number } {
  let steps = 0
  const gone = () => new Error('the power is gone')
  return {
    steps: () => steps,
    connection: {
      ...connection,
      isAway: false,
      get client() {
        if (steps >= step) throw gone()
        return connection.client
      },
      async run(work) {
        if (++steps >= step) throw gone()
        return connection.run(work)
      },
    },
  }
}

describe('the Elasticsearch adapter', { skip: withoutElasticsearch() ?? false }, () => {
  const scope = lastFirst({ after })
  // The clock's timers do not keep a process alive; a server has its socket for that.
  const alive = setInterval(() => undefined, 60_000)
  after(() => clearInterval(alive))

  /** A new prefix, with a function that opens an index on it. */
  async function place(options: { repository?: boolean } = {}) {
    const { url, prefix, repository } = await testElasticsearch(scope)
    const opened = new Set<ElasticConnection>()
    scope.after(async () => void (await Promise.all([...opened].map((connection) => connection.close()))))
    const connect = (more: Partial<ElasticOptions> = {}): ElasticConnection => {
      const connection = connectElastic({ url, names: `${prefix}_*`, log, clock: systemClock, ...more })
      opened.add(connection)
      return connection
    }
    const ask = connect().client
    return {
      ...{ prefix, url, connect, ask },
      open: (
        definitions: readonly IndexDefinition[] = [bookIndex],
        more: Partial<ElasticIndexOptions> = {},
      ): Promise<ElasticIndex> =>
        openElasticIndex({
          connection: connect(),
          definitions,
          log,
          clock: systemClock,
          prefix,
          owner: 'this test',
          repository: options.repository ? repository : null,
          ...more,
        }),
      /** Names of all indexes, without the prefix, and the index behind the alias. */
      async names(): Promise<string[]> {
        const found = await ask.indices.get({ index: `${prefix}_*`, expand_wildcards: 'all', features: ['aliases'] })
        return Object.entries(found)
          .map(([name, { aliases }]) =>
            [name, ...Object.keys(aliases ?? {}).map((alias) => `= ${alias}`)].join(' ').replaceAll(`${prefix}_`, ''),
          )
          .filter((name) => name !== '0lock')
          .sort()
      },
    }
  }

  async function filled(open: () => Promise<ElasticIndex>, count = COUNT): Promise<void> {
    const index = await open()
    await index.collection(bookIndex).putMany(Array.from({ length: count }, (_, at) => bookOf(at)))
    await index.close()
  }

  test('a collection is an alias of its first version, and opening it again changes nothing', async () => {
    const { open, names } = await place()
    await filled(open)
    assert.deepEqual(await names(), ['book_v1 = book'])
    const index = await open()
    await index.refresh()
    assert.equal(await index.collection(bookIndex).count(), COUNT)
    assert.deepEqual(await names(), ['book_v1 = book'])
  })

  test('an added field is filled in place from the documents', async () => {
    const { open, names } = await place()
    await filled(open)
    const books = (await open([grown])).collection(grown)
    assert.equal(await books.count({ eq: ['year', 1903] }), 1)
    assert.equal(await books.count({ eq: ['marks', 'm1'] }), COUNT / 2)
    assert.deepEqual(await books.get('b007'), bookOf(7).doc)
    assert.deepEqual(await names(), ['book_v1 = book'])
  })

  test('a changed field rebuilds into a second index, switches the alias and deletes the old index', async () => {
    const { open, names } = await place()
    await filled(open)
    const books = (await open([changed])).collection(changed)
    assert.equal((await books.find({ text: { words: 'subtitle 7' } })).total, 1)
    assert.equal(JSON.parse((await books.getText('b007'))!).owner, 'me', 'no longer internal')
    assert.deepEqual(await names(), ['book_v2 = book'])
  })

  test('a new form rebuilds through reform; a value of another type leaves the document unchanged', async () => {
    const { open } = await place()
    await filled(open)
    const reformed = defineIndex({
      ...bookIndex,
      form: 'utc',
      reform: (doc) => ({ ...doc, title: `${doc.title} in utc`, owner: doc.addedAt === 3 ? (7 as never) : doc.owner }),
    })
    const books = (await open([reformed])).collection(bookIndex)
    assert.equal((await books.get('b004'))?.title, 'Number 4 in utc')
    assert.equal((await books.get('b003'))?.title, 'Number 3 in utc')
    assert.equal(await books.count({ eq: ['owner', 'me'] }), COUNT - 1)
  })

  for (const [what, definition, version] of [
    ['rebuild', changed, 2],
    ['added field', grown, 1],
  ] as const) {
    test(`${what}: interrupted at each step, the next start completes without loss`, async () => {
      for (let step = 1, isOver = false; !isOver; step++) {
        const { open, names, connect } = await place()
        await filled(open, 5)
        isOver = await open([definition], { connection: cutAt(connect(), step).connection }).then(
          () => true,
          (error: Error) => (assert.match(error.message, /power/), false),
        )

        const index = await open([definition])

        const found: unknown[] = []
        for await (const batch of index.collection(bookIndex).scan()) found.push(...batch)
        assert.deepEqual(
          found,
          Array.from({ length: 5 }, (_, at) => bookOf(at)),
          `step ${step}`,
        )
        assert.deepEqual(await names(), [`book_v${version} = book`], `step ${step}`)
      }
    })
  }

  test('a complete version that has lost its alias gets it back; an incomplete one next to the old is built again', async () => {
    const { open, names, ask, prefix } = await place()
    await filled(open)
    await ask.indices.updateAliases({ actions: [{ remove: { index: `${prefix}_book_v1`, alias: `${prefix}_book` } }] })
    let index = await open()
    await index.refresh()
    assert.equal(await index.collection(bookIndex).count(), COUNT)
    await ask.indices.create({ index: `${prefix}_book_v2` })
    index = await open([changed])
    assert.equal(await index.collection(bookIndex).count(), COUNT)
    assert.deepEqual(await names(), ['book_v2 = book'])
  })

  test('the log names an incomplete index that a migration discards, and one that an interruption has left', async () => {
    const { open, names, ask, prefix } = await place()
    await filled(open)
    const said: string[] = []
    const told = openLog('info', { write: (line: string) => void said.push(JSON.parse(line).msg) })
    await ask.indices.create({ index: `${prefix}_book_v2` })

    await (await open([changed], { log: told })).close()
    await ask.indices.create({ index: `${prefix}_book_v3` })
    await (await open([changed], { log: told })).close()

    assert.deepEqual(await names(), ['book_v2 = book'])
    const discarded = `index book: discarded ${prefix}_book_v2, half built before an interruption; it will be rebuilt`
    assert.ok(said.includes(discarded), said.join('\n'))
    assert.ok(said.includes(`index book: removing ${prefix}_book_v3, left by an interruption`), said.join('\n'))
  })

  test('a foreign index with our name is left alone, and the start says so', async () => {
    const { open, ask, prefix } = await place()
    await ask.indices.create({ index: `${prefix}_book` })
    await assert.rejects(open(), /_book that this program did not make.*AV_PREFIX/)
    await ask.indices.delete({ index: `${prefix}_book` })
    await ask.indices.create({ index: `${prefix}_book_v1`, aliases: { [`${prefix}_book`]: {} } })
    await assert.rejects(open(), /was not made by this program.*AV_PREFIX/)
  })

  test('of two servers that start at once, one rebuilds and the other waits', async () => {
    const { open, names } = await place()
    await filled(open)
    let calls = 0
    const reformed = defineIndex({ ...bookIndex, form: 'new', reform: (doc) => (calls++, doc) })
    const both = await Promise.all([open([reformed], { owner: 'one' }), open([reformed], { owner: 'two' })])
    assert.equal(calls, COUNT)
    for (const index of both) assert.equal(await index.collection(bookIndex).count(), COUNT)
    assert.deepEqual(await names(), ['book_v2 = book'])
  })

  test('an interrupted replacement leaves everything unchanged, and nothing behind', async () => {
    for (let step = 1, isOver = false; !isOver; step++) {
      const { open, names, connect } = await place()
      await filled(open, 5)
      const connection = connect()
      // Opening the index sends requests, too.
      const counted = cutAt(connection, Infinity)
      await open([bookIndex], { connection: counted.connection })
      const cut = cutAt(connection, counted.steps() + step)
      const index = await open([bookIndex], { connection: cut.connection })
      isOver = await index
        .replaceAll(async (write) => void (await write('book', [{ id: 'new', doc: bookOf(77).doc }])))
        .then(
          () => true,
          () => false,
        )
      if (isOver) break
      const next = await open()
      await next.refresh()
      assert.equal(await next.collection(bookIndex).count(), 5, `step ${step}`)
      assert.deepEqual(await names(), ['book_v1 = book'], `step ${step}`)
    }
  })

  test('large documents are read a few at a time, small ones in full batches', async () => {
    const { open } = await place()
    const books = (await open()).collection(bookIndex)
    const large = (at: number) => ({ ...bookOf(at), doc: { ...bookOf(at).doc, subtitle: 'x'.repeat(1_000_000) } })
    const put = (docs: ReturnType<typeof bookOf>[]) => books.putMany(docs, { visible: true })
    const read = async (filter: { range: ['addedAt', { gte?: number; lt?: number }] }) => {
      const batches: string[][] = []
      for await (const batch of books.scan({ filter, batch: 50 })) batches.push(batch.map(({ id }) => id))
      return batches
    }
    for (let at = 100; at < 140; at += 10) await put(Array.from({ length: 10 }, (_, next) => large(at + next)))
    await put(Array.from({ length: 60 }, (_, at) => bookOf(at)))

    const small = await read({ range: ['addedAt', { lt: 100 }] })
    const [first = [], ...others] = await read({ range: ['addedAt', { gte: 100 }] })

    assert.deepEqual(
      small.map(({ length }) => length),
      [50, 10],
    )
    assert.equal(first.length, 20, 'their size is not known yet')
    assert.ok(others.length > 0 && others.every(({ length }) => length <= 8), JSON.stringify(others))
    assert.deepEqual(
      [first, ...others].flat(),
      Array.from({ length: 40 }, (_, at) => `b${100 + at}`),
    )
  })

  test('a missing alias creates no new index: writes are refused', async () => {
    const { open, names, ask, prefix } = await place()
    const books = (await open()).collection(bookIndex)
    await ask.indices.delete({ index: `${prefix}_book_v1` })
    await assert.rejects(books.put('b1', bookOf(1).doc))
    assert.deepEqual(await names(), [])
  })

  test('while somebody has closed an index, its documents are unavailable instead of missing, and none is refused', async () => {
    const { open, ask, prefix } = await place()
    await filled(open, 1)
    const books = (await open()).collection(bookIndex)
    const { id, doc } = bookOf(0)
    const index = `${prefix}_book_v1`
    await ask.indices.close({ index })

    for (const work of [
      () => books.get(id),
      () => books.getText(id),
      () => books.known([id]),
      () => books.find({ ids: [id] }),
      () => books.count(),
      () => books.similar(id, { size: 1 }),
      () => books.put(id, doc),
      () => books.create('new', doc),
      () => books.patch(id, { set: { year: 1 } }),
      () => books.patchWhere({ and: [] }, { set: { year: 1 } }),
      () => books.remove(id),
    ])
      await assert.rejects(work, (error) => isAppError(error, 'unavailable'), String(work))

    await ask.indices.open({ index })
    await ask.cluster.health({ index, wait_for_status: 'yellow' })
    assert.deepEqual(await books.get(id), doc)
  })

  test('many simultaneous changes of one document all count', async () => {
    const { open } = await place()
    const books = (await open([grown])).collection(grown)
    await books.put('b', { ...bookOf(1).doc, marks: [] })
    await Promise.all(Array.from({ length: 30 }, (_, at) => books.patch('b', { add: { marks: [`n${at}`] } as never })))
    assert.equal((await books.get('b'))?.marks.length, 30)
  })

  test('ids of every form are valid, and long keywords and lone surrogates are preserved', async () => {
    const { open } = await place()
    const index = await open()
    const books = index.collection(bookIndex)
    const ids = ['_search', '..', 'a/b', '%2e', 'é', '"', ' ', '_all', '*']
    for (const id of ids)
      await books.put(id, { ...bookOf(1).doc, title: `half \ud800 ${id}`, owner: `${'x'.repeat(40_000)}\udc00` })
    for (const id of ids) assert.equal((await books.get(id))?.title, `half \ud800 ${id}`)
    await index.refresh()
    assert.equal(
      (await books.find({ filter: { eq: ['owner', `${'x'.repeat(40_000)}\udc00`] }, withoutTotal: true })).hits.length,
      ids.length,
    )
    await assert.rejects(books.put('x'.repeat(600), bookOf(1).doc), (error) => isAppError(error, 'unprocessable'))
    assert.equal(await books.get('x'.repeat(600)), undefined)
    assert.equal(await books.remove(ids, { visible: true }), ids.length)
  })

  test('a snapshot is taken, listed, restored over other documents, and deleted', async (t) => {
    const { open, prefix } = await place({ repository: true })
    const index = await open()
    const snapshots = await index.openSnapshots(index)
    if (snapshots.off) return t.skip(snapshots.off)
    const books = index.collection(bookIndex)
    await books.putMany(
      Array.from({ length: COUNT }, (_, at) => bookOf(at)),
      { visible: true },
    )
    const name = `${prefix}_daily_x`

    await snapshots.take(name)

    const [record] = await snapshots.list()
    assert.deepEqual([record?.id, record?.state], [name, 'SUCCESS'])
    assert.ok(record!.endedAt >= record!.startedAt && record!.startedAt > 0)
    await books.removeWhere({ range: ['addedAt', { lt: 30 }] }, { visible: true })
    await books.put('other', bookOf(99).doc, { visible: true })
    const result = await snapshots.restore(name, {
      accept: (_collection, id, doc) => (id === 'b000' ? undefined : doc),
    })
    assert.deepEqual([result.written, result.skipped], [COUNT - 1, 1])
    await index.refresh()
    assert.equal(await books.count(), COUNT - 1)
    assert.deepEqual(await books.get('b001'), bookOf(1).doc)
    assert.equal(await books.get('other'), undefined)
    await assert.rejects(snapshots.restore('no-such'), (error) => isAppError(error, 'not_found'))
    await assert.rejects(snapshots.restore('_all'), (error) => isAppError(error, 'not_found'))
    await snapshots.remove(name)
    assert.deepEqual(await snapshots.list(), [])
  })

  test('an account with the privileges in config/README.md can do all of this', async (t) => {
    const { open, connect, prefix, url, ask } = await place({ repository: true })
    const readme = await readFile(new URL('../../../config/README.md', import.meta.url), 'utf8')
    const cluster = /cluster privileges (.+?), and/.exec(readme)![1]!.match(/(?<=`)[a-z_:/*]+(?=`)/g)!
    await ask.security.putRole({ name: prefix, cluster, indices: [{ names: [`${prefix}_*`], privileges: ['all'] }] })
    await ask.security.putUser({ username: prefix, password: 'a password for tests', roles: [prefix] })
    scope.after(async () => {
      await ask.security.deleteUser({ username: prefix })
      await ask.security.deleteRole({ name: prefix })
    })
    const asAccount = (definition: IndexDefinition) =>
      open([definition], { connection: connect({ url, username: prefix, password: 'a password for tests' }) })

    await filled(() => asAccount(bookIndex))
    const index = await asAccount(changed)
    const snapshots = await index.openSnapshots(index)
    if (snapshots.off) return t.skip(snapshots.off)
    await snapshots.take(`${prefix}_daily_x`)
    await index.collection(changed).removeWhere({ range: ['addedAt', { lt: 30 }] }, { visible: true })
    assert.equal((await snapshots.restore(`${prefix}_daily_x`)).written, COUNT)
    await snapshots.remove(`${prefix}_daily_x`)
    assert.equal(await index.collection(changed).count(), COUNT)
  })

  test('without a folder for snapshots there are none, and the message says how to enable them', async () => {
    const { open } = await place()
    const index = await open()
    const snapshots = await index.openSnapshots(index)
    assert.match(snapshots.off!, /AV_ELASTICSEARCH_REPOSITORY/)
    assert.deepEqual(await snapshots.list(), [])
    await assert.rejects(snapshots.take('x'), (error) => isAppError(error, 'conflict'))
  })
})
