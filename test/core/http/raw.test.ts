/** Bytes that no well-behaved client sends: each gets an answer below 500, and the server keeps running. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { defineRoute } from '../../../core/plugin/define.ts'
import { testServer } from './given.ts'

const ROUTES = [
  defineRoute({
    method: 'GET',
    path: '/api/a/',
    access: 'open',
    summary: 'a',
    reply: Type.Unknown(),
    handle: () => ({ a: 1 }),
  }),
  defineRoute({
    method: 'POST',
    path: '/api/a/',
    access: 'open',
    summary: 'a',
    reply: Type.Unknown(),
    body: Type.Object({}),
    handle: ({ body }) => body as object,
  }),
]
const LAST = 'Host: x\r\nConnection: close\r\n\r\n'

const table: Array<[title: string, bytes: string, expected: RegExp]> = [
  ['what is not HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"bad_request"/s],
  ['a TLS greeting', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', /^HTTP\/1\.1 400 /],
  ['a method that nobody knows', `FROB /api/a/ HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 400 /],
  [
    'a known method that the path does not have',
    `PROPFIND /api/a/ HTTP/1.1\r\n${LAST}`,
    /^HTTP\/1\.1 405 .*Allow: GET, HEAD, OPTIONS, POST/s,
  ],
  ['TRACE', `TRACE /api/a/ HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 405 /],
  ['CONNECT', `CONNECT example.org:443 HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 405 .*"code":"method_not_allowed"/s],
  ['headers without end', `GET /api/a/ HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n${LAST}`, /^HTTP\/1\.1 431 /],
  ['a path of 15 kB', `GET /${'a'.repeat(15_000)} HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 404 /],
  ['half a percent sign in the path', `GET /api/%a/ HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 404 .*"code":"not_found"/s],
  ['bytes in the path that are not UTF-8', `GET /api/%c3%28/ HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 404 /],
  ['a zero byte in the path', `GET /api/%00/ HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 404 /],
  ['dots that climb', `GET /api/../../etc/passwd HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 404 /],
  ['a whole URL, as proxies send it', `GET http://other.example/api/a/?x=1 HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 200 /],
  ['a URL of no kind', `GET ftp://other.example/api/a/ HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 400 /],
  ['OPTIONS of everything', `OPTIONS * HTTP/1.1\r\n${LAST}`, /^HTTP\/1\.1 200 /],
  ['no host', 'GET /api/a/ HTTP/1.1\r\nConnection: close\r\n\r\n', /^HTTP\/1\.1 400 /],
  ['HTTP/1.0', 'GET /api/a/ HTTP/1.0\r\n\r\n', /^HTTP\/1\.1 200 /],
  [
    'a length that is no number',
    `POST /api/a/ HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ten\r\n${LAST}`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'two lengths',
    `POST /api/a/ HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\nContent-Length: 3\r\n${LAST}{}`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'a length and chunks',
    `POST /api/a/ HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n${LAST}0\r\n\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'chunks that are none',
    `POST /api/a/ HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${LAST}zz\r\n`,
    /^HTTP\/1\.1 400 /,
  ],
  [
    'a body that is asked about first',
    `POST /api/a/ HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n${LAST}{}`,
    /^HTTP\/1\.1 100 Continue.*HTTP\/1\.1 200 /s,
  ],
  [
    'a body too large that is asked about first',
    `POST /api/a/ HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\nExpect: 100-continue\r\n${LAST}`,
    /^HTTP\/1\.1 413 /,
  ],
  [
    'an expectation that nobody meets',
    `POST /api/a/ HTTP/1.1\r\nContent-Length: 0\r\nExpect: tea\r\n${LAST}`,
    /^HTTP\/1\.1 417 .*"code":"bad_request"/s,
  ],
]

test('malformed and odd requests are answered, never with 500', async (t) => {
  const { raw, ask, clock, logged } = await testServer(t, ROUTES)
  for (const [title, bytes, expected] of table) {
    const answered = raw(Buffer.from(bytes, 'latin1'))
    await clock.advance(21_000)
    assert.match(await answered, expected, title)
    assert.match(await answered, /^X-Request-Id: \S+\r$/m, title)
  }
  assert.equal((await ask('/api/a/')).status, 200)
  assert.deepEqual(
    logged.filter((line) => line.includes('"level":50')),
    [],
  )
})

test('a body that does not arrive times out', async (t) => {
  const { raw, clock } = await testServer(t, ROUTES)
  const answered = raw(
    'POST /api/a/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
  )
  let isAnswered = false
  void answered.then(() => (isAnswered = true))
  while (!isAnswered) await clock.advance(1000) // the bytes arrive over a real socket, independently of the test clock
  assert.match(await answered, /^HTTP\/1\.1 400 .*did not arrive in time/s)
})
