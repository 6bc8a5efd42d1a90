/**
 * Measures what the marks of each account cost with 100,000 videos: lists of unwatched videos compared with plain ones
 * on both indexes, setting a mark, the marks of a channel, and the upgrade from shared marks.
 */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { systemClock } from '../../core/base/clock.ts'
import { openLog } from '../../core/log.ts'
import { connectElastic } from '../../plugins/elasticsearch/connection.ts'
import { openElasticIndex } from '../../plugins/elasticsearch/open.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { videoIndex } from '../../plugins/video/schema.ts'
import { makeNode, whyNoElasticsearch } from '../elasticsearch/node.ts'
import { temporaryFolder } from '../support/folder.ts'
import { randomFrom } from './generate.ts'
import { archiveOf, copyOfLibrary, inBatches } from './support/library.ts'
import { delaysDuring, firstSnapshotTaken, startArchive } from './support/processes.ts'
import { DEFINITIONS } from './support/questions.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const WATCHED = VIDEOS * 0.6
const TIMES = 300
const IDS_AT_ONCE = 500
const PUBLISHED = [{ by: 'published' as const, order: 'desc' as const }]

const report = openReport('watched')
const log = openLog('warn')
const scope = openScope()
const archive = archiveOf(VIDEOS)
const folder = await copyOfLibrary(scope, VIDEOS)
const index = await openSqliteIndex({
  file: join(folder, 'index.sqlite'),
  definitions: DEFINITIONS,
  log,
  clock: systemClock,
})
const collection = index.collection(videoIndex)

const random = randomFrom(41)
const videos = [...archive.videos()].map(({ id, doc }) => ({ id, published: doc.published, isAny: random() < 0.6 }))
const newest = videos.toSorted((one, other) => (one.published < other.published ? 1 : -1)).slice(0, WATCHED)
const sets = { any: videos.filter(({ isAny }) => isAny), newest }
for (const [account, watched] of Object.entries(sets)) {
  const started = performance.now()
  for (const some of inBatches(watched, IDS_AT_ONCE))
    await collection.patchWhere({ in: ['platform_id', some.map(({ id }) => id)] }, { add: { watched_by: [account] } })
  report(`marks of ${WATCHED} videos, ${account}`, { unit: 's', value: (performance.now() - started) / 1000 })
}

const filters = {
  plain: undefined,
  'not watched, of which any 60 % were': { not: { eq: ['watched_by', 'any'] as ['watched_by', string] } },
  'not watched, of which the newest 60 % were': { not: { eq: ['watched_by', 'newest'] as ['watched_by', string] } },
  'watched, any 60 %': { eq: ['watched_by', 'any'] as ['watched_by', string] },
}
await measureLists('embedded', collection, TIMES)
await index.close()
await measureElasticsearch()
await measureServer()
await measureUpgrade()
await scope.close()

/** Requests each list once after a write, so that caches have no effect. */
async function measureLists(where: string, videosOf: typeof collection, rounds: number): Promise<void> {
  for (const size of [12, 200]) {
    const taken = new Map<string, number[]>(Object.keys(filters).map((name) => [name, []]))
    for (let at = 0; at < rounds; at++) {
      await videosOf.patch(videos[at]!.id, { set: { media_size: at } })
      const entries = Object.entries(filters)
      for (const [name, filter] of [...entries.slice(at % entries.length), ...entries.slice(0, at % entries.length)]) {
        const started = performance.now()
        await videosOf.find({ filter, sort: PUBLISHED, size })
        taken.get(name)!.push(performance.now() - started)
      }
    }
    const plain = median(taken.get('plain')!)
    for (const [name, times] of taken)
      report(`${where}: page of ${size}, ${name}`, {
        unit: 'ms',
        value: median(times),
        beside: plain,
        limits: 'ratio',
        atMost: 2,
      })
  }
}

async function measureElasticsearch(): Promise<void> {
  const why = whyNoElasticsearch()
  if (why) return void process.stdout.write(`${why}\n`)
  const node = await makeNode({ heapMb: 1024 })
  await node.start()
  const connection = connectElastic({ url: node.url, log, clock: systemClock })
  const elastic = await openElasticIndex({
    connection,
    definitions: DEFINITIONS,
    log,
    clock: systemClock,
    prefix: 'av',
  })
  const collection = elastic.collection(videoIndex)
  const isNewest = new Set(sets.newest.map(({ id }) => id))
  let at = 0
  for (const turn of inBatches(archive.videos(), VIDEOS / 20)) {
    const marked = turn.map(({ id, doc }) => {
      const watched_by = [videos[at++]!.isAny && 'any', isNewest.has(id) && 'newest'].filter(Boolean)
      return { id, doc: { ...doc, watched_by } as typeof doc }
    })
    const { failed } = await collection.putMany(marked)
    if (failed.length > 0) throw new Error(`${failed.length} documents were refused`)
  }
  await elastic.refresh()
  await measureLists('Elasticsearch', elastic.collection(videoIndex), TIMES / 5)
  await elastic.close()
  await node.close()
}

/** Measures one mark and the marks of a channel over HTTP. */
async function measureServer(): Promise<void> {
  const server = await startArchive(scope, { dataDir: folder }, { isWatched: true })
  const mark = async (id: string, is_watched: boolean): Promise<number> => {
    const started = performance.now()
    const { status } = await server.api('POST', '/api/watched/', { id, is_watched })
    if (status !== 200) throw new Error(`A mark was answered by ${status}`)
    return performance.now() - started
  }
  await firstSnapshotTaken(server)
  const taken: number[] = []
  for (let at = 0; at < TIMES; at++) taken.push(await mark(videos[at % 100]!.id, at % 200 < 100))
  report('a mark, by HTTP', { unit: 'ms', value: median(taken), limits: 'value', atMost: 5 })
  const { own, idle, tookMs } = await delaysDuring(scope, server, () => mark(archive.biggestChannel, true))
  report('marks of the biggest channel: took', { unit: 's', value: tookMs / 1000 })
  report('marks of the biggest channel: event loop delay p99', {
    unit: 'ms',
    value: own.p99,
    beside: idle.p99,
    limits: 'value',
    atMost: 20,
  })
  await server.end('SIGTERM')
}

/** Measures the first start on a data folder of the previous version, until the first answer. */
async function measureUpgrade(): Promise<void> {
  const dataDir = await copyOfLibrary(scope, VIDEOS)
  const beginner = await startArchive(scope, { dataDir: await temporaryFolder(scope) })
  await beginner.end('SIGTERM')
  await copyFile(join(beginner.dataDir, 'ledger.sqlite'), join(dataDir, 'ledger.sqlite'))
  const ledger = new Database(join(dataDir, 'ledger.sqlite'))
  ledger.exec(`INSERT OR IGNORE INTO watch_pending VALUES ('shared marks'), ('upgrade')`)
  ledger.close()
  asBefore(new Database(join(dataDir, 'index.sqlite')))
  const started = performance.now()
  const server = await startArchive(scope, { dataDir })
  report(`upgrade of ${VIDEOS} videos`, { unit: 's', value: (performance.now() - started) / 1000, atMost: 60 })
  const { watched } = (await server.api('GET', '/api/stats/watch/')).body
  if (watched.items < VIDEOS / 3) throw new Error(`Only ${watched.items} videos are marked`)
  await server.end('SIGTERM')
}

/** Writes documents with one mark for all accounts. A start that finds them in another form rebuilds their tables. */
function asBefore(db: Database.Database): void {
  db.pragma('synchronous = OFF')
  const SEEN = `SELECT rid FROM video_v1_kw WHERE field = 'watched_by'`
  db.exec(`
    UPDATE video_v1_doc SET
      text = substr(text, 1, length(text) - 2) || iif(rid IN (${SEEN}), ',"watched":true,"watched_date":1700000000}}', ',"watched":false}}'),
      internal = json_remove(internal, '$.watched_by');
    DELETE FROM video_v1_kw WHERE field = 'watched_by';
    DELETE FROM video_v1_list;
    UPDATE index_collections SET shape = json_set(shape, '$.rest.form', 'before') WHERE name = 'video';
    PRAGMA wal_checkpoint(TRUNCATE);
  `)
  db.close()
}
