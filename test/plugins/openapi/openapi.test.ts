/** The API's description is complete, valid, and matches the routes. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { definePlugin, defineRoute, listing, Type } from 'archivolt'
import openapiPlugin from '../../../plugins/openapi/plugin.ts'
import userPlugin from '../../../plugins/user/plugin.ts'
import { testApp } from '../../support/testing.ts'

const Thing = Type.Object({ id: Type.String(), '<b>': Type.Optional(Type.String()) })
const things = definePlugin({
  name: 'thing',
  hooks: ['thing.filter' as never],
  routes: [
    defineRoute({
      method: 'GET',
      path: '/api/thing/',
      access: 'user',
      summary: 'All <things>',
      envelope: 'page',
      queryHook: 'thing.filter' as never,
      query: {
        q: Type.String({ maxLength: 1000, description: 'Words' }),
        sort: Type.Enum(['name', 'age'], { default: 'name' }),
      },
      reply: Thing,
      handle: () => listing([], 0),
    }),
    defineRoute({
      method: 'POST',
      path: '/api/thing/:thingId/',
      access: 'admin',
      summary: 'Change a thing',
      envelope: 'item',
      errors: ['conflict'],
      params: Type.Object({ thingId: Type.String() }),
      body: Type.Object({ name: Type.String() }),
      reply: Thing,
      handle: () => ({ id: 'x' }),
    }),
    defineRoute({
      method: 'PUT',
      path: '/api/thing/:filename/raw/',
      access: 'admin',
      summary: 'Bring a thing',
      status: 201,
      params: Type.Object({ filename: Type.String({ pattern: '^[a-z]+$' }) }),
      rawBody: { contentType: 'application/zip', maxBodyBytes: 10 },
      reply: Thing,
      handle: () => ({ id: 'x' }),
    }),
  ],
})
const filler = definePlugin({
  name: 'filler',
  needs: ['thing'],
  implements: {
    'thing.filter': () => ({ query: { seen: Type.Optional(Type.Boolean({ description: 'Seen' })) } }),
  } as never,
})

const described = async (t: TestContext) => testApp(t, { plugins: [things, filler, userPlugin, openapiPlugin] })

test('every route is in the document, under its tag, with a unique id', async (t) => {
  const app = await described(t)
  const { body } = await app.as('user').get('/api/schema/')
  assert.equal(body.openapi, '3.1.0')
  const inDocument = Object.entries(body.paths as Record<string, object>).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  )
  const registered = app.app.registry.routes.map(
    ({ method, path }) => `${method.toLowerCase()} ${path.replace(/:(\w+)/g, '{$1}')}`,
  )
  assert.deepEqual(inDocument.sort(), registered.sort())
  const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  )
  assert.equal(new Set(ids).size, ids.length)
  assert.equal((await app.as('nobody').get('/api/schema/')).status, 401)
})

test('a list has its own parameters, those of its hook and the page, and its reply has the page’s envelope', async (t) => {
  const app = await described(t)
  const { get } = (await app.as('user').get('/api/schema/')).body.paths['/api/thing/']
  assert.deepEqual(
    Object.fromEntries(
      get.parameters.map(({ name, required, schema }: { name: string; required: boolean; schema: object }) => [
        name,
        [required, schema],
      ]),
    ),
    {
      seen: [false, { type: 'boolean' }],
      q: [true, { type: 'string', maxLength: 1000 }],
      sort: [false, { enum: ['name', 'age'], default: 'name' }],
      page: [false, { type: 'integer', minimum: 0, default: 0 }],
    },
  )
  assert.deepEqual(get.responses['200'].content['application/json'].schema.required, ['data', 'paginate', 'config'])
  assert.deepEqual(Object.keys(get.responses), ['200', '400', '401', '403', '404', '429', '503'])
})

test('a write has its body and its possible errors', async (t) => {
  const app = await described(t)
  const { paths } = (await app.as('user').get('/api/schema/')).body
  const { post } = paths['/api/thing/{thingId}/']
  assert.deepEqual(Object.keys(post.responses), ['200', '400', '401', '403', '404', '409', '413', '415', '429', '503'])
  assert.deepEqual(post.requestBody, {
    required: true,
    content: {
      'application/json': { schema: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } } },
    },
  })
  assert.equal(post.parameters[0].schema.pattern, '^[A-Za-z0-9_-]{1,128}$')
  const { put } = paths['/api/thing/{filename}/raw/']
  assert.deepEqual(Object.keys(put.requestBody.content), ['application/zip'])
  assert.equal(put.parameters[0].schema.pattern, '^[a-z]+$')
  assert.ok(put.responses['201'])
  assert.deepEqual(paths['/api/login/'].post.security, [])
  assert.deepEqual(Object.keys(paths['/login/'].post.responses['204']), ['description'])
})

test('the queue is described as it is answered, without internal fields', async (t) => {
  const app = await testApp(t)
  const { paths } = (await app.as('user').get('/api/schema/')).body
  const replyTo = (method: string) =>
    paths['/api/download/'][method].responses['200'].content['application/json'].schema.properties

  const item = Object.keys(replyTo('get').data.items.properties)
  for (const inside of ['position', 'force', 'art', 'noted_at', 'reopened']) assert.ok(!item.includes(inside), inside)
  assert.ok(item.includes('retry_at'))
  assert.deepEqual(Object.keys(replyTo('delete')), ['message', 'deleted', 'removal'])
})

test('a file may be answered partly, or with 304', async (t) => {
  const app = await testApp(t)
  const { paths } = (await app.as('user').get('/api/schema/')).body
  for (const path of [
    '/media/{channelId}/{file}',
    '/cache/videos/{letter}/{file}',
    '/api/backup/{filename}/download/',
  ]) {
    for (const status of ['200', '206', '304', '416']) assert.ok(paths[path].get.responses[status], `${path} ${status}`)
  }
  assert.ok(!paths['/api/docs/'].get.responses['206'])
  assert.ok(paths['/api/schedule/notification/'].post.responses['409'], 'a task has as many URLs as it may')
})

test('the preferences of the installation are described as the plugins declare them', async (t) => {
  const app = await testApp(t)
  const { paths } = (await app.as('admin').get('/api/schema/')).body

  const { get, post } = paths['/api/config/']
  const given = post.requestBody.content['application/json'].schema
  const shown = get.responses['200'].content['application/json'].schema

  const sections = (await app.as('admin').get('/api/config/schema/')).body
  assert.deepEqual(Object.keys(given.properties), Object.keys(sections))
  assert.deepEqual(given.properties.downloads.properties, sections.downloads.properties)
  assert.equal(given.additionalProperties, false)
  assert.equal(given.required, undefined)
  assert.deepEqual(shown.properties.downloads.required, Object.keys(sections.downloads.properties))
  assert.doesNotMatch(JSON.stringify(paths), /x-preferences/)
})

test('every reference in the document resolves', async (t) => {
  const app = await described(t)
  const { text, body } = await app.as('user').get('/api/schema/')
  for (const [, name] of text.matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g))
    assert.ok(body.components.schemas[name!], name)
  assert.doesNotMatch(text, /"type":"(undefined|void|function)"/)
})

test('the page is self-contained: no script, nothing from elsewhere, texts escaped', async (t) => {
  const app = await described(t)
  const { status, text, headers } = await app.as('user').get('/api/docs/')
  assert.equal(status, 200)
  assert.equal(headers.get('content-type'), 'text/html; charset=utf-8')
  assert.match(headers.get('content-security-policy')!, /^default-src 'none'; style-src 'sha256-[^']+';/)
  assert.doesNotMatch(text, /<script|https?:\/\//)
  assert.match(text, /All &lt;things&gt;/)
  assert.match(text, /&lt;b&gt;/)
  assert.match(text, /<code>\/api\/thing\/\{thingId\}\/<\/code>/)
})

test('the contract is a page whose sections are addressed by their numbers', async (t) => {
  const app = await testApp(t)

  const { status, text, headers } = await app.as('user').get('/api/docs/contract/')

  assert.equal(status, 200)
  assert.match(headers.get('content-type')!, /^text\/html/)
  assert.match(headers.get('content-security-policy')!, /default-src 'none'/)
  assert.match(text, /<h3 id="9\.11">9\.11 Filesystem rescan<\/h3>/)
  assert.match(text, /<h2 id="C">C\. /)
  assert.match(text, /<table>/)
})

test('the bodies that a typed client sends are in the document, including those that a handler checks itself', async (t) => {
  const app = await testApp(t)

  const { paths } = (await app.as('user').get('/api/schema/')).body
  const formOf = (path: string) => paths[path].post.requestBody.content['application/json'].schema
  const item = formOf('/api/download/').properties.data.items.properties
  const change = formOf('/api/playlist/{playlistId}/').properties
  const video = paths['/api/video/{videoId}/progress/'].get.responses['200'].content['application/json'].schema

  assert.deepEqual([item.platform_id.type, item.youtube_id.type], ['string', 'string'])
  assert.deepEqual([change.action.type, change.action.enum.includes('create')], ['string', true])
  assert.deepEqual([change.video_id.type, change.youtube_id.type, change.index.type], ['string', 'string', 'integer'])
  for (const path of ['/api/login/', '/login/', '/api/user/login/'])
    assert.deepEqual(formOf(path).required, ['username', 'password'])
  assert.equal(video.properties.youtube_id.type, 'string')
})
