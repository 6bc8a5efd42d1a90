/** Measures how long it takes to move 10,000 videos with films to the bin and to restore them. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { chunksOf } from '../../core/base/chunk.ts'
import { copyOfLibrary } from './support/library.ts'
import { cpuSeconds, firstSnapshotTaken, startArchive } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const LIBRARY = 10_000
/** A list of videos has at most 10,000 entries; the number is less, so that one list contains them all. */
const VIDEOS = isQuick ? 500 : 9990
/** Ids per request. */
const TOGETHER = 100

const report = openReport('bin')
const scope = openScope()
const dataDir = await copyOfLibrary(scope, LIBRARY)
const server = await startArchive(scope, { dataDir })
await firstSnapshotTaken(server)
const ids: string[] = []
for (let page = 1; ids.length < VIDEOS; page++) {
  const { data } = await asked('GET', `/api/video/?page=${page}`)
  for (const { platform_id: id, channel } of data as Array<{ platform_id: string; channel: { channel_id: string } }>) {
    const folder = join(dataDir, 'media', channel.channel_id)
    await mkdir(folder, { recursive: true })
    await writeFile(join(folder, `${id}.mp4`), id)
    ids.push(id)
  }
}

// The generated library has no films.
await asked('POST', '/api/library/', { command: 'accept' })
await measured('into the bin', async () => {
  for (const some of chunksOf(ids, TOGETHER)) await asked('POST', '/api/video/bulk/', { action: 'delete', ids: some })
})
await measured('back from the bin', async () => {
  const { restored } = await asked('POST', '/api/bin/restore/', { all: true })
  if (restored !== ids.length) throw new Error(`${restored} of ${ids.length} videos came back`)
})
await server.end('SIGTERM')
await scope.close()

async function measured(what: string, work: () => Promise<void>): Promise<void> {
  const [before, start] = [await cpuSeconds(server.pid), performance.now()]
  await work()
  const value = (performance.now() - start) / 1000
  const own = ((await cpuSeconds(server.pid)) - before).toFixed(1)
  const note = `on the processor ${own} s`
  report(`${ids.length} videos ${what}`, {
    unit: 's',
    value,
    limits: 'value',
    atMost: (60 * ids.length) / LIBRARY,
    note,
  })
}

async function asked(method: string, path: string, body?: object): Promise<any> {
  const answer = await server.api(method, path, body)
  if (answer.status !== 200)
    throw new Error(`${method} ${path} was answered by ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
