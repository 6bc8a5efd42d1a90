/** Measures an import of 100,000 films in place: scan, import, a second scan and the undo, while lists are read. */
import { temporaryFolder } from '../support/folder.ts'
import { until } from '../support/server.ts'
import { layMany } from '../support/ytdlp-folder.ts'
import { besideLists } from './support/beside.ts'
import { startArchive } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const DEADLINE_MS = 1_800_000

const report = openReport('adoption')
const scope = openScope()
const root = await temporaryFolder(scope)
await layMany(root, VIDEOS)
const dataDir = await temporaryFolder(scope)
const env = { AV_LIBRARY_ROOTS: root, AV_PLATFORM_URL: 'http://127.0.0.1:9', AV_SEGMENTS_URL: 'http://127.0.0.1:9' }
const server = await startArchive(scope, { dataDir }, { isWatched: true, env })
const { body: place } = await server.api('POST', '/api/place/', { path: root })
const measure = await besideLists({ scope, server, report, films: VIDEOS })

const id = await measure('scan and plan', 60, async () => startScan())
await measure('import', 180, async () => command(id, 'adopt', 'adopted'))
await measure('second scan, nothing has changed', 5, async () => startScan())
await measure('undoing', 180, async () => command(id, 'undo', 'undone'))
await server.end('SIGTERM')
await scope.close()

function inState(adoption: number, state: string) {
  return until(
    `adoption ${adoption} is ${state}`,
    async () => (await server.api('GET', `/api/adoption/${adoption}/`)).body,
    (body) => body.state === state || body.state === 'failed',
    DEADLINE_MS,
  )
}

async function startScan(): Promise<number> {
  const { body } = await server.api('POST', '/api/adoption/', { place: place.id })
  await inState(body.id, 'planned')
  return body.id
}

async function command(adoption: number, what: string, state: string): Promise<void> {
  await server.api('POST', `/api/adoption/${adoption}/`, { command: what })
  const body = await inState(adoption, state)
  if (body.state !== state) throw new Error(body.reason)
}
