/** A run of tests that is interrupted leaves no process behind. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { temporaryFolder } from './support/folder.ts'
import { ROOT } from './support/sources.ts'
import './support/slow.ts'

const RUN = `import { runWhole } from ${JSON.stringify(pathToFileURL(join(ROOT, 'test/support/own-processes.ts')).href)}
const [folder, group] = process.argv.slice(2)
process.exitCode = await runWhole(process.execPath, ['--test', group], { folder, env: process.env })
`
/** Each process sends its id to a socket in the run's folder. */
const TELLS = "require('node:net').connect(process.env.TMPDIR + '/ids').write(process.pid + ' ')"
const REFUSES = `process.on('SIGTERM', () => undefined); ${TELLS}`
const STARTS = `require('node:child_process').spawn(process.execPath, ['-e', ${JSON.stringify(REFUSES)}], { detached: true }); ${TELLS}`
/** A child in its own process group, like a browser, with a child that refuses to end, as a server may. */
const GROUP = `import { spawn } from 'node:child_process'
import { test } from 'node:test'
test('it waits', async () => {
  spawn(process.execPath, ['-e', ${JSON.stringify(STARTS)}], { detached: true })
  await new Promise(() => setInterval(() => undefined, 1000))
})
`

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  test(`a run that ends by ${signal} ends everything that its tests have started, in any process group`, async (t) => {
    if (!existsSync('/proc/self/environ')) return t.skip('this system does not show the environment of processes')
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'run.mjs'), RUN)
    await writeFile(join(folder, 'group.test.mjs'), GROUP)
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const started: Array<{ id: number; gone: Promise<unknown> }> = []
    const heard = createServer((socket) => {
      const gone = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve))
      socket.once('data', (text) => {
        if (started.push({ id: Number(text), gone }) === 2) heard.emit('both')
      })
    }).listen(join(folder, 'ids'))
    t.after(() => heard.close())
    const run = spawn(
      process.execPath,
      ['--import', import.meta.resolve('tsx'), join(folder, 'run.mjs'), folder, join(folder, 'group.test.mjs')],
      { env, stdio: 'ignore', timeout: 60_000, killSignal: 'SIGKILL' },
    )
    await Promise.race([once(heard, 'both'), once(run, 'exit')])

    run.kill(signal)
    const [code] = await once(run, 'exit')

    assert.equal(code, signal === 'SIGINT' ? 130 : 143)
    assert.equal(started.length, 2)
    const left = new Set(started.map(({ id }) => id))
    for (const { id, gone } of started) void gone.then(() => left.delete(id))
    await Promise.race([Promise.all(started.map(({ gone }) => gone)), delay(10_000)])
    for (const id of left) process.kill(id, 'SIGKILL')
    assert.deepEqual([...left], [])
  })
