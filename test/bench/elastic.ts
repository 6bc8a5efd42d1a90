/**
 * Measures the same archive on Elasticsearch: loading and questions compared with a bare client, answers compared with
 * those of the embedded index, and the memory of our process.
 */
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Client } from '@elastic/elasticsearch'
import { systemClock } from '../../core/base/clock.ts'
import { openLog } from '../../core/log.ts'
import { connectElastic } from '../../plugins/elasticsearch/connection.ts'
import { encode } from '../../plugins/elasticsearch/encode.ts'
import { layoutOf } from '../../plugins/elasticsearch/layout.ts'
import { openElasticIndex } from '../../plugins/elasticsearch/open.ts'
import { definitionData } from '../../plugins/index-kit/document.ts'
import { openSqliteIndex } from '../../plugins/sqlite/open.ts'
import { subtitleIndex, videoIndex } from '../../plugins/video/schema.ts'
import { makeNode, whyNoElasticsearch } from '../elasticsearch/node.ts'
import { temporaryFolder } from '../support/folder.ts'
import { firstVideos } from './generate.ts'
import { archiveOf, copyOfLibrary, fillBeside, inBatches } from './support/library.ts'
import { openLoad } from './support/load.ts'
import { rssMb, startArchive } from './support/processes.ts'
import { DEFINITIONS, type Question, questionsOf } from './support/questions.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const why = whyNoElasticsearch()
if (why) {
  process.stdout.write(`${why}\n`)
  process.exit(0)
}

const VIDEOS = isQuick ? 10_000 : 100_000
const TURN = VIDEOS / 20
const ROUNDS = isQuick ? 3 : 5
const QUESTIONS_A_ROUND = 40
const JSON_TYPE = 'application/vnd.elasticsearch+json; compatible-with=8'

const report = openReport('elastic')
const scope = openScope()
const log = openLog('warn')
const archive = archiveOf(VIDEOS)
const node = await makeNode({ heapMb: 1024 })
scope.after(() => node.close())
await node.start()
const bare = new Client({ node: node.url })
scope.after(() => bare.close())

async function open(prefix: string) {
  const connection = connectElastic({ url: node.url, log, clock: systemClock })
  const index = await openElasticIndex({ connection, definitions: DEFINITIONS, log, clock: systemClock, prefix })
  scope.after(() => index.close())
  return { index, client: connection.client }
}
const own = await open('av')
const collection = own.index.collection(videoIndex)

await measureLoading()
await fillBeside(own.index, VIDEOS)
await own.index.refresh()
await bare.indices.forcemerge({ index: 'av_*', max_num_segments: 5 }, { requestTimeout: 600_000 })
await measureQuestions()
await measureServer()
await scope.close()

/** Alternates between both, with collections of the same mapping. */
async function measureLoading(): Promise<void> {
  await open('bare')
  const layout = layoutOf(definitionData(videoIndex))
  const ratios: number[] = []
  const taken = { own: 0, bare: 0 }
  for (const turn of inBatches(archive.videos(), TURN)) {
    let started = performance.now()
    const { failed } = await collection.putMany(turn)
    const ownMs = performance.now() - started
    const sources = turn.map(({ id, doc }) => ({ id, source: JSON.parse(encode(layout, id, doc as never)) as object }))
    started = performance.now()
    const { failed: refused } = await bare.helpers.bulk({
      datasource: sources,
      onDocument: ({ id, source }) => [{ index: { _index: 'bare_video', _id: id } }, source],
    })
    const bareMs = performance.now() - started
    if (failed.length + refused > 0) throw new Error(`${failed.length} and ${refused} documents were refused`)
    taken.own += ownMs
    taken.bare += bareMs
    ratios.push(bareMs / ownMs)
  }
  const perSecond = (ms: number) => VIDEOS / (ms / 1000)
  report('videos loaded a second', {
    unit: '1/s',
    value: perSecond(taken.own),
    beside: perSecond(taken.bare),
    ratio: median(ratios),
    atLeast: 0.8,
  })
  const names = (await bare.cat.indices({ index: 'bare_*', format: 'json', h: 'index' })).map(({ index }) => index!)
  await bare.indices.delete({ index: names })
}

/** The bare client sends the requests that our adapter has sent for the same question. */
async function measureQuestions(): Promise<void> {
  const folder = await copyOfLibrary(scope, VIDEOS)
  const embedded = await openSqliteIndex({
    file: join(folder, 'index.sqlite'),
    definitions: DEFINITIONS,
    log,
    clock: systemClock,
  })
  const asked = { videos: VIDEOS, archive }
  const inside = questionsOf({
    ...asked,
    collection: embedded.collection(videoIndex),
    subtitle: embedded.collection(subtitleIndex),
  })
  for (const [at, question] of questionsOf({
    ...asked,
    collection,
    subtitle: own.index.collection(subtitleIndex),
  }).entries()) {
    const requests = await recorded(question)
    const rounds: Array<{ own: number; bare: number; inside: number }> = []
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({
        own: await timeOf(requests.length, question.ask),
        bare: await timeOf(requests.length, async (number) => {
          for (const { body, ...request } of requests[number]!)
            await bare.transport.request(
              { ...request, ...(body !== undefined && { body: JSON.parse(body) as object }) },
              { headers: { accept: JSON_TYPE, 'content-type': JSON_TYPE } },
            )
        }),
        inside: await timeOf(requests.length, inside[at]!.ask),
      })
    }
    const all = (of: 'own' | 'bare' | 'inside') => median(rounds.map((round) => round[of]))
    report(question.name, {
      unit: 'ms',
      value: all('own'),
      beside: all('bare'),
      ratio: median(rounds.map((round) => round.own / round.bare)),
      atMost: 1.2,
    })
    report(`${question.name}: embedded index`, { unit: 'ms', value: all('inside') })
  }
  await embedded.close()
}

interface Request {
  method: string
  path: string
  querystring?: string
  body?: string
}

async function recorded({ times, ask }: Question): Promise<Request[][]> {
  const requests: Request[][] = []
  const { diagnostic } = own.client
  let seen: Request[] = []
  const note = (
    _error: unknown,
    result: {
      meta: { request: { params: { method: string; path: string; querystring?: string; body?: unknown } } }
    } | null,
  ) => {
    const { method, path, querystring, body } = result!.meta.request.params
    seen.push({ method, path, ...(querystring ? { querystring } : {}), ...(body ? { body: String(body) } : {}) })
  }
  diagnostic.on('request', note as never)
  for (let at = 0; at < Math.min(times, QUESTIONS_A_ROUND); at++) {
    seen = []
    await ask(at)
    requests.push(seen)
  }
  diagnostic.off('request', note as never)
  return requests
}

/** Time of one question, in ms. */
async function timeOf(times: number, ask: Question['ask']): Promise<number> {
  const started = performance.now()
  for (let at = 0; at < times; at++) await ask(at)
  return (performance.now() - started) / times
}

/** Compares the whole program on both indexes. */
async function measureServer(): Promise<void> {
  const server = await startArchive(
    scope,
    { dataDir: await temporaryFolder(scope) },
    { env: { AV_ELASTICSEARCH_URL: node.url } },
  )
  await delay(isQuick ? 10_000 : 60_000)
  report('memory of our process, idle', { unit: 'MB', value: await rssMb(server.pid), atMost: 130 })
  const beside = await startArchive(scope, { videos: VIDEOS })

  const ids = firstVideos(archive, 500).map(({ id }) => id)
  const words = archive.words.slice(300, 500)
  const kinds: Record<string, string[]> = {
    'list, page 0': ['/api/video/'],
    item: ids.map((id) => `/api/video/${id}/`),
    search: words.map((word) => `/api/search/?query=${word}`),
    'search in subtitles': words.map((word) => `/api/search/?query=${encodeURIComponent(`full:${word}`)}`),
    statistics: ['video', 'channel', 'playlist', 'download', 'watch', 'biggestchannels'].map(
      (name) => `/api/stats/${name}/`,
    ),
  }
  const load = openLoad(scope)
  const run = ({ baseUrl, token }: typeof server, paths: string[], seconds: number) =>
    load.run({
      port: Number(new URL(baseUrl).port),
      token,
      connections: 16,
      seconds,
      requests: paths.map((path) => ({ path })),
    })
  for (const [name, paths] of Object.entries(kinds)) {
    const [onElastic, onEmbedded] = [await run(server, paths, 3), await run(beside, paths, 3)]
    report(`${name}: requests a second, beside the embedded index`, {
      unit: '1/s',
      value: onElastic.perSecond,
      beside: onEmbedded.perSecond,
    })
  }
  await run(server, Object.values(kinds).flat(), isQuick ? 5 : 30)
  report('memory of our process after a mixed load', { unit: 'MB', value: await rssMb(server.pid), atMost: 130 })
}
