/**
 * Measures small hardware: the server and its children on a fifth of one core and in 256 MB, over 100,000 videos.
 * Start; lists and searches after a write, each requested once; latency during downloads; memory.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { addLargeChannel } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { taskEnded } from '../support/server.ts'
import { firstVideos } from './generate.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { type Archive, firstSnapshotTaken, mostMb, peakWhile, startArchive } from './support/processes.ts'
import { isQuick, median, openReport, openScope, percentile } from './support/report.ts'
import { openSmallMachine } from './support/small-machine.ts'

const VIDEOS = 100_000
const SHARE = 0.2
const MEMORY_MB = 256
const TIMES = isQuick ? 20 : 100
const DOWNLOADS = isQuick ? 1 : 4
/** Pause between two requests of one person. */
const PAUSE_MS = 300
/** Long, because yt-dlp and ffmpeg run on a fifth of a core as well. */
const DOWNLOAD_DEADLINE_MS = 1_800_000

const machine = openSmallMachine({ share: SHARE, memoryMb: MEMORY_MB })
if (typeof machine === 'string') {
  process.stdout.write(`Not measured: programs cannot be given a part of processor and memory here: ${machine}\n`)
  process.exit(0)
}
const report = openReport('small')
const scope = openScope()
scope.after(async () => machine.remove())
const dataDir = await copyOfLibrary(scope, VIDEOS)
const platform = await startTestPlatform(scope)
addLargeChannel(platform.platform.catalogue, { videos: 1000, key: 'small' })

const first = await startArchive(scope, { dataDir }, { env: platform.env }) // creates the ledger and the account
await first.api('POST', '/api/config/', { downloads: { sleep_interval: 0 } })
await firstSnapshotTaken(first)
await first.end('SIGTERM')

const started = performance.now()
const alone = await machine.within(() => startArchive(scope, { dataDir }))
report('start, a fifth of a core', { unit: 's', value: (alone.answeredAt - started) / 1000, atMost: 5 })
report('first login, a fifth of a core', { unit: 's', value: (performance.now() - alone.answeredAt) / 1000 })
await alone.end('SIGTERM')
const server = await machine.within(() => startArchive(scope, { dataDir }, { env: platform.env }))

const words = archiveOf(VIDEOS).words.slice(300, 3000)
const video = firstVideos(archiveOf(VIDEOS), 1)[0]!.id
let marks = 0
/** Makes the cached replies out of date. */
const write = () => server.api('POST', '/api/watched/', { id: video, is_watched: ++marks % 2 === 0 })
await delay(isQuick ? 1000 : 20_000) // waits until the work of a start has ended
await measure('list', 30, (at) => `/api/video/?page=${at}`)
await measure('item', 30, () => `/api/video/${video}/`)
await measure('search', 60, (at) => `/api/search/?query=${words[at * 7]}`)
await measure('search in subtitles', 150, (at) => `/api/search/?query=full:${words[at * 7 + 1]}`)
await measureDownloads()
report('the most memory, start to end', { unit: 'MB', value: await mostMb(server.pid), atMost: MEMORY_MB })
if (machine.waits() === 0) throw new Error('The server never had to wait for its part of the processor')
await server.end('SIGTERM')
await scope.close()

async function answered(of: Archive, path: string): Promise<number> {
  const from = performance.now()
  const { status } = await of.api('GET', path)
  if (status !== 200) throw new Error(`${path} was answered by ${status}`)
  return performance.now() - from
}

async function measure(what: string, atMost: number, pathOf: (at: number) => string): Promise<void> {
  const taken: number[] = []
  for (let at = 0; at < TIMES; at++) {
    await write()
    await delay(PAUSE_MS)
    taken.push(await answered(server, pathOf(at)))
  }
  report(`${what}, first, a fifth of a core`, {
    unit: 'ms',
    value: percentile(taken, 0.95),
    beside: median(taken),
    limits: 'value',
    atMost,
  })
}

async function measureDownloads(): Promise<void> {
  const ids = Array.from({ length: DOWNLOADS }, (_, at) => `small${at.toString(36).padStart(6, '0')}`)
  const taken: number[] = []
  const ask = async () => {
    taken.push(await answered(server, `/api/video/?page=${taken.length % 20}`))
    return taken.at(-1)!
  }
  const { peak } = await peakWhile(
    ask,
    async () => {
      // No generated video has a file; without this request the server waits for its disk.
      await server.api('POST', '/api/library/', { command: 'accept' })
      await server.api('DELETE', '/api/download/?filter=pending') // what waits was made up too
      const asked = await server.api('POST', '/api/download/', {
        data: ids.map((id) => ({ youtube_id: id, status: 'pending' })),
      })
      await taskEnded(server, asked.body.task_id, DOWNLOAD_DEADLINE_MS)
      const { body } = await server.api('POST', '/api/task-name/download_pending/')
      const task = await taskEnded(server, body.task_id, DOWNLOAD_DEADLINE_MS)
      if (task.status !== 'SUCCESS') throw new Error(`Not all was downloaded: ${JSON.stringify(task)}`)
    },
    PAUSE_MS,
  )
  report('list beside downloads, the slowest', {
    unit: 'ms',
    value: peak,
    beside: median(taken),
    limits: 'value',
    atMost: 500,
  })
}
