/**
 * Measures the API over a library of 100,000 videos as clients use it: each address requested for the first time after
 * a write, again, and again while somebody watches and a download runs; plain and compressed; compared with a bare
 * server that reads the same rows (`support/bare.ts`). Also the start, memory and delays of the event loop.
 * `--only=search` runs only the cases whose names begin with "search"; `--first` measures only the first request of each
 * address, in minutes.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { addLargeChannel } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { until } from '../support/server.ts'
import { firstVideos } from './generate.ts'
import { type BareReply, startBare } from './support/bare.ts'
import { type Asked, type Case, casesOf } from './support/cases.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { type Loaded, openLoad } from './support/load.ts'
import { openPlainSearch } from './support/plain-search.ts'
import { delaysDuring, firstSnapshotTaken, rssMb, startArchive, threadSeconds } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const isFirstOnly = process.argv.includes('--first')
const VIDEOS = isQuick ? 10_000 : 100_000
const ROUNDS = isQuick ? 1 : 5
/** Addresses per run; for "again", few enough for the cache to hold all replies. */
const ASKED = 100
const ASKED_AGAIN = 40
/** Warm-up rounds, which use other addresses, and how often they are repeated. */
const WARM_ROUNDS = isQuick ? 2 : 6
const WARM_TIMES = isQuick ? 1 : 6
const AGAIN_SECONDS = isQuick ? 0.5 : 1
/** A viewer reports a position every 2.5 s. */
const BESIDE_SECONDS = isQuick ? 3 : 5
const IDLE_SECONDS = isQuick ? 1 : 60
/** Upper limit for a run in which each address is requested once. */
const ONCE_SECONDS = 60
const MOST_P99_MS = { 1: 30, 16: 60 } as const
const CONNECTIONS = [1, 16] as const
const ENCODINGS = ['', 'gzip'] as const
const OF_BARE = 0.65
/** Goal for repeated requests, as a multiple of the reference's rate. */
const AGAIN_TIMES = 50
/** Goal for a cached compressed list of videos. */
const KEPT_LIST_US = 60

const BESIDE = 'again beside others'
type Encoding = (typeof ENCODINGS)[number]
interface Run extends Loaded {
  /** Sum of all threads. */
  cpuSeconds: number
}

const keyOf = (what: string, encoding: Encoding, connections: number) => `${what}, ${connections}${encoding}`

const report = openReport('http')
const scope = openScope()
const { words } = archiveOf(VIDEOS)
const [watched, marked] = firstVideos(archiveOf(VIDEOS), 2).map(({ id }) => id)
const platform = await startTestPlatform(scope)
addLargeChannel(platform.platform.catalogue, { videos: 1000, key: 'http0' })
platform.platform.faults.set('global', { name: 'media_slow', bytesPerSecond: 2000 }) // a download that goes on as long as it may

const dataDir = await copyOfLibrary(scope, VIDEOS)
if (!isFirstOnly) await measureStart()
let server = await start()
await firstSnapshotTaken(server)
if (!isFirstOnly) await measureIdle()
const { playlist_id: ownPlaylist } = await done('POST', '/api/playlist/custom/', { playlist_name: 'Own' })
await done('POST', '/api/library/', { command: 'accept' }) // no video has a file: else it waits for its disk

const load = openLoad(scope)
const bare = await startBare(scope, join(dataDir, 'index.sqlite'))
const plain = openPlainSearch(join(dataDir, 'index.sqlite'), words)
const only = process.argv.find((word) => word.startsWith('--only='))?.slice('--only='.length)
const cases = casesOf(VIDEOS).filter(({ name }) => only === undefined || name.startsWith(only))
let writes = 0
let downloads = 0
for (const each of cases) await measure(each)
plain.close()

if (!isFirstOnly) await measureMixedLoad()
await server.end('SIGTERM')
if (!isFirstOnly) await measureDelays()
await scope.close()

function start(options: { isWatched?: boolean } = {}) {
  return startArchive(scope, { dataDir }, { ...options, env: platform.env })
}

async function measureStart(): Promise<void> {
  const first = await start() // creates the ledger and the account, and warms the disk cache
  await done('POST', '/api/config/', { downloads: { sleep_interval: 0 } }, first)
  await firstSnapshotTaken(first)
  await first.end('SIGTERM')
  const taken: number[] = []
  for (let at = 0; at < (isQuick ? 3 : 7); at++) {
    const started = performance.now()
    const again = await start()
    taken.push((again.answeredAt - started) / 1000)
    await again.end('SIGTERM')
  }
  report('start to first answer', { unit: 's', value: median(taken), atMost: 1 })
}

async function measureIdle(): Promise<void> {
  report(`memory, idle, ${IDLE_SECONDS} s after the start`, {
    unit: 'MB',
    value: (await delay(IDLE_SECONDS * 1000), await rssMb(server.pid)),
    atMost: 100,
  })
}

async function measureMixedLoad(): Promise<void> {
  const mixed = cases.flatMap(({ asked }) => asked.slice(0, 60))
  await load.run({ ...(await target('own', 16)), seconds: isQuick ? 5 : 30, requests: mixed })
  report('memory after the mixed load', { unit: 'MB', value: await rssMb(server.pid), atMost: 150 })
  report('memory ten minutes after it', {
    unit: 'MB',
    value: (await delay(isQuick ? 10_000 : 600_000), await rssMb(server.pid)),
    atMost: 120,
  })
}

async function done(method: string, path: string, body?: object, of = server): Promise<any> {
  const answer = await of.api(method, path, body)
  if (answer.status !== 200) throw new Error(`${method} ${path} was answered by ${answer.status}: ${answer.bytes}`)
  return answer.body
}

/** Writes something of each kind, which makes all cached replies out of date. None of the writes starts a job. */
async function write(): Promise<void> {
  const isEven = ++writes % 2 === 0
  await done('POST', '/api/watched/', { id: marked, is_watched: isEven })
  await done('POST', `/api/playlist/custom/${ownPlaylist}/`, { playlist_name: `Own ${writes}` })
  const { data } = await done('GET', '/api/channel/')
  await done('POST', `/api/channel/${data[0].channel_id}/`, {
    channel_overwrites: { download_format: isEven ? 'best' : null },
  })
  const queued = (await done('GET', '/api/download/?filter=pending')).data[0].youtube_id
  await done('POST', `/api/download/${queued}/`, { status: 'ignore' })
}

async function target(who: 'own' | 'bare', connections: number) {
  const port = who === 'own' ? Number(new URL(server.baseUrl).port) : bare.port
  return { port, token: server.token, connections }
}

/** Alternates between the rounds of all variants, so that other work on the machine affects them equally. */
async function measure(each: Case): Promise<void> {
  const runs = new Map<string, Run[]>()
  const turns = Array.from({ length: ROUNDS }, () =>
    ENCODINGS.flatMap((encoding) => CONNECTIONS.map((connections) => ({ encoding, connections }))),
  ).flat()
  const asked = each.asked.slice(0, ASKED * (turns.length + WARM_ROUNDS))
  await bare.serve(await repliesTo(each, asked))
  const run = async (
    what: string,
    at: number,
    { who = 'own', seconds }: { who?: 'own' | 'bare'; seconds?: number } = {},
  ) => {
    const { encoding, connections } = turns[at % turns.length]!
    const headers = { ...each.headers, ...(encoding && { 'Accept-Encoding': encoding }) }
    // Every search uses new words; other addresses are repeated, each time after another write.
    const requests = Array.from({ length: ASKED }, (_, one) => asked[(at * ASKED + one) % asked.length]!)
      .slice(0, seconds === undefined ? asked.length : ASKED_AGAIN)
      .map(({ path }) => ({ path, headers }))
    const pid = who === 'own' ? server.pid : bare.pid
    const before = await threadSeconds(pid)
    const loaded = await load.run({
      ...(await target(who, connections)),
      ...{ requests, seconds: seconds ?? ONCE_SECONDS, isOnce: seconds === undefined },
    })
    const key = keyOf(what, encoding, connections)
    runs.set(key, [...(runs.get(key) ?? []), { ...loaded, cpuSeconds: (await threadSeconds(pid)) - before }])
  }

  // Warms up both servers until their code is compiled, as on a server that has run for a day.
  for (let time = 0; time < WARM_ROUNDS * WARM_TIMES; time++)
    for (const who of ['bare', 'own'] as const) {
      await write()
      await run('warm', turns.length + (time % WARM_ROUNDS), { who })
    }
  for (const at of turns.keys()) {
    await run('bare', at, { who: 'bare' })
    await write()
    await run('first', at)
    if (!isFirstOnly) await run('again', at, { seconds: AGAIN_SECONDS })
  }
  if (!isFirstOnly) {
    const leave = await besideOthers()
    for (const at of turns.keys()) await run(BESIDE, at, { seconds: BESIDE_SECONDS })
    await leave()
  }
  tell(each, runs)
}

/**
 * The queries of a bare search depend on the results. The results are requested here, before the server that is
 * measured starts.
 */
async function repliesTo({ search, headers = {} }: Case, asked: Asked[]): Promise<BareReply[]> {
  const replies: BareReply[] = []
  for (const [at, { path, queries }] of asked.entries()) {
    const answer = await server.api('GET', path, undefined, headers)
    if (answer.status !== 200) throw new Error(`${path} was answered by ${answer.status}`)
    const found = queries ?? plain.queriesOf(search!.words[at]!, search!.isFull, answer.body.results)
    replies.push({ path, queries: found, body: answer.bytes.toString() })
  }
  if (search) {
    await server.end('SIGTERM')
    server = await start()
    await done('GET', `/api/search/?query=${search.isFull ? 'full:' : ''}zzzzzzz`) // the list of all words is read once
  }
  return replies
}

/**
 * Simulates a viewer who reports positions, and a download by yt-dlp.
 * @returns ends both
 */
async function besideOthers(): Promise<() => Promise<void>> {
  const id = `http0${(downloads++).toString(36).padStart(6, '0')}`
  await done('POST', '/api/download/?autostart=true', { data: [{ youtube_id: id, status: 'pending' }] })
  await until(
    'something is downloaded',
    () => server.api('GET', '/api/download/'),
    ({ body }) => (body.data[0].progress?.fraction ?? 0) > 0,
    120_000,
  )
  let second = 0
  const tell = () => void done('POST', `/api/video/${watched}/progress/`, { position: (second += 2.5) % 25 || 1 })
  tell()
  const timer = setInterval(tell, 2500)
  return async () => {
    clearInterval(timer)
    await done('DELETE', `/api/download/${id}/`)
  }
}

function tell({ name, reference }: Case, runs: ReadonlyMap<string, Run[]>): void {
  for (const what of isFirstOnly ? ['first'] : ['first', 'again', BESIDE])
    for (const encoding of ENCODINGS) {
      const of = (whose: string, connections: number, figure: (run: Run) => number) =>
        median(runs.get(keyOf(whose, encoding, connections))!.map(figure))
      const row = `${name}, ${what}${encoding && `, ${encoding}`}`
      const cpuUs = (whose: string) => {
        const all = CONNECTIONS.flatMap((connections) => runs.get(keyOf(whose, encoding, connections))!)
        const sum = (figure: (run: Run) => number) => all.reduce((total, each) => total + figure(each), 0)
        return (sum((each) => each.cpuSeconds) / sum(({ count }) => count)) * 1e6
      }
      const [own, beside] = [cpuUs(what), cpuUs('bare')]
      const isKeptList = name === 'list' && what === 'again' && encoding !== ''
      report(`${row}: processor time a request`, {
        ...{ unit: 'µs', value: own, beside },
        ...(isKeptList ? { limits: 'value', atMost: KEPT_LIST_US } : { ratio: beside / own, atLeast: OF_BARE }),
      })
      for (const connections of CONNECTIONS)
        report(`${row}: p99 at ${connections}`, {
          ...{ unit: 'ms', value: of(what, connections, ({ p99Ms }) => p99Ms), atMost: MOST_P99_MS[connections] },
          note: [
            `p50 ${of(what, connections, ({ p50Ms }) => p50Ms).toPrecision(3)} ms,`,
            `${of(what, connections, ({ perSecond }) => perSecond).toFixed(0)}/s,`,
            `bare ${of('bare', connections, ({ perSecond }) => perSecond).toFixed(0)}/s`,
          ].join(' '),
        })
      if (reference && encoding === '' && what !== BESIDE)
        report(`${row}: beside the reference's recorded figure`, {
          ...{ unit: '1/s', value: of(what, 16, ({ perSecond }) => perSecond), beside: reference.perSecond },
          atLeast: what === 'first' ? reference.times : AGAIN_TIMES,
        })
    }
}

async function measureDelays(): Promise<void> {
  server = await start({ isWatched: true })
  for (const { name, asked } of cases.filter((each) => each.search ?? /^(statistics|list)$/.test(each.name))) {
    const asking = load.run({ ...(await target('own', 16)), seconds: isQuick ? 3 : 10, requests: asked })
    const { own, idle } = await delaysDuring(scope, server, () => asking)
    report(`${name}: event loop delay p99`, {
      ...{ unit: 'ms', value: own.p99, beside: idle.p99 },
      ...{ limits: 'value', atMost: 20 },
    })
  }
  await server.end('SIGTERM')
}
