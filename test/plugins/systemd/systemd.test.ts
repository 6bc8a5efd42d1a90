/** systemd: the built server notifies a real datagram socket of its start, its watchdog and its stop. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { temporaryFolder } from '../../support/folder.ts'
import { startServer } from '../../support/server.ts'
import { ROOT } from '../../support/sources.ts'

const missing = (program: string): string | false =>
  spawnSync(program, ['--version']).status === 0 ? false : `${program} is not on this machine`

/** Prints each state as a line; a barrier only confirms that everything before it was read. */
const LISTENER = `
import socket, sys
at = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
at.bind(sys.argv[1])
print("listens", flush=True)
while True:
  said = at.recv(4096).decode()
  if not said.startswith('BARRIER'): print(said, flush=True)
`

test('systemd is notified of the start, of signs of life, and of the stop', {
  skip: missing('systemd-notify') || missing('python3'),
}, async (t) => {
  const folder = await temporaryFolder(t)
  const path = join(folder, 'notify')
  const listener = spawn('python3', ['-c', LISTENER, path], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.after(async () => {
    listener.kill()
    await once(listener, 'exit')
  })
  const heard = createInterface(listener.stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<string> => (await heard.next()).value
  assert.equal(await next(), 'listens')

  const server = await startServer(t, join(folder, 'data'), { NOTIFY_SOCKET: path, WATCHDOG_USEC: '600000' })
  assert.equal(await next(), 'READY=1')
  assert.equal((await server.api('GET', '/api/ping/')).status, 200)
  for (let sign = 0; sign < 3; sign++) assert.equal(await next(), 'WATCHDOG=1')
  assert.equal(await server.end('SIGTERM'), 0)
  let last = await next()
  while (last === 'WATCHDOG=1') last = await next()
  assert.equal(last, 'STOPPING=1')
})

test('the unit sandboxes the server', { skip: missing('systemd-analyze') }, () => {
  const unit = join(ROOT, 'config/systemd/archivolt.service')
  const report = execFileSync('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]).toString()
  const exposure = Number(/Overall exposure level for \S+ (\d+\.\d)/.exec(report)?.[1])
  assert.ok(exposure <= 3, `its exposure is ${exposure}`)
})
