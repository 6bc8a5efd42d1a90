/**
 * Measures a whole backup of 100,000 videos with their pictures, compared with a tar of the same files; then a
 * rehearsal and a restore.
 */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { copyFile, link, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startServer, until } from '../support/server.ts'
import { ROOT } from '../support/sources.ts'
import { archiveOf, copyOfLibrary, inBatches } from './support/library.ts'
import {
  cpuSeconds,
  delaysDuring,
  descendants,
  firstSnapshotTaken,
  mostMb,
  peakWhile,
  rssMb,
  startArchive,
} from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
/** The size of a thumbnail of 1280 × 720 pixels. */
const PICTURE_BYTES = 48 << 10
const DEADLINE_MS = 3_600_000
const WRITTEN_TOGETHER = 16
const MOST_LINKS = 30_000
const MB = 1e6
/** What a disk can write and read of small files per second. */
const DISK_MB = 50

const report = openReport('whole')
const scope = openScope()
const run = promisify(execFile)
const dataDir = await copyOfLibrary(scope, VIDEOS)
await fillFolders()
const server = await startArchive(scope, { dataDir }, { isWatched: true })
await firstSnapshotTaken(server)
await server.api('POST', '/api/library/', { command: 'accept' })

const mbBefore = await rssMb(server.pid)
const cpuBefore = await cpuSeconds(server.pid, { ofChildren: true })
const backup = await delaysDuring(scope, server, () => ended('POST', '/api/task-name/back_up_all/'))
const cpu = (await cpuSeconds(server.pid, { ofChildren: true })) - cpuBefore
const [{ filename, bytes }] = (await server.api('GET', '/api/whole/')).body.backups
const file = join(dataDir, 'backups', filename)
const mb = bytes / MB
// Both write once and read once.
const copyMs = await took(async () => {
  const copy = join(dataDir, 'copy.tar')
  await run('tar', ['-cf', copy, '-C', dataDir, 'cache'])
  await run('sync', [copy])
  await run('sh', ['-c', 'cat "$1" >/dev/null', 'sh', copy])
  await rm(copy)
})
// A backup runs at the lowest priority, so its duration depends mostly on other work on the machine.
report(`backup of ${VIDEOS} videos with pictures, ${mb.toFixed(0)} MB`, {
  ...{ unit: 's', value: backup.tookMs / 1000, beside: copyMs / 1000 },
  note: `${(mb / (backup.tookMs / 1000)).toFixed(0)} MB/s`,
})
report('backup: written and read for each second of processor time', {
  ...{ unit: 'MB', value: mb / cpu, atLeast: DISK_MB },
  note: `${cpu.toFixed(0)} s`,
})
report('backup: more memory in the server', { unit: 'MB', value: (await mostMb(server.pid)) - mbBefore, atMost: 80 })
tellDelays('backup', backup)

// A process that has just ended has no memory.
const memory = async () =>
  (await Promise.all((await descendants(server.pid)).map((pid) => rssMb(pid).catch(() => 0)))).reduce(
    (sum, one) => sum + (one || 0),
    0,
  )
const cpuSoFar = await cpuSeconds(server.pid, { ofChildren: true })
const rehearsal = await delaysDuring(scope, server, () =>
  peakWhile(memory, () => ended('POST', '/api/task-name/rehearse_restore/'), 200),
)
report('rehearsal', {
  ...{ unit: 's', value: rehearsal.tookMs / 1000 },
  note: `${((await cpuSeconds(server.pid, { ofChildren: true })) - cpuSoFar).toFixed(0)} s of processor time`,
})
report('rehearsal: memory of its processes', { unit: 'MB', value: rehearsal.result.peak, atMost: 300 })
tellDelays('rehearsal', rehearsal)

const preview = await delaysDuring(scope, server, () => server.api('POST', `/api/whole/${filename}/preview/`, {}))
report('preview of the restore', { unit: 's', value: preview.tookMs / 1000 })
tellDelays('preview', preview)
const restore = await delaysDuring(scope, server, () => ended('POST', `/api/whole/${filename}/`))
report('restore: unpacked', { unit: 's', value: restore.tookMs / 1000 })
tellDelays('restore', restore)
await server.end('SIGTERM')
const began = performance.now()
const restored = await startServer(scope, dataDir, { AV_LOG_LEVEL: 'info' }, 'listening')
const pid = restored.child.pid!
const isReady = async () => (await fetch(`${restored.baseUrl}/api/ping/`)).status !== 503
await until('the restored documents are loaded', isReady, Boolean, DEADLINE_MS)
report('restore: the next start', {
  ...{ unit: 's', value: (performance.now() - began) / 1000 },
  note: `${(await cpuSeconds(pid)).toFixed(0)} s of processor time`,
})
report('restore: memory of that start, at most', { unit: 'MB', value: await mostMb(pid) })
const { size } = await stat(file)
if (size !== bytes) throw new Error(`${filename} has changed`)
if (!(await readdir(dataDir)).some((name) => name.startsWith('before-restore-'))) throw new Error('nothing is restored')
await restored.end('SIGTERM')
await scope.close()

/**
 * Creates a picture and a film for each video. Films are hard links, and a file can have only a limited number of them.
 */
async function fillFolders(): Promise<void> {
  let [film, links] = ['', MOST_LINKS]
  for (const some of inBatches(archiveOf(VIDEOS).videos(), WRITTEN_TOGETHER)) {
    if ((links += some.length) > MOST_LINKS) {
      film = join(dataDir, `film-${some[0]!.id}.mp4`)
      await copyFile(join(ROOT, 'test/data/film.mp4'), film)
      links = 0
    }
    await Promise.all(
      some.map(async ({ id, doc }) => {
        const [pictures, films] = [
          join(dataDir, 'cache/videos', id[0]!.toLowerCase()),
          join(dataDir, 'media', doc.channel_id),
        ]
        await mkdir(pictures, { recursive: true })
        await mkdir(films, { recursive: true })
        await writeFile(join(pictures, `${id}.jpg`), randomBytes(PICTURE_BYTES))
        await link(film, join(films, `${id}.mp4`))
      }),
    )
  }
}

function tellDelays(what: string, { own, idle }: { own: { p99: number; max: number }; idle: typeof own }): void {
  report(`${what}: event loop delay p99`, {
    ...{ unit: 'ms', value: own.p99, beside: idle.p99, limits: 'value', atMost: 20 },
    note: `at most ${own.max.toFixed(0)} ms, an idle process ${idle.max.toFixed(0)}`,
  })
}

async function ended(method: string, path: string): Promise<void> {
  const { status, body } = await server.api(method, path, {})
  if (status !== 200) throw new Error(`${path} was answered by ${status}: ${JSON.stringify(body)}`)
  const { body: job } = await until(
    `${path} ended`,
    () => server.api('GET', `/api/task-id/${body.task_id}/`),
    ({ body: seen }) => !['PENDING', 'RETRY', 'IN_PROGRESS'].includes(seen.status),
    DEADLINE_MS,
  )
  if (job.status !== 'SUCCESS') throw new Error(`${path} ended: ${JSON.stringify(job)}`)
}

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}
