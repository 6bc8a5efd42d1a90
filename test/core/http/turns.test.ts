/** Pipelined requests: one at a time is handled, and a client that disconnects cancels all of them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readlinkSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { events, file } from '../../../core/http/reply.ts'
import { defineRoute, type Route } from '../../../core/plugin/define.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { testServer } from './given.ts'

const CLIENT = '203.0.113.9'
const HEADERS = `Host: a\r\nX-Forwarded-For: ${CLIENT}\r\n`
const ask = (path: string, method = 'GET') => `${method} ${path} HTTP/1.1\r\n${HEADERS}\r\n`
const post = (path: string, body: string) =>
  `POST ${path} HTTP/1.1\r\n${HEADERS}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`

/** A route that holds its first request until it is released, an event stream, a file, and a quick route. */
async function given(t: TestContext) {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'film.mp4')
  await writeFile(path, Buffer.alloc(4_000_000))
  const state = { running: 0, most: 0, asked: [] as string[], listening: 0, uploads: [] as string[] }
  const waiting: Array<() => void> = []
  const told = new EventTarget()
  const open = (method: Route['method'], at: string, handle: Route['handle'], more: Partial<Route> = {}) =>
    defineRoute({ method, path: at, access: 'open', summary: at, reply: Type.Unknown(), handle, ...more } as Route)
  const held: Route['handle'] = async () => {
    state.asked.push('held')
    state.most = Math.max(state.most, ++state.running)
    told.dispatchEvent(new Event('held'))
    await new Promise<void>((resolve) => waiting.push(resolve))
    state.running--
    return {}
  }
  const quick: Route['handle'] = async ({ query }) => {
    state.asked.push(`quick ${(query as { n?: string }).n ?? ''}`.trim())
    state.most = Math.max(state.most, ++state.running)
    await Promise.resolve()
    state.running--
    return { n: (query as { n?: string }).n }
  }
  const server = await testServer(
    t,
    [
      open('GET', '/held/', held),
      open('GET', '/quick/', quick, { query: { n: Type.Optional(Type.String({ maxLength: 1000 })) } }),
      open('POST', '/quick/', ({ body }) => body as object, { body: Type.Object({}) }),
      open('GET', '/film/', () => file(path, 'video/mp4')),
      open('GET', '/events/', () =>
        events(() => {
          state.listening++
          told.dispatchEvent(new Event('listening'))
          return () => {
            state.listening--
            told.dispatchEvent(new Event('left'))
          }
        }),
      ),
    ],
    { settings: { trustedProxies: ['loopback'] } },
  )
  const client = (sent: string | Buffer): Socket => {
    const socket = connect(server.port, '127.0.0.1').on('error', () => undefined)
    t.after(() => socket.destroy())
    socket.write(sent)
    return socket
  }
  return { ...server, path, state, told, client, letGo: () => waiting.shift()?.() }
}

/** Polls until the condition holds, because the end of a socket does not depend on the test clock. */
async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setImmediate(resolve))
}

const received = async (socket: Socket, isWhole: (text: string) => boolean): Promise<string> => {
  let text = ''
  socket.on('data', (chunk) => void (text += chunk.toString()))
  await until(() => isWhole(text) || socket.destroyed)
  return text
}

test('pipelined requests are answered in order, one at a time', async (t) => {
  const { client, state } = await given(t)
  const count = 300

  const sent = Array.from({ length: count }, (_, n) =>
    n % 3 === 0 ? post('/quick/', `{"n":"${n}"}`) : ask(`/quick/?n=${n}`, n % 3 === 1 ? 'GET' : 'HEAD'),
  )
  const text = await received(client(sent.join('') + ask('/quick/?n=last')), (all) => all.includes('"last"'))

  assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, count + 1)
  const numbers = [...text.matchAll(/\{"n":"(\d+)"\}/g)].map(([, n]) => Number(n))
  assert.deepEqual(
    numbers,
    Array.from({ length: count }, (_, n) => n).filter((n) => n % 3 !== 2),
  )
  assert.equal(state.most, 1)
})

test('a client that disconnects cancels its pipelined requests: no work, file or slot remains', async (t) => {
  const { client, state, told, letGo, ask: asking, path } = await given(t)
  const from = { as: 'nobody', headers: { 'X-Forwarded-For': CLIENT } } as const

  for (let round = 0; round < 3; round++) {
    const held = once(told, 'held')
    const socket = client(
      ask('/held/') + (ask('/film/') + ask('/quick/') + post('/quick/', '{}') + ask('/film/', 'HEAD')).repeat(150),
    )
    await held
    const closed = once(socket, 'close')
    if (round === 0) socket.resetAndDestroy()
    else if (round === 1) socket.destroy()
    else socket.end()
    await closed
    letGo()
  }

  // If each still had a slot, 600 for one address would be too many.
  await until(async () => (await asking('/quick/?n=after', from)).status === 200)
  assert.deepEqual(
    state.asked.filter((one) => one === 'held' || one === 'quick'),
    ['held', 'held', 'held'],
  )
  if (existsSync('/proc/self/fd')) assert.equal(openFiles(path), 0)
})

test('a film that nobody reads is opened once, and closed when its client disconnects', async (t) => {
  if (!existsSync('/proc/self/fd')) return t.skip('open files are looked up in /proc')
  const { client, path } = await given(t)
  const socket = client(ask('/film/').repeat(300)).pause()
  await until(() => openFiles(path) > 0)
  const range = ask('/film/').replace('\r\n\r\n', '\r\nRange: bytes=5-\r\n\r\n')
  const other = client(range.repeat(300)).pause()
  await until(() => openFiles(path) > 1)

  assert.equal(openFiles(path), 2)
  socket.destroy()
  other.resetAndDestroy()

  await until(() => openFiles(path) === 0)
})

for (const [what, behind] of [
  ['requests', ask('/quick/').repeat(500)],
  ['a large body', post('/quick/', `{"a":"${'x'.repeat(300_000)}"}`)],
  ['an expectation', ask('/quick/').replace('\r\n\r\n', '\r\nExpect: tea\r\n\r\n').repeat(500)],
  ['requests without a host', 'GET /quick/ HTTP/1.1\r\n\r\n'.repeat(500)],
  [
    'an upgrade',
    ask('/quick/').replace('\r\n\r\n', '\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n').repeat(500),
  ],
  ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${HEADERS}\r\n`],
  ['what is not HTTP', 'hello\r\n\r\n'],
  ['half a request', 'GET /quick/ HTTP/1.1\r\nHos'],
  ['half a body', post('/quick/', `{"a":"${'x'.repeat(3000)}"}`).slice(0, -1000)],
])
  test(`an event stream followed by ${what} ends when its client disconnects`, async (t) => {
    const { client, told, state } = await given(t)
    const [listens, left] = [once(told, 'listening'), once(told, 'left')]
    const socket = client(ask('/events/') + behind)
    await listens
    socket.resume()

    socket.destroy()

    await left
    assert.equal(state.listening, 0)
    assert.deepEqual(state.asked, [])
  })

test('a connection that pipelines without end is closed, and others are served', async (t) => {
  const { client, told, letGo, state, raw } = await given(t)
  const held = once(told, 'held')
  const greedy = client(ask('/held/') + ask('/quick/').repeat(5000)).resume()
  await held

  await until(() => greedy.destroyed)
  letGo()

  assert.deepEqual(state.asked, ['held'])
  const last = `GET /quick/?n=last HTTP/1.1\r\n${HEADERS}Connection: close\r\n\r\n`
  assert.equal((await raw(ask('/quick/').repeat(1000) + last)).match(/HTTP\/1\.1 200 /g)?.length, 1001)
})

test('a pipelined large body is refused in its turn', async (t) => {
  const { client, told, letGo } = await given(t)
  const held = once(told, 'held')
  const socket = client(ask('/held/') + post('/quick/', '{"a":1}') + post('/quick/', 'x'.repeat(20_000_000)))
  await held
  const answered = received(socket, (text) => text.includes('A large body'))
  await until(() => socket.writableLength === 0) // too large for any buffer: the server reads and discards it

  letGo()

  const statuses = [...(await answered).matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, one]) => Number(one))
  assert.deepEqual(statuses, [200, 200, 400])
})

test('after the last response of a connection no further request is handled', async (t) => {
  const { raw, state } = await given(t)
  const closing = `GET /quick/?n=1 HTTP/1.1\r\n${HEADERS}Connection: close\r\n\r\n`

  for (const first of [closing, 'GET /quick/?n=1 HTTP/1.0\r\n\r\n']) {
    const text = await raw(first + ask('/quick/?n=2').repeat(20))
    assert.equal(text.match(/HTTP\/1\.1 /g)?.length, 1)
  }

  assert.deepEqual(state.asked, ['quick 1', 'quick 1'])
})

for (const [what, bytes, status] of [
  ['CONNECT', `CONNECT a:1 HTTP/1.1\r\n${HEADERS}\r\n`, 405],
  ['what is not HTTP', 'hello\r\n\r\n', 400],
] as const) {
  test(`${what} is refused after the pending answers`, async (t) => {
    const { client, told, letGo, clock } = await given(t)
    const held = once(told, 'held')
    const socket = client(ask('/held/') + ask('/quick/?n=2') + bytes)
    await held
    const answered = received(socket, (text) => text.includes(`HTTP/1.1 ${status} `))

    letGo()

    const text = await answered
    assert.deepEqual(
      [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, one]) => Number(one)),
      [200, 200, status],
    )
    await clock.advance(5000) // the client does not close its side
    await until(() => socket.destroyed || socket.readableEnded)
  })

  test(`${what} from a client that disconnects at once does no harm, and its connection is closed`, async (t) => {
    const { client, http, ask: asking } = await given(t)
    const open: Array<Promise<unknown>> = []
    for (let round = 0; round < 50; round++) {
      const socket = client((round % 2 ? ask('/film/') : '') + bytes + 'x'.repeat(round * 1000))
      open.push(once(socket, 'close'))
      await once(socket, 'connect')
      if (round % 3) socket.resetAndDestroy()
      else socket.destroy()
    }
    await Promise.all(open)

    assert.equal((await asking('/health')).status, 200)
    await http.close() // waits for all open connections, while the clock is stopped
  })
}

test('a body ends for a slow reader even if the client disconnects right after the last byte', async (t) => {
  let began!: () => void
  const begins = new Promise<void>((resolve) => (began = resolve))
  let goOn!: () => void
  const mayGoOn = new Promise<void>((resolve) => (goOn = resolve))
  let ended!: (reason: unknown) => void
  const ends = new Promise<unknown>((resolve) => (ended = resolve))
  const route = defineRoute({
    method: 'PUT',
    path: '/upload/',
    access: 'open',
    summary: 'upload',
    reply: Type.Unknown(),
    rawBody: { contentType: 'application/zip', maxBodyBytes: 1_000_000 },
    async handle({ request: { stream }, signal }) {
      began()
      signal.addEventListener('abort', goOn)
      await mayGoOn
      try {
        for await (const _ of stream);
        ended('whole')
      } catch (error) {
        ended(error)
      }
      return {}
    },
  })
  const { port } = await testServer(t, [route])
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  // With more than the buffers between the socket and its reader hold, not all of it would arrive.
  const body = Buffer.alloc(40_000)
  const head = 'PUT /upload/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/zip\r\n'
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`)
  socket.write(body)
  await begins

  socket.destroy()

  assert.match(String(await ends), /whole|cut off/)
})

const openFiles = (path: string): number =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`) === path
    } catch {
      return false // closed by now
    }
  }).length
