/** Outgoing messages through the real Apprise, and the route that tests a URL, with receivers on loopback. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { definePlugin, defineTask, Type } from 'archivolt'
import { type TestOptions, testApp } from 'archivolt/testing'
import { openLog } from '../../../core/log.ts'
import { openApprise } from '../../../plugins/notification/apprise.ts'
import { TOOLS } from '../../support/tools.ts'

interface Message {
  path: string
  login: string | undefined
  body: string
}

/** Accepts POST requests and answers each with this status. */
async function aReceiver(t: TestContext, status = 200) {
  const messages: Message[] = []
  const arrivals = new Set<() => void>()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += String(chunk)
    messages.push({ path: request.url ?? '', login: request.headers.authorization, body })
    response.writeHead(status).end()
    for (const arrived of arrivals) arrived()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => void server.close())
  return {
    messages,
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Resolves when this many have arrived. */
    async have(count: number): Promise<void> {
      while (messages.length < count) {
        await new Promise<void>((resolve) => {
          const arrived = () => void (arrivals.delete(arrived), resolve())
          arrivals.add(arrived)
        })
      }
    },
  }
}

const TEST_ROUTE = '/api/schedule/notification/test/'

const bell = definePlugin({
  name: 'bell',
  tasks: [
    defineTask({
      name: 'ring',
      title: 'Ringing',
      payload: Type.Object({ result: Type.Optional(Type.String()) }),
      lane: 'light',
      outgoing: true,
      run: async ({ payload }) => payload.result ?? null,
    }),
  ],
})
const anApp = (t: TestContext, options: TestOptions = {}) =>
  testApp(t, { replace: [bell], ...options, settings: { apprise: TOOLS, ...options.settings } })

/** A log that is collected, to check what it must not contain. */
function aKeptLog() {
  const lines: string[] = []
  return { lines, log: openLog('trace', { write: (line: string) => void lines.push(line) } as never) }
}

test('Apprise sends the result of a task, with title, body and credentials of the URL', async (t) => {
  const { app, as } = await anApp(t)
  const receiver = await aReceiver(t)
  const added = await as('admin').post('/api/schedule/notification/', {
    task_name: 'ring',
    url: `xml://me:secret@${receiver.host}/told`,
  })
  assert.equal(added.status, 200)

  await app.jobs.run('ring', { result: '2 bells rung <loudly> — ✓' })
  await receiver.have(1)

  const [message] = receiver.messages
  assert.equal(message?.path, '/told')
  assert.equal(message?.login, `Basic ${Buffer.from('me:secret').toString('base64')}`)
  assert.match(message?.body ?? '', /<Subject>\[Archivolt\] Ringing process ended with SUCCESS<\/Subject>/)
  assert.match(message?.body ?? '', /<Message>2 bells rung &lt;loudly&gt; — ✓<\/Message>/)
  assert.match(message?.body ?? '', /<MessageType>success</)
})

test('a URL can be tested before a task needs it', async (t) => {
  const { as } = await anApp(t)
  const receiver = await aReceiver(t)

  const byApprise = await as('admin').post(TEST_ROUTE, { url: `xml://${receiver.host}/x`, task_name: 'ring' })
  const byOurselves = await as('admin').post(TEST_ROUTE, { url: `json://${receiver.host}/j` })

  assert.equal(byApprise.status, 200)
  assert.equal(byApprise.body.success, true)
  assert.equal(typeof byApprise.body.message, 'string')
  assert.equal(byOurselves.status, 200)
  assert.deepEqual(
    receiver.messages.map(({ path }) => path),
    ['/x', '/j'],
  )
  assert.match(receiver.messages[0]?.body ?? '', /Ringing: a test/)
})

test('an undeliverable message is a 400 with the reason, and the URL is in no answer and no log', async (t) => {
  const { lines, log } = aKeptLog()
  const { app, as } = await anApp(t, { log })
  const receiver = await aReceiver(t, 500)
  const url = `xml://me:hunter2secret@${receiver.host}/hiddenpath`

  const refused = await as('admin').post(TEST_ROUTE, { url })
  const unknown = await as('admin').post(TEST_ROUTE, { url: 'nosuchservice://me:hunter2secret@host/hiddenpath' })
  await as('admin').post('/api/schedule/notification/', { task_name: 'ring', url })
  await app.jobs.run('ring', { result: 'rung' })
  await receiver.have(2)
  await app.outgoing.end()

  assert.equal(refused.status, 400)
  assert.match(refused.body.message, /Apprise could not deliver it: .*500/)
  assert.equal(unknown.status, 400)
  assert.match(unknown.body.message, /Apprise could not deliver it/)
  for (const text of [refused.text, unknown.text, ...lines]) assert.doesNotMatch(text, /hunter2secret|hiddenpath/)
})

test('a missing Apprise is reported in a sentence, and webhooks still work', async (t) => {
  const { as } = await anApp(t, { settings: { apprise: join('/nonexistent', 'venv') } })
  const receiver = await aReceiver(t)

  const mail = await as('admin').post(TEST_ROUTE, { url: 'mailto://me:secret@mail.example/' })
  const webhook = await as('admin').post(TEST_ROUTE, { url: `http://${receiver.host}/hook` })

  assert.equal(mail.status, 400)
  assert.match(mail.body.message, /Apprise, which is not installed/)
  assert.equal(webhook.status, 200)
  assert.equal(receiver.messages.length, 1)
})

test('no part of a URL or a message is interpreted as an option of the program', async (t) => {
  const { app, as } = await anApp(t)
  const receiver = await aReceiver(t)

  const tried = await as('admin').post(TEST_ROUTE, { url: `--config=http://${receiver.host}/` })
  await app.outgoing.deliver(`xml://${receiver.host}/`, {
    title: '--attach=/etc/passwd',
    body: '--dry-run $(id) `id`',
    kind: 'info',
  })

  assert.equal(tried.status, 400)
  assert.equal(receiver.messages.length, 1)
  assert.match(
    receiver.messages[0]?.body ?? '',
    /<Subject>--attach=\/etc\/passwd<\/Subject><Message>--dry-run \$\(id\) `id`<\/Message>/,
  )
})

for (const [what, body, status] of [
  ['no URL', {}, 400],
  ['a URL without a scheme', { url: 'example.org' }, 400],
  ['a URL with a space', { url: 'json://host/ x' }, 400],
  ['a task that tells nobody', { url: 'json://127.0.0.1:1/', task_name: 'video.remove' }, 400],
  ['a receiver that is not there', { url: 'json://127.0.0.1:1/' }, 400],
] as const) {
  test(`testing ${what} is refused`, async (t) => {
    const { as } = await anApp(t)
    assert.equal((await as('admin').post(TEST_ROUTE, body)).status, status)
  })
}

test('only admins test URLs', async (t) => {
  const { as } = await anApp(t)
  assert.equal((await as('user').post(TEST_ROUTE, { url: 'json://127.0.0.1:1/' })).status, 403)
})

test('a title that is too long for an argument arrives shortened', async (t) => {
  const receiver = await aReceiver(t)
  const carry = openApprise({ apprise: TOOLS })
  const title = `A\0${'long title '.repeat(300_000)}`

  await carry(`json://${receiver.host}/`, { title, body: 'whole', kind: 'info' }, new AbortController().signal)

  const [message] = receiver.messages.map(({ body }) => JSON.parse(body) as { title: string; message: string })
  assert.match(message!.title, /^A long title .{200,240}…$/)
  assert.equal(message!.message, 'whole')
})
