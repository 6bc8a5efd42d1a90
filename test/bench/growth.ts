/**
 * Compares a library with one a hundred times as large: the cost of a document, a page, a count and a search on the
 * index itself, and the memory of a server. The large library is generated once, which takes a quarter of an hour and
 * 6 GB.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../core/base/clock.ts'
import { openLog } from '../../core/log.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { videoIndex } from '../../plugins/video/schema.ts'
import { randomFrom } from './generate.ts'
import { archiveOf, folderOfVideos } from './support/library.ts'
import { openLoad } from './support/load.ts'
import { rssMb, startArchive } from './support/processes.ts'
import { DEFINITIONS } from './support/questions.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const SMALL = 10_000
const LARGE = isQuick ? 100_000 : 1_000_000
const ROUNDS = isQuick ? 5 : 15
const TIMES = 200
/** Fewer than other questions, because searches take longer; each word is searched for once. */
const SEARCHES = 40
const KNOWN = 2000
const FIRST_DOWNLOAD = 1_500_000_000
const SECONDS_BETWEEN = 600
const LOAD_SECONDS = isQuick ? 5 : 30

const report = openReport('growth')
const scope = openScope()
const { words } = archiveOf(SMALL)

async function openLibrary(videos: number) {
  const folder = await folderOfVideos(scope, videos)
  const log = openLog('warn')
  const index = await openSqliteIndex({
    file: join(folder, 'index.sqlite'),
    definitions: DEFINITIONS,
    log,
    clock: systemClock,
  })
  const collection = index.collection(videoIndex)
  const ids: string[] = []
  // Taken from the whole library, not only from the first pages of the file.
  for (let at = 0; at < KNOWN; at++) {
    const gte = FIRST_DOWNLOAD + Math.floor((at * videos) / KNOWN) * SECONDS_BETWEEN
    const { hits } = await collection.find({
      size: 1,
      withoutTotal: true,
      withoutTexts: true,
      filter: { range: ['date_downloaded', { gte }] },
      sort: [{ by: 'date_downloaded', order: 'asc' }],
    })
    ids.push(...hits.map(({ id }) => id))
  }
  const found = await collection.getMany(ids.slice(0, 500))
  const channels = [...new Set([...found.values()].map(({ channel_id }) => channel_id))]
  return { folder, collection, ids, channels, close: () => index.close() }
}
type Library = Awaited<ReturnType<typeof openLibrary>>

const random = randomFrom(31)
const oneOf = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)]!
const seen = { eq: ['watched_by', '1'] as ['watched_by', string] }
const published = [{ by: 'published' as const, order: 'desc' as const }]
const search = ({ collection }: Library, text: string) =>
  collection.find({ text: { words: text, prefixLast: true, fuzziness: 'auto' }, size: 30, withoutTotal: true })
const telling = words.slice(300, 300 + (ROUNDS + 1) * SEARCHES)
const common = words.slice(0, 80).flatMap((one) => words.slice(0, 80).map((other) => `${one} ${other}`))

interface Kind {
  name: string
  times?: number
  /** @param at  the same number asks the same question */
  ask(library: Library, at: number): Promise<unknown>
}
const kinds: Kind[] = [
  { name: 'item', ask: ({ collection, ids }) => collection.getText(oneOf(ids)) },
  { name: 'page 0', ask: ({ collection }) => collection.find({ size: 12, sort: published }) },
  { name: 'page 100', ask: ({ collection }) => collection.find({ size: 12, from: 1200, sort: published }) },
  {
    name: 'page of a channel',
    ask: ({ collection, channels }) =>
      collection.find({ size: 12, sort: published, filter: { eq: ['channel_id', oneOf(channels)] } }),
  },
  { name: 'capped count', ask: ({ collection }) => collection.count(random() < 0.5 ? seen : { not: seen }) },
  { name: 'search, telling words', times: SEARCHES, ask: (library, at) => search(library, telling[at]!) },
  {
    name: 'search, two common words',
    times: SEARCHES,
    ask: (library, at) => search(library, common[(at * 37) % common.length]!),
  },
]

const [small, large] = [await openLibrary(SMALL), await openLibrary(LARGE)]
for (const { name, times = TIMES, ask } of kinds) {
  const run = async (library: Library, round: number) => {
    const started = performance.now()
    for (let at = 0; at < times; at++) await ask(library, round * times + at)
    return ((performance.now() - started) / times) * 1000
  }
  await run(small, ROUNDS)
  await run(large, ROUNDS)
  const rounds: Array<Record<'small' | 'large', number>> = []
  for (let at = 0; at < ROUNDS; at++) rounds.push({ small: await run(small, at), large: await run(large, at) })
  report(`${name}, with ${LARGE} videos beside ${SMALL}`, {
    unit: 'µs',
    value: median(rounds.map((round) => round.large)),
    beside: median(rounds.map((round) => round.small)),
    ratio: median(rounds.map((round) => round.large / round.small)),
    atMost: 2,
  })
}
const file = join(large.folder, 'index.sqlite')
report(`index file of ${LARGE} videos`, { unit: 'GB', value: (await stat(file)).size / 1e9 })
await small.close()
await large.close()

// Prevents a snapshot, which would copy the whole file.
const server = await startArchive(scope, { dataDir: large.folder }, { env: { AV_PLUGINS_OFF: 'snapshot' } })
const requests = [
  ...['/api/video/', '/api/video/?sort=downloaded', '/api/video/?watch=unwatched', '/api/channel/'],
  ...large.ids.slice(0, 500).map((id) => `/api/video/${id}/`),
  ...[...telling.slice(0, 100), ...common.slice(0, 100)].map(
    (each) => `/api/search/?query=${encodeURIComponent(each)}`,
  ),
].map((path) => ({ path }))
const port = Number(new URL(server.baseUrl).port)
await openLoad(scope).run({ port, token: server.token, connections: 16, seconds: LOAD_SECONDS, requests })
report(`memory after lists, items and searches of ${LARGE} videos`, {
  unit: 'MB',
  value: await rssMb(server.pid),
  atMost: 160,
})
await server.end('SIGTERM')
await scope.close()
