/**
 * Measures how sidecars of 10,000 videos (or BENCH_VIDEOS) are written while the server is idle, and how an archive is
 * rebuilt from them alone.
 */
import { execFile } from 'node:child_process'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { START, until } from '../support/server.ts'
import { archiveOf, copyOfLibrary } from './support/library.ts'
import { cpuSeconds, delaysDuring, firstSnapshotTaken, mostMb, rssMb, startArchive } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 1000 : Number(process.env.BENCH_VIDEOS ?? 10_000)
/** The limits are for 100,000 videos. */
const SHARE = VIDEOS / 100_000
/** Fixed cost of the start and of the library's 500 playlists, for any number of videos. */
const REBUILD_FIXED_SECONDS = 6
const LOST = /^(?:ledger|index|secret\.key|snapshots)/

const report = openReport('sidecar')
const scope = openScope()
const dataDir = await copyOfLibrary(scope, VIDEOS)
const media = join(dataDir, 'media')
// The generated library has no films.
for (const { doc } of archiveOf(VIDEOS).videos()) {
  const folder = join(media, doc.channel_id)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, `${doc.platform_id}.mp4`), doc.platform_id)
}
const server = await startArchive(scope, { dataDir }, { isWatched: true })
await firstSnapshotTaken(server)
await server.api('POST', '/api/library/', { command: 'accept' })

const mbBefore = await rssMb(server.pid)
const { own, idle, tookMs } = await delaysDuring(scope, server, async () => {
  const { body } = await server.api('POST', '/api/task-name/write_sidecars/')
  const isDone = ({ body: job }: { body: { status: string } }) => job.status === 'SUCCESS' || job.status === 'FAILURE'
  await until('the sidecars are written', () => server.api('GET', `/api/task-id/${body.task_id}/`), isDone, 1_800_000)
})
const mb = (await mostMb(server.pid)) - mbBefore
report(`sidecars of ${VIDEOS} videos written`, {
  ...{ unit: 's', value: tookMs / 1000, atMost: 600 * SHARE },
  note: `${mb.toFixed(0)} MB more at most; the event loop late by ${own.p99.toFixed(1)} ms (p99), by ${own.max.toFixed(0)} at most; an idle process by ${idle.p99.toFixed(1)} and ${idle.max.toFixed(0)}`,
})
await server.end('SIGTERM')

for (const name of await readdir(dataDir)) if (LOST.test(name)) await rm(join(dataDir, name), { recursive: true })
const [began, cpuBefore] = [performance.now(), await cpuSeconds(process.pid, { ofChildren: true })]
const { stdout } = await promisify(execFile)(START, ['rebuild', '--yes'], {
  env: { PATH: process.env.PATH, AV_DATA_DIR: dataDir, AV_YTDLP_UPDATE: 'off' },
})
const seconds = (performance.now() - began) / 1000
const cpu = (await cpuSeconds(process.pid, { ofChildren: true })) - cpuBefore
if (!stdout.includes(`videos: ${VIDEOS} in sidecars; ${VIDEOS} added`)) throw new Error(stdout)
report(`an archive of ${VIDEOS} videos rebuilt`, {
  ...{ unit: 's', value: seconds, atMost: REBUILD_FIXED_SECONDS + 180 * SHARE },
  note: `${cpu.toFixed(0)} s of processor time`,
})
await scope.close()
