/**
 * Clients that disconnect, send too many requests at once, or send the most expensive ones: afterwards the server has
 * as many open files as before, about as much memory, and slots for everybody.
 */
import assert from 'node:assert/strict'
import { readdir, readFile, readlink } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { NO_PLATFORM } from '../platform/start.ts'
import { makeFilm } from '../support/ffmpeg.ts'
import { temporaryFolder } from '../support/folder.ts'
import { lay } from '../support/lay.ts'
import { allQuiet, type Server, startServer, until } from '../support/server.ts'
import { infoOf } from '../support/ytdlp-folder.ts'

const VP9 = ['-c:v', 'libvpx-vp9', '-deadline', 'realtime', '-c:a', 'libopus']
const FILMS = 8
/** Some files are opened by features that are used for the first time. */
const FILES_LEEWAY = 20
const MEMORY_LEEWAY_MB = 150
const BACK_WITHIN_MS = 60_000

interface Taken {
  files: number
  mb: number
}

async function takenBy({ child }: Server): Promise<Taken> {
  const files = (await readdir(`/proc/${child.pid}/fd`)).length
  const kilobytes = /^VmRSS:\s+(\d+) kB/m.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))?.[1]
  return { files, mb: Number(kilobytes) / 1024 }
}

/** The server's current child processes with this name. */
async function childrenOf({ child }: Server, name: string): Promise<number[]> {
  const ids = (await readdir('/proc')).filter((one) => /^\d+$/.test(one))
  const found = await Promise.all(
    ids.map(async (id) => {
      const [stat, exe] = await Promise.all([
        readFile(`/proc/${id}/stat`, 'utf8').catch(() => ''),
        readlink(`/proc/${id}/exe`).catch(() => ''),
      ])
      const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
      return parent === child.pid && exe.endsWith(`/${name}`) ? [Number(id)] : []
    }),
  )
  return found.flat()
}

/** Sends a request and disconnects without reading the answer. */
function askAndLeave({ baseUrl }: Server, request: string): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(baseUrl).port) })
    socket.once('error', () => resolve())
    socket.once('connect', () => {
      socket.pause()
      socket.write(request, () =>
        setTimeout(() => {
          socket.resetAndDestroy()
          resolve()
        }, 100),
      )
    })
  })
}

const get = (path: string, headers: Record<string, string> = {}): string => {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [`GET ${path} HTTP/1.1`, 'Host: a', ...lines, '', ''].join('\r\n')
}

/** A slow request, which delays all later ones on its connection. */
function slow(headers: Record<string, string> = {}): string {
  const body = JSON.stringify({ username: 'nobody', password: 'x' })
  const all = { ...headers, 'Content-Type': 'application/json', 'Content-Length': String(body.length) }
  return get('/api/login/', all).replace('GET', 'POST') + body
}

async function aServer(t: TestContext): Promise<Server> {
  const [folder, root] = [await temporaryFolder(t), await temporaryFolder(t)]
  for (let film = 0; film < FILMS; film++) {
    const id = `stressfilm${film}`
    await lay(root)(`films/${id}.info.json`, JSON.stringify(infoOf(id)))
    await makeFilm(join(root, `films/${id}.mkv`), VP9)
  }
  const server = await startServer(t, folder, {
    AV_PLATFORM_URL: NO_PLATFORM.platformUrl,
    AV_LIBRARY_ROOTS: root,
    AV_TRUSTED_PROXIES: '127.0.0.1',
  })
  const { body: place } = await server.api('POST', '/api/place/', { path: join(root, 'films') })
  const { body: adoption } = await server.api('POST', '/api/adoption/', { place: place.id })
  for (const [state, command] of [
    ['planned', 'adopt'],
    ['adopted', undefined],
  ] as const) {
    const path = `/api/adoption/${adoption.id}/`
    await until(
      `it is ${state}`,
      async () => (await server.api('GET', path)).body,
      (one) => one.state === state,
    )
    if (command) await server.api('POST', path, { command })
  }
  await allQuiet(server)
  return server
}

test('whatever clients do, files, memory and slots return to their former values', async (t) => {
  const server = await aServer(t)
  const page = Buffer.from((await server.api('GET', '/', undefined, { Accept: 'text/html' })).bytes).toString()
  const script = /\/assets\/app[^"]*/.exec(page)![0]
  const arrays = (bytes: number, one: string) =>
    `[${Array(Math.floor(bytes / 3))
      .fill(one)
      .join(',')}]`
  const upload = (content: string) =>
    server.api('POST', '/api/subscription/preview/', content, { 'Content-Type': 'application/octet-stream' })
  await server.api('GET', script)
  await upload('nothing')
  const before = await takenBy(server)

  const situations: Record<string, () => Promise<void>> = {
    async 'a connection asks for 300 files at once and leaves'() {
      for (let times = 0; times < 5; times++) await askAndLeave(server, get(script).repeat(300))
    },
    async 'connections ask for streams and leave behind a slow request'() {
      for (let times = 0; times < 5; times++) await askAndLeave(server, slow() + get('/api/events/').repeat(300))
    },
    async 'an address leaves 500 requests behind slow ones, and still has its places'() {
      const by = { 'X-Forwarded-For': '203.0.113.210' }
      for (let times = 0; times < 4; times++) await askAndLeave(server, slow(by) + get('/health', by).repeat(520))
      await until(
        'the address is answered',
        async () => {
          const answers = await Promise.all(
            Array.from({ length: 20 }, () => server.api('GET', '/health', undefined, by)),
          )
          return answers.map(({ status }) => status)
        },
        (statuses) => statuses.every((status) => status === 200),
      )
    },
    async 'all copies are asked for at once'() {
      let most = 0
      const ids = Array.from({ length: FILMS }, (_, film) => `stressfilm${film}`)
      const asked = Promise.all(ids.map((id) => server.api('POST', `/api/video/${id}/copy/`, { encode: true })))
      const watched = asked.then(() => true)
      while (!(await Promise.race([watched, delay(20, false)])))
        most = Math.max(most, (await childrenOf(server, 'ffmpeg')).length)
      const statuses = (await asked).map(({ status }) => status)
      assert.ok(statuses.filter((status) => status === 200).length <= 3, `${statuses}`)
      for (const end = Date.now() + 3000; Date.now() < end; await delay(20))
        most = Math.max(most, (await childrenOf(server, 'ffmpeg')).length)
      assert.ok(most <= 1, `${most} were made at once`)
      await allQuiet(server)
    },
    async 'files of empty lists are uploaded'() {
      for (const one of ['{}', '[]']) {
        const { status } = await upload(arrays(60 << 20, one))
        assert.equal(status, 422)
      }
    },
    async 'bodies of empty lists are sent'() {
      for (const one of ['{}', '[]']) {
        const answers = await Promise.all(
          Array.from({ length: 10 }, () => server.api('POST', '/api/download/', arrays(2_000_000, one))),
        )
        assert.ok(answers.every(({ status }) => status === 400 || status === 503))
      }
    },
  }

  for (const [what, act] of Object.entries(situations)) {
    await t.test(what, async () => {
      await act()
      await until(
        `after "${what}" it takes what it took before, ${JSON.stringify(before)}`,
        () => takenBy(server),
        ({ files, mb }) => files <= before.files + FILES_LEEWAY && mb <= before.mb + MEMORY_LEEWAY_MB,
        BACK_WITHIN_MS,
      )
      assert.equal((await server.api('GET', '/health')).status, 200)
    })
  }
  assert.equal(await server.end('SIGTERM'), 0)
})
