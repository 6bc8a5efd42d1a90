/** The steps of a request as clients see them: paths, methods, queries, bodies, envelopes, errors. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Type } from 'typebox'
import { errors } from '../../../core/base/error.ts'
import { ID_PATTERN } from '../../../core/base/id.ts'
import { json, listing } from '../../../core/http/reply.ts'
import { defineRoute, type Route } from '../../../core/plugin/define.ts'
import { type Asking, testServer } from './given.ts'

const Any = Type.Unknown()
const get = (path: string, handle: Route['handle'], more: Partial<Route> = {}): Route =>
  ({ method: 'GET', path, access: 'user', summary: path, reply: Any, handle, ...more }) as Route

const things = get(
  '/api/thing/',
  ({ page }) =>
    listing(
      Array.from({ length: Math.max(0, Math.min(page.size, 30 - page.from)) }, (_, at) => `{"id":${page.from + at}}`),
      30,
    ),
  {
    envelope: 'page',
    query: { filter: Type.Optional(Type.Enum(['new', 'old'])) },
  },
)
const search = get('/api/thing/search/', () => ({ is: 'search' }))
const thing = get(
  '/api/thing/:thingId/',
  ({ params }) => {
    if ((params as { thingId: string }).thingId === 'gone') throw errors.notFound('thing', 'gone')
    return json(`{"id":"${(params as { thingId: string }).thingId}"}`)
  },
  { envelope: 'item', params: Type.Object({ thingId: Type.String() }) },
)
const sub = get(
  '/api/thing/:thingId/part/',
  () => {
    throw errors.notFound('thing')
  },
  { envelope: 'page', params: Type.Object({ thingId: Type.String() }) },
)
const archive = get('/api/archive/:filename/', ({ params }) => params, {
  params: Type.Object({ filename: Type.String({ pattern: '^[a-z]+\\.zip$' }) }),
})
const numbers = get('/api/query/', ({ query }) => query, {
  query: {
    size: Type.Integer({ minimum: 1, maximum: 9, default: 5 }),
    force: Type.Boolean({ default: false }),
    share: Type.Optional(Type.Number({ maximum: 1 })),
    q: Type.String({ maxLength: 1000 }),
    id: Type.Optional(Type.String({ pattern: ID_PATTERN })),
  },
})
const echo = defineRoute({
  method: 'POST',
  path: '/api/echo/',
  access: 'user',
  summary: 'echo',
  reply: Any,
  body: Type.Object({
    id: Type.String({ minLength: 1 }),
    is_good: Type.Optional(Type.Boolean()),
    list: Type.Optional(Type.Array(Type.Object({ kind: Type.Enum(['a', 'b']) }))),
  }),
  handle: ({ body }) => body,
})
const form = defineRoute({
  method: 'POST',
  path: '/api/form/',
  access: 'open',
  summary: 'form',
  reply: Any,
  form: true,
  body: Type.Object({ name: Type.String() }),
  handle: ({ body }) => body,
})
const start = defineRoute({
  method: 'POST',
  path: '/api/start/',
  access: 'user',
  summary: 'start',
  reply: Any,
  handle: () => ({ started: true }),
})
const forget = defineRoute({
  method: 'DELETE',
  path: '/api/thing/:thingId/',
  access: 'admin',
  summary: 'forget',
  reply: Any,
  params: Type.Object({ thingId: Type.String() }),
  body: Type.Object({ why: Type.Optional(Type.String()) }),
  bodyOptional: true,
  handle: ({ body }) => ({ body: body ?? null }),
})
const nothing = defineRoute({
  method: 'POST',
  path: '/api/nothing/',
  access: 'user',
  summary: 'nothing',
  reply: Any,
  handle: () => undefined,
})
const made = defineRoute({
  method: 'POST',
  path: '/api/made/',
  access: 'user',
  summary: 'made',
  reply: Any,
  status: 201,
  handle: () => ({ success: true }),
})
const broken = get('/api/broken/', () => {
  throw new Error('SELECT secret FROM /srv/data')
})
const busy = get('/api/busy/', () => {
  throw errors.unavailable('The platform does not answer', { retryAfterSeconds: 7, cause: new Error('inner') })
})
const nobody = get('/api/undefined/', () => {
  throw undefined
})
const misheaded = get('/api/misheaded/', ({ headers }) => {
  headers.set('Content-Disposition', 'attachment; filename="Fähre → Insel.txt"')
  return {}
})
const itemless = get('/api/itemless/', () => undefined, { envelope: 'item' })
const counted = get('/api/counted/:number/of/:word/', ({ params }) => params, {
  params: Type.Object({ number: Type.Integer({ minimum: 1 }), word: Type.String({ maxLength: 3 }) }),
})
const ROUTES = [
  misheaded,
  itemless,
  nobody,
  counted,
  things,
  search,
  thing,
  sub,
  archive,
  numbers,
  echo,
  form,
  start,
  forget,
  nothing,
  made,
  broken,
  busy,
]

test('a path has the same answer with and without its final slash, or with two slashes before it, for every method and without a redirect', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  for (const path of ['/api/echo/', '/api/echo', '//api/echo/'])
    assert.deepEqual((await ask(path, { method: 'POST', json: { id: 'x' } })).body, { id: 'x' })
  for (const path of ['/api/thing/abc/', '/api/thing/abc', '///api/thing/abc'])
    assert.deepEqual((await ask(path)).body['data'], { id: 'abc' })
})

test('a literal path takes precedence over a variable, for all methods', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  assert.deepEqual((await ask('/api/thing/search/')).body, { is: 'search' })
  const refused = await ask('/api/thing/search/', { method: 'DELETE' })
  assert.equal(refused.status, 405)
  assert.equal(refused.headers.get('allow'), 'GET, HEAD, OPTIONS')
  assert.equal(refused.body['code'], 'method_not_allowed')
})

test('an unknown path, or an invalid value of a variable, is 404 in the error shape', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const paths = [
    '/',
    '/api/',
    '/api/none/',
    '/api/thing/a.b/',
    '/api/thing/a%20b/',
    '/api/thing/%2e%2e%2f/',
    `/api/thing/${'a'.repeat(129)}/`,
    `/api/thing/${'a'.repeat(2000)}/`,
    '/api/thing/ä/',
    '/api//thing/',
    '/api/archive/x.tar/',
    '/api/archive/..%2fx.zip/',
    '/API/thing/',
  ]
  for (const path of paths) {
    const answer = await ask(path)
    assert.equal(answer.status, 404, path)
    assert.deepEqual(
      answer.body,
      { detail: 'path not found', message: 'path not found', error: 'path not found', code: 'not_found' },
      path,
    )
  }
  assert.equal((await ask(`/api/thing/${'a'.repeat(128)}/`)).status, 200)
  assert.deepEqual((await ask('/api/archive/a.zip/')).body, { filename: 'a.zip' })
})

test('a variable must be a valid value of its schema; otherwise the reply is 404', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  assert.deepEqual((await ask('/api/counted/7/of/abc/')).body, { number: 7, word: 'abc' })
  for (const path of ['x/of/abc', '0/of/abc', '1e3/of/abc', '99999999999999999999/of/abc', '7/of/abcd'])
    assert.equal((await ask(`/api/counted/${path}/`)).status, 404, path)
})

test('HEAD works wherever GET does, and OPTIONS lists the methods', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const head = await ask('/api/thing/abc/', { method: 'HEAD' })
  assert.equal(head.status, 200)
  assert.equal(head.text, '')
  assert.equal(head.headers.get('content-length'), String((await ask('/api/thing/abc/')).text.length))
  assert.equal((await ask('/api/echo/', { method: 'HEAD' })).status, 405)
  const options = await ask('/api/thing/abc/', { method: 'OPTIONS', as: 'nobody' })
  assert.equal(options.status, 200)
  assert.equal(options.headers.get('allow'), 'DELETE, GET, HEAD, OPTIONS')
  for (const method of ['PATCH', 'PUT', 'PROPFIND'])
    assert.equal((await ask('/api/thing/abc/', { method })).status, 405, method)
})

test('JSON is never cached by clients, has its type and request id, and reveals nothing about the server', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  for (const path of ['/api/thing/', '/api/none/']) {
    const { headers } = await ask(path)
    assert.equal(headers.get('content-type'), 'application/json; charset=utf-8')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    assert.match(headers.get('x-request-id')!, /^[a-z0-9]+-[a-z0-9]+$/)
    assert.equal(headers.get('etag'), null)
  }
})

test('query values are decoded, empty ones count as absent, the last of a repeated key counts, unknown keys are ignored', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const table: Array<[query: string, expected: Record<string, unknown>]> = [
    ['q=a', { size: 5, force: false, q: 'a' }],
    ['q=a+b%20c&size=&force=', { size: 5, force: false, q: 'a b c' }],
    ['q=a&size=2&size=9&force=YES&other=1', { size: 9, force: true, q: 'a' }],
    ['q=a&share=-0.25', { size: 5, force: false, q: 'a', share: -0.25 }],
    ['q=a&size=2&size=&force=0&id=A_-9', { size: 5, force: false, q: 'a', id: 'A_-9' }],
  ]
  for (const [query, expected] of table) assert.deepEqual((await ask(`/api/query/?${query}`)).body, expected, query)
})

test('an invalid query is 400, and `fields` lists the errors', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const table: Array<[query: string, fields: Record<string, string> | undefined]> = [
    ['', { q: 'is required' }],
    ['q=%20%20', { q: 'is required' }],
    ['q=a&size=0&force=maybe', { size: 'must be an integer from 1 to 9', force: 'must be true or false' }],
    ['q=a&size=1.5', { size: 'must be an integer from 1 to 9' }],
    ['q=a&share=1e-3', { share: 'must be a number of at most 1' }],
    ['q=a&id=../x', { id: 'must be an id of letters, digits, - and _' }],
    ['q=%zz', undefined],
    ['q=%ff', undefined],
  ]
  for (const [query, fields] of table) {
    const { status, body } = await ask(`/api/query/?${query}`)
    assert.equal(status, 400, query)
    assert.equal(body['code'], 'bad_request')
    assert.deepEqual(body['fields'], fields, query)
  }
})

test('a body is checked and never coerced; unknown keys are ignored', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const refused: Array<[asking: Asking, fields: Record<string, string> | undefined]> = [
    [{ json: {} }, { id: 'is required' }],
    [{ json: { id: 5 } }, { id: 'must be a string' }],
    [{ json: { id: '' } }, { id: 'must not be empty' }],
    [{ json: { id: 'x', is_good: 'true' } }, { is_good: 'must be true or false' }],
    [
      { json: { id: 'x', list: [{ kind: 'a' }, { kind: 'c' }, {}] } },
      { 'list.1.kind': 'must be one of a, b', 'list.2.kind': 'is required' },
    ],
    [{ json: ['x'] }, undefined],
    [{ json: null }, undefined],
    [{ json: 'text' }, undefined],
    [{ content: '{"id":', headers: { 'Content-Type': 'application/json' } }, undefined],
    [
      { content: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), headers: { 'Content-Type': 'application/json' } },
      undefined,
    ],
    [
      {
        content: `{"id":"x","deep":${'['.repeat(100)}${']'.repeat(100)}}`,
        headers: { 'Content-Type': 'application/json' },
      },
      undefined,
    ],
    [{ content: '', headers: { 'Content-Type': 'application/json' } }, { id: 'is required' }],
  ]
  for (const [asking, fields] of refused) {
    const { status, body } = await ask('/api/echo/', { method: 'POST', ...asking })
    assert.equal(status, 400, JSON.stringify(asking))
    assert.deepEqual(body['fields'], fields, JSON.stringify(asking))
  }
  assert.deepEqual((await ask('/api/echo/', { method: 'POST', json: { id: '[[[[', more: 1 } })).body, {
    id: '[[[[',
    more: 1,
  })
  assert.deepEqual(
    (
      await ask('/api/echo/', {
        method: 'POST',
        content: '{"id":"x","__proto__":{"a":1},"\\u005f_proto__":2}',
        headers: { 'Content-Type': 'application/json; charset=UTF-8' },
      })
    ).body,
    { id: 'x' },
  )
})

test('a body of another type is 415, one that is too large 413', async (t) => {
  const { ask, raw } = await testServer(t, ROUTES)
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/json; charset=utf-16',
    'nonsense',
  ]
  for (const type of types)
    assert.equal(
      (await ask('/api/echo/', { method: 'POST', content: '{"id":"x"}', headers: { 'Content-Type': type } })).status,
      415,
      type,
    )
  assert.equal(
    (await ask('/api/echo/', { method: 'POST', json: { id: 'x' }, headers: { 'Content-Encoding': 'gzip' } })).status,
    415,
  )
  assert.equal((await ask('/api/echo/', { method: 'POST', json: { id: 'x'.repeat(2 * 1024 * 1024) } })).status, 413)
  assert.equal(
    (await ask('/api/echo/', { method: 'POST', json: { id: 'x'.repeat(2 * 1024 * 1024 - 100) } })).status,
    200,
  )
  // Without a length: it is cut off at the limit.
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const answer = await raw(
    `POST /api/form/ HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk.repeat(40)}0\r\n\r\n`,
  )
  assert.match(answer, /^HTTP\/1\.1 413 .*"code":"body_too_large"/s)
})

test('an empty body with the type of JSON counts as no body, for every method', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const headers = { 'Content-Type': 'application/json' }
  assert.equal((await ask('/api/thing/', { headers })).status, 200)
  assert.equal((await ask('/api/start/', { method: 'POST', headers })).status, 200)
  assert.deepEqual((await ask('/api/thing/x/', { method: 'DELETE', headers })).body, { body: null })
  assert.deepEqual((await ask('/api/thing/x/', { method: 'DELETE', json: { why: 'old' } })).body, {
    body: { why: 'old' },
  })
})

test('a body that the route does not use must still be valid', async (t) => {
  const { ask, raw, tokens } = await testServer(t, ROUTES)
  const headers = { 'Content-Type': 'application/json' }
  for (const content of ['{', '[]', '[1', '"text"', 'null'])
    assert.equal((await ask('/api/start/', { method: 'POST', content, headers })).status, 400, content)
  for (const content of ['', '{}', '{"more":1}'])
    assert.equal((await ask('/api/start/', { method: 'POST', content, headers })).status, 200, content)
  assert.equal(
    (await ask('/api/start/', { method: 'POST', content: '{}', headers: { 'Content-Type': 'application/json;' } }))
      .status,
    200,
  )
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`
  const head = `POST /api/start/ HTTP/1.1\r\nHost: a\r\nAuthorization: Token ${tokens.user}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n`
  assert.match(await raw(`${head}${chunk.repeat(40)}0\r\n\r\n`), /^HTTP\/1\.1 413 /)
})

test('a form is accepted only by routes that declare it', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const answer = await ask('/api/form/', {
    method: 'POST',
    as: 'nobody',
    content: 'name=a+b&x=1',
    headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
  })
  assert.deepEqual(answer.body, { name: 'a b', x: '1' })
})

test('a body is neither read nor checked before the client is authenticated', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  assert.equal(
    (await ask('/api/echo/', { method: 'POST', as: 'nobody', json: { id: 'x'.repeat(3_000_000) } })).status,
    401,
  )
  assert.equal(
    (
      await ask('/api/thing/x/', {
        method: 'DELETE',
        as: 'user',
        content: '{',
        headers: { 'Content-Type': 'application/json' },
      })
    ).status,
    403,
  )
})

test('a handler that returns nothing is 204, and a route may declare another status', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  assert.equal((await ask('/api/nothing/', { method: 'POST' })).status, 204)
  assert.equal((await ask('/api/made/', { method: 'POST' })).status, 201)
})

test('an item is in its envelope, whose `config` follows the preferences', async (t) => {
  let cast = false
  const server = await testServer(t, ROUTES, {
    envelopes: [() => ({ enable_cast: cast }), () => ({ downloads: { subtitle: 'en' } })],
  })
  assert.deepEqual((await server.ask('/api/thing/a/')).body, {
    data: { id: 'a' },
    config: { enable_cast: false, downloads: { subtitle: 'en' } },
  })
  cast = true
  server.preferencesChanged()
  assert.deepEqual((await server.ask('/api/thing/a/')).body['config'], {
    enable_cast: true,
    downloads: { subtitle: 'en' },
  })
})

test('a page has its records, its page object and the config', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const { body } = await ask('/api/thing/?filter=new&page=2&x=a+b&y=')
  assert.deepEqual(
    (body['data'] as Array<{ id: number }>).map(({ id }) => id),
    [12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23],
  )
  assert.deepEqual(body['paginate'], {
    page_size: 12,
    page_from: 12,
    prev_pages: [],
    current_page: 2,
    max_hits: false,
    params: 'filter=new&x=a+b&y=',
    last_page: 3,
    next_pages: [],
    total_hits: 30,
  })
})

test('the page size is the user’s own, and 0 means the default', async (t) => {
  const { ask, accounts } = await testServer(t, ROUTES)
  await accounts.changeUserPreferences(1, { page_size: 7 })
  assert.equal(((await ask('/api/thing/')).body['data'] as unknown[]).length, 7)
  assert.equal(((await ask('/api/thing/', { as: 'user' })).body['data'] as unknown[]).length, 12)
  await accounts.changeUserPreferences(1, { page_size: 0 })
  assert.equal(((await ask('/api/thing/')).body['data'] as unknown[]).length, 12)
})

test('a page after the first without results is 404, with an empty list and its page object', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  for (const page of [4, 833, 834, 100_000]) {
    const { status, body } = await ask(`/api/thing/?page=${page}`)
    assert.equal(status, 404)
    assert.deepEqual([body['data'], body['code']], [[], 'not_found'])
    assert.equal(body['detail'], `Page ${page} of this list has no results`)
    const { total_hits, current_page, last_page } = body['paginate'] as Record<string, number>
    assert.deepEqual([total_hits, current_page, last_page], [30, page, 0])
  }
  for (const page of ['-1', 'x', '1.5'])
    assert.deepEqual((await ask(`/api/thing/?page=${page}`)).body['fields'], {
      page: 'must be an integer of at least 0',
    })
})

test('a missing item is 404 with the keys that readers of its envelope expect', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  assert.deepEqual((await ask('/api/thing/gone/')).body, {
    data: false,
    detail: 'thing not found',
    message: 'thing not found',
    error: 'thing not found',
    code: 'not_found',
  })
  const list = await ask('/api/thing/none/part/')
  assert.equal(list.status, 404)
  assert.deepEqual(list.body['data'], [])
  assert.equal((list.body['paginate'] as { total_hits: number }).total_hits, 0)
})

test('a hook adds query parameters', async (t) => {
  const route = get('/api/filtered/', ({ query }) => query, {
    query: { own: Type.Optional(Type.Integer({ minimum: 0 })) },
    queryHook: 'thing.filter' as never,
  })
  const { ask } = await testServer(t, [route], {
    hook: () => [
      { query: { watch: Type.Optional(Type.Enum(['seen', 'new'])) } },
      { query: { part: Type.Optional(Type.String({ pattern: ID_PATTERN })) } },
    ],
  })
  assert.deepEqual((await ask('/api/filtered/?own=1&watch=seen&part=p')).body, { own: 1, watch: 'seen', part: 'p' })
  assert.deepEqual((await ask('/api/filtered/?watch=never')).body['fields'], { watch: 'must be one of seen, new' })
})

test('a defect is 500 without its message, which is logged with the request id', async (t) => {
  const { ask, logged } = await testServer(t, ROUTES)
  const { status, text, headers } = await ask('/api/broken/')
  assert.equal(status, 500)
  assert.doesNotMatch(text, /SELECT|srv/)
  const line = logged.find((line) => line.includes('SELECT secret'))
  assert.equal(JSON.parse(line!).request, headers.get('x-request-id'))
})

test('a handler that throws undefined counts as any other defect', { timeout: 10_000 }, async (t) => {
  const { ask, logged } = await testServer(t, ROUTES)
  assert.equal((await ask('/api/undefined/')).status, 500)
  assert.ok(logged.some((line) => line.includes('undefined was thrown instead of an error')))
})

test('a handler that sets an invalid header, or returns no record for its envelope, is reported with the reason', {
  timeout: 10_000,
}, async (t) => {
  const { ask, logged } = await testServer(t, ROUTES)
  for (const [path, why] of [
    ['/api/misheaded/', 'Invalid character in header content'],
    ['/api/itemless/', 'A route with the envelope `item` returns a record'],
  ] as const) {
    assert.equal((await ask(path)).status, 500, path)
    assert.ok(
      logged.some((line) => line.includes(why)),
      why,
    )
  }
})

test('something temporarily unavailable is 503 with the seconds to wait, and its cause is only logged', async (t) => {
  const { ask } = await testServer(t, ROUTES)
  const { status, headers, text } = await ask('/api/busy/')
  assert.equal(status, 503)
  assert.equal(headers.get('retry-after'), '7')
  assert.doesNotMatch(text, /inner/)
})

test('while the server starts, only /health answers; /health/ready says whether requests are served', async (t) => {
  let isReady = false
  let isAway = false
  const available = () => {
    if (isAway) throw errors.unavailable('away')
  }
  const { ask } = await testServer(t, ROUTES, { isReady: () => isReady, available })
  assert.equal((await ask('/health/ready', { as: 'nobody' })).status, 503)
  const health = await ask('/health', { as: 'nobody' })
  assert.equal(health.status, 200)
  assert.equal(health.text, 'ok')
  const early = await ask('/api/thing/')
  assert.equal(early.status, 503)
  assert.ok(Number(early.headers.get('retry-after')) > 0)
  isReady = true
  assert.equal((await ask('/api/thing/')).status, 200)
  const ready = await ask('/health/ready', { as: 'nobody' })
  assert.deepEqual([ready.status, ready.text], [200, 'ready'])
  isAway = true
  assert.equal((await ask('/health/ready', { as: 'nobody' })).status, 503)
  assert.equal((await ask('/health', { as: 'nobody' })).status, 200)
})

test('with a base path everything is below it, and nothing beside it', async (t) => {
  const { ask } = await testServer(t, ROUTES, { settings: { basePath: '/av/' } })
  assert.equal((await ask('/av/api/thing/a/')).status, 200)
  assert.equal((await ask('/av/health')).status, 200)
  for (const path of ['/api/thing/a/', '/avapi/thing/a/', '/av', '/']) assert.equal((await ask(path)).status, 404, path)
})

test('browser extensions may read answers and send their extra header, other origins may not', async (t) => {
  const { ask } = await testServer(t, ROUTES, { settings: { corsOrigins: ['https://my.example'] } })
  const preflight = (origin: string) =>
    ask('/api/echo/', {
      method: 'OPTIONS',
      as: 'nobody',
      headers: { Origin: origin, 'Access-Control-Request-Method': 'POST', 'Access-Control-Request-Headers': 'mode' },
    })
  for (const origin of ['moz-extension://0a1b-2c', 'chrome-extension://abcdef', 'https://my.example']) {
    const { headers } = await preflight(origin)
    assert.equal(headers.get('access-control-allow-origin'), origin)
    assert.match(headers.get('access-control-allow-headers')!, /(^|, )mode($|,)/)
    assert.equal(headers.get('access-control-allow-methods'), 'GET, POST, PUT, PATCH, DELETE, OPTIONS')
    assert.equal(headers.get('access-control-allow-credentials'), null)
    assert.equal(
      (await ask('/api/none/', { headers: { Origin: origin } })).headers.get('access-control-allow-origin'),
      origin,
    )
  }
  const nowhere = await ask('/api/nope/', {
    method: 'OPTIONS',
    as: 'nobody',
    headers: { Origin: 'moz-extension://0a1b-2c', 'Access-Control-Request-Method': 'PUT' },
  })
  assert.deepEqual(
    [nowhere.status, nowhere.headers.get('access-control-allow-origin')],
    [200, 'moz-extension://0a1b-2c'],
    'so that the browser shows the real error',
  )
  for (const origin of ['https://evil.example', 'null', 'moz-extension://a/../b']) {
    assert.equal((await preflight(origin)).headers.get('access-control-allow-origin'), null)
  }
})

test('large JSON is compressed for clients that accept it, and identical for others', async (t) => {
  const big = { text: 'na '.repeat(10_000) }
  const { ask } = await testServer(t, [get('/api/big/', () => big)])
  const packed = await ask('/api/big/', { headers: { 'Accept-Encoding': 'br, gzip' } })
  assert.equal(packed.headers.get('content-encoding'), 'gzip')
  assert.equal(packed.headers.get('vary'), 'Accept-Encoding')
  assert.ok(Number(packed.headers.get('content-length')) < 1000)
  assert.deepEqual(packed.body, big)
  for (const accepted of ['identity', 'gzip;q=0', 'br']) {
    const plain = await ask('/api/big/', { headers: { 'Accept-Encoding': accepted } })
    assert.equal(plain.headers.get('content-encoding'), null, accepted)
    assert.deepEqual(plain.body, big)
  }
})

test('a handler is notified when the client disconnects', async (t) => {
  const started = withResolvers<void>()
  const ended = withResolvers<unknown>()
  const wait = get('/api/wait/', async ({ signal }) => {
    started.resolve()
    await new Promise((resolve) => signal.addEventListener('abort', resolve))
    ended.resolve(signal.reason)
    throw signal.reason
  })
  const { url, tokens, logged } = await testServer(t, [wait])
  const leave = new AbortController()
  const asked = fetch(`${url}/api/wait/`, { signal: leave.signal, headers: { Authorization: `Token ${tokens.user}` } })
  await started.promise
  leave.abort()
  await assert.rejects(asked)
  assert.match(String(await ended.promise), /has disconnected/)
  assert.deepEqual(
    logged.filter((line) => line.includes('"level":50')),
    [],
  )
})

function withResolvers<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve!: (value: Value) => void
  const promise = new Promise<Value>((done) => (resolve = done))
  return { promise, resolve }
}
