/** Which environment variables child processes inherit from the server. */
import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { startChild } from '../../../core/base/child.ts'
import { killGroup } from '../../../plugins/plugin-kit/kill-group.ts'
import { bundledChild } from '../../support/child.ts'

const program = await bundledChild(new URL('./environment-child.ts', import.meta.url))

const SECRETS = {
  ...{ AV_PASSWORD: 's', AV_ELASTICSEARCH_PASSWORD: 's', AV_OIDC_CLIENT_SECRET: 's', AV_DATA_DIR: '/data' },
  ...{ AWS_SECRET_ACCESS_KEY: 's', GITHUB_TOKEN: 's', DATABASE_URL: 's', NODE_OPTIONS: '', NOTIFY_SOCKET: '/run/s' },
}
const HARMLESS = { PATH: process.env.PATH, HOME: '/home/keeper', LC_ALL: 'C.UTF-8', TZ: 'UTC', TMPDIR: '/tmp' }
const ONLINE = { https_proxy: 'http://proxy.test', NO_PROXY: 'localhost', SSL_CERT_FILE: '/etc/ca.pem' }

test('a child inherits paths, language and time zone; network settings if it connects to servers; no secrets', async () => {
  const env = { ...SECRETS, ...HARMLESS, ...ONLINE, PIP_CERT: '/etc/pip.pem' }

  const { stdout } = await promisify(execFile)(process.execPath, [program], { env })
  const [started, run, online] = JSON.parse(stdout) as Array<Record<string, string>>

  assert.deepEqual(started, HARMLESS)
  assert.deepEqual(run, HARMLESS)
  assert.deepEqual(online, { ...HARMLESS, ...ONLINE, PIP_CERT: '/etc/pip.pem' })
})

test('a child is killed with its own children, and a signal that comes too late has no effect', async () => {
  const child = spawn('sh', ['-c', 'sleep 600 & wait'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child, 'spawn')

  killGroup(child)

  // The output is closed once no process has it open.
  const [, signal] = await once(child, 'close')
  assert.equal(signal, 'SIGKILL')
  killGroup(child)
})

test('when memory runs out, Linux kills children and their children before the server', async (t) => {
  if (process.platform !== 'linux') return t.skip('Only Linux has such scores')
  const child = startChild('sh', ['-c', 'read _ && sh -c "cat /proc/self/oom_score_adj"'], { stdio: 'pipe' })
  const score = () => readFile(`/proc/${child.pid}/oom_score_adj`, 'utf8')
  while ((await score()).trim() !== '500') await nextTurn()
  child.stdin.end('\n')
  const [said] = await once(child.stdout, 'data')
  assert.equal(String(said).trim(), '500')
  assert.notEqual((await readFile('/proc/self/oom_score_adj', 'utf8')).trim(), '500')
})
