/** Measures how much long work over 100,000 videos delays the event loop and searches while lists are read. */
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { until } from '../support/server.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { openLoad } from './support/load.ts'
import { delaysDuring, firstSnapshotTaken, rssMb, startArchive } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const DEADLINE_MS = 1_800_000
const SEARCH_LIMIT_MS = 60

const report = openReport('long work')
const scope = openScope()
const archive = archiveOf(VIDEOS)
const dataDir = await copyOfLibrary(scope, VIDEOS)
await putFilesOf(archive.biggestChannel)
const server = await startArchive(scope, { dataDir }, { isWatched: true })
await firstSnapshotTaken(server)
const port = Number(new URL(server.baseUrl).port)
const reading = openLoad(scope)
const searching = openLoad(scope)
const lists = ['/api/video/', '/api/video/?watch=unwatched', '/api/channel/', '/api/download/?filter=pending'].map(
  (path) => ({ path }),
)
const searches = archive.words
  .slice(300, 700)
  .map((word, at) => ({ path: `/api/search/?query=${encodeURIComponent(at % 4 === 0 ? `full:${word}` : word)}` }))

await measure('nothing beside', undefined, () => new Promise((resolve) => setTimeout(resolve, isQuick ? 2000 : 10_000)))
await measure('snapshot', 20, () => ended('POST', '/api/snapshot/'))
await measure('backup', 20, () => ended('POST', '/api/backup/'))
const [{ filename }] = (await server.api('GET', '/api/backup/')).body
await measure('restore of the backup', 20, () => ended('POST', `/api/backup/${filename}/`), isQuick ? 6 : 60)
report('memory after searches beside the restore', { unit: 'MB', value: await rssMb(server.pid), atMost: 150 })
await measure(`watched, a channel of ${(VIDEOS / 18) | 0} videos`, 20, () =>
  done('POST', '/api/watched/', { id: archive.biggestChannel, is_watched: true }),
)
await measure(`deletion, a channel of ${(VIDEOS / 18) | 0} videos`, 20, () =>
  done('DELETE', `/api/channel/${archive.biggestChannel}/`),
)
await server.end('SIGTERM')
await scope.close()

/** Creates small files as a download leaves them: the cost depends on their number, not on their size. */
async function putFilesOf(channel: string): Promise<void> {
  for (const { doc } of archive.videos()) {
    if (doc.channel_id !== channel) continue
    const path = join(dataDir, 'media', doc.media_url.replace(/^\/?media\//, ''))
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, 'video')
  }
}

async function done(method: string, path: string, body?: object): Promise<void> {
  const answer = await server.api(method, path, body)
  if (answer.status !== 200)
    throw new Error(`${method} ${path} was answered by ${answer.status}: ${JSON.stringify(answer.body)}`)
}

async function ended(method: string, path: string): Promise<void> {
  const { status, body } = await server.api(method, path)
  if (status !== 200) throw new Error(`${method} ${path} was answered by ${status}: ${JSON.stringify(body)}`)
  const record = body.task_id ? `/api/task-id/${body.task_id}/` : `/api/snapshot/${body.snapshot_name}/`
  const { body: now } = await until(
    `${path} ended`,
    () => server.api('GET', record),
    ({ body: seen }) => !['PENDING', 'RETRY', 'IN_PROGRESS'].includes(seen.status ?? seen.state),
    DEADLINE_MS,
  )
  if ((now.status ?? now.state) !== 'SUCCESS') throw new Error(`${path} ended: ${JSON.stringify(now)}`)
}

async function measure(
  what: string,
  atMost: number | undefined,
  work: () => Promise<unknown>,
  mostSeconds?: number,
): Promise<void> {
  let isOver = false
  const load = async (generator: typeof reading, requests: typeof lists) => {
    let [slow, count] = [0, 0]
    while (!isOver) {
      const { perSecond, share } = await generator.run({
        port,
        token: server.token,
        connections: 1,
        seconds: 1,
        requests,
        limitMs: SEARCH_LIMIT_MS,
      })
      count += perSecond
      slow += perSecond * share
    }
    return slow / count
  }
  const { own, idle, tookMs, result } = await delaysDuring(scope, server, async () => {
    const loads = Promise.all([load(reading, lists), load(searching, searches)])
    await work().finally(() => (isOver = true))
    return loads
  })
  report(`${what}: took`, { unit: 's', value: tookMs / 1000, ...(mostSeconds && { atMost: mostSeconds }) })
  report(`${what}: event loop delay p99`, {
    unit: 'ms',
    value: own.p99,
    beside: idle.p99,
    limits: 'value',
    ...(atMost && { atMost }),
  })
  report(`${what}: event loop delay, longest`, { unit: 'ms', value: own.max, beside: idle.max })
  report(`${what}: searches slower than ${SEARCH_LIMIT_MS} ms`, {
    unit: '%',
    value: result[1] * 100,
    ...(atMost && { atMost: 1 }),
  })
}
