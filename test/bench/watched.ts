/**
 * What each account's own marks cost on 100,000 videos: lists of what somebody has not watched beside plain ones, a
 * mark, the marks of a channel, and the upgrade from one mark for all.
 */
import { join } from 'node:path'
import { systemClock } from '../../core/clock.ts'
import { openLog } from '../../core/log.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { videoIndex } from '../../plugins/video/schema.ts'
import { randomFrom } from './generate.ts'
import { archiveOf, copyOfLibrary, inBatches } from './support/library.ts'
import { DEFINITIONS } from './support/questions.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const WATCHED = VIDEOS * 0.6
const TIMES = 300
const IDS_AT_ONCE = 500
const PUBLISHED = [{ by: 'published' as const, order: 'desc' as const }]

const report = openReport('watched')
const scope = openScope()
const archive = archiveOf(VIDEOS)
const folder = await copyOfLibrary(scope, VIDEOS)
const index = await openSqliteIndex({
  file: join(folder, 'index.sqlite'),
  definitions: DEFINITIONS,
  log: openLog('warn'),
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
for (const size of [12, 200]) {
  const taken = new Map<string, number[]>(Object.keys(filters).map((name) => [name, []]))
  for (let at = 0; at < TIMES; at++) {
    // What is kept until something is written does not count.
    await collection.patch(videos[at]!.id, { set: { media_size: at } })
    // Each is the first one after a write in its turn.
    const entries = Object.entries(filters)
    for (const [name, filter] of [...entries.slice(at % entries.length), ...entries.slice(0, at % entries.length)]) {
      const started = performance.now()
      await collection.find({ filter, sort: PUBLISHED, size })
      taken.get(name)!.push(performance.now() - started)
    }
  }
  const plain = median(taken.get('plain')!)
  for (const [name, times] of taken)
    report(`page of ${size}, ${name}`, { unit: 'ms', value: median(times), beside: plain, limits: 'ratio', atMost: 2 })
}
await index.close()
await scope.close()
