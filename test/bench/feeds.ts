/**
 * Measures what polling the feeds of 500 subscribed channels every ten minutes costs, as a share of one core. The clock
 * is advanced whenever no answer is pending, so that a round of eight minutes takes seconds; another process serves the
 * feeds.
 */
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { aChannel, type TestApp, testApp } from '../support/testing.ts'
import { startPeer } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const CHANNELS = isQuick ? 50 : 500
const EVERY_S = 600
const MOST_SHARE = 1
const STEP_MS = 1000
/** Has the form of the platform's ids. */
const channelId = (at: number) => `UC${String(at).padStart(22, '0')}`

interface Served {
  url: string
  whole: number
  same: number
}

const report = openReport('feeds')
const scope = openScope()
const feeds = startPeer(scope, 'feed-server.ts')
const served = () => feeds.ask<Served>({})
const { url } = await served()
const app = await testApp(scope, {
  settings: { platformUrl: url, ytdlpPlugins: fileURLToPath(new URL('../platform', import.meta.url)) },
})
await app.as('admin').post('/api/config/', { platform: { request_pause: 0 } })
await app.given(
  ...Array.from({ length: CHANNELS }, (_, at) => aChannel({ id: channelId(at), channel_subscribed: true })),
)
await app.restart()

let awaited = 0
const { platform } = app.app
const { feed } = platform
platform.feed = (...given) => {
  awaited++
  return feed(...given).finally(() => void awaited--)
}

await round('first time')
await round('unchanged')
await round('unchanged, again')
await scope.close()

async function round(name: string): Promise<void> {
  const before = await served()
  await until((now) => isRunning(now))
  const [cpu, began] = [process.cpuUsage(), app.clock.now()]
  await until((now) => !isRunning(now))
  const { user, system } = process.cpuUsage(cpu)
  const seconds = (app.clock.now() - began) / 1000
  const idle = await idleCpuFor(seconds)
  const after = await served()
  const asked = after.whole + after.same - before.whole - before.same
  if (asked !== CHANNELS) throw new Error(`${asked} of ${CHANNELS} channels were asked`)
  const spent = (user + system) / 1e6
  const own = Math.max(0, spent - idle)
  report(`${CHANNELS} channels, ${name}`, {
    unit: '% of a core',
    value: (100 * own) / EVERY_S,
    atMost: MOST_SHARE,
    limits: 'value',
    ratio: (100 * own) / EVERY_S / MOST_SHARE,
    note: `${((own * 1000) / CHANNELS).toFixed(2)} ms each; without the clock's ${idle.toFixed(2)} s; a round takes ${Math.round(seconds)} s of the clock; ${after.same - before.same} answers without a change`,
  })
}

/** Processor time for advancing the clock by this many seconds while no round runs, in seconds. */
async function idleCpuFor(seconds: number): Promise<number> {
  const from = process.cpuUsage()
  const steps = Math.min(50, Math.ceil(seconds))
  for (let step = 0; step < steps; step++) await app.clock.advance(STEP_MS)
  const { user, system } = process.cpuUsage(from)
  return (((user + system) / 1e6) * seconds) / steps
}

function isRunning({ app: { jobs } }: TestApp): boolean {
  return jobs.open('subscription.feeds').some(({ state }) => state === 'STARTED')
}

async function until(isSo: (now: TestApp) => boolean): Promise<void> {
  while (!isSo(app)) {
    while (awaited > 0) await setImmediate()
    await app.clock.advance(STEP_MS)
  }
}
