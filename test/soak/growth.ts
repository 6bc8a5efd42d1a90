/**
 * Runs a household's load for twenty minutes: the page, lists, searches, a film that is watched and aborted, marks and
 * positions, event streams. Afterwards memory and open files are as they were after the first quarter.
 * `make soak MINUTES=5` sets the duration.
 */
import assert from 'node:assert/strict'
import { mkdir, open, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { firstVideos } from '../bench/generate.ts'
import { archiveOf, copyOfLibrary } from '../bench/support/library.ts'
import { type Archive, firstSnapshotTaken, rssMb, startArchive } from '../bench/support/processes.ts'
import { median, openScope } from '../bench/support/report.ts'
import { NO_PLATFORM } from '../platform/start.ts'

const MINUTES = Number(process.argv[2] ?? process.env['MINUTES'] ?? 20)
const VIDEOS = 10_000
const KNOWN = 500
const PAUSE_MS = 20
const POSITION_EVERY_MS = 250
const LOOK_EVERY_MS = 5000
const FILM_BYTES = 64 * 2 ** 20
const RANGE_BYTES = 4 * 2 ** 20
/** Words, query plans and cached replies differ from minute to minute. */
const MOST_GROWTH = 1.1
const MORE_FILES = 20

interface Look {
  mb: number
  files: number
}

const known = firstVideos(archiveOf(VIDEOS), KNOWN)
const words = archiveOf(VIDEOS).words.slice(0, 3000)
const of = <Value>(list: readonly Value[], at: number): Value => list[at % list.length]!

/** The next request of each client. */
const READERS: ReadonlyArray<(at: number) => string> = [
  (at) => of(['/', `/api/video/?page=${at % 200}`, '/api/channel/', '/api/playlist/', '/api/stats/video/'], at),
  (at) => of(['/api/notification/', '/api/download/?filter=pending', '/api/task/', '/api/ping/'], at),
  (at) => `/api/search/?query=${at % 4 === 0 ? 'full:' : ''}${of(words, at * 7)}`,
  (at) => of([`/api/video/${of(known, at).id}/`, `/api/video/${of(known, at).id}/similar/`], at),
]

test(`${MINUTES} minutes of mixed load leave memory and open files unchanged`, {
  timeout: (MINUTES + 10) * 60_000,
}, async (t) => {
  const scope = openScope()
  t.after(() => scope.close())
  const dataDir = await copyOfLibrary(scope, VIDEOS)
  const film = of(known, 0).doc
  const path = join(dataDir, film.media_url.replace(/^\//, ''))
  await mkdir(dirname(path), { recursive: true })
  const file = await open(path, 'w')
  await file.truncate(FILM_BYTES) // sparse, because its content does not matter
  await file.close()
  const server = await startArchive(scope, { dataDir }, { env: { AV_PLATFORM_URL: NO_PLATFORM.platformUrl } })
  await server.api('POST', '/api/library/', { command: 'accept' }) // no other video has its file
  await firstSnapshotTaken(server)

  const counts: Record<string, number> = {}
  const end = Date.now() + MINUTES * 60_000
  const repeat = async (what: string, everyMs: number, act: (at: number) => Promise<unknown>) => {
    for (let at = 0; Date.now() < end; at++) {
      await act(at)
      counts[what] = (counts[what] ?? 0) + 1
      await delay(everyMs)
    }
  }
  const ask = async (method: string, address: string, body?: object, headers?: Record<string, string>) => {
    const { status } = await server.api(method, address, body, headers)
    assert.ok(status < 400, `${method} ${address} was answered by ${status}`)
  }
  const looks: Look[] = []
  await Promise.all([
    ...READERS.map((next, client) =>
      repeat(`reader ${client}`, PAUSE_MS, (at) =>
        ask('GET', next(at), undefined, { Accept: '*/*', ...(at % 2 === 0 && { 'Accept-Encoding': 'gzip' }) }),
      ),
    ),
    repeat('positions', POSITION_EVERY_MS, (at) =>
      ask('POST', `/api/video/${of(known, 0).id}/progress/`, { position: (at % 20) + 1 }),
    ),
    repeat('marks', POSITION_EVERY_MS, (at) =>
      ask('POST', '/api/watched/', { id: of(known, at).id, is_watched: at % 3 !== 0 }),
    ),
    repeat('parts of a film', POSITION_EVERY_MS, (at) => watchPart(server, film.media_url, at)),
    repeat('event streams', 1000, () => listen(server)),
    repeat('looks', LOOK_EVERY_MS, async () => void looks.push(await lookAt(server))),
  ])

  const quarter = Math.floor(looks.length / 4)
  const before = looks.slice(quarter, 2 * quarter)
  const after = looks.slice(-quarter)
  const middle = (some: Look[], figure: (look: Look) => number) => median(some.map(figure))
  const [mbBefore, mbAfter] = [middle(before, ({ mb }) => mb), middle(after, ({ mb }) => mb)]
  const [filesBefore, filesAfter] = [middle(before, ({ files }) => files), middle(after, ({ files }) => files)]
  console.log(
    `# ${JSON.stringify(counts)}; memory ${mbBefore.toFixed(0)}, then ${mbAfter.toFixed(0)} MB; open files ${filesBefore}, then ${filesAfter}`,
  )
  assert.ok(mbAfter <= mbBefore * MOST_GROWTH, `memory grew from ${mbBefore.toFixed(1)} to ${mbAfter.toFixed(1)} MB`)
  assert.ok(filesAfter <= filesBefore + MORE_FILES, `open files grew from ${filesBefore} to ${filesAfter}`)
  assert.equal(await server.end('SIGTERM'), 0)
})

async function lookAt({ pid }: Archive): Promise<Look> {
  return { mb: await rssMb(pid), files: (await readdir(`/proc/${pid}/fd`)).length }
}

const asking = ({ token }: Archive) => ({ Authorization: `Token ${token}` })

/** Every other time the viewer disconnects halfway. */
async function watchPart(server: Archive, address: string, at: number): Promise<void> {
  const from = (at * RANGE_BYTES) % FILM_BYTES
  const leaving = new AbortController()
  const answer = await fetch(new URL(address, server.baseUrl), {
    headers: { ...asking(server), Range: `bytes=${from}-${from + RANGE_BYTES - 1}` },
    signal: leaving.signal,
  })
  assert.equal(answer.status, 206)
  if (at % 2 === 0) await answer.arrayBuffer()
  else leaving.abort()
}

/** Reads the first event, and disconnects. */
async function listen(server: Archive): Promise<void> {
  const answer = await fetch(`${server.baseUrl}/api/events/`, { headers: asking(server) })
  assert.equal(answer.status, 200)
  const reader = answer.body!.getReader()
  await reader.read()
  await reader.cancel()
}
