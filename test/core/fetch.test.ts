/** What plugins ask of servers outside: limits, redirects, and nothing in private networks that nobody has named. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { isPublicAddress, openFetch } from '../../core/fetch.ts'
import { testClock } from '../support/clock.ts'

async function aServer(t: TestContext, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const clock = testClock()
const openly = openFetch({ settings: { privateHosts: ['127.0.0.1'] }, clock, version: '1' })
const strictly = openFetch({ settings: { privateHosts: [] }, clock, version: '1' })

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

test('addresses of private networks are told from those of the internet', () => {
  for (const address of [...PRIVATE, ...PRIVATE_6]) assert.equal(isPublicAddress(address), false, address)
  for (const address of ['1.1.1.1', '172.32.0.1', '2606:4700::1111'])
    assert.equal(isPublicAddress(address), true, address)
})

test('nothing in a private network is asked, by whatever name, unless an admin has named it', async (t) => {
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

  await assert.rejects(openly(url), ({ code, message }) => code === 'bad_request' && message.startsWith('::1 is in a'))
})

test('a redirect elsewhere takes no credentials along, and no body where the status says so', async (t) => {
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

test('an answer that is too long, or comes too late, or a ring of redirects, is none', async (t) => {
  const unavailable = (says: RegExp) => (error: { code: string; message: string }) =>
    error.code === 'unavailable' && says.test(error.message)
  const long = await aServer(t, (_request, response) => response.end('x'.repeat(11)))
  await assert.rejects(openly(long, { maxBytes: 10 }), unavailable(/more than 10 bytes$/))

  const ring = await aServer(t, (_request, response) => response.writeHead(302, { location: '/' }).end())
  await assert.rejects(openly(ring), unavailable(/redirects more than 5 times$/))

  const silent = await aServer(t, () => void clock.advance(5000))
  await assert.rejects(openly(silent, { withinSeconds: 5 }), unavailable(/no answer within 5 s$/))
})

test('what is no address of the web is refused', async () => {
  for (const url of ['', 'tide', 'file:///etc/passwd', 'ftp://example.org/'])
    await assert.rejects(openly(url), ({ code }) => code === 'bad_request', url)
})
