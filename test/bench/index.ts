/** What the embedded index itself costs, without HTTP: p99 in ms, with the median beside; searches have a limit. */
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { systemClock } from '../../core/clock.ts'
import { openSqliteIndex } from '../../core/index/sqlite/open.ts'
import { openLog } from '../../core/log.ts'
import { channelIndex } from '../../plugins/channel/schema.ts'
import { downloadIndex } from '../../plugins/download/schema.ts'
import { playlistIndex } from '../../plugins/playlist/schema.ts'
import { subtitleIndex, videoIndex } from '../../plugins/video/schema.ts'
import { randomFrom } from './generate.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { isQuick, median, openReport, openScope, percentile } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
/** Of a ranked search, in the worker. */
const SEARCH_P99_MS = 30

const report = openReport('index')
const scope = openScope()
const folder = await copyOfLibrary(scope, VIDEOS)
const archive = archiveOf(VIDEOS)
const definitions = [channelIndex, videoIndex, subtitleIndex, playlistIndex, downloadIndex]
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
  report(name, { unit: 'ms', value: percentile(taken, 0.99), beside: median(taken), limits: 'value', ...(isSearch && { atMost: SEARCH_P99_MS }) })
}

let started = performance.now()
const index = await openSqliteIndex({ file: join(folder, 'index.sqlite'), definitions, log: openLog('warn'), clock: systemClock, prefix: 'av' })
report('open', { unit: 'ms', value: performance.now() - started })

const collection = index.collection(videoIndex)
const subtitle = index.collection(subtitleIndex)
const random = randomFrom(3)
const ids: string[] = []
for (const { id } of archive.videos()) {
  ids.push(id)
  if (ids.length === 2000) break
}
const anyId = () => ids[Math.floor(random() * ids.length)]!
const sample = (await collection.getMany(ids.slice(0, 500))).values()
const channels = [...sample].map((doc) => doc.channel_id)
const newest = [{ by: 'date_downloaded' as const, order: 'desc' as const }]
const published = [{ by: 'published' as const, order: 'desc' as const }]
const page = { size: 12, sort: published }

await measure('item', 2000, () => collection.getText(anyId()))
await measure('page 0', 2000, () => collection.find(page))
await measure('page 500', 500, () => collection.find({ ...page, from: 6000 }))
await measure('page of a channel', 1000, (at) => collection.find({ ...page, filter: { eq: ['channel_id', channels[at % channels.length]!] } }))
await measure('page, sorted upwards', 200, () => collection.find({ size: 12, sort: [{ by: 'published', order: 'asc' }] }))
await measure('page, filter without index', 200, () => collection.find({ size: 12, filter: { eq: ['active', false] }, sort: published }))
await measure('page of a playlist', 200, (at) => collection.find({ ...page, filter: { eq: ['playlist', `PL${at % 500}`] } }))
await measure('unwatched by size', 200, () => collection.find({ size: 12, filter: { eq: ['watched', false] }, sort: [{ by: 'media_size', order: 'desc' }] }))
await measure('100 ids in order', 200, () => collection.find({ size: 12, ids: ids.slice(0, 100) }))

// Another limit each time: what is asked again is not computed again.
await measure('sums by type and state', 50, (at) => collection.aggregate({ limit: 1000 + at, groupBy: ['vid_type', 'active', 'watched'], sums: ['media_size', 'duration'] }))
await measure('sums by watched', 50, (at) => collection.aggregate({ limit: 1000 + at, groupBy: ['watched'], sums: ['duration'] }))
await measure('ten biggest channels', 50, (at) => collection.aggregate({ groupBy: ['channel_id'], sums: ['media_size', 'duration'], orderBy: { metric: 'media_size', order: 'desc' }, limit: 10 + at }))
const last = 1_500_000_000 + VIDEOS * 600
await measure('downloads by day, 7 days', 50, (at) =>
  collection.aggregate({ limit: 1000 + at, filter: { range: ['date_downloaded', { gte: last - 7 * 86_400 }] }, histogram: { field: 'date_downloaded', interval: 'day' }, sums: ['media_size'] }))
await measure('downloads by month, all', 20, (at) => collection.aggregate({ limit: 1000 + at, histogram: { field: 'date_downloaded', interval: 'month' }, sums: ['media_size'] }))

const common = archive.words.slice(0, 80)
const middling = archive.words.slice(300, 3000)
const word = (from: readonly string[]) => from[Math.floor(random() * from.length)]!
const misspelt = (text: string) => text.slice(0, 2) + text.slice(3)
const typed = { prefixLast: true, fuzziness: 'auto' as const }
const search = (words: string, more = {}) => collection.find({ text: { words, ...typed }, size: 30, withoutTotal: true, ...more })
await measure('first fuzzy search', 1, () => search('zzzzzzz'))
await measure('search: common word', 300, () => search(word(common)))
await measure('search: two common words', 300, () => search(`${word(common)} ${word(common)}`))
await measure('search: middling word', 300, () => search(word(middling)))
await measure('search: common and middling', 300, () => search(`${word(common)} ${word(middling)}`))
await measure('search: one letter', 100, (at) => search('abcdefghijklmnoprstuvw'[at % 22]!))
await measure('search: two letters', 300, () => search(word(middling).slice(0, 2)))
await measure('search: three letters', 300, () => search(word(middling).slice(0, 3)))
await measure('search: four letters', 300, () => search(word(middling).slice(0, 4)))
await measure('search: misspelt', 300, () => search(misspelt(word(middling))))
await measure('search: two misspelt', 300, () => search(`${misspelt(word(middling))} ${misspelt(word(middling))}`))
await measure('search: common, active', 300, () => search(word(common), { filter: { eq: ['active', true] } }))
await measure('search: common, inactive', 100, () => search(word(common), { filter: { eq: ['active', false] } }))
await measure('search: common, one channel', 100, (at) => search(word(common), { filter: { eq: ['channel_id', channels[at % channels.length]!] } }))
await measure('search: with total', 300, () => search(word(middling), { withoutTotal: false }))
await measure('search: sorted', 100, () => search(word(middling), { sort: newest }))
await measure('similar', 300, () => collection.similar(anyId(), { size: 6, filter: { eq: ['active', true] } }))

const full = (words: string, more = {}) =>
  subtitle.find({ text: { words, match: 'any', fuzziness: 'auto', dropStopWords: true }, size: 30, withoutTotal: true, ...more })
await measure('full: first fuzzy', 1, () => full('zzzzzzz'))
await measure('full: common word', 100, () => full(word(common)))
await measure('full: two common', 100, () => full(`${word(common)} ${word(common)}`))
await measure('full: middling', 100, () => full(word(middling)))
await measure('full: three words', 100, () => full(`${word(middling)} ${word(common)} ${word(middling)}`))
await measure('full: two misspelt', 100, () => full(`${misspelt(word(middling))} ${misspelt(word(middling))}`))
await measure('full: common, lang', 100, () => full(word(common), { filter: { eq: ['subtitle_lang', 'en'] } }))
await measure('full: common, no such lang', 100, () => full(word(common), { filter: { eq: ['subtitle_lang', 'de'] } }))
await measure('full: middling, source', 100, () => full(word(middling), { filter: { eq: ['subtitle_source', 'user'] } }))

await measure('patch a flag', 500, () => collection.patch(anyId(), { set: { player: { watched: random() < 0.5 } } }))
await measure('patch a title', 300, () => collection.patch(anyId(), { set: { title: `${word(middling)} ${word(common)}` } }))
/** Searches, one after the other, while something long is at work. */
async function meanwhile(name: string, long: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const from = performance.now()
  const work = long().finally(() => (isOver = true))
  const taken: number[] = []
  delay.reset()
  delay.enable()
  while (!isOver) {
    const at = performance.now()
    await search(word(middling))
    taken.push(performance.now() - at)
  }
  delay.disable()
  await work
  report(`search during ${name}`, { unit: 'ms', value: percentile(taken, 0.99), beside: median(taken), limits: 'value', atMost: 2 * SEARCH_P99_MS })
  report(`event loop delay p99 during ${name}`, { unit: 'ms', value: delay.percentile(99) / 1e6 })
  report(`${name}: took`, { unit: 's', value: (performance.now() - from) / 1000 })
}
await meanwhile('snapshot', () => index.snapshotTo(join(folder, 'snapshot.sqlite')))
await meanwhile('patchWhere of 20,000', () => collection.patchWhere({ range: ['date_downloaded', { lt: 1_500_000_000 + 20_000 * 600 }] }, { set: { vid_last_refresh: '2025-01-01' } }))
await meanwhile('removal of a channel', () => collection.removeWhere({ eq: ['channel_id', archive.biggestChannel] }))
await meanwhile('restore', () => index.restoreFrom(join(folder, 'snapshot.sqlite')))
started = performance.now()
await index.close()
report('close', { unit: 'ms', value: performance.now() - started })
await scope.close()
