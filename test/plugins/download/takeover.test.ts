/** A queue that an earlier version stored in the index is moved to the ledger, wherever the start is interrupted. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { defineIndex, type Settings, Type } from 'archivolt'
import { aQueued, type TestApp, testApp, testClock } from 'archivolt/testing'
import { systemClock } from '../../../core/base/clock.ts'
import { openHoldings } from '../../../core/index/in-use.ts'
import type { IndexAdapter } from '../../../core/index/port.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import download from '../../../plugins/download/plugin.ts'
import { openQueueTable } from '../../../plugins/download/queue-rows.ts'
import { openTakeover } from '../../../plugins/download/takeover.ts'
import elasticsearch from '../../../plugins/elasticsearch/plugin.ts'
import sqlite from '../../../plugins/sqlite/plugin.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { INDEXES, type IndexPlace, indexSettings } from '../../support/indexes.ts'
import { lastFirst } from '../../support/last-first.ts'

/** The part of the earlier definition that decides how documents are stored. */
const earlierIndex = defineIndex({
  name: 'download',
  doc: Type.Object({ platform_id: Type.String(), position: Type.Integer(), later: Type.Boolean() }),
  fields: {
    platform_id: { type: 'keyword', filter: true },
    position: { type: 'long', sort: true, internal: true },
    open: { type: 'boolean', filter: true, internal: true },
    ready: { type: 'boolean', filter: true, internal: true },
    later: { type: 'boolean', filter: true, sort: true, internal: true },
    noted_at: { type: 'date', internal: true },
    reopened: { type: 'boolean', internal: true },
    force: { type: 'boolean', internal: true },
    art: { type: 'keyword', internal: true },
  },
})

/** Has that version's fields for the order. */
function earlier(id: string, position: number, fields: Parameters<typeof aQueued>[0] = {}) {
  const { doc } = aQueued({ id, position, ...fields })
  const { status, error_class: failure } = doc as { status?: string; error_class?: string }
  const isOpen = status !== 'ignore'
  return { id, doc: { ...doc, open: isOpen, ready: isOpen && !failure, later: status !== 'priority' } as never }
}

const ADAPTERS: Record<IndexPlace, typeof sqlite> = { 'the embedded index': sqlite, Elasticsearch: elasticsearch }

async function openEarlier(settings: Readonly<Settings>, place: IndexPlace = 'the embedded index') {
  const given = { log: openLog('silent'), clock: systemClock, settings, definitions: [earlierIndex], version: '1' }
  const { name, indexAdapter } = ADAPTERS[place]
  const holdings = await openHoldings({ dataDir: settings.dataDir, kind: name, ...given })
  return (await indexAdapter!.open({ ...given, holdings })).index
}

type Documents = ReturnType<typeof earlier>[]

/** Documents as that version has left them. */
async function keptInIndex(app: TestApp, place: IndexPlace, documents: Documents): Promise<void> {
  const { settings } = app.app
  await app.close()
  const index = await openEarlier(settings, place)
  await index.collection(earlierIndex).putMany(documents)
  await index.close()
}

const listed = async (app: TestApp): Promise<string[]> =>
  (await app.as('admin').get('/api/download/')).body.data.map((item: { platform_id: string; status: string }) =>
    [item.platform_id, item.status].join(' '),
  )

for (const { index: place, skip } of INDEXES)
  describe(`on ${place}`, { skip }, () => {
    test('items, their order and messages are moved to the ledger, and their partial files stay', async (t) => {
      const scope = lastFirst(t)
      const clock = testClock()
      const app = await testApp(scope, { settings: await indexSettings(scope, place), clock })
      const folders = [await app.app.media.staging('z'), await app.app.media.staging('elsewhere')]
      const noted = Math.floor(clock.now() / 1000) - 60
      const failed = { message: 'It is private', error_class: 'members_only', noted_at: noted } as const
      await keptInIndex(app, place, [
        earlier('a', 4, { status: 'ignore' }),
        earlier('b', 3, { ...failed, retry_at: noted + 86_400 }),
        earlier('c', 2, { status: 'priority', auto_start: true, title: 'Cold proof', art: 'https://a.example/c.jpg' }),
        earlier('z', 1, { force: true }),
        { id: 'broken', doc: { platform_id: 'broken', position: 5, later: true } as never },
      ])

      await app.restart()

      assert.deepEqual(await listed(app), ['c priority', 'z pending', 'b pending', 'a ignore'])
      assert.deepEqual(
        folders.map((folder) => existsSync(folder)),
        [true, false],
      )
      assert.equal(app.app.queue.next({ isAutoOnly: false, except: [] })?.platform_id, 'c')
      assert.equal(app.app.queue.next({ isAutoOnly: false, except: ['c', 'z'] }), undefined)
      assert.deepEqual(
        await app.doc('download', 'b'),
        aQueued({ id: 'b', position: 3, ...failed, retry_at: noted + 86_400 }).doc,
      )
      assert.deepEqual((await app.as('admin').get('/api/download/?q=cold')).body.data.length, 1)
      assert.equal(await app.app.index.leftover!('download'), undefined)
    })

    test('an index of an earlier version next to a current queue does not change the queue', async (t) => {
      const scope = lastFirst(t)
      const app = await testApp(scope, { settings: await indexSettings(scope, place) })
      await app.given(aQueued({ id: 'now' }))
      await keptInIndex(app, place, [earlier('then', 1)])

      await app.restart()

      assert.deepEqual(await listed(app), ['now pending'])
      assert.equal(await app.app.index.leftover!('download'), undefined)
    })
  })

const MANY = 450

/** A data folder with only a ledger and an index, as an earlier version has left them. */
async function earlierFolder(t: TestContext): Promise<string> {
  const folder = await temporaryFolder(t)
  const index = await openEarlier({ dataDir: folder, prefix: 'av' } as Settings)
  await index
    .collection(earlierIndex)
    .putMany(Array.from({ length: MANY }, (_, at) => earlier(`item${String(MANY - at).padStart(4, '0')}`, at + 1)))
  await index.close()
  return folder
}

const ORDER = Array.from({ length: MANY }, (_, at) => `item${String(MANY - at).padStart(4, '0')}`)

type Step = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Starts up to the takeover.
 * @param step  called around each write of it
 */
async function start(dataDir: string, step: Step): Promise<{ ids: string[]; isLeft: boolean; failure: unknown }> {
  const log = openLog('silent')
  const plugins = [{ name: download.name, migrations: download.migrations ?? [] }]
  const ledger = await openLedger({ file: join(dataDir, 'ledger.sqlite'), log, clock: systemClock, plugins })
  const settings = { dataDir, prefix: 'av' } as Settings
  const holdings = await openHoldings({ dataDir, kind: 'sqlite', clock: systemClock, log })
  const given = { log, clock: systemClock, settings, definitions: [], version: '2', holdings }
  const { index } = await sqlite.indexAdapter!.open(given)
  const app = { ledger: { ...ledger, write: cutWrite }, index: cutIndex(index, step), media: { artUrl: () => '' }, log }
  // Only these are used.
  const items = openQueueTable(app as never)
  function cutWrite<Result>(work: () => Result): Promise<Result> {
    return step(() => ledger.write(work))
  }
  try {
    const failure: unknown = await openTakeover(app as never, items)().then(
      () => undefined,
      (error: unknown) => error,
    )
    const ids: string[] = []
    for await (const batch of items.scan(1000)) ids.push(...batch.map(({ platform_id: id }) => id))
    return { ids, isLeft: (await index.leftover!('download')) !== undefined, failure }
  } finally {
    await index.close()
    await ledger.close()
  }
}

const cutIndex = (index: IndexAdapter, step: Step) => ({
  async leftover(name: string) {
    const left = await index.leftover!(name)
    return left && { ...left, remove: () => step(left.remove) }
  },
})

test('interrupted before or after any write, the next start ends with every item once, in order', async (t) => {
  const template = await earlierFolder(t)
  const dataDir = join(await temporaryFolder(t), 'data')
  const power = new Error('the power is gone')
  let cuts = 0
  for (let isCut = true; isCut; cuts++) {
    await rm(dataDir, { recursive: true, force: true })
    await mkdir(dataDir)
    await cp(template, dataDir, { recursive: true })
    let moments = 0
    const first = await start(dataDir, async (work) => {
      if (moments++ === cuts) throw power
      const result = await work()
      if (moments++ === cuts) throw power
      return result
    })
    isCut = first.failure === power

    const second = await start(dataDir, (work) => work())

    assert.ok(first.failure === undefined || isCut, String(first.failure))
    assert.ok([0, MANY].includes(first.ids.length), 'never a part of it')
    assert.deepEqual([second.failure, second.isLeft, second.ids], [undefined, false, ORDER], `cut off at ${cuts}`)
  }
  assert.ok(cuts > 8, `${cuts} cuts`)
})
