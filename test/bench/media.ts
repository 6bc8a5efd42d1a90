/**
 * Measures media over HTTP: a large file, read whole by one client and in ranges by fifty, compared with
 * createReadStream piped by a bare server; the memory meanwhile; the thumbnails of a page, repeatedly.
 */
import { mkdir, open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { openLoad } from './support/load.ts'
import { cpuSeconds, peakWhile, rssMb, startArchive, startPeer } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const CHANNEL = 'UCbench'
const VIDEO = 'largefile00'
/** A sparse file: the bench measures the way through the server, not the disk. */
const SIZE_BYTES = 2 * 2 ** 30
const RANGE_BYTES = 4 * 2 ** 20
const READERS = 50
const ROUNDS = isQuick ? 3 : 7
const SECONDS = isQuick ? 2 : 3
const MOST_SECONDS_A_GB = 0.7
/** As many as Home shows. */
const THUMBNAILS = 24
const THUMBNAIL_BYTES = 30_000

const report = openReport('media')
const scope = openScope()
const dataDir = await temporaryFolder(scope)
const path = join(dataDir, 'media', CHANNEL, `${VIDEO}.mp4`)
await mkdir(join(dataDir, 'media', CHANNEL), { recursive: true })
const file = await open(path, 'w')
await file.truncate(SIZE_BYTES)
await file.close()

const server = await startArchive(scope, { dataDir })
const bare = startPeer(scope, 'bare-file.ts', [path])
const { port: barePort } = await bare.ask<{ port: number }>({})
const load = openLoad(scope)
const ports = { own: Number(new URL(server.baseUrl).port), bare: barePort }
const url = `/media/${CHANNEL}/${VIDEO}.mp4`
const idle = await rssMb(server.pid)

/** Each connection requests its own ranges of the file, in order. */
const ranges = Array.from({ length: SIZE_BYTES / RANGE_BYTES }, (_, at) => ({
  Range: `bytes=${at * RANGE_BYTES}-${(at + 1) * RANGE_BYTES - 1}`,
}))

await compare('one reader of the whole file', { connections: 1, each: [{}] }, 1)
await compare(`one reader of ranges of ${RANGE_BYTES / 2 ** 20} MB`, { connections: 1, each: ranges }, ROUNDS)
await compare(`${READERS} readers of such ranges`, { connections: READERS, each: ranges }, ROUNDS)
report('memory when all is read', {
  unit: 'MB',
  value: await rssMb(server.pid),
  beside: idle,
  limits: 'value',
  atMost: 150,
})
await measureThumbnails()
await server.end('SIGTERM')
await scope.close()

async function compare(
  name: string,
  { connections, each }: { connections: number; each: Array<Record<string, string>> },
  rounds: number,
): Promise<void> {
  const speeds: Array<Record<'own' | 'bare', number>> = []
  const spent = { own: { bytes: 0, seconds: 0 }, bare: { bytes: 0, seconds: 0 } }
  const run = async (who: 'own' | 'bare') => {
    const pid = who === 'own' ? server.pid : bare.child.pid!
    const before = await cpuSeconds(pid)
    const started = performance.now()
    const { bytes } = await load.run({
      ...{ port: ports[who], token: server.token, connections, seconds: SECONDS },
      requests: each.map((headers) => ({ path: url, headers })),
    })
    spent[who].bytes += bytes
    spent[who].seconds += (await cpuSeconds(pid)) - before
    return bytes / 1e6 / ((performance.now() - started) / 1000)
  }
  for (const who of ['bare', 'own'] as const) await run(who)
  const { peak } = await peakWhile(
    () => rssMb(server.pid),
    async () => {
      for (let at = 0; at < rounds; at++) speeds.push({ own: await run('own'), bare: await run('bare') })
    },
  )
  report(name, {
    unit: 'MB/s',
    value: median(speeds.map(({ own }) => own)),
    beside: median(speeds.map((speed) => speed.bare)),
    ratio: median(speeds.map((speed) => speed.own / speed.bare)),
    atLeast: 0.9,
  })
  const secondsAGb = (who: 'own' | 'bare') => (spent[who].seconds / spent[who].bytes) * 1e9
  report(`${name}: processor time a GB`, {
    ...{ unit: 's', value: secondsAGb('own'), beside: secondsAGb('bare') },
    ...{ limits: 'value', atMost: MOST_SECONDS_A_GB },
  })
  report(`${name}: most memory meanwhile`, { unit: 'MB', value: peak, beside: idle, limits: 'value', atMost: 150 })
}

async function measureThumbnails(): Promise<void> {
  const folder = join(dataDir, 'cache/videos/t')
  await mkdir(folder, { recursive: true })
  const ids = Array.from({ length: THUMBNAILS }, (_, at) => `thumbnail${String(at).padStart(2, '0')}`)
  for (const id of ids) await writeFile(join(folder, `${id}.jpg`), Buffer.alloc(THUMBNAIL_BYTES))
  const requests = ids.map((id) => ({ path: `/cache/videos/t/${id}.jpg` }))
  const own = { port: ports.own, token: server.token, connections: 16, requests }
  await load.run({ ...own, seconds: SECONDS })
  const before = await cpuSeconds(server.pid)
  const { count, perSecond, p50Ms, p99Ms } = await load.run({ ...own, seconds: SECONDS * ROUNDS })
  report('thumbnails of a page: processor time of one', {
    ...{ unit: 'ms', value: (((await cpuSeconds(server.pid)) - before) / count) * 1000, atMost: 0.1 },
    note: `${perSecond.toFixed(0)}/s, p50 ${p50Ms.toPrecision(3)} ms, p99 ${p99Ms.toPrecision(3)} ms at 16`,
  })
}
