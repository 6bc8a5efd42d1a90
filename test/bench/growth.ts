/** What ten times as many videos cost a single document, a page, a count: on the index itself. */
import { join } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { openLog } from '../../core/log.ts'
import { channelIndex } from '../../plugins/channel/schema.ts'
import { downloadIndex } from '../../plugins/download/schema.ts'
import { playlistIndex } from '../../plugins/playlist/schema.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { subtitleIndex, videoIndex } from '../../plugins/video/schema.ts'
import { randomFrom } from './generate.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const SMALL = 10_000
const LARGE = 100_000
const ROUNDS = isQuick ? 5 : 15
const TIMES = 300

const report = openReport('growth')
const scope = openScope()

async function openLibrary(videos: number) {
  const file = join(await copyOfLibrary(scope, videos), 'index.sqlite')
  const definitions = [channelIndex, videoIndex, subtitleIndex, playlistIndex, downloadIndex]
  const index = await openSqliteIndex({ file, definitions, log: openLog('warn'), clock: systemClock })
  scope.after(() => index.close())
  const ids: string[] = []
  const channels = new Set<string>()
  // From all over the library, not only what lies in the first pages of the file.
  let at = 0
  for (const { id, doc } of archiveOf(videos).videos()) {
    if (at++ % Math.ceil(videos / 2000) === 0) {
      ids.push(id)
      channels.add(doc.channel_id)
    }
  }
  return { collection: index.collection(videoIndex), ids, channels: [...channels] }
}

const random = randomFrom(31)
const oneOf = <Value>(list: readonly Value[]): Value => list[Math.floor(random() * list.length)]!
const seen = { eq: ['watched_by', '1'] as ['watched_by', string] }
const published = [{ by: 'published' as const, order: 'desc' as const }]
type Library = Awaited<ReturnType<typeof openLibrary>>
const kinds: Array<[name: string, work: (library: Library) => Promise<unknown>]> = [
  ['item', ({ collection, ids }) => collection.getText(oneOf(ids))],
  ['page 0', ({ collection }) => collection.find({ size: 12, sort: published })],
  ['page 100', ({ collection }) => collection.find({ size: 12, from: 1200, sort: published })],
  [
    'page of a channel',
    ({ collection, channels }) =>
      collection.find({ size: 12, sort: published, filter: { eq: ['channel_id', oneOf(channels)] } }),
  ],
  ['capped count', ({ collection }) => collection.count(random() < 0.5 ? seen : { not: seen })],
]

const [small, large] = [await openLibrary(SMALL), await openLibrary(LARGE)]
for (const [name, work] of kinds) {
  const run = async (library: Library) => {
    const started = performance.now()
    for (let at = 0; at < TIMES; at++) await work(library)
    return ((performance.now() - started) / TIMES) * 1000
  }
  const rounds: Array<Record<'small' | 'large', number>> = []
  await run(small)
  await run(large)
  for (let at = 0; at < ROUNDS; at++) rounds.push({ small: await run(small), large: await run(large) })
  report(`${name}, with ${LARGE} videos beside ${SMALL}`, {
    unit: 'µs',
    value: median(rounds.map((round) => round.large)),
    beside: median(rounds.map((round) => round.small)),
    ratio: median(rounds.map((round) => round.large / round.small)),
    atMost: 2,
  })
}
await scope.close()
