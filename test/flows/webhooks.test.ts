/**
 * Kills the server when a webhook's receiver has got a message but has not answered: it gets the message again, and
 * later ones.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { lastFirst } from '../support/last-first.ts'
import { startServer } from '../support/server.ts'

test('a killed server loses no message, and a receiver can recognize a repeated one', async (t) => {
  const received: Array<{ id: string; user: number }> = []
  let answers = false
  let heard = (): void => undefined
  const hook = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    received.push({ id: String(request.headers['webhook-id']), user: JSON.parse(text).data.id })
    if (answers) response.end('ok')
    heard()
  }).listen(0, '127.0.0.1')
  await once(hook, 'listening')
  lastFirst(t).after(async () => {
    hook.close()
    hook.closeAllConnections()
  })
  const until = async (count: number) => {
    while (received.length < count) await new Promise<void>((resolve) => (heard = resolve))
  }
  const dataDir = await temporaryFolder(t)
  const env = { AV_PRIVATE_HOSTS: '127.0.0.1' }
  const first = await startServer(t, dataDir, env)
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  const added = await first.api('POST', '/api/webhook/', { name: 'Barn', url, events: ['user.removed'] })
  assert.equal(added.status, 200)
  const users: number[] = []
  for (const username of ['ann', 'ben']) {
    users.push((await first.api('POST', '/api/user/', { username, password: 'long enough for all' })).body.id)
    assert.equal((await first.api('DELETE', `/api/user/${users.at(-1)}/`)).status, 200)
  }
  await until(1)

  await first.end('SIGKILL')
  answers = true
  const second = await startServer(t, dataDir, env)
  await until(3)

  assert.deepEqual(
    received.map(({ user }) => user),
    [users[0], users[0], users[1]],
  )
  assert.equal(received[0]!.id, received[1]!.id)
  assert.notEqual(received[1]!.id, received[2]!.id)
  assert.equal(await second.end('SIGTERM'), 0)
})
