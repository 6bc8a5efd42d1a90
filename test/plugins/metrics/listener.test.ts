/**
 * The metrics' own address answers once per connection, so that nobody can have them collected a thousand times at
 * once.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { listenAt } from '../../../plugins/metrics/listener.ts'

test('pipelined requests on one connection collect the metrics once', async (t) => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  await new Promise((resolve) => probe.close(resolve))
  let reads = 0
  const read = async () => `reads ${++reads}\n`
  const end = await listenAt(`127.0.0.1:${port}`, read, { info: () => undefined, error: () => undefined } as never)
  t.after(end)

  const socket = connect(port, '127.0.0.1')
  socket.end('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(200))
  let text = ''
  for await (const chunk of socket) text += String(chunk)

  assert.equal(reads, 1)
  assert.match(text, /^HTTP\/1\.1 200 .*reads 1/s)
})
