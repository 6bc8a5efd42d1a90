/**
 * Measures a preview of 100,000 videos with 30 rules: its processor time, its peak memory, and the delays of the event
 * loop.
 */
import { copyOfLibrary } from './support/library.ts'
import { cpuSeconds, delaysDuring, firstSnapshotTaken, rssMb, startArchive } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const RULES = 30
const TIMES = isQuick ? 3 : 7

const report = openReport('rules')
const scope = openScope()
const server = await startArchive(scope, { dataDir: await copyOfLibrary(scope, VIDEOS) }, { isWatched: true })
await firstSnapshotTaken(server)
const { body: channels } = await server.api('GET', '/api/channel/')
const channelIds: string[] = channels.data.map(({ channel_id: id }: { channel_id: string }) => id)
for (let at = 0; at < RULES; at++) await asked('POST', '/api/rule/', ruleAt(at))

const seconds: number[] = []
const more: number[] = []
const p99: number[] = []
const idle: number[] = []
const baseMb = await settledMb()
for (let at = 0; at < TIMES; at++) {
  let mostMb = 0
  const watching = setInterval(() => void rssMb(server.pid).then((now) => (mostMb = Math.max(mostMb, now))), 20)
  const before = await cpuSeconds(server.pid)
  const { own, idle: beside } = await delaysDuring(scope, server, () => asked('POST', '/api/rule/preview/', {}))
  seconds.push((await cpuSeconds(server.pid)) - before)
  clearInterval(watching)
  more.push(mostMb - baseMb)
  p99.push(own.p99)
  idle.push(beside.p99)
}
const name = `preview of ${VIDEOS} videos, ${RULES} rules`
report(`${name}: on the processor`, { unit: 's', value: median(seconds), limits: 'value', atMost: VIDEOS / 50_000 })
report(`${name}: more memory`, { unit: 'MB', value: median(more), limits: 'value', atMost: 40 })
report(`${name}: event loop delay p99`, {
  unit: 'ms',
  value: median(p99),
  beside: median(idle),
  limits: 'value',
  atMost: 20,
})
await server.end('SIGTERM')
await scope.close()

/** Mixes all kinds of conditions and scopes of all sizes; most rules have to check most videos. */
function ruleAt(at: number): object {
  const conditions = [
    { title: { words: [`word${at}`, 'harbour', 'tide'] }, longer_than: 600 },
    { title: { pattern: `(?i)part ${at}\\b|episode \\d{4,}` } },
    { title_not: { words: ['a', 'e', 'i', 'o'] }, published_before: 300 + at },
    { views_below: 3 * at, kinds: ['shorts', 'streams'] },
    { not_newest: { count: 30, of: 'channel' }, shorter_than: 20 + at },
    { watched: { days: 30 }, added_before: 400, larger_than: 50_000_000 * at },
  ][at % 6]!
  const channel = channelIds[at % channelIds.length]
  const scope = at % 5 === 4 ? { kind: 'channel', id: channel } : { kind: 'all' }
  return { side: 'keep', scope, conditions, outcome: at % 3 === 2 ? 'keep' : 'remove' }
}

async function asked(method: string, path: string, body: object): Promise<void> {
  const answer = await server.api(method, path, body)
  if (answer.status !== 200)
    throw new Error(`${method} ${path} was answered by ${answer.status}: ${JSON.stringify(answer.body)}`)
}

/** Makes one preview first, so that what is loaded only once is not counted. */
async function settledMb(): Promise<number> {
  await asked('POST', '/api/rule/preview/', {})
  await new Promise((resolve) => setTimeout(resolve, 3000))
  return rssMb(server.pid)
}
