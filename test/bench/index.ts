/** Measures the embedded index without HTTP: p99 in ms, with the median; searches have a limit. */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock } from '../../core/base/clock.ts'
import { openLog } from '../../core/log.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { subtitleIndex, videoIndex } from '../../plugins/video/schema.ts'
import { firstVideos, randomFrom } from './generate.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { DEFINITIONS, questionsOf } from './support/questions.ts'
import { isQuick, median, openReport, openScope, percentile } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
/** Limit for a ranked search in the worker thread. */
const SEARCH_P99_MS = 30

const report = openReport('index')
const scope = openScope()
const folder = await copyOfLibrary(scope, VIDEOS)
const archive = archiveOf(VIDEOS)
const delay = monitorEventLoopDelay({ resolution: 1 })

async function measure(name: string, times: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < Math.min(10, times); at++) await work(at)
  const taken: number[] = []
  for (let at = 0; at < times; at++) {
    const started = performance.now()
    await work(at)
    taken.push(performance.now() - started)
  }
  const isSearch = /^(search|full):/.test(name) && times > 1
  report(name, {
    unit: 'ms',
    value: percentile(taken, 0.99),
    beside: median(taken),
    limits: 'value',
    ...(isSearch && { atMost: SEARCH_P99_MS }),
  })
}

let started = performance.now()
const index = await openSqliteIndex({
  file: join(folder, 'index.sqlite'),
  definitions: DEFINITIONS,
  log: openLog('warn'),
  clock: systemClock,
})
report('open', { unit: 'ms', value: performance.now() - started })

const collection = index.collection(videoIndex)
for (const { name, times, ask } of questionsOf({
  videos: VIDEOS,
  archive,
  collection,
  subtitle: index.collection(subtitleIndex),
}))
  await measure(name, times, ask)

const random = randomFrom(3)
const middling = archive.words.slice(300, 3000)
const word = () => middling[Math.floor(random() * middling.length)]!
const ids = firstVideos(archive, 2000).map(({ id }) => id)
const anyId = () => ids[Math.floor(random() * ids.length)]!
await measure('patch a mark', 500, () =>
  collection.patch(anyId(), random() < 0.5 ? { add: { watched_by: ['1'] } } : { remove: { watched_by: ['1'] } }),
)
await measure('patch a title', 300, () => collection.patch(anyId(), { set: { title: `${word()} ${word()}` } }))
/** Runs searches one after the other while long work runs. */
async function meanwhile(name: string, long: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const from = performance.now()
  const work = long().finally(() => (isOver = true))
  const taken: number[] = []
  delay.reset()
  delay.enable()
  while (!isOver) {
    const at = performance.now()
    await collection.find({
      text: { words: word(), prefixLast: true, fuzziness: 'auto' },
      size: 30,
      withoutTotal: true,
    })
    taken.push(performance.now() - at)
  }
  delay.disable()
  await work
  report(`search during ${name}`, {
    unit: 'ms',
    value: percentile(taken, 0.99),
    beside: median(taken),
    limits: 'value',
    atMost: 2 * SEARCH_P99_MS,
  })
  report(`event loop delay p99 during ${name}`, { unit: 'ms', value: delay.percentile(99) / 1e6 })
  report(`${name}: took`, { unit: 's', value: (performance.now() - from) / 1000 })
}
await meanwhile('snapshot', () => index.snapshotTo(join(folder, 'snapshot.sqlite')))
await meanwhile('patchWhere of 20,000', () =>
  collection.patchWhere(
    { range: ['date_downloaded', { lt: 1_500_000_000 + 20_000 * 600 }] },
    { set: { vid_last_refresh: '2025-01-01' } },
  ),
)
await meanwhile('removal of a channel', () => collection.removeWhere({ eq: ['channel_id', archive.biggestChannel] }))
await meanwhile('restore', () => index.restoreFrom(join(folder, 'snapshot.sqlite')))
started = performance.now()
await index.close()
report('close', { unit: 'ms', value: performance.now() - started })
await scope.close()
