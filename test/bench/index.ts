/**
 * What the embedded index costs: `node --import tsx --conditions=source test/bench/index.ts [videos] [fragments] [folder to keep]`.
 * Prints a table of medians and 99th percentiles in ms; the machine decides the figures, their ratios say more.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { openSqliteIndex } from '../../core/index/sqlite/open.ts'
import { openLog } from '../../core/log.ts'
import { systemClock } from '../../core/clock.ts'
import { channelIndex } from '../../plugins/channel/schema.ts'
import { subtitleIndex, videoIndex } from '../../plugins/video/schema.ts'
import { generate, randomFrom } from './generate.ts'

const videos = Number(process.argv[2] ?? 100_000)
const fragments = Number(process.argv[3] ?? 400_000)
const kept = process.argv[4]
const folder = kept ?? mkdtempSync(join(tmpdir(), 'archivolt-bench-'))
const file = join(folder, 'index.sqlite')
const archive = generate({ videos })
const log = openLog('warn')
const open = () => openSqliteIndex({ file, definitions: [channelIndex, videoIndex, subtitleIndex], log, clock: systemClock, prefix: 'av' })

const rows: Array<Record<string, string | number>> = []
const round = (value: number) => Number(value.toPrecision(3))
const delay = monitorEventLoopDelay({ resolution: 1 })

async function measure(name: string, times: number, work: (at: number) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < Math.min(10, times); at++) await work(at)
  const taken: number[] = []
  delay.reset()
  delay.enable()
  for (let at = 0; at < times; at++) {
    const started = performance.now()
    await work(at)
    taken.push(performance.now() - started)
  }
  delay.disable()
  taken.sort((a, b) => a - b)
  const row = { what: name, median: round(taken[times >> 1]!), p99: round(taken[Math.floor(times * 0.99)]!), max: round(taken.at(-1)!), loopMax: round(delay.max / 1e6) }
  rows.push(row)
  console.log(JSON.stringify(row))
}

let index = await open()
const video = index.collection(videoIndex)
if ((await video.count()) === 0) {
  const perVideo = 40
  const from = performance.now()
  // As a restore does it.
  await index.replaceAll(async (write) => {
    const fill = async (name: string, docs: Iterable<{ id: string; doc: object }>) => {
      const started = performance.now()
      let batch: Array<{ id: string; doc: object }> = []
      let count = 0
      let writing = 0
      const flush = async () => {
        const at = performance.now()
        await write(name, batch)
        writing += performance.now() - at
        batch = []
      }
      for (const each of docs) {
        count++
        if (batch.push(each) === 1000) await flush()
      }
      await flush()
      rows.push({ what: `load ${count} ${name}, s`, median: round((performance.now() - started) / 1000), p99: 0, max: round(writing / 1000), loopMax: 0 })
      console.log(JSON.stringify(rows.at(-1)))
    }
    await fill('channel', archive.channels())
    await fill('video', archive.videos())
    await fill('subtitle', archive.subtitles(fragments / perVideo, perVideo))
  })
  const cpu = process.cpuUsage()
  console.log('load in all, s', round((performance.now() - from) / 1000), 'CPU s', round(cpu.user / 1e6), round(cpu.system / 1e6))
}
console.log('file MB', Math.round(statSync(file).size / 1e6), 'RSS MB', Math.round(process.memoryUsage.rss() / 1e6))
await index.close()
let started = performance.now()
index = await open()
console.log('open ms', round(performance.now() - started), 'RSS MB', Math.round(process.memoryUsage.rss() / 1e6))

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

// Another limit each time, as what is asked again is not computed again.
await measure('sums by type and state', 50, (at) => collection.aggregate({ limit: 1000 + at, groupBy: ['vid_type', 'active', 'watched'], sums: ['media_size', 'duration'] }))
await measure('sums by watched', 50, (at) => collection.aggregate({ limit: 1000 + at, groupBy: ['watched'], sums: ['duration'] }))
await measure('ten biggest channels', 50, (at) => collection.aggregate({ groupBy: ['channel_id'], sums: ['media_size', 'duration'], orderBy: { metric: 'media_size', order: 'desc' }, limit: 10 + at }))
const last = 1_500_000_000 + videos * 600
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
console.log('RSS MB', Math.round(process.memoryUsage.rss() / 1e6))

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
  taken.sort((a, b) => a - b)
  const row = { what: `search during ${name}`, median: round(taken[taken.length >> 1] ?? 0), p99: round(taken[Math.floor(taken.length * 0.99)] ?? 0), max: round(taken.at(-1) ?? 0), loopMax: round(delay.max / 1e6), tookMs: round(performance.now() - from) }
  rows.push(row)
  console.log(JSON.stringify(row))
}
await meanwhile('snapshot', () => index.snapshotTo(join(folder, 'snapshot.sqlite')))
await meanwhile('patchWhere of 20,000', () => collection.patchWhere({ range: ['date_downloaded', { lt: 1_500_000_000 + 20_000 * 600 }] }, { set: { vid_last_refresh: '2025-01-01' } }))
if (!kept) {
  await meanwhile('removal of a channel', () => collection.removeWhere({ eq: ['channel_id', channels[0]!] }))
  await meanwhile('restore', () => index.restoreFrom(join(folder, 'snapshot.sqlite')))
}
console.table(rows)
started = performance.now()
await index.close()
console.log('close ms', round(performance.now() - started))
if (!kept) rmSync(folder, { recursive: true })
