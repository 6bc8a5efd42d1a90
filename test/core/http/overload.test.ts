/** Requests that are designed to be expensive: each is limited before the work is done, and others are served. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request as ask, createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { Type } from 'typebox'
import { isAppError, MOST_FIELDS } from '../../../core/base/error.ts'
import { checkBody } from '../../../core/http/check.ts'
import { limitConnections, MOST_OF_ADDRESS } from '../../../core/http/connection-limit.ts'
import { defineRoute } from '../../../core/plugin/define.ts'
import { testServer } from './given.ts'

const JSON_HEADERS = { 'Content-Type': 'application/json' }
const Items = Type.Object(
  {
    data: Type.Array(Type.Object({ id: Type.String() })),
    kind: Type.Optional(Type.Union([Type.Literal('a'), Type.Literal('b')])),
  },
  { additionalProperties: false },
)

const ROUTES = [
  defineRoute({
    method: 'POST',
    path: '/open/',
    access: 'open',
    summary: 'open',
    form: true,
    body: Type.Object({}),
    reply: Type.Unknown(),
    handle: ({ body }) => body as object,
  }),
  defineRoute({
    method: 'POST',
    path: '/echo/',
    access: 'user',
    summary: 'echo',
    body: Type.Object({}),
    reply: Type.Unknown(),
    handle: ({ body }) => body as object,
  }),
  defineRoute({
    method: 'POST',
    path: '/items/',
    access: 'user',
    summary: 'items',
    body: Items,
    reply: Type.Unknown(),
    handle: () => ({}),
  }),
]

const manyKeys = (count: number, key = (at: number) => `k${at}`) =>
  `{${Array.from({ length: count }, (_, at) => `"${key(at)}":0`).join(',')}}`

test('an anonymous client may send only small bodies', async (t) => {
  const { ask, raw } = await testServer(t, ROUTES)
  const send = (content: string, type = 'application/json') =>
    ask('/open/', { method: 'POST', as: 'nobody', content, headers: { 'Content-Type': type } })
  assert.equal((await send(JSON.stringify({ a: 'x'.repeat(16_000) }))).status, 200)
  assert.equal((await send(JSON.stringify({ a: 'x'.repeat(16_384) }))).status, 413)
  assert.equal((await send(`a=${'x'.repeat(16_384)}`, 'application/x-www-form-urlencoded')).status, 413)
  assert.equal(
    (await ask('/open/', { method: 'POST', content: JSON.stringify({ a: 'x'.repeat(16_384) }), headers: JSON_HEADERS }))
      .status,
    413,
  ) // a token does not raise the limit
  const chunk = `1000\r\n${'x'.repeat(0x1000)}\r\n`
  assert.match(
    await raw(
      `POST /open/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk.repeat(5)}0\r\n\r\n`,
    ),
    /^HTTP\/1\.1 413 /,
  )
  assert.equal(
    (
      await ask('/echo/', {
        method: 'POST',
        content: JSON.stringify({ a: 'x'.repeat(1_000_000) }),
        headers: JSON_HEADERS,
      })
    ).status,
    200,
  )
})

test('large bodies share a limited amount of memory; a small one is accepted nevertheless, and each releases its share at its end', async (t) => {
  const { port, tokens, ask: asking } = await testServer(t, ROUTES)
  const content = Buffer.from(JSON.stringify({ a: 'x'.repeat(2_000_000) }))
  const headers = { ...JSON_HEADERS, Authorization: `Token ${tokens.user}`, 'Content-Length': content.length }
  const open = Array.from({ length: 24 }, () => {
    const asked = ask({ port, host: '127.0.0.1', method: 'POST', path: '/echo/', headers })
    asked.write(content.subarray(0, -1)) // all but the last byte, for which the server waits
    return { asked, answer: once(asked, 'response').then(([response]) => (response as IncomingMessage).resume()) }
  })
  const refused = await Promise.race(open.map(({ answer }) => answer))
  assert.equal(refused.statusCode, 503)
  assert.ok(Number(refused.headers['retry-after']) > 0)
  assert.equal((await asking('/echo/', { method: 'POST', json: { small: true } })).status, 200)

  for (const { asked } of open) asked.end(content.subarray(-1))
  const statuses = await Promise.all(open.map(async ({ answer }) => (await answer).statusCode))
  assert.deepEqual(new Set(statuses), new Set([200, 503]))
  assert.equal((await asking('/echo/', { method: 'POST', content, headers: JSON_HEADERS })).status, 200)
})

test('a body in many small chunks takes the memory of its bytes, not of its chunks', async (t) => {
  const { raw } = await testServer(t, ROUTES)
  const text = JSON.stringify({ a: 'x'.repeat(9000) })
  const pieces = [...text].map((character) => `1\r\n${character}\r\n`).join('')
  assert.match(
    await raw(
      `POST /open/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${pieces}0\r\n\r\n`,
    ),
    /^HTTP\/1\.1 200 .*"a":"x{9000}"/s,
  )
})

test('a key that would pollute a prototype is dropped, in any notation and at any depth', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const table: Array<[content: string, expected: object]> = [
    ['{"__proto__":{"a":1},"b":2}', { b: 2 }],
    ['{"list":[{"deep":{"\\u005f\\u005fproto__":1,"c":3}}]}', { list: [{ deep: { c: 3 } }] }],
    ['{"a":{"__pr\\u006fto__":{"\\u005F_proto__":1}}}', { a: {} }],
    ['{"text":"__proto__","prototype":1}', { text: '__proto__', prototype: 1 }],
  ]
  for (const [content, expected] of table)
    assert.deepEqual((await ask('/echo/', { method: 'POST', content, headers: JSON_HEADERS })).body, expected, content)
  const form = await ask('/open/', {
    method: 'POST',
    as: 'nobody',
    content: '__proto__=1&%5f_proto__=2&a=b',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  assert.equal(form.text, '{"a":"b"}')
})

test('an object with more keys than any route accepts is refused before it is parsed', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const post = (content: string) => ask('/echo/', { method: 'POST', content, headers: JSON_HEADERS })
  for (const content of [
    manyKeys(150_000),
    manyKeys(100_000, (at) => `\\u006b${at}`),
    `{"list":[1,${manyKeys(1001)}]}`,
  ]) {
    const { status, body } = await post(content)
    assert.equal(status, 400)
    assert.match(String(body['error']), /at most 1000 keys/)
  }
  // Many objects, and colons within texts, are allowed.
  assert.equal((await post(`{"list":[${Array(20_000).fill('{"a":1,"b":{"c":"::::"}}').join(',')}]}`)).status, 200)
  assert.equal((await post(JSON.stringify({ text: ':'.repeat(100_000) }))).status, 200)
})

test('a body with more values than any route accepts is refused before it is parsed, whatever they are', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const post = (content: string) => ask('/echo/', { method: 'POST', content, headers: JSON_HEADERS })
  for (const one of ['[]', '{}', '1', '[[]]']) {
    const { status, body } = await post(`{"list":[${Array(250_000).fill(one).join(',')}]}`)
    assert.deepEqual([one, status], [one, 400])
    assert.match(String(body['error']), /at most 200000 values/)
  }
  // As many ids as a body has space for are allowed; brackets within texts do not count as values.
  assert.equal((await post(JSON.stringify({ list: Array(140_000).fill('abcdefghijk') }))).status, 200)
  assert.equal((await post(JSON.stringify({ text: '[,'.repeat(300_000) }))).status, 200)
})

/** Returns the errors, and how often an entry of the list was read for them. */
function judged(entries: number, wrong: (at: number) => boolean): { fields: Record<string, string>; looks: number } {
  let looks = 0
  const data = Array.from({ length: entries }, (_, at) => ({
    get id() {
      looks++
      return wrong(at) ? at : 'x'
    },
  }))
  try {
    checkBody(Items, { data, unknown: 1 })
  } catch (error) {
    assert.ok(isAppError(error, 'bad_request'))
    return { fields: error.details.fields!, looks }
  }
  return assert.fail('taken')
}

test('a large invalid body is reported by its first error, without a search of all of it', () => {
  const all = judged(300, () => true)
  assert.equal(all.fields['data.0.id'], 'must be a string')
  const none = judged(50_000, () => false)
  assert.deepEqual(none.fields, { unknown: 'is unknown' })
  const late = judged(50_000, (at) => at === 40_000)
  assert.deepEqual(late.fields, { 'data.40000.id': 'must be a string' })
  // The quick check reads it once or twice; the slow search would read it a third time, and far more slowly.
  for (const { looks } of [none, late]) assert.ok(looks <= 2 * 50_000 + 10_000, `${looks}`)
})

test('the reported paths are few and short, whatever was sent', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const { status, body, text } = await ask('/items/', {
    method: 'POST',
    content: manyKeys(900, (at) => `${at}${'x'.repeat(500)}`),
    headers: JSON_HEADERS,
  })
  assert.equal(status, 400)
  const fields = Object.entries(body['fields'] as Record<string, string>)
  assert.ok(fields.length > 1 && fields.length <= MOST_FIELDS)
  for (const [place, rule] of fields) assert.ok(place.length <= 100 && /^is (unknown|required)$/.test(rule))
  assert.ok(text.length < 20_000)
})

test('an overlong media type is refused', async (t) => {
  const { raw } = await testServer(t, ROUTES)
  const answer = await raw(
    `POST /open/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json${';'.repeat(30_000)}x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  )
  assert.match(answer, /^HTTP\/1\.1 415 /)
})

test('behind a proxy each client has a limit of concurrent requests; the proxy itself and loopback have none', async (t) => {
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  let running = 0
  let isFull!: () => void
  const full = new Promise<void>((resolve) => (isFull = resolve))
  const wait = async () => {
    if (++running === MOST_OF_ADDRESS) isFull()
    await finished
    return {}
  }
  const slow = defineRoute({
    method: 'GET',
    path: '/slow/',
    access: 'open',
    summary: 'slow',
    reply: Type.Unknown(),
    handle: wait,
  })
  const quick = defineRoute({
    method: 'GET',
    path: '/quick/',
    access: 'open',
    summary: 'quick',
    reply: Type.Unknown(),
    handle: () => ({}),
  })
  const { ask: asking } = await testServer(t, [slow, quick], {
    settings: { trustedProxies: ['loopback', '198.51.100.1'] },
  })
  const get = async (path: string, client?: string) =>
    (await asking(path, { as: 'nobody', headers: client === undefined ? {} : { 'X-Forwarded-For': client } })).status

  const held = Array.from({ length: MOST_OF_ADDRESS }, (_, at) => get('/slow/', `2001:db8::${at.toString(16)}`))
  await full
  assert.equal(await get('/quick/', '2001:db8::ffff'), 429)
  for (const client of ['2001:db8:0:1::1', '192.0.2.1', '198.51.100.1', undefined])
    assert.equal(await get('/quick/', client), 200, client)
  finish()
  assert.deepEqual(new Set(await Promise.all(held)), new Set([200]))
  assert.equal(await get('/quick/', '2001:db8::ffff'), 200)
})

test('an address has a limit of connections: additional ones are closed, and one that ends makes room', async (t) => {
  const server = createServer((_request, response) => void response.end('x'))
  t.after(() => server.close())
  limitConnections(server, () => true, 3)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const open = () => connect(port, '127.0.0.1').on('error', () => undefined)
  const isServed = async (socket: ReturnType<typeof open>) => {
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
    return (await Promise.race([
      once(socket, 'data').then(() => true),
      once(socket, 'close').then(() => false),
    ])) as boolean
  }
  const sockets = [open(), open(), open()]
  for (const socket of sockets) assert.equal(await isServed(socket), true)
  assert.equal(await isServed(open()), false)
  sockets.shift()!.destroy()
  let next = open()
  while (!(await isServed(next))) next = open() // the server notices the end at some later time
  for (const socket of [...sockets, next]) socket.destroy()
})
