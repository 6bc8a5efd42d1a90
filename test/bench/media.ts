/**
 * Media over HTTP: a large file, read whole by one and in ranges by fifty, beside createReadStream piped by a bare
 * server; memory while it goes on.
 */
import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import { temporaryFolder } from '../support/folder.ts'
import { openLoad } from './support/load.ts'
import { peakWhile, rssMb, startArchive, startPeer } from './support/processes.ts'
import { isQuick, median, openReport, openScope } from './support/report.ts'

const CHANNEL = 'UCbench'
const VIDEO = 'largefile00'
/** Sparse: what is measured is the way through the server, not the disk. */
const SIZE_BYTES = 2 * 2 ** 30
const RANGE_BYTES = 4 * 2 ** 20
const READERS = 50
const ROUNDS = isQuick ? 3 : 7
const SECONDS = isQuick ? 2 : 3

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

/** Each connection walks through the file in ranges of its own. */
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
await server.end('SIGTERM')
await scope.close()

async function compare(
  name: string,
  { connections, each }: { connections: number; each: Array<Record<string, string>> },
  rounds: number,
): Promise<void> {
  const speeds: Array<Record<'own' | 'bare', number>> = []
  const run = async (port: number) => {
    const started = performance.now()
    const { bytes } = await load.run({
      port,
      token: server.token,
      connections,
      seconds: SECONDS,
      requests: each.map((headers) => ({ path: url, headers })),
    })
    return bytes / 1e6 / ((performance.now() - started) / 1000)
  }
  for (const port of [ports.bare, ports.own]) await run(port)
  const { peak } = await peakWhile(
    () => rssMb(server.pid),
    async () => {
      for (let at = 0; at < rounds; at++) speeds.push({ own: await run(ports.own), bare: await run(ports.bare) })
    },
  )
  report(name, {
    unit: 'MB/s',
    value: median(speeds.map(({ own }) => own)),
    beside: median(speeds.map((speed) => speed.bare)),
    ratio: median(speeds.map((speed) => speed.own / speed.bare)),
    atLeast: 0.9,
  })
  report(`${name}: most memory meanwhile`, { unit: 'MB', value: peak, beside: idle, limits: 'value', atMost: 150 })
}
