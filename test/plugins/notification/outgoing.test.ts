/** Outgoing messages when a task ends (contract 8.5). */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { testApp } from 'archivolt/testing'
import { toRequest } from '../../../plugins/notification/post-json.ts'

const count = defineTask({
  name: 'count',
  title: 'Count the Sheep',
  payload: Type.Object({ result: Type.Optional(Type.String()), error: Type.Optional(Type.String()) }),
  lane: 'light',
  outgoing: true,
  run: async ({ payload: { result, error } }) => {
    if (error) throw new Error(error)
    return result ?? null
  },
})
const replace = [definePlugin({ name: 'testing', tasks: [count] })]

interface Received {
  url: string
  headers: IncomingHttpHeaders
  body: any
}

/** A receiver on loopback that answers with a status. */
async function aReceiver(
  t: TestContext,
  status = 200,
): Promise<{ host: string; next: () => Promise<Received>; received: Received[] }> {
  const received: Received[] = []
  const waiting: Array<(one: Received) => void> = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    response.writeHead(status, status === 302 ? { Location: '/elsewhere' } : {}).end('{}')
    const one = { url: request.url!, headers: request.headers, body: JSON.parse(text) }
    received.push(one)
    waiting.shift()?.(one)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    next: () => new Promise((resolve) => waiting.push(resolve)),
  }
}

test('when a task ends with a result, its URLs are notified', async (t) => {
  const receiver = await aReceiver(t)
  const app = await testApp(t, { replace })
  await app.as('admin').post('/api/schedule/notification/', {
    task_name: 'count',
    url: `json://me:p%40ss@${receiver.host}/a/b?+X-Key=k&c=1`,
  })

  const told = receiver.next()
  await app.app.jobs.start('count', { result: '12 sheep' })

  const { url, headers, body } = await told
  assert.equal(url, '/a/b?c=1')
  assert.equal(headers.authorization, `Basic ${Buffer.from('me:p@ss').toString('base64')}`)
  assert.equal(headers['x-key'], 'k')
  assert.equal(headers['content-type'], 'application/json')
  assert.deepEqual(body, {
    version: '1.0',
    title: '[Archivolt] Count the Sheep process ended with SUCCESS',
    message: '12 sheep',
    attachments: [],
    type: 'success',
  })
})

test('a failure is sent with its text', async (t) => {
  const receiver = await aReceiver(t)
  const app = await testApp(t, { replace })
  await app.app.schedules.addOutgoing('count', `http://${receiver.host}/hook`)

  const told = receiver.next()
  await app.app.jobs.start('count', { error: 'the fence broke' })

  const { body } = await told
  assert.equal(body.title, '[Archivolt] Count the Sheep process ended with FAILURE')
  assert.equal(body.type, 'failure')
  assert.equal(typeof body.message, 'string')
})

test('without a result no message is sent; an undeliverable one stops neither the task nor the others', async (t) => {
  const receiver = await aReceiver(t)
  const broken = await aReceiver(t, 500)
  const app = await testApp(t, { replace })
  for (const url of [`json://${broken.host}/`, 'json://127.0.0.1:1/', `json://${receiver.host}/`])
    await app.app.schedules.addOutgoing('count', url)

  const told = receiver.next()
  await app.app.jobs.start('count')
  const { id } = await app.app.jobs.start('count', { result: 'only this' })

  assert.equal((await told).body.message, 'only this')
  assert.equal((await app.app.jobs.ended(id)).state, 'SUCCESS')
  assert.equal(receiver.received.length, 1)
})

test('the reason why a message cannot be delivered is reported, and redirects are not followed', async (t) => {
  const app = await testApp(t, { replace })
  const message = { title: 'a', body: 'b', kind: 'info' as const }
  const [broken, redirecting] = [await aReceiver(t, 500), await aReceiver(t, 302)]
  const rows: Array<[string, RegExp]> = [
    [`json://${broken.host}/`, /answered with status 500/],
    [`json://${redirecting.host}/`, /answered with status 302/],
    ['json://127.0.0.1:1/', /could not be reached/],
    ['json://', /malformed/],
    ['constructor://host.example/', /Apprise/],
    ['json://a%zz:b@host.example/', /malformed/],
  ]
  for (const [url, reason] of rows) await assert.rejects(app.app.outgoing.deliver(url, message), reason, url)
  assert.equal(redirecting.received.length, 1)
})

test('a receiver that never answers is given up after 30 seconds', async (t) => {
  const silent = createServer(() => undefined).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  t.after(() => {
    silent.closeAllConnections()
    silent.close()
  })
  const app = await testApp(t, { replace })
  const asked = once(silent, 'request')
  const delivery = app.app.outgoing.deliver(`json://127.0.0.1:${(silent.address() as AddressInfo).port}/`, {
    title: 'a',
    body: 'b',
    kind: 'info',
  })
  const refused = assert.rejects(delivery, /no answer within 30 s/)
  await asked
  await app.clock.advance(30_000)
  await refused
})

test('a header value may contain equals signs, as base64 does', () => {
  assert.deepEqual(toRequest('jsons://host.example/x?+Authorization=Basic%20bWU6cA==&+Key=a=b&c=d=e'), {
    url: 'https://host.example/x?c=d=e',
    headers: { 'Content-Type': 'application/json', Authorization: 'Basic bWU6cA==', Key: 'a=b' },
  })
})

test('header values that would break the request are left out', () => {
  assert.deepEqual(toRequest('jsons://host.example/x?+A=1&+B=a%0d%0ab&+C%20D=2&e=f'), {
    url: 'https://host.example/x?e=f',
    headers: { 'Content-Type': 'application/json', A: '1' },
  })
})
