/** Files are sent through reused buffers: no reader ever gets bytes that belong to another one. */
import assert from 'node:assert/strict'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { truncate, writeFile } from 'node:fs/promises'
import { createServer, get, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { forgetBuffers, streamFile } from '../../../core/http/file-stream.ts'
import { temporaryFolder } from '../../support/folder.ts'

/** More than the system buffers for a reader that has stopped reading. */
const BYTES = 24 * 1024 * 1024 + 17
/** More than read ahead. */
const MANY = 20

async function served(t: TestContext, path: string): Promise<() => Promise<IncomingMessage>> {
  const server = createServer((_request, response) => {
    response.setHeader('content-length', BYTES)
    streamFile(path, {}, response).catch((error: Error) => response.destroy(error))
  }).listen(0, '127.0.0.1')
  t.after(() => void server.close())
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return async () => (await once(get({ port, agent: false }), 'response'))[0] as IncomingMessage
}

async function hashOf(bytes: AsyncIterable<Buffer> | Buffer[]): Promise<string> {
  const hash = createHash('sha256')
  for await (const piece of bytes) hash.update(piece)
  return hash.digest('hex')
}

test('readers get the file unchanged while others leave halfway or stop reading', async (t) => {
  const path = join(await temporaryFolder(t), 'film')
  const film = randomBytes(BYTES)
  await writeFile(path, film)
  const ask = await served(t, path)
  const still: IncomingMessage[] = []
  for (let reader = 0; reader < MANY; reader++) still.push(await ask())

  const hashes: string[] = []
  for (let round = 0; round < 2; round++) {
    const leaving = await ask()
    leaving.once('data', () => leaving.destroy())
    const whole = await Promise.all([ask(), ask(), ask()])
    hashes.push(...(await Promise.all(whole.map(hashOf))))
  }
  for (const reader of still) hashes.push(await hashOf(reader))

  assert.deepEqual(new Set(hashes), new Set([await hashOf([film])]))
})

test('a file that is truncated while it is sent ends the connection, so that no client waits for the rest', async (t) => {
  const path = join(await temporaryFolder(t), 'film')
  await writeFile(path, randomBytes(1024))
  await truncate(path, 512)
  const ask = await served(t, path)

  await assert.rejects(hashOf(await ask()), { code: 'ECONNRESET' })
})

test('buffers that no response uses are freed on request', async (t) => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const held = () => {
    collect()
    return process.memoryUsage().arrayBuffers
  }
  const path = join(await temporaryFolder(t), 'film')
  await writeFile(path, Buffer.alloc(BYTES))
  const ask = await served(t, path)
  for await (const _piece of await ask());
  const before = held()

  forgetBuffers()

  assert.ok(before - held() >= 2 * 256 * 1024)
})
