/** Webhooks: signed, in order, retried, bounded, whatever the receiver does. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { definePlugin } from 'archivolt'
import { type TestApp, testApp } from 'archivolt/testing'
import { openLog } from '../../../core/log.ts'
import webhooks from '../../../plugins/webhooks/plugin.ts'
import { signatureHeaders } from '../../../plugins/webhooks/signature.ts'

declare module 'archivolt' {
  interface Events {
    'sheep.counted': { n: number; wool?: string }
    'sheep.lost': { n: number }
  }
}
const sheep = definePlugin({ name: 'sheep', events: ['sheep.counted', 'sheep.lost'] })
const PLUGINS = [webhooks, sheep]
const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

interface Received {
  headers: IncomingHttpHeaders
  text: string
  body: any
}
type Answering = (response: ServerResponse, body: any) => void

const withStatus =
  (status: number, text = '', headers: Record<string, string> = {}): Answering =>
  (response) =>
    void response.writeHead(status, headers).end(text)
/** Reads the message, and does not answer. */
const withSilence: Answering = () => undefined

/** A receiver on loopback: answers each message with the next of these, and repeats the last one. */
async function aReceiver(t: TestContext, ...answers: Answering[]) {
  const received: Received[] = []
  let heard = (): void => undefined
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    received.push({ headers: request.headers, text, body: JSON.parse(text) })
    const answer = answers.length > 1 ? answers.shift()! : answers[0]!
    answer(response, received.at(-1)!.body)
    heard()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    received,
    port: (server.address() as AddressInfo).port,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook?key=hidden`,
    async until(count: number): Promise<void> {
      while (received.length < count) await new Promise<void>((resolve) => (heard = resolve))
    },
  }
}

const anArchive = (t: TestContext, log = openLog('silent')): Promise<TestApp> =>
  testApp(t, { plugins: PLUGINS, settings: { privateHosts: ['127.0.0.1'] }, log })

async function given(archive: TestApp, url: string, events = ['sheep.counted']): Promise<any> {
  const { status, body } = await archive.as('admin').post('/api/webhook/', { name: 'Barn', url, events })
  assert.equal(status, 200)
  return body
}

const count = (archive: TestApp, n: number) => archive.app.emit('sheep.counted', { n })
const shownOf = async (archive: TestApp, at = 0) => (await archive.as('admin').get('/api/webhook/')).body.webhooks[at]
const deliveriesOf = async (archive: TestApp, id: number) =>
  (await archive.as('admin').get(`/api/webhook/${id}/delivery/`)).body
const ns = ({ received }: { received: Received[] }): number[] => received.map(({ body }) => body.data.n)

test('a signature is the one of Standard Webhooks', () => {
  const headers = signatureHeaders('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1614265330,
    body: '{"test": 2432232314}',
  })

  assert.equal(headers['webhook-signature'], 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('a webhook gets neither paths of this machine nor unlimited lists', async (t) => {
  const receiver = await aReceiver(t, withStatus(200))
  const video = definePlugin({ name: 'video', events: ['video.moved'] })
  const settings = { privateHosts: ['127.0.0.1'] }
  const archive = await testApp(t, { plugins: [webhooks, video], settings })
  await given(archive, receiver.url, ['video.moved'])

  await archive.app.emit('video.moved', { id: 'v1', channelId: 'UC1', path: '/srv/new', oldPath: '/srv/old' })
  await receiver.until(1)

  assert.deepEqual(receiver.received[0]!.body.data, { id: 'v1', channelId: 'UC1' })
})

test('a webhook gets the events that it has selected, signed, and no others', async (t) => {
  const receiver = await aReceiver(t, withStatus(200, 'thanks'))
  const archive = await anArchive(t)
  const { id, secret } = await given(archive, receiver.url)

  await archive.app.emit('sheep.lost', { n: 9 })
  await count(archive, 1)
  await archive.settled()

  assert.equal(receiver.received.length, 1)
  const [{ headers, text, body }] = receiver.received as [Received]
  assert.deepEqual(body, { type: 'sheep.counted', timestamp: '2026-01-15T10:00:00.000Z', data: { n: 1 } })
  assert.equal(headers['content-type'], 'application/json')
  assert.equal(headers['webhook-timestamp'], String(Date.parse('2026-01-15T10:00:00Z') / 1000))
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${text}`
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  assert.equal(key.length, 32)
  assert.equal(headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  const [delivery] = await deliveriesOf(archive, id)
  assert.deepEqual(
    [delivery.id, delivery.event, delivery.state, delivery.tries, delivery.status, delivery.answer, delivery.error],
    [headers['webhook-id'], 'sheep.counted', 'delivered', 1, 200, 'thanks', ''],
  )
})

test('a failed message is retried at increasing intervals, with the same id; later ones wait', async (t) => {
  const receiver = await aReceiver(t, withStatus(500, 'the barn burns'), withStatus(503), withStatus(204))
  const archive = await anArchive(t)
  const { id } = await given(archive, receiver.url)

  for (const n of [1, 2]) await count(archive, n)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1])
  const first = await shownOf(archive)
  assert.deepEqual(
    [first.waiting, first.last.status, first.last.answer, first.last.error, first.last.state],
    [2, 500, 'the barn burns', 'The receiver answered with status 500', 'waiting'],
  )
  await archive.clock.advance(30 * SECOND)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 1])
  await archive.clock.advance(119 * SECOND)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 1])
  await archive.clock.advance(SECOND)
  await archive.settled()

  assert.deepEqual(ns(receiver), [1, 1, 1, 2])
  const ids = receiver.received.map(({ headers }) => headers['webhook-id'])
  assert.equal(new Set(ids.slice(0, 3)).size, 1)
  assert.notEqual(ids[3], ids[0])
  const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  assert.deepEqual([times[1]! - times[0]!, times[2]! - times[1]!], [30, 120])
  assert.deepEqual(
    (await deliveriesOf(archive, id)).map((one: any) => [one.state, one.tries]),
    [
      ['delivered', 1],
      ['delivered', 3],
    ],
  )
})

test('after six attempts the next one is sent, and one failing webhook delays no other', async (t) => {
  const receiver = await aReceiver(t, (response, { data }) => withStatus(data.n === 1 ? 500 : 200)(response, {}))
  const other = await aReceiver(t, withStatus(200))
  const archive = await anArchive(t)
  const { id } = await given(archive, receiver.url)
  await given(archive, other.url)

  for (const n of [1, 2]) await count(archive, n)
  await archive.settled()
  assert.deepEqual(ns(other), [1, 2])
  for (let hour = 0; hour < 3; hour++) {
    await archive.clock.advance(HOUR)
    await archive.settled()
  }

  assert.deepEqual(ns(receiver), [1, 1, 1, 1, 1, 1, 2])
  assert.deepEqual(
    (await deliveriesOf(archive, id)).map((one: any) => [one.state, one.tries]),
    [
      ['delivered', 1],
      ['failed', 6],
    ],
  )
})

test('a refused message delays no other, and is retried alongside them', async (t) => {
  const receiver = await aReceiver(t, (response, { data }) => withStatus(data.n === 1 ? 422 : 200)(response, {}))
  const archive = await anArchive(t)
  const { id } = await given(archive, receiver.url)

  for (const n of [1, 2]) await count(archive, n)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 2])
  await count(archive, 3)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 2, 3])
  await archive.clock.advance(30 * SECOND)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 2, 3, 1])
  for (let hour = 0; hour < 3; hour++) {
    await archive.clock.advance(HOUR)
    await archive.settled()
  }

  assert.deepEqual(ns(receiver).slice(4), [1, 1, 1, 1])
  assert.deepEqual(
    (await deliveriesOf(archive, id)).map((one: any) => [one.state, one.tries]),
    [
      ['delivered', 1],
      ['delivered', 1],
      ['failed', 6],
    ],
  )
})

test('a receiver that refuses everything gets ten messages at most, and loses none once it is repaired', async (t) => {
  let status = 404
  const receiver = await aReceiver(t, (response) => withStatus(status)(response, {}))
  const archive = await anArchive(t)
  await given(archive, receiver.url)

  for (let n = 1; n <= 13; n++) await count(archive, n)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10])
  status = 200
  await archive.clock.advance(30 * SECOND)
  await archive.settled()

  assert.deepEqual(
    ns(receiver)
      .slice(10)
      .toSorted((a, b) => a - b),
    Array.from({ length: 13 }, (_, at) => at + 1),
  )
  assert.equal((await shownOf(archive)).waiting, 0)
})

test('a receiver that asks to wait gets its messages in order, and refused ones continue after a pause and a start', async (t) => {
  const receiver = await aReceiver(t, withStatus(429), withStatus(200), withStatus(400), withStatus(200))
  const archive = await anArchive(t)
  const { id } = await given(archive, receiver.url)
  const admin = archive.as('admin')

  for (const n of [1, 2]) await count(archive, n)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1])
  await archive.clock.advance(30 * SECOND)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 1, 2])
  await admin.post(`/api/webhook/${id}/`, { is_on: false })
  await archive.clock.advance(HOUR)
  await archive.restart()
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 1, 2])
  await archive.as('admin').post(`/api/webhook/${id}/`, { is_on: true })
  await archive.settled()

  assert.deepEqual(ns(receiver), [1, 1, 2, 2])
  assert.equal((await shownOf(archive)).waiting, 0)
})

test('a disabled webhook gets nothing new; pending messages are sent once it is enabled, unless a day has passed', async (t) => {
  const receiver = await aReceiver(t, withStatus(500), withStatus(200))
  const archive = await anArchive(t)
  const { id } = await given(archive, receiver.url)
  await count(archive, 1)
  await archive.settled()
  const admin = archive.as('admin')

  assert.equal((await admin.post(`/api/webhook/${id}/`, { is_on: false })).body.is_on, false)
  await count(archive, 2)
  await archive.clock.advance(HOUR)
  await archive.settled()
  assert.deepEqual(ns(receiver), [1])
  await admin.post(`/api/webhook/${id}/`, { is_on: true })
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 1])

  await admin.post(`/api/webhook/${id}/`, { is_on: true, url: 'http://127.0.0.1:1/' })
  await count(archive, 3)
  await archive.settled()
  await admin.post(`/api/webhook/${id}/`, { is_on: false, url: receiver.url })
  await archive.clock.advance(25 * HOUR)
  await archive.settled()
  await admin.post(`/api/webhook/${id}/`, { is_on: true })
  await archive.settled()
  assert.deepEqual(ns(receiver), [1, 1])
  const [last] = await deliveriesOf(archive, id)
  assert.equal(last.state, 'failed')
  assert.match(last.error, /more than a day/)
})

test('a webhook that is repaired is retried at once: its address, its secret, or its receiver', async (t) => {
  const ways: Array<(archive: TestApp, id: number, url: string) => Promise<unknown>> = [
    (archive, id, url) => archive.as('admin').post(`/api/webhook/${id}/`, { url }),
    (archive, id) => archive.as('admin').post(`/api/webhook/${id}/secret/`),
    (archive, id) => archive.as('admin').post(`/api/webhook/${id}/test/`),
  ]
  for (const [at, putRight] of ways.entries()) {
    const wrong = await aReceiver(t, withStatus(500), withStatus(500), withStatus(200))
    const right = await aReceiver(t, withStatus(200))
    const archive = await anArchive(t)
    const { id } = await given(archive, wrong.url)
    await count(archive, 1)
    await wrong.until(1)
    await archive.settled()
    await archive.clock.advance(31 * SECOND)
    await wrong.until(2)
    await archive.settled()

    await count(archive, 2)
    await archive.settled()
    assert.equal(wrong.received.length, 2, 'a further event does not shorten the pause')
    await putRight(archive, id, right.url)

    const receiver = at === 0 ? right : wrong
    await receiver.until(at === 0 ? 2 : at === 1 ? 4 : 5)
    await archive.settled()
    const states = (await deliveriesOf(archive, id)).map(({ state }: any) => state)
    assert.deepEqual(new Set(states), new Set(['delivered']), `way ${at}`)
    await archive.close()
  }
})

test('a hostile receiver: it hangs, floods, redirects, and sends terminal escape sequences', async (t) => {
  const flood = 'a'.repeat(1_000_000)
  const rows: Array<[string, Answering, (delivery: any) => void]> = [
    [
      'a flood is cut off, and the message counts as taken',
      withStatus(200, flood),
      ({ state, answer }) => assert.deepEqual([state, answer.length], ['delivered', 500]),
    ],
    [
      'a redirect is not followed',
      withStatus(302, '', { Location: 'http://169.254.169.254/' }),
      ({ state, status, error }) => {
        assert.deepEqual([state, status], ['failed', 302])
        assert.match(error, /redirects are not followed/)
      },
    ],
    [
      'control characters are spaces',
      withStatus(400, 'a\u001b[2Jb\u202Ec'),
      ({ answer }) => assert.equal(answer, 'a [2Jb c'),
    ],
    [
      'half an answer',
      (response) => {
        response.writeHead(200, { 'content-length': '100' }).write('half')
        setImmediate(() => response.destroy())
      },
      ({ state, error }) => {
        assert.equal(state, 'failed')
        assert.match(error, /could not be reached/)
      },
    ],
  ]
  const archive = await anArchive(t)
  const admin = archive.as('admin')
  const { id } = await given(archive, 'http://127.0.0.1:1/')
  for (const [what, answering, look] of rows) {
    const receiver = await aReceiver(t, answering)
    await admin.post(`/api/webhook/${id}/`, { url: receiver.url })

    const { status, body } = await admin.post(`/api/webhook/${id}/test/`)

    assert.equal(status, 200, what)
    look(body)
  }

  const silent = await aReceiver(t, withSilence)
  await admin.post(`/api/webhook/${id}/`, { url: silent.url })
  const asked = admin.post(`/api/webhook/${id}/test/`)
  await silent.until(1)
  await archive.clock.advance(10 * SECOND)
  assert.match((await asked).body.error, /no answer within 10 s/)
})

test('no request goes to a private network, and a test of the webhook names the setting that allows it', async (t) => {
  const receiver = await aReceiver(t, withStatus(200))
  const archive = await testApp(t, { plugins: PLUGINS })
  const { id } = await given(archive, receiver.url)

  const { body } = await archive.as('admin').post(`/api/webhook/${id}/test/`)

  assert.equal(body.state, 'failed')
  assert.match(body.error, /127\.0\.0\.1 is on a private network.*AV_PRIVATE_HOSTS/)
  assert.equal(receiver.received.length, 0)
})

test('a secret is shown once: no other reply and no line of the log contains it, nor the address', async (t) => {
  const lines: string[] = []
  const log = openLog('trace', { write: (line: string) => void lines.push(line) })
  const receiver = await aReceiver(t, withStatus(500), withStatus(200))
  const archive = await anArchive(t, log)
  const admin = archive.as('admin')
  const { id, secret } = await given(archive, receiver.url)

  await count(archive, 1)
  await archive.settled()
  const replies = [
    await admin.get('/api/webhook/'),
    await admin.post(`/api/webhook/${id}/`, { name: 'Byre' }),
    await admin.get(`/api/webhook/${id}/delivery/`),
    await admin.post(`/api/webhook/${id}/test/`),
  ]
  const renewed = (await admin.post(`/api/webhook/${id}/secret/`)).body.secret
  await archive.settled()
  await count(archive, 2)
  await archive.settled()

  assert.match(secret, /^whsec_.{44}$/)
  assert.notEqual(renewed, secret)
  for (const text of [...replies.map(({ text }) => text), ...lines])
    for (const part of [secret, renewed]) assert.ok(!text.includes(part), text)
  assert.ok(lines.some((line) => line.includes('status 500')))
  for (const line of lines) assert.ok(!line.includes('hidden'), line)
  const last = receiver.received.at(-1)!
  const signed = `${last.headers['webhook-id']}.${last.headers['webhook-timestamp']}.${last.text}`
  const key = Buffer.from(renewed.slice(6), 'base64')
  assert.equal(last.headers['webhook-signature'], `v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
})

test('pending messages are limited, and dropped ones are counted', async (t) => {
  const archive = await anArchive(t)
  const { id } = await given(archive, 'http://127.0.0.1:1/')

  for (let n = 0; n < 1003; n++) await count(archive, n)

  const { waiting, dropped } = await shownOf(archive)
  assert.deepEqual([waiting, dropped], [1000, 3])
  assert.equal((await deliveriesOf(archive, id)).length, 100)
})

test('a message that cannot be sent does not affect its emitter, and a removed webhook gets no more', async (t) => {
  const receiver = await aReceiver(t, withStatus(200))
  const archive = await anArchive(t)
  const { id } = await given(archive, receiver.url)

  await archive.app.emit('sheep.counted', { n: 1n as unknown as number })
  await archive.app.emit('sheep.counted', { n: 2, wool: 'x'.repeat(300_000) })
  await count(archive, 3)
  await archive.settled()
  assert.deepEqual(ns(receiver), [3])
  assert.deepEqual((await archive.as('admin').delete(`/api/webhook/${id}/`)).body, { success: true })
  await count(archive, 4)
  await archive.settled()

  assert.deepEqual(ns(receiver), [3])
  assert.equal((await archive.as('admin').delete(`/api/webhook/${id}/`)).status, 404)
})

test('bad input is refused with a reason, and webhooks are for admins', async (t) => {
  const archive = await anArchive(t)
  const admin = archive.as('admin')
  const good = { name: 'Barn', url: 'https://example.org/', events: ['sheep.counted'] }
  const rows: Array<[object, RegExp]> = [
    [{ ...good, url: 'example.org' }, /must be an address/],
    [{ ...good, url: 'file:///etc/passwd' }, /must begin with https/],
    [{ ...good, url: 'https://me:secret@example.org/' }, /must not contain a name or password/],
    [{ ...good, events: ['sheep.shorn'] }, /sheep\.shorn is not an event/],
    [{ ...good, events: ['job.step'] }, /job\.step is not an event/],
    [{ ...good, events: [] }, /events/],
    [{ ...good, name: '' }, /name/],
    [{ ...good, name: 'a\u0000b' }, /name/],
    [{ name: 'Barn' }, /./],
  ]
  for (const [body, message] of rows) {
    const reply = await admin.post('/api/webhook/', body)
    assert.equal(reply.status, 400, JSON.stringify(body))
    assert.match(reply.text, message)
    assert.ok(!reply.text.includes('me:secret'))
  }
  for (const path of ['/api/webhook/7/', '/api/webhook/7/test/', '/api/webhook/7/secret/'])
    assert.equal((await admin.post(path, path.endsWith('7/') ? { name: 'a' } : undefined)).status, 404, path)
  assert.equal((await admin.get('/api/webhook/7/delivery/')).status, 404)
  assert.equal((await archive.as('user').get('/api/webhook/')).status, 403)
  assert.equal((await archive.as('nobody').get('/api/webhook/')).status, 401)

  for (let n = 0; n < 20; n++) assert.equal((await admin.post('/api/webhook/', good)).status, 200)
  assert.equal((await admin.post('/api/webhook/', good)).status, 409)
})

test('messages that were pending when the server was closed are sent by the next start', async (t) => {
  const receiver = await aReceiver(t, withSilence, withStatus(200))
  const archive = await anArchive(t)
  await given(archive, receiver.url)
  for (const n of [1, 2]) await count(archive, n)
  await receiver.until(1)

  await archive.restart()
  await archive.settled()

  assert.deepEqual(ns(receiver), [1, 1, 2])
  assert.equal(receiver.received[0]!.headers['webhook-id'], receiver.received[1]!.headers['webhook-id'])
})
