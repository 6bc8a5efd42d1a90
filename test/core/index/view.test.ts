/** Views: what a request of a limited account reads from the index, in any plugin, and what work behind it reads. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import {
  type AppOf,
  beyondView,
  defineIndex,
  definePlugin,
  defineRoute,
  defineTask,
  events,
  type Plugin,
  Type,
} from 'archivolt'
import { type TestApp, testApp } from 'archivolt/testing'

const shelves = defineIndex({
  name: 'library_shelf',
  doc: Type.Object({ shelf: Type.String() }),
  seen: { by: { library_shelf: 'shelf' } },
  fields: { shelf: { type: 'keyword', filter: true } },
})
const books = defineIndex({
  name: 'library_book',
  doc: Type.Object({
    title: Type.String(),
    room: Type.String(),
    pages: Type.Integer(),
    stands: Type.Object({ on: Type.Array(Type.String()), note: Type.String() }),
  }),
  seen: { by: { library_shelf: 'shelf' } },
  lastKey: 'stands',
  fields: {
    title: { type: 'text', search: 1, sort: true },
    room: { type: 'keyword', filter: true },
    pages: { type: 'long', filter: true, sort: true },
    shelf: { type: 'keyword', path: 'stands.on', multi: true, filter: true },
  },
})
const lines = defineIndex({
  name: 'library_line',
  doc: Type.Object({ book: Type.String(), text: Type.String(), number: Type.Integer() }),
  seen: { with: 'library_book', id: 'book' },
  fields: {
    book: { type: 'keyword', filter: true },
    text: { type: 'text', search: 1 },
    number: { type: 'long', sort: true },
  },
})
/** A definition without a view. */
const ledgers = defineIndex({
  name: 'library_ledger',
  doc: Type.Object({ note: Type.String() }),
  fields: { note: { type: 'text', search: 1 } },
})

declare module 'archivolt' {
  interface Events {
    'library.asked': Record<string, never>
  }
}

/** The results of the last request's reads. */
let read: (app: TestApp['app']) => Promise<unknown> = async () => undefined

const counting = defineTask({
  name: 'library.count',
  title: 'Count books',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  run: async (_context, app) => String(await app.index.collection(books).count()),
})
const told: number[] = []
const library = definePlugin({
  name: 'library',
  indexes: [shelves, books, lines, ledgers],
  tasks: [counting],
  events: ['library.asked'],
  on: { 'library.asked': (app) => async () => void told.push(await app.index.collection(books).count()) },
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/library/',
      access: 'viewer',
      summary: 'Whatever the test reads',
      reply: Type.Object({}),
      handle: async (_input, app: AppOf<never>) => ({ read: await read(app as TestApp['app']) }),
    }),
  ],
})

async function given(
  t: TestContext,
  view: Record<string, string[]>,
  outside: readonly Plugin[] = [],
): Promise<TestApp> {
  const app = await testApp(t, { plugins: [library], outside })
  const book = (id: string, room: string, ...on: string[]) => ({
    index: 'library_book',
    id,
    doc: { title: `Book ${id}`, room, pages: 10, stands: { on, note: `of ${id}` } },
  })
  const line = (id: string, of: string, number = 1) => ({
    index: 'library_line',
    id,
    doc: { book: of, text: `words of ${of}`, number },
  })
  await app.given(
    ...['s1', 's2', 's3'].map((id) => ({ index: 'library_shelf', id, doc: { shelf: id } })),
    book('a', 'hall', 's1', 's2'),
    book('b', 'hall', 's2'),
    book('c', 'cellar', 's3', 's1'),
    line('a1', 'a'),
    line('b1', 'b'),
    line('c1', 'c', 2),
    { index: 'library_ledger', id: 'l1', doc: { note: 'words' } },
  )
  await app.app.accounts.create({ username: 'child', password: 'a password for tests', isStaff: false, view })
  return app
}

async function readAs(app: TestApp, who: string, work: typeof read): Promise<any> {
  read = work
  const { status, text, body } = await app.as(who).get('/api/library/')
  assert.equal(status, 200, text)
  return body.read
}
const childReads = (app: TestApp, work: typeof read) => readAs(app, 'child', work)

test('an event stream of an external plugin reads within the view, also after the request', async (t) => {
  let goOn = () => {}
  const isRead = new Promise<void>((resolve) => (goOn = resolve))
  const stream = definePlugin({
    name: 'live',
    needs: ['library'],
    routes: [
      defineRoute({
        method: 'GET',
        path: '/api/library/events/',
        access: 'viewer',
        summary: 'Counts the books, at first and later',
        reply: Type.Object({}),
        handle: (_input, app: AppOf<never>) =>
          events((send) => {
            const tell = async () => send('books', await app.index.collection(books).count())
            void tell().then(() => isRead.then(tell))
            return () => undefined
          }),
      }),
    ],
  })
  const app = await given(t, { library_shelf: ['s1'] }, [stream])
  const { id } = app.app.accounts.list().find(({ username }) => username === 'child')!
  const headers = { Authorization: `Token ${await app.app.accounts.token(id)}` }
  const leaving = new AbortController()

  const { body } = await fetch(`${app.url}/api/library/events/`, { headers, signal: leaving.signal })
  const counts: string[] = []
  let text = ''
  for await (const chunk of body!.pipeThrough(new TextDecoderStream())) {
    text += chunk
    counts.splice(0, Infinity, ...[...text.matchAll(/event: books\ndata: (\d+)/g)].map(([, count = '']) => count))
    if (counts.length === 1) goOn()
    if (counts.length === 2) break
  }
  leaving.abort()

  assert.deepEqual(counts, ['2', '2'])
})

test('every kind of read finds what the view contains, and nothing else', async (t) => {
  const app = await given(t, { library_shelf: ['s1'] })
  const all = ['a', 'b', 'c']
  const found = await childReads(app, async ({ index }) => {
    const collection = index.collection(books)
    const scanned: string[] = []
    for await (const batch of collection.scan()) scanned.push(...batch.map(({ id }) => id))
    const hits = await collection.find({ text: { words: 'book' }, sort: [{ by: 'title', order: 'asc' }] })
    return {
      get: [await collection.get('b'), (await collection.get('c'))?.room],
      getText: await collection.getText('b'),
      getTexts: [...(await collection.getTexts(all)).keys()],
      getMany: [...(await collection.getMany(all)).keys()].sort(),
      known: [...(await collection.known(all))].sort(),
      find: [hits.hits.map(({ id }) => id), hits.total],
      bare: (await collection.find({ text: { words: 'book' }, withoutTexts: true })).hits.map(({ text }) => text),
      ids: (await collection.find({ ids: ['c', 'b', 'a'] })).hits.map(({ id }) => id),
      either: (await collection.find({ filter: { or: [{ eq: ['room', 'hall'] }, { eq: ['room', 'attic'] }] } })).total,
      similar: (await collection.similar('a', { size: 5 })).map(({ id }) => id),
      count: [await collection.count(), await collection.count({ eq: ['room', 'hall'] })],
      sums: await collection.aggregate({ sums: ['pages'] }),
      scanned: scanned.sort(),
      shelves: [...(await index.collection(shelves).known(['s1', 's2']))],
    }
  })
  assert.deepEqual(found, {
    get: [null, 'cellar'],
    getTexts: ['a', 'c'],
    getMany: ['a', 'c'],
    known: ['a', 'c'],
    find: [['a', 'c'], 2],
    bare: ['', ''],
    ids: ['c', 'a'],
    either: 1,
    similar: ['c'],
    count: [2, 1],
    sums: [{ key: [], count: 2, sums: { pages: 20 } }],
    scanned: ['a', 'c'],
    shelves: ['s1'],
  })
})

test('a visible document does not name hidden ones, and keeps its form', async (t) => {
  const app = await given(t, { library_shelf: ['s1'] })
  const found = await childReads(app, async ({ index }) => {
    const collection = index.collection(books)
    const scanned = []
    for await (const batch of collection.scan()) scanned.push(...batch.map(({ doc }) => doc.stands.on))
    return {
      text: await collection.getText('a'),
      hit: (await collection.find({ ids: ['c'] })).hits[0]!.text,
      doc: (await collection.get('c'))?.stands,
      scanned,
      groups: (await collection.aggregate({ groupBy: ['shelf'] })).map(({ key }) => key[0]),
    }
  })
  assert.deepEqual(found, {
    text: '{"title":"Book a","room":"hall","pages":10,"stands":{"on":["s1"],"note":"of a"}}',
    hit: '{"title":"Book c","room":"cellar","pages":10,"stands":{"on":["s1"],"note":"of c"}}',
    doc: { on: ['s1'], note: 'of c' },
    scanned: [['s1'], ['s1']],
    groups: ['s1'],
  })
})

test('a document that belongs to another is visible with it, and an index without a view is hidden', async (t) => {
  const app = await given(t, { library_shelf: ['s2'] })
  const found = await childReads(app, async ({ index }) => {
    const collection = index.collection(lines)
    const scanned: string[] = []
    for await (const batch of collection.scan()) scanned.push(...batch.map(({ id }) => id))
    const hits = await collection.find({ text: { words: 'words' }, size: 1, from: 1 })
    const shut = index.collection(ledgers)
    return {
      get: [(await collection.get('a1'))?.book, await collection.get('c1')],
      known: [...(await collection.known(['a1', 'b1', 'c1']))].sort(),
      find: [hits.hits.length, hits.total],
      bare: (await collection.find({ withoutTexts: true })).hits.map(({ text }) => text),
      count: await collection.count(),
      scanned: scanned.sort(),
      groups: await collection.aggregate({ groupBy: ['book'] }),
      shut: [await shut.count(), await shut.get('l1'), (await shut.find({})).total],
    }
  })
  assert.deepEqual(found, {
    get: ['a', null],
    known: ['a1', 'b1'],
    find: [1, 2],
    bare: ['', ''],
    count: 2,
    scanned: ['a1', 'b1'],
    groups: [],
    shut: [0, null, 0],
  })
})

test('a search for documents that belong to others checks a thousand, the best first', async (t) => {
  const app = await given(t, { library_shelf: ['s1'] })
  const many = Array.from({ length: 1100 }, (_, at) => ({
    id: `x${at}`,
    doc: { book: at === 995 || at === 1050 ? 'a' : 'b', text: 'plenty', number: at },
  }))
  await app.app.index.collection(lines).putMany(many)
  const found = await childReads(app, async ({ index }) => {
    const { hits, total } = await index
      .collection(lines)
      .find({ text: { words: 'plenty' }, sort: [{ by: 'number', order: 'asc' }], size: 30 })
    return [hits.map(({ id }) => id), total]
  })
  assert.deepEqual(found, [['x995'], 1])
})

test('an empty view shows nothing, and an id of another kind opens nothing', async (t) => {
  const views: Array<Record<string, string[]>> = [{}, { library_shelf: [] }, { other: ['s1'] }]
  for (const view of views) {
    const app = await given(t, view)
    const found = await childReads(app, async ({ index }) => [
      await index.collection(books).count(),
      (await index.collection(books).find({})).total,
      await index.collection(lines).count(),
    ])
    assert.deepEqual(found, [0, 0, 0], JSON.stringify(view))
  }
})

test('an account without a view sees everything, also during a request of a limited account', async (t) => {
  const app = await given(t, { library_shelf: ['s1'] })
  let isAsked: (() => void) | undefined
  let go: (() => void) | undefined
  const asked = new Promise<void>((resolve) => (isAsked = resolve))
  const released = new Promise<void>((resolve) => (go = resolve))
  const slow = childReads(app, async ({ index }) => {
    isAsked!()
    await released
    return index.collection(books).count()
  })
  await asked
  assert.equal(await readAs(app, 'user', ({ index }) => index.collection(books).count()), 3)
  assert.equal(await app.app.index.collection(books).count(), 3)
  go!()
  assert.equal(await slow, 2)
})

test('jobs that a limited account starts, and listeners to what it did, see everything', async (t) => {
  const app = await given(t, { library_shelf: ['s1'] })
  told.length = 0
  const found = await childReads(app, async (own) => {
    const before = await own.index.collection(books).count()
    const waited = await own.jobs.run(counting)
    const { id } = await own.jobs.start(counting)
    await own.emit('library.asked', {})
    const beyond = await beyondView(() => own.index.collection(books).count())
    return { before, waited, id, beyond, after: await own.index.collection(books).count() }
  })
  await app.settled()
  assert.deepEqual(
    { ...found, id: app.app.jobs.get(found.id)?.result },
    { before: 2, waited: '3', id: '3', beyond: 3, after: 2 },
  )
  assert.deepEqual(told, [3])
})
