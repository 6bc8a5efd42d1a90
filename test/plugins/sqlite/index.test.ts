/**
 * What only the embedded index has: a file that changes its layout, is interrupted or damaged; a thread that serves
 * searches first.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { type FileHandle, open as openFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { Type } from 'typebox'
import { systemClock } from '../../../core/base/clock.ts'
import { isAppError } from '../../../core/base/error.ts'
import { defineIndex, type IndexDefinition } from '../../../core/index/mapping.ts'
import { openLog } from '../../../core/log.ts'
import { definitionData } from '../../../plugins/index-kit/document.ts'
import { givenSql } from '../../../plugins/sqlite/filter.ts'
import { layoutOf, tableNames } from '../../../plugins/sqlite/layout.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'
import { copyTo } from '../../../plugins/sqlite/snapshot-file.ts'
import { keepThreads } from '../../../plugins/sqlite/threads.ts'
import { bundledChild } from '../../support/child.ts'
import { lookAtElsewhere } from '../../support/elsewhere.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { KEPT_THREADS } from '../../support/testing.ts'
import { bookIndex, bookOf, openBooks } from './books.ts'
import '../../support/slow.ts'

async function folderOf(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  return folder
}

async function open(t: TestContext, folder: string, definitions: readonly IndexDefinition[] = [bookIndex]) {
  const index = await openBooks(folder, definitions)
  let isOpen = true
  t.after(() => (isOpen ? index.close() : undefined))
  return Object.assign(index, {
    async end() {
      isOpen = false
      await index.close()
    },
  })
}

async function filled(t: TestContext, folder: string, count: number): Promise<void> {
  const index = await open(t, folder)
  await index.collection(bookIndex).putMany(Array.from({ length: count }, (_, at) => bookOf(at)))
  await index.end()
}

const tablesIn = (folder: string): string[] => {
  const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
  const names = db
    .prepare<unknown[], string>(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'book%'`)
    .pluck()
    .all()
  db.close()
  return names
}

const snapshotsIn = (folder: string): string[] => readdirSync(folder).filter((name) => name.startsWith('snapshot'))

async function someMegabytes(t: TestContext, folder: string): Promise<[Database.Database, FileHandle]> {
  const file = join(folder, 'large.sqlite')
  const db = new Database(file)
  const source = await openFile(file, 'r')
  t.after(() => {
    db.close()
    return source.close()
  })
  db.pragma('journal_mode = WAL')
  db.exec(
    `CREATE TABLE lines(line); INSERT INTO lines SELECT zeroblob(20000) FROM (WITH RECURSIVE row(at) AS (VALUES (1) UNION ALL SELECT at + 1 FROM row LIMIT 500) SELECT * FROM row)`,
  )
  return [db, source]
}

/** Resolves when all old versions are deleted, which continues after the opening. */
async function swept(index: { refresh(): Promise<void> }, folder: string, version: number): Promise<void> {
  const isOld = (name: string) => !name.startsWith(`book_v${version}`)
  for (let turn = 0; turn < 2000 && tablesIn(folder).some(isOld); turn++) {
    await index.refresh()
    await new Promise((resolve) => setImmediate(resolve))
  }
  assert.deepEqual(tablesIn(folder).filter(isOld), [])
}

test('an added field is filled in place from the documents', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 150)
  const grown = defineIndex({
    ...bookIndex,
    fields: {
      ...bookIndex.fields,
      year: { type: 'long', filter: true, sort: true },
      marks: { type: 'keyword', multi: true, filter: true },
    },
    lists: [['year']],
  })

  const index = await open(t, folder, [grown])

  const books = index.collection(grown)
  assert.equal(await books.count({ eq: ['year', 1903] }), 2)
  assert.equal(await books.count({ eq: ['marks', 'm1'] }), 75)
  assert.deepEqual(
    (await books.find({ sort: [{ by: 'year', order: 'desc' }], size: 1 })).hits.map((hit) => hit.id),
    ['b099'],
  )
  assert.equal((await books.find({ text: { words: 'number' } })).total, 150)
  assert.ok(
    tablesIn(folder).every((name) => name.startsWith('book_v1')),
    'in place',
  )
})

test('a changed field rebuilds into a second version, and the old one is deleted', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 150)
  const changed = defineIndex({
    ...bookIndex,
    fields: { ...bookIndex.fields, owner: { type: 'keyword', filter: true }, subtitle: { type: 'text', search: 1 } },
  })

  const index = await open(t, folder, [changed])

  const books = index.collection(changed)
  assert.equal((await books.find({ text: { words: 'subtitle 7', prefixLast: false } })).total, 1)
  assert.deepEqual(await books.get('b007'), bookOf(7).doc)
  assert.equal(JSON.parse((await books.getText('b007'))!).owner, 'me', 'no longer internal')
  await swept(index, folder, 2)
})

test('a new form rebuilds through reform; an identical one changes nothing', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 250)
  let calls = 0
  const reformed = (form: string) =>
    defineIndex({ ...bookIndex, form, reform: (doc) => (calls++, { ...doc, title: `${doc.title} in ${form}` }) })

  let index = await open(t, folder, [reformed('utc')])
  assert.equal((await index.collection(bookIndex).get('b003'))?.title, 'Number 3 in utc')
  assert.equal((await index.collection(bookIndex).find({ text: { words: 'number utc' } })).total, 250)
  assert.equal(calls, 250)
  await index.end()
  index = await open(t, folder, [reformed('utc')])
  assert.equal(calls, 250)
})

test('an interrupted rebuild continues', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 250)
  const seen: number[] = []
  const reformed = (last: number) =>
    defineIndex({
      ...bookIndex,
      form: 'new',
      reform(doc) {
        if (doc.addedAt > last) throw new Error('broken off')
        seen.push(doc.addedAt)
        return { ...doc, title: `${doc.title} new` }
      },
    })
  await assert.rejects(openBooks(folder, [reformed(220)]), /broken off/)
  assert.ok(seen.length >= 200)
  seen.length = 0

  const index = await open(t, folder, [reformed(Infinity)])

  assert.ok(seen.length <= 50, `${seen.length} were done again`)
  const titles: string[] = []
  for await (const batch of index.collection(bookIndex).scan()) titles.push(...batch.map(({ doc }) => doc.title))
  assert.deepEqual(
    titles,
    Array.from({ length: 250 }, (_, at) => `Number ${at} new`),
  )
})

test('the remains of an abandoned rebuild are deleted', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 250)
  const broken = defineIndex({
    ...bookIndex,
    form: 'new',
    reform: (doc) => (doc.addedAt > 120 ? assert.fail('broken off') : doc),
  })
  await assert.rejects(openBooks(folder, [broken]), /broken off/)

  const index = await open(t, folder)

  assert.equal(await index.collection(bookIndex).count(), 250)
  await swept(index, folder, 1)
})

test('a snapshot can be taken before the first rebuild, and contains the existing data', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 20)
  const path = join(folder, 'before.sqlite')
  let times = 0
  const beforeRebuild = async (snapshotTo: (path: string) => Promise<void>) => {
    times++
    await snapshotTo(path)
  }
  const changed = defineIndex({ ...bookIndex, form: 'new', reform: (doc) => ({ ...doc, title: 'changed' }) })
  const index = await openSqliteIndex({
    file: join(folder, 'index.sqlite'),
    definitions: [changed],
    log: openLog('silent'),
    clock: systemClock,
    beforeRebuild,
  })
  t.after(() => index.close())
  assert.equal(times, 1)
  assert.equal((await index.collection(bookIndex).get('b001'))?.title, 'changed')
  await index.restoreFrom(path, { accept: (_name, _id, doc) => ({ ...doc, owner: 'restored' }) })
  // The snapshot has the old form, so its documents are reformed, too.
  assert.deepEqual(await index.collection(bookIndex).get('b001'), {
    ...bookOf(1).doc,
    title: 'changed',
    owner: 'restored',
  })
})

const child = await bundledChild(new URL('./books-child.ts', import.meta.url))

/** Runs an operation until it kills itself. */
async function runAndKill(folder: string, what: string): Promise<NodeJS.Signals | number | null> {
  const running = spawn(process.execPath, [child, what, folder], { stdio: ['ignore', 'inherit', 'inherit'] })
  const [code, signal] = (await once(running, 'exit')) as [number | null, NodeJS.Signals | null]
  return signal ?? code
}

for (const [what, title] of [
  ['rebuild', 'killed in the middle of a rebuild'],
  ['add', 'killed while a field is added'],
] as const) {
  test(`${title}, the next start finishes it without loss`, async (t) => {
    const folder = await folderOf(t)
    await filled(t, folder, 600)

    assert.equal(await runAndKill(folder, what), 'SIGKILL')

    const definition = defineIndex({
      ...bookIndex,
      fields: {
        ...bookIndex.fields,
        year: { type: 'long', filter: true, ...(what === 'rebuild' ? { search: 1 } : {}) },
      },
    })
    const index = await open(t, folder, [definition])
    const books = index.collection(definition)
    assert.equal(await books.count({ exists: 'year' }), 600)
    assert.equal((await books.find({ text: { words: 'number' } })).total, 600)
    let count = 0
    for await (const batch of books.scan())
      for (const { id, doc } of batch) assert.deepEqual(doc, bookOf(Number(id.slice(1))).doc, String(count++))
    assert.equal(count, 600)
    await swept(index, folder, what === 'rebuild' ? 2 : 1)
  })
}

test('killed during a replacement, everything is unchanged', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 100)

  assert.equal(await runAndKill(folder, 'replace'), 'SIGKILL')

  const index = await open(t, folder)
  assert.equal(await index.collection(bookIndex).count(), 100)
  assert.equal((await index.collection(bookIndex).get('b001'))?.title, 'Number 1')
  await swept(index, folder, 1)
  await index.replaceAll(async (write) => void (await write('book', [bookOf(5)])))
  assert.equal(await index.collection(bookIndex).count(), 1)
})

test('words of replaced documents are collected and merged as before, although in larger chunks meanwhile', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 10)
  const index = await open(t, folder)
  const settings = (version: number) => {
    const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
    const rows = db.prepare(`SELECT k, v FROM book_v${version}_fts_config ORDER BY k`).raw().all() as [string, number][]
    db.close()
    return Object.fromEntries(rows.filter(([name]) => name !== 'version'))
  }
  let meanwhile: object = {}
  await index.replaceAll(async (write) => {
    meanwhile = settings(2)
    await write(
      'book',
      Array.from({ length: 1200 }, (_, at) => bookOf(at)),
    )
  })

  assert.deepEqual(meanwhile, { automerge: 16, crisismerge: 64, hashsize: 8 << 20 })
  assert.deepEqual(settings(2), { automerge: 4, crisismerge: 16, hashsize: 1 << 20 })
  const found = async (words: string) => (await index.collection(bookIndex).find({ text: { words } })).total
  assert.deepEqual([await found('number'), await found('numbers'), await found('1199')], [1200, 1200, 1])
})

test('killed after confirmed writes, all of them are there', async (t) => {
  const folder = await folderOf(t)
  assert.equal(await runAndKill(folder, 'write'), 'SIGKILL')
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  assert.equal(await books.count(), 333)
  assert.equal((await books.find({ text: { words: 'number' } })).total, 333)
  assert.equal(index.recovered, undefined)
})

test('a malformed file is moved aside, and the start continues with an empty index', async (t) => {
  for (const damage of ['garbage', 'cut', 'empty header'] as const) {
    const folder = await folderOf(t)
    const file = join(folder, 'index.sqlite')
    await filled(t, folder, 300)
    const bytes = await readFile(file)
    if (damage === 'garbage') writeFileSync(file, 'this is no index, but it is long enough to be one'.repeat(200))
    else if (damage === 'cut') truncateSync(file, Math.floor(bytes.length / 3))
    else await writeFile(file, Buffer.concat([Buffer.alloc(200, 7), bytes.subarray(200)]))

    const index = await open(t, folder)

    assert.ok(index.recovered && existsSync(index.recovered), damage)
    assert.equal(await index.collection(bookIndex).count(), 0)
    await index.collection(bookIndex).put('b1', bookOf(1).doc)
    await index.end()
    const again = await open(t, folder)
    assert.equal(again.recovered, undefined)
    assert.equal(await again.collection(bookIndex).count(), 1)
  }
})

test('a page that is found malformed at run time is reported, and the next start begins with a new file', async (t) => {
  const folder = await folderOf(t)
  const file = join(folder, 'index.sqlite')
  await filled(t, folder, 2000)
  const bytes = await readFile(file)
  // All pages of documents except the first and the last few, which the opening reads.
  const db = new Database(file, { readonly: true })
  const pages = db
    .prepare<unknown[], number>(
      `SELECT pageno FROM dbstat WHERE name = 'book_v1_doc' AND pagetype = 'leaf' ORDER BY pageno`,
    )
    .pluck()
    .all()
  db.close()
  for (const page of pages.slice(5, -5)) bytes.fill(0xff, (page - 1) * 8192, page * 8192)
  await writeFile(file, bytes)

  const index = await open(t, folder)
  assert.equal(index.recovered, undefined)
  await assert.rejects(async () => {
    for await (const batch of index.collection(bookIndex).scan()) assert.ok(batch)
  })
  await index.end()
  const again = await open(t, folder)
  assert.ok(again.recovered)
  assert.equal(await again.collection(bookIndex).count(), 0)
})

test('a search is answered while long work goes on', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 3000)
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  const order: string[] = []
  const removing = books.removeWhere({ and: [] }).then(() => order.push('removed'))
  const searching = books
    .find({ text: { words: 'number', fuzziness: 'auto' } })
    .then((found) => order.push(found.total > 0 ? 'found' : 'nothing'))
  const writing = books.put('late', bookOf(1).doc).then(() => order.push('written'))
  await Promise.all([removing, searching, writing])
  assert.equal(order.at(-1), 'removed')
  assert.equal(order.length, 3)
  assert.ok(order.includes('found'))
})

test('a message that cannot be sent to the thread fails alone, whatever else is sent', async (t) => {
  const index = await open(t, await folderOf(t))
  const books = index.collection(bookIndex)
  await books.put('b1', bookOf(1).doc)
  const odd = (() => 'x') as never
  const [before, failed, after] = await Promise.allSettled([
    books.find({ text: { words: 'number' } }),
    books.find({ text: { words: 'x' }, filter: { eq: ['owner', odd] } }),
    books.patch('b1', { set: { year: 7 } }),
  ])
  assert.equal(before.status === 'fulfilled' && before.value.total, 1)
  assert.match(String(failed.status === 'rejected' && failed.reason), /could not be cloned/)
  assert.equal(after.status === 'fulfilled' && after.value, true)
})

test('long work that is cancelled stops between two documents', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 3000)
  const index = await open(t, folder)
  const stop = new AbortController()
  const reason = new Error('enough')
  await assert.rejects(
    index.collection(bookIndex).removeWhere({ and: [] }, { signal: stop.signal, progress: () => stop.abort(reason) }),
    reason,
  )
  const left = await index.collection(bookIndex).count()
  assert.ok(left > 0 && left < 3000, `${left} left`)
  await assert.rejects(index.collection(bookIndex).removeWhere({ and: [] }, { signal: stop.signal }), reason)
})

// Copied here and not in the worker, so that the order of steps does not depend on the speed of threads.
test('a copy contains the state at its beginning, while its connection writes', async (t) => {
  const folder = await folderOf(t)
  const [db, source] = await someMegabytes(t, folder)
  const path = join(folder, 'snapshot.sqlite')
  const pagesBetween = db.pragma('wal_autocheckpoint', { simple: true })
  const reader = new Database(db.name, { readonly: true })
  t.after(() => reader.close())
  db.exec(`UPDATE lines SET line = 'Written before' WHERE rowid = 250`)
  // Pages that it still reads cannot be moved from the log into the file: the copy waits for it.
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM lines').get()
  db.exec(`UPDATE lines SET line = 'Written before' WHERE rowid = 251`)
  let steps = 0
  let isReading = true
  const copying = copyTo(
    db,
    source,
    path,
    () => {
      if (isReading && ++steps === 3) {
        isReading = false
        steps = 0
        reader.exec('COMMIT')
      }
      return false
    },
    () => {
      assert.equal(isReading, false)
      if (++steps === 2)
        db.exec(`UPDATE lines SET line = 'Written meanwhile' || zeroblob(20000) WHERE rowid NOT IN (250, 251)`)
    },
  )
  await copying
  const copy = new Database(path, { readonly: true })
  t.after(() => copy.close())
  const countOf = (one: Database.Database, line: string) =>
    one.prepare(`SELECT count(*) FROM lines WHERE line LIKE ?`).pluck().get(`${line}%`)
  assert.equal(copy.pragma('integrity_check', { simple: true }), 'ok')
  assert.deepEqual(
    [db, copy].map((one) => ['Written before', 'Written meanwhile'].map((line) => countOf(one, line))),
    [
      [2, 498],
      [2, 0],
    ],
  )
  assert.ok(steps > 2)
  assert.equal(db.pragma('wal_autocheckpoint', { simple: true }), pagesBetween)
  assert.deepEqual(snapshotsIn(folder), ['snapshot.sqlite'])
})

test('after a copy another program still finds the index in use', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 150)
  const index = await open(t, folder)
  await index.snapshotTo(join(folder, 'snapshot.sqlite'))
  await index.collection(bookIndex).put('later', bookOf(1).doc)
  const file = join(folder, 'index.sqlite')
  await lookAtElsewhere(file)
  assert.ok(existsSync(`${file}-wal`))
  assert.equal(await index.collection(bookIndex).count(), 151)
})

test('a copy that is cancelled halfway leaves nothing', async (t) => {
  const folder = await folderOf(t)
  const seen: Array<{ fraction: number; files: string[] }> = []
  const progress = (done: number, total: number) => seen.push({ fraction: done / total, files: snapshotsIn(folder) })
  const [db, source] = await someMegabytes(t, folder)
  await assert.rejects(
    copyTo(db, source, join(folder, 'snapshot.sqlite'), () => seen.length === 2, progress),
    { name: 'AbortError' },
  )
  assert.ok(
    seen.every(({ fraction, files }) => fraction < 1 && files.includes('snapshot.sqlite.part')),
    JSON.stringify(seen),
  )
  assert.deepEqual(snapshotsIn(folder), [])
})

test('a snapshot that is cancelled at once does not exist', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 3000)
  const index = await open(t, folder)
  const stop = new AbortController()
  const copying = index.snapshotTo(join(folder, 'snapshot.sqlite'), { signal: stop.signal })
  stop.abort(new Error('enough'))
  await assert.rejects(copying, /enough/)
  assert.deepEqual(snapshotsIn(folder), [])
})

test('a snapshot is restored over other documents', async (t) => {
  const folder = await folderOf(t)
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  await books.putMany(Array.from({ length: 500 }, (_, at) => bookOf(at)))
  const path = join(folder, 'snapshot.sqlite')
  const steps: number[] = []
  await index.snapshotTo(path, { progress: (done, total) => steps.push(done / total) })
  assert.deepEqual(snapshotsIn(folder), ['snapshot.sqlite'])
  assert.ok(steps.length > 0 && steps.every((step) => step >= 0 && step <= 1), steps.join())

  await books.removeWhere({ range: ['addedAt', { lt: 400 }] })
  await books.put('new', bookOf(1).doc)
  const result = await index.restoreFrom(path, {
    accept: (_name, id, doc) => (id === 'b002' ? undefined : id === 'b003' ? { ...doc, title: 7 } : doc),
  })
  assert.deepEqual([result.written, result.skipped], [498, 2])
  assert.deepEqual(
    result.failed.map(({ id }) => id),
    ['b002', 'b003'],
  )
  assert.equal((await books.get('b004'))?.owner, 'me')
  assert.deepEqual(await books.known(['new', 'b001', 'b002', 'b499']), new Set(['b001', 'b499']))
})

test('an invalid snapshot is refused, and nothing changes', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 10)
  const index = await open(t, folder)
  const path = join(folder, 'wrong.sqlite')
  const cases: Array<[string, () => void]> = [
    ['missing', () => undefined],
    ['garbage', () => writeFileSync(path, 'garbage'.repeat(1000))],
    [
      'another database',
      () => {
        writeFileSync(path, '')
        const db = new Database(path)
        db.exec(
          `CREATE TABLE index_collections(name, version, form); INSERT INTO index_collections VALUES ('book', 9, ''), ('x"; DROP TABLE y', 1, '')`,
        )
        db.close()
      },
    ],
  ]
  for (const [name, prepare] of cases) {
    prepare()
    await assert.rejects(index.restoreFrom(path), (error) => isAppError(error, 'unprocessable'), name)
    assert.equal(await index.collection(bookIndex).count(), 10)
  }
})

test('values whose type a changed mapping does not expect leave the document unchanged', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 20)
  const changed = defineIndex({
    ...bookIndex,
    fields: { ...bookIndex.fields, title: { type: 'long', filter: true } },
  }) as IndexDefinition
  const index = await open(t, folder, [changed])
  assert.equal(await index.collection(changed).count(), 20)
  assert.equal(await index.collection(changed).count({ exists: 'title' }), 0)
  assert.deepEqual(await index.collection(changed).get('b001'), bookOf(1).doc)
})

/** Collects workers that are started from now on; none is reused. */
function startedWorkers(t: TestContext): Worker[] {
  const workers: Worker[] = []
  const onWorker = (worker: Worker) => workers.push(worker)
  keepThreads(0)
  process.on('worker', onWorker)
  t.after(() => {
    process.off('worker', onWorker)
    keepThreads(KEPT_THREADS)
  })
  return workers
}

test('a thread ends with its index, unless it is reused: then it serves the next one, which sees nothing of the previous one', async (t) => {
  const workers = startedWorkers(t)
  const [first, second] = [await folderOf(t), await folderOf(t)]
  await filled(t, first, 3)
  assert.deepEqual([workers.length, workers[0]!.threadId], [1, -1], 'ended')

  keepThreads(1)
  await filled(t, first, 5)
  const index = await open(t, second)

  assert.deepEqual([workers.length, await index.collection(bookIndex).count()], [2, 0])
  await index.collection(bookIndex).put('b1', bookOf(1).doc)
  const other = await open(t, first)
  assert.deepEqual([workers.length, await other.collection(bookIndex).count()], [3, 5], 'that thread is in use')
})

test('when the worker ends by itself, pending requests are refused and another one serves', async (t) => {
  const folder = await folderOf(t)
  const workers = startedWorkers(t)
  await filled(t, folder, 50)
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  const waiting = assert.rejects(books.patchWhere({ and: [] }, { set: { owner: 'you' } }), (error) =>
    isAppError(error, 'unavailable'),
  )
  await workers.at(-1)!.terminate()
  await waiting
  assert.equal((await books.find({ text: { words: 'number' } })).total, 50)
  await books.put('after', bookOf(1).doc)
  assert.equal(await books.count(), 51)
})

test('many words of which any is enough: documents with most of them come first', async (t) => {
  const folder = await folderOf(t)
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  const all = 'alpha bravo charlie delta echo foxtrot golf hotel india juliet'.split(' ')
  await books.putMany(
    all.map((_, at) => ({ id: `b${at}`, doc: { ...bookOf(at).doc, title: all.slice(0, at + 1).join(' ') } })),
  )
  const found = await books.find({ text: { words: all.join(' '), match: 'any', fuzziness: 'auto' }, size: 20 })
  assert.deepEqual(
    found.hits.slice(0, 6).map((hit) => hit.id),
    ['b9', 'b8', 'b7', 'b6', 'b5', 'b4'],
  )
  assert.equal(found.total, 10)
  const misspelt = await books.find({
    text: { words: all.map((word) => word.slice(0, -1)).join(' '), match: 'any', fuzziness: 'auto' },
    size: 20,
  })
  assert.equal(misspelt.total, 10)
})

test('exact words come before prefixes and inflections, words before near ones, and the newest of each first', async (t) => {
  const books = (await open(t, await folderOf(t))).collection(bookIndex)
  const titles = ['a lantern', 'lanterns at sea', 'lanternfish', 'lantren', 'the lantern', 'lanterm', 'latern']
  await books.putMany(titles.map((title, at) => ({ id: `b${at}`, doc: { ...bookOf(at).doc, title, addedAt: at } })))
  const find = async (text: { words: string; prefixLast?: boolean }, from = 0, size = 10) => {
    const { hits } = await books.find({ text: { ...text, fuzziness: 'auto' }, from, size })
    return hits.map(({ id }) => id)
  }

  const expected = ['b4', 'b0', 'b2', 'b1', 'b6', 'b5', 'b3']
  assert.deepEqual(await find({ words: 'lantern', prefixLast: true }), expected)
  for (const at of expected.keys())
    assert.deepEqual(await find({ words: 'lantern', prefixLast: true }, at, 1), [expected[at]], `hit ${at} alone`)
  assert.deepEqual(await find({ words: 'nothing' }), [])
  assert.deepEqual(await find({ words: 'lantern', prefixLast: true }), expected, 'also after a search in vain')
})

test('a filter that matches few of many finds them, the newest first', async (t) => {
  const index = await open(t, await folderOf(t))
  const books = index.collection(bookIndex)
  const many = Array.from({ length: 20_004 }, (_, at) => ({
    id: `b${at}`,
    doc: {
      ...bookOf(at).doc,
      ...(at % 2 === 0 ? { title: 'people talk', owner: 'you' } : { title: 'Leute reden', owner: 'me' }),
    },
  }))
  many[20_001]!.doc.title = 'people people people'
  many[20_003]!.doc.title = `people ${'and many other words '.repeat(20)}`
  await books.putMany(many)

  const { hits } = await books.find({ text: { words: 'people' }, filter: { eq: ['owner', 'me'] } })

  assert.deepEqual(
    hits.map(({ id }) => id),
    ['b20003', 'b20001'],
  )
  const common = await books.find({ text: { words: 'people' }, filter: { eq: ['owner', 'you'] }, size: 500 })
  assert.deepEqual([common.hits.length, common.hits[0]!.id, common.total], [500, 'b20002', 10_000])
})

test('an impossible mapping is refused by name', async (t) => {
  const folder = await folderOf(t)
  const doc = Type.Object({ a: Type.String() })
  const cases: Array<[IndexDefinition, RegExp]> = [
    [defineIndex({ name: 'bad name', doc, fields: {} }), /bad name/],
    [defineIndex({ name: 'x', doc, fields: { rid: { type: 'long' } } }), /rid/],
    [defineIndex({ name: 'x', doc, fields: { a: { type: 'keyword', multi: true, sort: true } } }), /x\.a/],
    [defineIndex({ name: 'x', doc, fields: { a: { type: 'keyword' } }, newest: 'a' }), /newest/],
    [defineIndex({ name: 'x', doc, fields: { a: { type: 'keyword' } }, covers: [['a']] }), /a list or statistic/],
  ]
  for (const [definition, message] of cases) await assert.rejects(openBooks(folder, [definition]), message)
})

test('a list of ids drives the query before its filter, also before the tables were analyzed', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 20)
  const given = givenSql(layoutOf(definitionData(bookIndex)), tableNames('book', 1), { eq: ['owner', 'me'] })
  const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
  t.after(() => db.close())

  const plan = (ends: string) =>
    db
      .prepare<unknown[], { detail: string }>(`EXPLAIN QUERY PLAN ${ends}`)
      .all('[]', ...given.values)
      .map(({ detail }) => detail.split(' ', 2).join(' '))

  for (const ends of [`SELECT count(*) ${given.text}`, `SELECT m.rid ${given.text} ORDER BY j.key LIMIT 12`])
    assert.deepEqual(plan(ends).slice(0, 2), ['SCAN j', 'SEARCH m'], ends)
})

test('statistics of an index with few documents are not used for one with many', async (t) => {
  const folder = await folderOf(t)
  await filled(t, folder, 20)
  await filled(t, folder, 20)
  const statistics = () => {
    const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
    const isThere = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'`).get() !== undefined
    const tables = isThere
      ? db.prepare<unknown[], string>('SELECT DISTINCT tbl FROM sqlite_stat1 ORDER BY tbl').pluck().all()
      : []
    db.close()
    return tables
  }
  assert.deepEqual(statistics(), [])

  await filled(t, folder, 1200)
  await open(t, folder)

  for (let turn = 0; turn < 2000 && statistics().length === 0; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(statistics(), ['book_v1'])
})

test('large documents are scanned a few at a time, small ones in full batches', async (t) => {
  const folder = await folderOf(t)
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  const large = (at: number) => ({ ...bookOf(at), doc: { ...bookOf(at).doc, subtitle: 'x'.repeat(1_000_000) } })
  await books.putMany(Array.from({ length: 40 }, (_, at) => large(at)))
  await books.putMany(Array.from({ length: 60 }, (_, at) => bookOf(100 + at)))
  const read = async (filter: { range: ['addedAt', { gte?: number; lt?: number }] }) => {
    const batches: number[] = []
    for await (const batch of books.scan({ filter, batch: 50 })) batches.push(batch.length)
    return batches
  }

  assert.deepEqual(await read({ range: ['addedAt', { gte: 100 }] }), [50, 10])
  assert.deepEqual(await read({ range: ['addedAt', { lt: 100 }] }), [10, 10, 10, 10])
})

const piecesIn = (folder: string): number => {
  const db = new Database(join(folder, 'index.sqlite'), { readonly: true })
  const pieces = db.prepare<unknown[], number>('SELECT count(DISTINCT segid) FROM book_v1_fts_idx').pluck().get()!
  db.close()
  return pieces
}

test('words that were written in many steps are merged in idle times, while everything else continues', async (t) => {
  const folder = await folderOf(t)
  const index = await open(t, folder)
  const books = index.collection(bookIndex)
  await books.removeWhere({ eq: ['owner', 'nobody'] }) // after the sweeping of the opening, which does it too
  for (let at = 0; at < 26; at++) await books.put(`b${at}`, bookOf(at).doc)
  await books.remove('b1')
  const found = async (words: string) =>
    (await books.find({ text: { words }, size: 100 })).hits.map(({ id }) => id).toSorted()
  const before = await found('number')
  assert.ok(piecesIn(folder) > 4, `${piecesIn(folder)} pieces`)

  const resting = index.relax!()
  await books.put('b1', { ...bookOf(1).doc, title: 'Number written meanwhile' })
  await resting
  await index.relax!()

  assert.ok(piecesIn(folder) <= 2, `${piecesIn(folder)} pieces`)
  assert.deepEqual(await found('number'), [...before, 'b1'].toSorted())
  assert.deepEqual(await found('meanwhile'), ['b1'])
  const { name } = books.definition
  const version = index.versionOf!(name)
  await index.relax!()
  assert.equal(index.versionOf!(name), version, 'nothing is left to be done')
})
