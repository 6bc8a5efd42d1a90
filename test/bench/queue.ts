/**
 * Measures how the cost of adding, listing and claiming an item changes when the queue grows from 1,000 to 10,000
 * items; then ignores and deletes 100,000.
 */

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NewItem } from '../../plugins/download/add.ts'
import { testApp } from '../support/testing.ts'
import { type Delays, startPeer } from './support/processes.ts'
import { isQuick, median, openReport, openScope, percentile } from './support/report.ts'

const SMALL = 1000
const LARGE = 10_000
const PAGE = 100
const MANY = isQuick ? 20_000 : 100_000
/** Limit for ignoring all of them, and for deleting all of them. */
const MANY_SECONDS = (10 * MANY) / 100_000

const report = openReport('queue')
const scope = openScope()
const archive = await testApp(scope)
const { queue } = archive.app
const delay = monitorEventLoopDelay({ resolution: 1 })

const itemOf = (at: number): NewItem => ({
  id: `q${String(at).padStart(10, '0')}`,
  title: `Waiting video number ${at} of a long series`,
  channelId: `UC${at % 50}`,
  channelName: `Channel ${at % 50}`,
  durationSeconds: 60 + (at % 3000),
  published: '2024-05-30',
  vidType: 'videos',
})

async function timed(times: number, work: (at: number) => Promise<unknown>): Promise<number[]> {
  const taken: number[] = []
  for (let at = 0; at < times; at++) {
    const started = performance.now()
    await work(at)
    taken.push(performance.now() - started)
    await nextTurn()
  }
  return taken
}

const addPages = (from: number, to: number) =>
  timed((to - from) / PAGE, (at) =>
    queue.add(
      Array.from({ length: PAGE }, (_, item) => itemOf(from + at * PAGE + item)),
      'pending',
    ),
  )
const claim = () =>
  timed(200, async () => {
    const item = queue.next({ isAutoOnly: false, except: [] })
    if (!item) throw new Error('The queue is empty')
    await queue.done(item.platform_id)
  })
const list = () =>
  timed(200, async (at) => archive.as('admin').get(`/api/download/?filter=pending&page=${1 + (at % 20)}`))

const idle = startPeer(scope, 'idle.ts')
await idle.ask({})
delay.enable()
const addedFirst = await addPages(0, SMALL)
const [claimedSmall, listedSmall] = [await claim(), await list()]
const added = await addPages(SMALL, LARGE)
const addedLast = added.slice(-SMALL / PAGE)
const [claimedLarge, listedLarge] = [await claim(), await list()]
await addPages(LARGE, MANY)
const { pending } = (await archive.as('admin').get('/api/stats/download/')).body
const ignored = await timed(1, () => queue.setStatusWhere({ filter: 'pending' }, 'ignore'))
const forgotten = await timed(1, () => queue.removeWhere({ filter: 'ignore' }))
delay.disable()

report(`add ${PAGE} items, with ${LARGE} beside ${SMALL}`, {
  unit: 'ms',
  value: median(addedLast),
  beside: median(addedFirst),
  atMost: 1.5,
})
report(`take the next item, with ${LARGE} beside ${SMALL}`, {
  unit: 'ms',
  value: median(claimedLarge),
  beside: median(claimedSmall),
  atMost: 1.5,
})
report(`a page of the list, with ${LARGE} beside ${SMALL}`, {
  unit: 'ms',
  value: median(listedLarge),
  beside: median(listedSmall),
  atMost: 1.5,
})
report('take the next item, p99', { unit: 'ms', value: percentile(claimedLarge, 0.99) })
for (const [what, [took = 0]] of [
  ['ignore', ignored],
  ['forget', forgotten],
] as const)
  report(`${what} ${pending} items`, { unit: 's', value: took / 1000, atMost: MANY_SECONDS })
report('event loop delay p99 over all', {
  unit: 'ms',
  value: delay.percentile(99) / 1e6,
  beside: (await idle.ask<Delays>({})).p99,
  limits: 'value',
  atMost: 20,
})
await scope.close()
