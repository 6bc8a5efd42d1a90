/** Streams: files with byte ranges, bytes, server-sent events, streamed bodies, and the stop of the server. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { Type } from 'typebox'
import { rawBody } from '../../../core/http/body.ts'
import { bytes, events, file } from '../../../core/http/reply.ts'
import { defineRoute, type Route } from '../../../core/plugin/define.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { testServer } from './given.ts'

const get = (path: string, handle: Route['handle']): Route => ({
  method: 'GET',
  path,
  access: 'user',
  summary: path,
  reply: Type.Unknown(),
  handle,
})
const CONTENT = 'abcdefghijklmnopqrstuvwxyz'

async function fileServer(t: TestContext, settings: NonNullable<Parameters<typeof testServer>[2]>['settings'] = {}) {
  // hidden, with a space, a percent sign, and letters that a header cannot hold: none of it may matter
  const folder = await mkdtemp(join(tmpdir(), '.archivolt %41 ü映 files-'))
  t.after(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'video.mp4'), CONTENT)
  await utimes(join(folder, 'video.mp4'), 1_700_000_000, 1_700_000_000)
  return testServer(
    t,
    [
      get('/media/video/', () => file(join(folder, 'video.mp4'), 'video/mp4')),
      get('/media/missing/', () => file(join(folder, 'missing.mp4'), 'video/mp4')),
      get('/media/folder/', () => file(folder, 'video/mp4')),
      get('/download/', () => file(join(folder, 'video.mp4'), 'application/zip', { download: 'a"b\r\n.zip' })),
      get('/static/', () => file(join(folder, 'video.mp4'), 'text/css', { immutable: true })),
    ],
    { settings },
  )
}

test('a trusted proxy that sends files itself gets the path of films and pictures; other clients get the bytes', async (t) => {
  const behind = { trustedProxies: ['loopback'], sendFileHeader: 'X-Accel-Redirect' as const }
  const proxied = await fileServer(t, behind)
  const [film, page, missing] = await Promise.all(
    ['/media/video/', '/static/', '/media/missing/'].map((path) => proxied.ask(path)),
  )
  const { headers } = await (await fileServer(t, { ...behind, sendFileHeader: 'X-Sendfile' })).ask('/media/video/')
  const direct = await (await fileServer(t, { ...behind, trustedProxies: ['10.0.0.1'] })).ask('/media/video/')

  const encoded = String.raw`\/.*\.archivolt%20%2541%20%C3%BC%E6%98%A0%20files-.*\/video\.mp4$`
  assert.match(film!.headers.get('x-accel-redirect')!, new RegExp(String.raw`^\/_archivolt${encoded}`))
  assert.deepEqual([film!.status, film!.text, film!.headers.get('content-type')], [200, '', 'video/mp4'])
  assert.deepEqual([page!.text, page!.headers.get('x-accel-redirect')], [CONTENT, null])
  assert.deepEqual([missing!.status, missing!.headers.get('x-accel-redirect')], [404, null])
  assert.match(headers.get('x-sendfile') ?? '', new RegExp(`^${encoded}`))
  assert.deepEqual([direct.text, direct.headers.get('x-accel-redirect')], [CONTENT, null])
})

test('a file is sent completely, with the headers that caches need', async (t) => {
  const { ask } = await fileServer(t)
  const { status, headers, text } = await ask('/media/video/')
  assert.equal(status, 200)
  assert.equal(text, CONTENT)
  assert.equal(headers.get('content-type'), 'video/mp4')
  assert.equal(headers.get('accept-ranges'), 'bytes')
  assert.equal(headers.get('cache-control'), 'private, max-age=300')
  assert.ok(headers.get('etag'))
  assert.ok(headers.get('x-request-id'))
  assert.equal((await ask('/static/')).headers.get('cache-control'), 'private, max-age=31536000, immutable')
  assert.equal((await ask('/download/')).headers.get('content-disposition'), 'attachment; filename="a_b__.zip"')
})

test('ranges select the bytes that are sent', async (t) => {
  const { ask } = await fileServer(t)
  const table: Array<[range: string, status: number, text: string | undefined, contentRange: string | null]> = [
    ['bytes=0-3', 206, 'abcd', 'bytes 0-3/26'],
    ['bytes=24-', 206, 'yz', 'bytes 24-25/26'],
    ['bytes=-2', 206, 'yz', 'bytes 24-25/26'],
    ['bytes=-26', 206, CONTENT, 'bytes 0-25/26'],
    ['bytes=-65557', 206, CONTENT, 'bytes 0-25/26'],
    ['bytes=-0', 416, undefined, 'bytes */26'],
    ['bytes=20-99', 206, 'uvwxyz', 'bytes 20-25/26'],
    ['bytes=0-0', 206, 'a', 'bytes 0-0/26'],
    ['bytes=0-1,4-5', 200, CONTENT, null],
    ['items=0-1', 200, CONTENT, null],
    ['bytes=26-', 416, undefined, 'bytes */26'],
    ['bytes=9-3', 416, undefined, 'bytes */26'],
  ]
  for (const [range, status, text, contentRange] of table) {
    const answer = await ask('/media/video/', { headers: { Range: range } })
    assert.equal(answer.status, status, range)
    assert.equal(answer.headers.get('content-range'), contentRange, range)
    if (text === undefined) assert.equal(answer.body['code'], 'invalid_range')
    else assert.equal(answer.text, text, range)
  }
})

test('a range of an older version of the file gets the complete new one; an unchanged file is 304', async (t) => {
  const { ask, raw, tokens } = await fileServer(t)
  // Not with fetch, which adds `no-cache` to requests with a condition.
  const conditional = (condition: string) =>
    raw(
      `GET /media/video/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Token ${tokens.user}\r\n${condition}\r\n\r\n`,
    )
  const etag = (await ask('/media/video/')).headers.get('etag')!
  assert.equal((await ask('/media/video/', { headers: { Range: 'bytes=0-3', 'If-Range': etag } })).status, 206)
  assert.equal((await ask('/media/video/', { headers: { Range: 'bytes=0-3', 'If-Range': '"older"' } })).status, 200)
  assert.match(await conditional(`If-None-Match: ${etag}`), /^HTTP\/1\.1 304 /)
  assert.match(await conditional(`If-Modified-Since: ${new Date(1_700_000_000_000).toUTCString()}`), /^HTTP\/1\.1 304 /)
  assert.equal((await ask('/media/video/', { headers: { 'If-Match': '"older"' } })).status, 409)
})

test('HEAD of a file has its length and no content; a missing file is 404 in our error shape', async (t) => {
  const { ask } = await fileServer(t)
  const head = await ask('/media/video/', { method: 'HEAD' })
  assert.equal(head.headers.get('content-length'), '26')
  assert.equal(head.text, '')
  for (const path of ['/media/missing/', '/media/folder/']) {
    const { status, headers, body } = await ask(path)
    assert.equal(status, 404)
    assert.equal(body['error'], 'file not found')
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
  }
})

test('a page has the headers that protect it from other sites', async (t) => {
  const { ask } = await testServer(t, [
    get(
      '/page/',
      ({ headers }) => (headers.set('cache-control', 'no-cache'), bytes('<!doctype html>', 'text/html; charset=utf-8')),
    ),
  ])
  const { headers } = await ask('/page/')
  assert.match(headers.get('content-security-policy')!, /default-src 'self'.*frame-ancestors 'none'/)
  assert.equal(headers.get('x-frame-options'), 'DENY')
  assert.equal(headers.get('referrer-policy'), 'same-origin')
  assert.equal(headers.get('cache-control'), 'no-cache')
})

test('cookies of a handler are limited to our own paths, and are Secure over https', async (t) => {
  const route = get('/cookie/', ({ headers }) => {
    headers.cookie('one', 'a b', { maxAgeSeconds: 60, httpOnly: true })
    headers.cookie('two', 'x')
    return {}
  })
  const { ask } = await testServer(t, [route], { settings: { basePath: '/av/', trustedProxies: ['loopback'] } })
  assert.deepEqual((await ask('/av/cookie/')).headers.getSetCookie(), [
    'one=a%20b; Max-Age=60; Path=/av/; HttpOnly; SameSite=Lax',
    'two=x; Path=/av/; SameSite=Lax',
  ])
  assert.match(
    (await ask('/av/cookie/', { headers: { 'X-Forwarded-Proto': 'https' } })).headers.getSetCookie()[1]!,
    /; Secure/,
  )
})

/** Collects the output of an event stream as it arrives. */
async function listen(url: string, who: string | Record<string, string>) {
  const leave = new AbortController()
  const answer = await fetch(url, {
    headers: typeof who === 'string' ? { Authorization: `Token ${who}` } : who,
    signal: leave.signal,
  })
  const reader = answer.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  return {
    answer,
    leave: () => leave.abort(),
    async until(end: string) {
      while (!text.includes(end)) {
        const { value, done } = await reader.read()
        if (done) return `${text}<end>`
        text += value
      }
      return text
    },
  }
}

test('events are sent at once, with a comment every 20 seconds, until the client leaves', async (t) => {
  let send: ((event: string, data: unknown) => void) | undefined
  const stopped = new EventTarget()
  const stops = once(stopped, 'stop')
  const route = get('/events/', () =>
    events((sender) => ((send = sender), () => stopped.dispatchEvent(new Event('stop')))),
  )
  const { url, tokens, clock } = await testServer(t, [route])

  const client = await listen(`${url}/events/`, tokens.user)
  assert.equal(client.answer.headers.get('content-type'), 'text/event-stream; charset=utf-8')
  assert.equal(client.answer.headers.get('cache-control'), 'no-store')
  send!('queue', { text: 'a\nb' })
  assert.match(await client.until('"a'), /event: queue\ndata: {"text":"a\\nb"}\n\n/)
  await clock.advance(20_000)
  await client.until(': still here\n\n')
  client.leave()
  await stops
})

test('a client that loses its right to listen is disconnected at once', async (t) => {
  const { url, tokens, accounts, credentials } = await testServer(t, [
    get('/events/', () => events(() => () => undefined)),
  ])
  const add = async (username: string, isStaff = false) =>
    (await accounts.create({ username, password: 'right-password', isStaff })).id
  const withToken = async (id: number) => ({ Authorization: `Token ${await accounts.token(id)}` })
  const [shut, gone, changed, demoted, out] = [
    await add('shut'),
    await add('gone'),
    await add('changed'),
    await add('demoted', true),
    await add('out'),
  ]
  const { sessionId } = await accounts.openSession(out, false)
  const { hash } = credentials.bySession(sessionId)!.session
  const table: Array<[what: string, headers: Record<string, string>, end: () => Promise<unknown>]> = [
    ['its token is revoked', { Authorization: `Token ${tokens.user}` }, () => accounts.revokeToken(2)],
    ['its account is deactivated', await withToken(shut), () => accounts.change(shut, { is_active: false })],
    ['its account is removed', await withToken(gone), () => accounts.remove(gone)],
    ['its password is changed', await withToken(changed), () => accounts.change(changed, { password: 'another one' })],
    ['its role is lost', await withToken(demoted), () => accounts.change(demoted, { is_staff: false })],
    ['it signs out', { Cookie: `sessionid=${sessionId}` }, () => accounts.endSession(hash)],
  ]
  const stays = await listen(`${url}/events/`, tokens.admin)
  for (const [what, headers, end] of table) {
    const client = await listen(`${url}/events/`, headers)
    await client.until(': connected')
    await end()
    assert.match(await client.until('nothing more'), /<end>$/, what)
  }
  assert.match(await stays.until(': connected'), /: connected\n\n$/)
  stays.leave()
})

test('a download ends when its right does; one that is still permitted continues', async (t) => {
  const folder = await temporaryFolder(t)
  await writeFile(join(folder, 'backup.zip'), Buffer.alloc(64 * 1024 * 1024)) // more than the sockets between take up
  const whole: Route = {
    ...get('/backup/', () => file(join(folder, 'backup.zip'), 'application/zip')),
    access: 'admin',
  }
  const { url, tokens, accounts } = await testServer(t, [whole])
  const { id } = await accounts.create({ username: 'second', password: 'right-password', isStaff: true })
  const download = (token: string) => fetch(`${url}/backup/`, { headers: { Authorization: `Token ${token}` } })
  const [ends, goesOn] = [await download(await accounts.token(id)), await download(tokens.admin)]

  await accounts.change(id, { is_staff: false })

  await assert.rejects(ends.arrayBuffer())
  assert.equal((await goesOn.arrayBuffer()).byteLength, 64 * 1024 * 1024)
})

test('an account has at most sixteen event streams; the newest is refused, others are not', async (t) => {
  const { url, tokens, ask } = await testServer(t, [get('/events/', () => events(() => () => undefined))])
  const clients = await Promise.all(Array.from({ length: 16 }, () => listen(`${url}/events/`, tokens.user)))
  assert.deepEqual(
    clients.map(({ answer }) => answer.status),
    Array(16).fill(200),
  )
  const refused = await ask('/events/', { as: 'user' })
  assert.equal(refused.status, 429)
  assert.ok(Number(refused.headers.get('retry-after')) > 0)
  const other = await listen(`${url}/events/`, tokens.admin)
  assert.equal(other.answer.status, 200)
  for (const client of clients) assert.match(await client.until(': connected'), /: connected\n\n$/)
  for (const client of [...clients, other]) client.leave()
})

test('a client that does not read is disconnected', async (t) => {
  const stopped = new EventTarget()
  const stops = once(stopped, 'stop')
  let send: ((event: string, data: unknown) => void) | undefined
  const { port, tokens } = await testServer(t, [
    get('/events/', () => events((sender) => ((send = sender), () => stopped.dispatchEvent(new Event('stop'))))),
  ])
  const asking = request({
    port,
    host: '127.0.0.1',
    path: '/events/',
    headers: { Authorization: `Token ${tokens.user}` },
  })
  asking.on('error', () => undefined).end()
  const [answer] = await once(asking, 'response')
  answer.pause()
  answer.on('error', () => undefined)
  const big = 'x'.repeat(100_000)
  for (let count = 0; count < 200; count++) send!('big', big)
  await stops
  asking.destroy()
})

const upload = (maxBodyBytes: number): Route =>
  defineRoute({
    method: 'PUT',
    path: '/upload/',
    access: 'admin',
    summary: 'upload',
    reply: Type.Unknown(),
    rawBody: { contentType: 'application/zip', maxBodyBytes },
    async handle({ request: { stream } }) {
      let sizeBytes = 0
      for await (const chunk of stream) sizeBytes += (chunk as Buffer).length
      return { sizeBytes }
    },
  })

test('a body may be streamed, up to the route’s own limit', async (t) => {
  const { ask, raw, tokens } = await testServer(t, [upload(4_000_000)])
  const zip = { 'Content-Type': 'application/zip' }
  assert.deepEqual((await ask('/upload/', { method: 'PUT', content: Buffer.alloc(3_000_000), headers: zip })).body, {
    sizeBytes: 3_000_000,
  })
  assert.equal((await ask('/upload/', { method: 'PUT', content: Buffer.alloc(4_000_001), headers: zip })).status, 413)
  assert.equal((await ask('/upload/', { method: 'PUT', json: {} })).status, 415)
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const head = `PUT /upload/ HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${tokens.admin}\r\nContent-Type: application/zip\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
  assert.match(await raw(`${head}${chunk.repeat(62)}0\r\n\r\n`), /^HTTP\/1\.1 413 /)
})

test('a handler may take any time with a body that has arrived completely', async (t) => {
  const timeouts: Array<number | undefined> = []
  const server = createServer(async (incoming, response) => {
    const stream = rawBody(incoming, 1000)
    timeouts.push(incoming.socket.timeout)
    await stream.resume().toArray()
    timeouts.push(incoming.socket.timeout)
    response.end()
  }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, { method: 'PUT', body: 'x'.repeat(1000) })
  assert.deepEqual(timeouts, [60_000, 0])
})

test('a streamed body that is cut off is an error for its reader, not a defect', async (t) => {
  const [seen, ended] = [new EventTarget(), new EventTarget()]
  const [starts, ends] = [once(seen, 'start'), once(ended, 'end')]
  let reason: unknown
  const route: Route = {
    ...upload(4_000_000),
    async handle({ request: { stream } }) {
      try {
        for await (const _chunk of stream) seen.dispatchEvent(new Event('start'))
      } catch (error) {
        reason = error
        throw error
      } finally {
        ended.dispatchEvent(new Event('end'))
      }
      return {}
    },
  }
  const { port, tokens, logged } = await testServer(t, [route])
  const asking = request({
    port,
    host: '127.0.0.1',
    method: 'PUT',
    path: '/upload/',
    headers: { Authorization: `Token ${tokens.admin}`, 'Content-Type': 'application/zip', 'Content-Length': 1000 },
  })
  asking.on('error', () => undefined)
  asking.write('half')
  await starts
  asking.destroy()
  await ends
  assert.match(String(reason), /cut off/)
  assert.deepEqual(
    logged.filter((line) => line.includes('"level":50')),
    [],
  )
})

test('the stop lets running requests finish, ends event streams and accepts nothing new', async (t) => {
  const started = new EventTarget()
  const starts = once(started, 'start')
  let finish!: () => void
  const slow = get('/slow/', async () => {
    started.dispatchEvent(new Event('start'))
    await new Promise<void>((resolve) => (finish = resolve))
    return { done: true }
  })
  const { ask, http, url, tokens } = await testServer(t, [slow, get('/events/', () => events(() => () => undefined))])
  const client = await listen(`${url}/events/`, tokens.user)
  const asked = ask('/slow/')
  await starts

  const closed = http.close()
  assert.match(await client.until('nothing more'), /<end>$/)
  await assert.rejects(fetch(`${url}/health`, { headers: { Connection: 'close' } }))
  finish()

  assert.deepEqual((await asked).body, { done: true })
  await closed
})

test('an event stream that begins during the stop does not delay it', async (t) => {
  let begin!: () => void
  let started!: () => void
  const starts = new Promise<void>((resolve) => (started = resolve))
  const late = get('/events/', async () => {
    await new Promise<void>((resolve) => {
      begin = resolve
      started()
    })
    return events(() => () => undefined)
  })
  const { ask, http } = await testServer(t, [late])
  const asked = ask('/events/')
  await starts

  const closed = http.close()
  begin()

  assert.equal((await asked).status, 503)
  await closed
})

for (const [what, sent] of [
  ['that was opened ahead', ''],
  ['whose request has begun to arrive', 'GET /health HTTP/1.1\r\nHos'],
])
  test(`a connection ${what} does not delay the stop`, async (t) => {
    const { http, url } = await testServer(t, [])
    const client = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => undefined)
    t.after(() => client.destroy())
    const ended = once(client, 'close')
    await once(client, 'connect')
    client.write(sent!)
    // It has been accepted by this time.
    assert.equal((await fetch(`${url}/health`)).status, 200)

    await http.close()

    await ended
  })

test('the stop ends what does not finish in time', async (t) => {
  const started = new EventTarget()
  const starts = once(started, 'start')
  const stuck = get('/stuck/', async ({ signal }) => {
    started.dispatchEvent(new Event('start'))
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  })
  const { ask, http, clock } = await testServer(t, [stuck])
  const asked = assert.rejects(ask('/stuck/'))
  await starts
  const closed = http.close(3000)
  await clock.advance(3000)
  await closed
  await asked
})
