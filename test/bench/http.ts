/**
 * The API over a library of 100,000 videos beside a bare server: requests a second, memory, start, delay of the event
 * loop.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { firstVideos, randomFrom } from './generate.ts'
import { type BareReply, startBare } from './support/bare.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { openLoad } from './support/load.ts'
import { openPlainSearch } from './support/plain-search.ts'
import { type Archive, cpuSeconds, delaysDuring, firstSnapshotTaken, rssMb, startArchive } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const VIDEOS = 100_000
const ROUNDS = isQuick ? 3 : 7
const ROUND_SECONDS = isQuick ? 1 : 2
const IDLE_SECONDS = isQuick ? 10 : 60
const CONNECTIONS = 16
/** At most: each request is asked once. */
const WARM_UP_SECONDS = 60

const report = openReport('http')
const scope = openScope()
const archive = archiveOf(VIDEOS)
const random = randomFrom(5)

const known = firstVideos(archive, 3000)
const ids = known.map(({ id }) => id)
const channels = new Set(known.map(({ doc }) => doc.channel_id))
const common = archive.words.slice(0, 80)
const telling = archive.words.slice(300, 3000)

const RECORD =
  'SELECT d.text, cd.text AS channel FROM #video m JOIN #video_doc d ON d.rid = m.rid JOIN #channel c ON c.id = m.channel_id JOIN #channel_doc cd ON cd.rid = c.rid'
const page = (where: string, order: string) =>
  `SELECT d.text, cd.text AS channel FROM (SELECT rid, channel_id FROM #video ${where} ORDER BY ${order}, id LIMIT 12) m
   JOIN #video_doc d ON d.rid = m.rid JOIN #channel c ON c.id = m.channel_id JOIN #channel_doc cd ON cd.rid = c.rid`
const SEEN = `SELECT rid FROM #video_kw WHERE field = 'watched_by' AND value = '1'`
/** In the ledger, beside the index. */
const QUEUE = 'ledger.download_queue_b'
const sums = (groups: string, totals: string, of: string) =>
  `SELECT ${groups}, count(*)${totals} FROM #${of} GROUP BY ${groups}`

interface Case {
  name: string
  requests: Array<{ path: string; sql: string; values: Array<string | number>; headers?: Record<string, string> }>
  atLeast?: number
}

interface Search {
  name: string
  words: string[]
  isFull?: boolean
  /** Requests a second that the reference's recorded figures have for it, on two cores at sixteen connections. */
  reference: number
}

/** How many times the reference's figure: for words never asked before, and for those that were. */
const FIRST = 15
const AGAIN = 50
/** Words that are asked for again and again. */
const REPEATED = 200

const shuffled = <Value>(list: readonly Value[]): Value[] =>
  list
    .map((value) => ({ value, at: random() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ value }) => value)
const pairs = common.flatMap((first) => common.filter((other) => other !== first).map((other) => `${first} ${other}`))
/** Each as many words as all rounds may take. */
const searches: Search[] = [
  { name: 'search, telling words', words: shuffled(telling), reference: 142 },
  { name: 'search, common words', words: shuffled([...new Set(pairs)]).slice(0, telling.length), reference: 64 },
  { name: 'search in subtitles', words: shuffled(telling), isFull: true, reference: 21 },
]
const pathOf = (words: string, isFull = false) =>
  `/api/search/?query=${encodeURIComponent(isFull ? `full:${words}` : words)}`

const cases: Case[] = [
  {
    name: 'list, page 0',
    requests: [{ path: '/api/video/', sql: page('', '"published~" DESC'), values: [] }],
    atLeast: 0.65,
  },
  {
    name: 'list, filtered and sorted',
    requests: [
      ...[...channels].slice(0, 50).map((id) => ({
        path: `/api/video/?channel=${id}`,
        sql: page('WHERE channel_id = ?', '"published~" DESC'),
        values: [id],
      })),
      { path: '/api/video/?watch=unwatched', sql: page(`WHERE rid NOT IN (${SEEN})`, '"published~" DESC'), values: [] },
      { path: '/api/video/?sort=downloaded', sql: page('', 'date_downloaded DESC'), values: [] },
      {
        path: '/api/video/?type=shorts&sort=mediasize',
        sql: page(`WHERE vid_type = 'shorts'`, 'media_size DESC'),
        values: [],
      },
    ],
    atLeast: 0.65,
  },
  // Our page asks for the slim form; whoever says nothing is sent the record's keys twice.
  ...[
    { name: 'item, as our page asks', headers: { 'X-API-Form': 'v0.4' } },
    { name: 'item, for both lines of clients', headers: {} },
  ].map(({ name, headers }) => ({
    name,
    requests: ids
      .slice(0, 2000)
      .map((id) => ({ path: `/api/video/${id}/`, sql: `${RECORD} WHERE m.id = ?`, values: [id], headers })),
    atLeast: 0.65,
  })),
  {
    name: 'queue, page 0',
    requests: [
      {
        path: '/api/download/?filter=pending',
        sql: `SELECT * FROM ${QUEUE} WHERE status <> 'ignore' ORDER BY later, position LIMIT 12`,
        values: [],
      },
    ],
    atLeast: 0.65,
  },
  {
    name: 'statistics',
    requests: [
      {
        path: '/api/stats/video/',
        sql: sums('vid_type, active', ', sum(media_size), sum(duration)', 'video'),
        values: [],
      },
      { path: '/api/stats/channel/', sql: sums('channel_active, channel_subscribed', '', 'channel'), values: [] },
      { path: '/api/stats/playlist/', sql: sums('playlist_active, playlist_subscribed', '', 'playlist'), values: [] },
      {
        path: '/api/stats/download/',
        sql: `SELECT status, vid_type, count(*) FROM ${QUEUE} GROUP BY status, vid_type`,
        values: [],
      },
      {
        path: '/api/stats/watch/',
        sql: `SELECT count(*), sum(duration) FROM #video WHERE rid IN (${SEEN})`,
        values: [],
      },
      {
        path: '/api/stats/biggestchannels/',
        sql: `${sums('channel_id', ', sum(media_size), sum(duration)', 'video')} ORDER BY count(*) DESC LIMIT 10`,
        values: [],
      },
    ],
    atLeast: 0.65,
  },
]

const dataDir = await copyOfLibrary(scope, VIDEOS)
await measureStart()
let server = await startArchive(scope, { dataDir })
report(`memory, idle, ${IDLE_SECONDS} s after the start`, {
  unit: 'MB',
  value: (await delay(IDLE_SECONDS * 1000), await rssMb(server.pid)),
  atMost: 100,
})

const load = openLoad(scope)
const bare = await startBare(scope, join(dataDir, 'index.sqlite'))
const plain = openPlainSearch(join(dataDir, 'index.sqlite'), archive.words)
for (const each of cases) await compare(each)
for (const each of searches) await compareSearch(each)
plain.close()

const mixed = [
  ...cases.flatMap(({ requests }) => requests.slice(0, 60)),
  ...searches.flatMap(({ words, isFull }) => words.slice(0, 60).map((each) => ({ path: pathOf(each, isFull) }))),
]
await load.run({
  port: portOf(server),
  token: server.token,
  connections: CONNECTIONS,
  seconds: isQuick ? 5 : 30,
  requests: mixed,
})
report('memory after the mixed load', { unit: 'MB', value: await rssMb(server.pid), atMost: 150 })
report('memory ten minutes after it', {
  unit: 'MB',
  value: (await delay(isQuick ? 10_000 : 600_000), await rssMb(server.pid)),
  atMost: 120,
})
await server.end('SIGTERM')
await measureDelays()
await scope.close()

async function measureStart(): Promise<void> {
  const first = await startArchive(scope, { dataDir }) // makes ledger and account, warms the disk
  await firstSnapshotTaken(first)
  await first.end('SIGTERM')
  const taken: number[] = []
  for (let at = 0; at < ROUNDS; at++) {
    const started = performance.now()
    const again = await startArchive(scope, { dataDir })
    taken.push((again.answeredAt - started) / 1000)
    await again.end('SIGTERM')
  }
  report('start to first answer', { unit: 's', value: median(taken), atMost: 1 })
}

function portOf({ baseUrl }: Archive): number {
  return Number(new URL(baseUrl).port)
}

async function bodyOf(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await fetch(server.baseUrl + path, {
    headers: { Authorization: `Token ${server.token}`, 'Accept-Encoding': 'identity', ...headers },
  })
  const body = await response.text()
  if (response.status !== 200) throw new Error(`${path} was answered by ${response.status}: ${body}`)
  return body
}

async function compare({ name, requests, atLeast }: Case): Promise<void> {
  const replies: BareReply[] = []
  for (const { path, sql, values, headers } of requests)
    replies.push({
      path,
      headers,
      queries: [{ sql: sql.replaceAll(/#([a-z]+)/g, '$1_v1'), values }],
      body: await bodyOf(path, headers),
    })
  await bare.serve(replies)
  tell(name, await rounds(() => replies), atLeast)
}

/** Words that the server has not been asked for since its start, then words that it has. */
async function compareSearch({ name, words, isFull = false, reference }: Search): Promise<void> {
  const replies: BareReply[] = []
  for (const each of words) {
    const path = pathOf(each, isFull)
    const body = await bodyOf(path)
    replies.push({ path, queries: plain.queriesOf(each, isFull, JSON.parse(body).results), body })
  }
  await bare.serve(replies)
  await server.end('SIGTERM')
  server = await startArchive(scope, { dataDir })
  await bodyOf(pathOf('zzzzzzz', isFull)) // the list of all words is read once
  const size = Math.floor((replies.length - REPEATED) / (ROUNDS + 1))
  const some = (at: number) => replies.slice(REPEATED + at * size, REPEATED + (at + 1) * size)
  const first = await rounds(some, true)
  tell(`${name}, first time`, first, 0.65)
  tellReference(`${name}, first time`, first, reference, FIRST)
  const { p99Ms } = await load.run({
    ...{ port: portOf(server), token: server.token, connections: 1, seconds: WARM_UP_SECONDS, isOnce: true },
    requests: some(ROUNDS),
  })
  report(`${name}, first time, one after another: p99 over HTTP`, { unit: 'ms', value: p99Ms, atMost: 30 })
  const again = await rounds(() => replies.slice(0, REPEATED))
  tell(`${name}, again`, again, 0.65)
  tellReference(`${name}, again`, again, reference, AGAIN)
}

interface Figures {
  perSecond: number
  p99Ms: number
  /** Processor time a request, all threads. */
  cpuUs: number
}
type Round = Record<'own' | 'bare', Figures>

/**
 * Rounds take turns, so that other work on the machine meets both alike; what counts is the median of the rounds'
 * ratios.
 */
async function rounds(requestsOf: (round: number) => BareReply[], isOnce = false): Promise<Round[]> {
  const run = async (of: number, pid: number, requests: BareReply[], seconds: number, once: boolean) => {
    const before = await cpuSeconds(pid)
    const asked = requests.map(({ path, headers }) => ({ path, ...(headers && { headers }) }))
    const { perSecond, p99Ms, count } = await load.run({
      ...{ port: of, token: server.token, connections: CONNECTIONS, requests: asked, seconds, isOnce: once },
    })
    return { perSecond, p99Ms, cpuUs: (((await cpuSeconds(pid)) - before) / count) * 1e6 }
  }
  const both = async (requests: BareReply[], seconds: number, once = isOnce): Promise<Round> => ({
    own: await run(portOf(server), server.pid, requests, seconds, once),
    bare: await run(bare.port, bare.pid, requests, seconds, once),
  })
  // What counts as asked again has been asked.
  if (!isOnce) await both(requestsOf(0), WARM_UP_SECONDS, true)
  const all: Round[] = []
  for (let at = 0; at < ROUNDS; at++) all.push(await both(requestsOf(at), ROUND_SECONDS))
  return all
}

function figure(all: Round[], of: keyof Round, name: keyof Figures): number {
  return median(all.map((round) => round[of][name]))
}

function tell(name: string, all: Round[], atLeast: number | undefined): void {
  report(`${name}: requests a second`, {
    unit: '1/s',
    value: figure(all, 'own', 'perSecond'),
    beside: figure(all, 'bare', 'perSecond'),
    ratio: median(all.map(({ own, bare: other }) => own.perSecond / other.perSecond)),
    ...(atLeast !== undefined && { atLeast }),
  })
  report(`${name}: processor time a request, all threads`, {
    unit: 'µs',
    value: figure(all, 'own', 'cpuUs'),
    beside: figure(all, 'bare', 'cpuUs'),
  })
}

function tellReference(name: string, all: Round[], reference: number, atLeast: number): void {
  report(`${name}: beside the reference's recorded figure`, {
    unit: '1/s',
    value: figure(all, 'own', 'perSecond'),
    beside: reference,
    atLeast,
  })
  report(`${name}: p99 over HTTP`, { unit: 'ms', value: figure(all, 'own', 'p99Ms') })
}

async function measureDelays(): Promise<void> {
  const watched: Archive = await startArchive(scope, { dataDir }, { isWatched: true })
  const loads = [
    ...searches.map(({ name, words, isFull }) => ({
      name,
      requests: words.map((each) => ({ path: pathOf(each, isFull) })),
    })),
    ...cases.filter(({ name }) => ['statistics', 'list, page 0'].includes(name)),
  ]
  for (const { name, requests } of loads) {
    const { own, idle } = await delaysDuring(scope, watched, () =>
      load.run({
        port: portOf(watched),
        token: watched.token,
        connections: CONNECTIONS,
        seconds: isQuick ? 3 : 10,
        requests,
      }),
    )
    report(`${name}: event loop delay p99`, {
      unit: 'ms',
      value: own.p99,
      beside: idle.p99,
      limits: 'value',
      atMost: 20,
    })
  }
  await watched.end('SIGTERM')
}
