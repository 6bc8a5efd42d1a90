/** Requests of plugins to external servers: limits, redirects, and private networks only if an admin has named them. */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type TestContext, test } from 'node:test'
import { isPublicAddress, openFetch } from '../../../plugins/fetch/fetch.ts'
import { testClock } from '../../support/clock.ts'
import { aCertificate, aForwardProxy } from '../../support/forward-proxy.ts'
import { listening } from '../../support/listening.ts'

const aServer = async (t: TestContext, listener: RequestListener): Promise<string> =>
  `http://${await listening(t, createServer(listener))}/`

const clock = testClock()
const openly = openFetch({ settings: { privateHosts: ['127.0.0.1'], fetchProxy: null }, clock, version: '1' })
const strictly = openFetch({ settings: { privateHosts: [], fetchProxy: null }, clock, version: '1' })

const PRIVATE = [
  '10.0.0.1',
  '127.0.0.1',
  '169.254.169.254',
  '172.31.0.1',
  '192.168.1.1',
  '100.64.0.1',
  '0.0.0.0',
  '::1',
]
const PRIVATE_6 = [
  'fe80::1',
  'fd00::1',
  '::ffff:10.0.0.1',
  '64:ff9b::a00:1',
  '2002:a00:1::',
  '2001:db8::1',
  'localhost',
]

test('addresses of private networks are distinguished from those of the internet', () => {
  for (const address of [...PRIVATE, ...PRIVATE_6]) assert.equal(isPublicAddress(address), false, address)
  for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1111'])
    assert.equal(isPublicAddress(address), true, address)
})

test('no request goes to a private network, by whatever name, unless an admin has named it', async (t) => {
  let asked = 0
  const url = await aServer(t, (_request, response) => (asked++, response.end('mine')))
  const { port } = new URL(url)

  for (const host of ['127.0.0.1', 'localhost', '127.1', '0x7f000001', '[::ffff:127.0.0.1]'])
    await assert.rejects(strictly(`http://${host}:${port}/`), ({ code }) => code === 'bad_request', host)
  assert.equal(asked, 0)
  assert.equal(await (await openly(url)).text(), 'mine')
})

test('a redirect into a private network is not followed', async (t) => {
  const url = await aServer(t, (_request, response) => response.writeHead(302, { location: 'http://[::1]:9/' }).end())

  await assert.rejects(openly(url), ({ code, message }) => code === 'bad_request' && message.startsWith('::1 is on a'))
})

test('a redirect to another host drops credentials, and the body if the status says so', async (t) => {
  const seen: Array<Pick<IncomingMessage, 'method' | 'headers'>> = []
  const other = await aServer(t, (request, response) => (seen.push(request), response.end('there')))
  const url = await aServer(t, (_request, response) => response.writeHead(303, { location: other }).end())

  const headers = { authorization: 'Token x', 'content-type': 'text/plain', 'x-own': '1' }
  const reply = await openly(url, { method: 'POST', body: 'b', headers })

  assert.equal(await reply.text(), 'there')
  const [{ method, headers: sent }] = seen as [IncomingMessage]
  assert.deepEqual(
    [method, sent.authorization, sent['content-type'], sent['x-own']],
    ['GET', undefined, undefined, '1'],
  )
})

test('an answer that is too long or too late, and a redirect loop, are errors', async (t) => {
  const unavailable = (says: RegExp) => (error: { code: string; message: string }) =>
    error.code === 'unavailable' && says.test(error.message)
  const long = await aServer(t, (_request, response) => response.end('x'.repeat(11)))
  await assert.rejects(openly(long, { maxBytes: 10 }), unavailable(/more than 10 bytes$/))

  const ring = await aServer(t, (_request, response) => response.writeHead(302, { location: '/' }).end())
  await assert.rejects(openly(ring), unavailable(/more than 5 redirects$/))

  const silent = await aServer(t, () => void clock.advance(5000))
  await assert.rejects(openly(silent, { withinSeconds: 5 }), unavailable(/no answer within 5 s$/))
})

test('on request a redirect is returned as the answer, and a longer answer is cut off', async (t) => {
  let asked = 0
  const url = await aServer(t, (_request, response) => {
    asked++
    response.writeHead(302, { location: '/further' }).end('x'.repeat(100_000))
  })

  const reply = await openly(url, { redirect: 'manual', excess: 'cut', maxBytes: 10 })

  assert.deepEqual([reply.status, await reply.text(), asked], [302, 'x'.repeat(10), 1])
})

test('an address that is not http or https is refused', async () => {
  for (const url of ['', 'tide', 'file:///etc/passwd', 'ftp://example.org/'])
    await assert.rejects(openly(url), ({ code }) => code === 'bad_request', url)
})

const through = (fetchProxy: string, privateHosts: string[] = []) =>
  openFetch({ settings: { privateHosts, fetchProxy }, clock, version: '1' })

test("through a proxy http is forwarded, with the proxy's password and the body", async (t) => {
  const target = createServer((incoming, reply) => {
    if (incoming.url === '/from') return reply.writeHead(307, { location: 'http://other.invalid/to' }).end()
    return incoming.pipe(reply.writeHead(201, { 'set-cookie': ['a=1', 'b=2'], 'x-host': incoming.headers.host }))
  })
  const proxy = await aForwardProxy(t, await listening(t, target))
  const ask = through(proxy.url.replace('//', '//tide:p%40ss@'))

  const reply = await ask('http://tide.invalid/from', { method: 'POST', body: 'heights' })

  assert.deepEqual([reply.status, await reply.text()], [201, 'heights'])
  assert.deepEqual([reply.headers.get('x-host'), reply.headers.getSetCookie()], ['other.invalid', ['a=1', 'b=2']])
  assert.deepEqual(proxy.asked, ['POST http://tide.invalid/from', 'POST http://other.invalid/to'])
  for (const headers of proxy.headers)
    assert.equal(headers['proxy-authorization'], `Basic ${Buffer.from('tide:p@ss').toString('base64')}`)
})

test('through a proxy https uses a tunnel, and the server is still verified by its certificate', async (t) => {
  const { cert, key } = await aCertificate(t, 'tide.invalid')
  const names: unknown[] = []
  const target = createTlsServer({ cert, key }, (_request, reply) => reply.end('mine'))
  target.on('secureConnection', ({ servername }) => names.push(servername))
  const proxy = await aForwardProxy(t, await listening(t, target))
  const ask = through(proxy.url)

  await assert.rejects(
    ask('https://tide.invalid/'),
    ({ code, message }) => code === 'unavailable' && /^tide\.invalid could not be reached: self.signed/.test(message),
  )
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.after(() => delete process.env.NODE_TLS_REJECT_UNAUTHORIZED)
  assert.equal(await (await ask('https://tide.invalid:8443/')).text(), 'mine')

  assert.deepEqual(proxy.asked, ['CONNECT tide.invalid:443', 'CONNECT tide.invalid:8443'])
  assert.equal(names.at(-1), 'tide.invalid')
})

test('private addresses are not requested from a proxy; those that an admin has named are requested directly', async (t) => {
  const url = await aServer(t, (_request, reply) => reply.end('near'))
  const { port } = new URL(url)
  const proxy = await aForwardProxy(t, `127.0.0.1:${port}`)

  for (const address of [
    `http://127.0.0.1:${port}/`,
    `http://localhost:${port}/`,
    'https://[::1]/',
    'https://10.0.0.1/',
  ])
    await assert.rejects(through(proxy.url)(address), ({ code }) => code === 'bad_request', address)
  assert.equal(await (await through(proxy.url, ['127.0.0.1'])(url)).text(), 'near')

  assert.deepEqual(proxy.asked, [])
})

test('a proxy that refuses, is down or stays silent is an error; limits also hold through it', async (t) => {
  const target = createServer((incoming, reply) => {
    if (incoming.url === '/silent') return void clock.advance(5000)
    return reply.end('x'.repeat(100_000))
  })
  const proxy = await aForwardProxy(t, await listening(t, target))
  const mute = await listening(t, createServer().on('connect', () => void clock.advance(5000)) as Server)
  const none = (fetchProxy: string, url: string, says: RegExp, options = {}) =>
    assert.rejects(
      through(fetchProxy)(url, options),
      ({ code, message }) => code === 'unavailable' && says.test(message) && !message.includes('s3cret'),
    )

  await none(proxy.url, 'https://forbidden.invalid/', /403/)
  await none('http://tide:s3cret@127.0.0.1:1', 'http://tide.invalid/', /ECONNREFUSED/)
  await none(
    'http://tide:s3cret@127.0.0.1:70000',
    'http://tide.invalid/',
    /AV_FETCH_PROXY is not the address of a proxy$/,
  )
  await none(proxy.url, 'http://tide.invalid/silent', /no answer within 5 s$/, { withinSeconds: 5 })
  await none(`http://${mute}`, 'https://tide.invalid/', /no answer within 5 s$/, { withinSeconds: 5 })
  await none(proxy.url, 'http://tide.invalid/', /more than 10 bytes$/, { maxBytes: 10 })
  const cut = await through(proxy.url)('http://tide.invalid/', { maxBytes: 10, excess: 'cut' })
  assert.equal(await cut.text(), 'x'.repeat(10))
})
