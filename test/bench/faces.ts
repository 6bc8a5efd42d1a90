/**
 * Measures a face of 100,000 videos while lists are read: filling it, comparing it again without changes, comparing it
 * after a restart, and adding one new video.
 */
import { existsSync } from 'node:fs'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { until } from '../support/server.ts'
import { besideLists } from './support/beside.ts'
import { archiveOf, copyOfLibrary, inBatches, sizeOf } from './support/library.ts'
import { startArchive } from './support/processes.ts'
import { isQuick, openReport, openScope } from './support/report.ts'

const VIDEOS = isQuick ? 10_000 : 100_000
const DEADLINE_MS = 1_800_000
const AT_ONCE = 50
const CUES = 200
const SUBTITLES = `WEBVTT\n\n${Array.from({ length: CUES }, (_, at) => `00:${two(at / 60)}:${two(at % 60)}.000 --> 00:${two(at / 60)}:${two(at % 60)}.900\nLine ${at}\n`).join('\n')}`

const report = openReport('faces')
const scope = openScope()
const archive = archiveOf(VIDEOS)
const dataDir = await copyOfLibrary(scope, VIDEOS)
const newest = await layFiles()
let server = await startArchive(scope, { dataDir }, { isWatched: true })
let measure = await besideLists({ scope, server, report, films: VIDEOS })
const root = join(dataDir, 'faces', 'tv')

await measure('first', 120, async () => {
  await server.api('POST', '/api/face/', { name: 'TV', root, form: 'shows', selection: {} })
  await rendered(0)
})
await measure('again, nothing has changed', 5, compare)
await server.end('SIGTERM')
server = await startArchive(scope, { dataDir }, { isWatched: true })
measure = await besideLists({ scope, server, report, films: VIDEOS })
await measure('again after a restart', 5, compare)
await measureNew()
await server.end('SIGTERM')
await scope.close()

function two(value: number): string {
  return String(Math.floor(value)).padStart(2, '0')
}

/** Adds a video by restoring it from the bin, which is the shortest way. */
async function measureNew(): Promise<void> {
  // Looked up once, because listing the whole face takes longer than what is measured.
  const path = (await readdir(root, { recursive: true })).find((one) => one.includes(`[${newest}].mp4`))
  if (path === undefined) throw new Error(`The face has no ${newest}`)
  const isThere = async () => existsSync(join(root, path))
  await server.api('DELETE', `/api/video/${newest}/`)
  await until('the video has left', isThere, (there) => !there, DEADLINE_MS)
  const began = performance.now()
  await server.api('POST', '/api/bin/restore/', { all: true })
  await until('the video is back', isThere, (there) => there, DEADLINE_MS)
  report('a new video, from its coming to its link', {
    unit: 's',
    value: (performance.now() - began) / 1000,
    limits: 'value',
    atMost: 2,
  })
}

/**
 * Creates small films and pictures, and subtitles for a tenth of the videos: the cost depends on the number of files,
 * not on their size.
 */
async function layFiles(): Promise<string> {
  let at = 0
  let newest = ''
  const lay = async (url: string, content: string) => {
    const path = join(dataDir, url)
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, content)
  }
  for (const { doc } of archive.channels()) {
    await lay(doc.channel_thumb_url as string, 'picture')
    await lay(doc.channel_banner_url as string, 'picture')
    await lay(doc.channel_tvart_url as string, 'picture')
  }
  for (const batch of inBatches(archive.videos(), AT_ONCE))
    await Promise.all(
      batch.flatMap(({ id, doc }) => {
        newest = id
        const subtitles = at++ < sizeOf(VIDEOS).withSubtitles ? doc.subtitles : []
        return [
          lay(doc.media_url, 'film'),
          lay(doc.vid_thumb_url as string, 'picture'),
          ...subtitles.map(({ media_url: url }) => lay(url, SUBTITLES)),
        ]
      }),
    )
  return newest
}

/** @param after  the time at which the previous render ended */
async function rendered(after: number): Promise<number> {
  const { body } = await until(
    'the face is up to date',
    () => server.api('GET', '/api/face/'),
    ({ body }) => (body.faces[0]?.state.at ?? 0) > after,
    DEADLINE_MS,
  )
  const { state } = body.faces[0]
  if (state.error !== undefined || state.problems !== undefined) throw new Error(JSON.stringify(state))
  if (state.films !== VIDEOS) throw new Error(`The face has ${state.films} films`)
  return state.at
}

async function compare(): Promise<void> {
  const { body } = await server.api('POST', '/api/task-name/update_faces/', {})
  const { body: job } = await until(
    'the comparison is over',
    () => server.api('GET', `/api/task-id/${body.task_id}/`),
    ({ body: seen }) => !['PENDING', 'RETRY', 'IN_PROGRESS'].includes(seen.status),
    DEADLINE_MS,
  )
  if (job.status !== 'SUCCESS') throw new Error(JSON.stringify(job))
  const { state } = (await server.api('GET', '/api/face/')).body.faces[0]
  if (state.changed !== 0) throw new Error(`Nothing had changed: ${JSON.stringify(state)}`)
}
