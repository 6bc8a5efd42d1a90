/**
 * Measures our own processor time per downloaded video, compared with yt-dlp alone with the same options and videos;
 * and the cost of a check for a newer yt-dlp.
 */
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { addLargeChannel } from '../platform/seed.mjs'
import { startTestPlatform } from '../platform/start.ts'
import { temporaryFolder } from '../support/folder.ts'
import { allQuiet, taskEnded } from '../support/server.ts'
import { ROOT } from '../support/sources.ts'
import { anEjs, aYtDlp, startTestIndex } from '../support/wheels.ts'
import { cpuSeconds, rssMb, startArchive } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const run = promisify(execFile)
const VIDEOS = isQuick ? 2 : 4
const ROUNDS = isQuick ? 3 : 5
/** Stands for a feature film: the fixed cost of each video must be negligible in comparison. */
const CLIP = 'wide-90s'
/** Limit for the daily check for a newer yt-dlp. */
const LOOK_CPU_SECONDS = 20

const report = openReport('download')
const scope = openScope()
const platform = await startTestPlatform(scope)
const { baseUrl, media, catalogue } = platform.platform
await media.prepare([CLIP])
const index = await startTestIndex(scope)
const prefix = 'dload'
addLargeChannel(catalogue, { videos: 10_000, key: prefix, clip: CLIP })
const server = await startArchive(
  scope,
  { dataDir: await temporaryFolder(scope) },
  { env: { ...platform.env, AV_PACKAGE_INDEX: index.url, AV_PLUGINS_DIR: `${ROOT}test/data/plugins/steptime` } },
)
await server.api('POST', '/api/config/', { downloads: { sleep_interval: 0 } })

/** Ids in the generated channel; each is used once. */
let next = 0
const fresh = (): string[] =>
  Array.from({ length: VIDEOS }, () => prefix + (next++).toString(36).padStart(11 - prefix.length, '0'))

/** Uses the same options as `plugins/platform/worker.py`. */
async function byHand(ids: string[]): Promise<number> {
  const folder = await mkdtemp(join(server.dataDir, 'by-hand-'))
  const options = [
    '--quiet',
    '--no-update',
    '--no-cache-dir',
    '--format',
    'bv*+ba[ext=m4a]/bv*+ba/b',
    '--merge-output-format',
    'mp4',
    '--remux-video',
    'mp4',
    '--write-thumbnail',
    '--convert-thumbnails',
    'jpg',
    '--convert-subs',
    'vtt',
    '--output',
    './%(id)s.%(ext)s',
  ]
  const env = { ...process.env, AV_PLATFORM_URL: baseUrl, PYTHONPATH: join(ROOT, 'test/platform') }
  const started = performance.now()
  for (const id of ids)
    await run(join(ROOT, 'tools/bin/yt-dlp'), [...options, `${baseUrl}/watch?v=${id}`], { cwd: folder, env })
  const taken = performance.now() - started
  await rm(folder, { recursive: true })
  return taken / ids.length / 1000
}

async function byServer(ids: string[]): Promise<number> {
  const asked = await server.api('POST', '/api/download/', {
    data: ids.map((id) => ({ youtube_id: id, status: 'pending' })),
  })
  await taskEnded(server, asked.body.task_id)
  const started = performance.now()
  const { body } = await server.api('POST', '/api/task-name/download_pending/')
  const task = await taskEnded(server, body.task_id)
  const taken = performance.now() - started
  const { body: queue } = await server.api('GET', '/api/stats/download/')
  if (task.status !== 'SUCCESS' || queue.pending > 0)
    throw new Error(`Not all was downloaded: ${JSON.stringify([task, queue])}`)
  return taken / ids.length / 1000
}

/** Processor time of a check, including its child processes. */
async function lookFor(version: string): Promise<number> {
  const before = await cpuSeconds(server.pid, { ofChildren: true })
  await server.api('POST', '/api/platform/', { command: 'update' })
  await allQuiet(server)
  const taken = (await cpuSeconds(server.pid, { ofChildren: true })) - before
  const { downloader } = (await server.api('GET', '/api/platform/')).body.health
  if (downloader.version !== version) throw new Error(`Not the version that was meant: ${JSON.stringify(downloader)}`)
  return taken
}

await byHand(fresh())
await byServer(fresh())
const memory = await rssMb(server.pid)
await server.api('GET', '/api/step-times/')
const rounds: Array<Record<'own' | 'hand', number>> = []
for (let at = 0; at < ROUNDS; at++) {
  const ids = fresh()
  rounds.push({ hand: await byHand(ids), own: await byServer(ids) })
}
const { body: steps }: { body: Record<string, number> } = await server.api('GET', '/api/step-times/')
report('a video, beside yt-dlp by hand', {
  unit: 's',
  value: median(rounds.map(({ own }) => own)),
  beside: median(rounds.map(({ hand }) => hand)),
  ratio: median(rounds.map(({ own, hand }) => own / hand)),
  atMost: 1.1,
})
for (const [step, seconds] of Object.entries(steps).toSorted(([, one], [, other]) => other - one))
  report(`of it, ${step}`, { unit: 's', value: seconds / ROUNDS / VIDEOS })
report('memory of the server afterwards, beside after the first ones', {
  unit: 'MB',
  value: await rssMb(server.pid),
  beside: memory,
  atMost: 1.1,
})
const { version } = (await server.api('GET', '/api/platform/')).body.health.downloader
await index.publish(aYtDlp('2020.1.1'), anEjs('0.8.0'))
const idle = { unit: 's', value: await lookFor(version), beside: LOOK_CPU_SECONDS, atMost: 1 }
report('processor time of the daily look, beside its limit', idle)
await index.publish(aYtDlp('2099.1.1'))
const taken = { unit: 's', value: await lookFor('2099.1.1'), beside: LOOK_CPU_SECONDS, atMost: 1 }
report('the same where a newer yt-dlp is tried and taken', taken)
await server.end('SIGTERM')
await scope.close()
