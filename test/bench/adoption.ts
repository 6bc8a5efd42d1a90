/**
 * Import in place: 100,000 films with their information files are scanned, imported, scanned once more
 * and leave again, while lists are read beside.
 */
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/server.ts'
import { layMany } from '../support/ytdlp-folder.ts'
import { openLoad } from './support/load.ts'
import { cpuSeconds, delaysDuring, rssMb, startArchive } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const DEADLINE_MS = 1_800_000

const report = openReport('adoption')
const scope = openScope()
const root = await temporaryFolder(scope)
await layMany(root, VIDEOS)
const dataDir = await temporaryFolder(scope)
const env = { AV_LIBRARY_ROOTS: root, AV_PLATFORM_URL: 'http://127.0.0.1:9', AV_SEGMENTS_URL: 'http://127.0.0.1:9' }
const server = await startArchive(scope, { dataDir }, { isWatched: true, env })
const port = Number(new URL(server.baseUrl).port)
const reading = openLoad(scope)
const { body: place } = await server.api('POST', '/api/place/', { path: root })
// What reading lists takes by itself is none of it.
await readLists()
const before = await rssMb(server.pid)
let highest = before

const id = await measure('scan and plan', 60, async () => startScan())
await measure('import', 180, async () => command(id, 'adopt', 'adopted'))
await measure('second scan, nothing has changed', 5, async () => startScan())
await measure('undoing', 180, async () => command(id, 'undo', 'undone'))
await server.end('SIGTERM')
await scope.close()

function inState(adoption: number, state: string) {
  return until(
    `adoption ${adoption} is ${state}`,
    async () => {
      highest = Math.max(highest, await rssMb(server.pid))
      return (await server.api('GET', `/api/adoption/${adoption}/`)).body
    },
    (body) => body.state === state || body.state === 'failed',
    DEADLINE_MS,
  )
}

async function startScan(): Promise<number> {
  const { body } = await server.api('POST', '/api/adoption/', { place: place.id })
  await inState(body.id, 'planned')
  return body.id
}

async function command(adoption: number, what: string, state: string): Promise<void> {
  await server.api('POST', `/api/adoption/${adoption}/`, { command: what })
  const body = await inState(adoption, state)
  if (body.state !== state) throw new Error(body.reason)
}

function readLists() {
  return reading.run({
    port,
    token: server.token,
    connections: 1,
    seconds: 1,
    requests: [{ path: '/api/video/' }, { path: '/api/channel/' }],
    limitMs: 1000,
  })
}

async function measure<Result>(what: string, atMost: number | undefined, work: () => Promise<Result>): Promise<Result> {
  let isOver = false
  highest = await rssMb(server.pid)
  const worked = await cpuSeconds(server.pid)
  const load = async () => {
    while (!isOver) await readLists()
  }
  let tookMs = 0
  const { own, idle, result } = await delaysDuring(scope, server, async () => {
    const loads = load()
    const began = performance.now()
    const done = await work().finally(() => (isOver = true))
    tookMs = performance.now() - began
    await loads
    return done
  })
  report(`${what}, ${VIDEOS} films: took`, {
    unit: 's',
    value: tookMs / 1000,
    ...(atMost !== undefined && { atMost }),
  })
  report(`${what}: time on the processor for 10,000 films, lists read beside included`, {
    unit: 's',
    value: ((await cpuSeconds(server.pid)) - worked) / (VIDEOS / 10_000),
  })
  report(`${what}: event loop delay p99`, { unit: 'ms', value: own.p99, beside: idle.p99, limits: 'value', atMost: 20 })
  report(`${what}: event loop delay, longest`, { unit: 'ms', value: own.max, beside: idle.max })
  report(`${what}: memory more than before`, {
    unit: 'MB',
    value: highest - before,
    atMost: 60,
  })
  return result
}
