/** `make dev` and `archivolt start --watch`: a change restarts the server, changes of external plugins too. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { lastFirst } from '../support/last-first.ts'
import { spokenBy } from '../support/said.ts'
import { ROOT } from '../support/sources.ts'
import '../support/long.ts'

async function given(t: TestContext, source: string, program = ['config/dev.ts']) {
  const folder = await temporaryFolder(t)
  const plugin = join(folder, 'plugins/tide/plugin.ts')
  await mkdir(join(folder, 'plugins/tide'), { recursive: true })
  await writeFile(plugin, source)
  const server = spawn(process.execPath, ['--import', 'tsx', '--conditions=source', ...program], {
    cwd: ROOT,
    env: { ...process.env, AV_DATA_DIR: join(folder, 'data'), AV_PORT: '0', AV_PLUGINS_DIR: join(folder, 'plugins') },
  })
  lastFirst(t).after(async () => {
    server.kill('SIGTERM')
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit')
    // A bundler process that outlives the server would keep this process alive by these streams.
    for (const stream of [server.stdout, server.stderr]) stream.destroy()
  })
  return { plugin, server, said: spokenBy(server) }
}

test('an external plugin that prevents the start is loaded again as soon as it is fixed', async (t) => {
  const { plugin, said } = await given(t, 'export default {')
  await said(/Archivolt could not start.*tide/)

  await writeFile(plugin, `process.stdout.write('The tide is in\\n')\nexport default { name: 'tide' }`)

  await said(/The tide is in\n[\s\S]*listens on http/)
})

test('archivolt start --watch does the same for a plugin alone, and ends with its server', async (t) => {
  const { plugin, server, said } = await given(t, 'export default {', ['config/cli/main.ts', 'start', '--watch'])
  await said(/Archivolt could not start.*tide/)

  await writeFile(plugin, `process.stdout.write('The tide is in\\n')\nexport default { name: 'tide' }`)
  await said(/The tide is in\n[\s\S]*listens on http/)
  server.kill('SIGTERM')

  await once(server, 'close')
})

test('a log in the folder of a plugin is no change: the server starts once', { timeout: 120_000 }, async (t) => {
  const logs = `import { appendFileSync } from 'node:fs'
    appendFileSync(new URL('./tide.log', import.meta.url), 'begun')
    export default { name: 'tide' }`

  const { said } = await given(t, logs)

  await said(/listens on http/)
})

test('a signal during a restart leaves no server behind', { timeout: 300_000 }, async (t) => {
  const ebbs = `process.on('SIGTERM', () => process.stdout.write('The tide goes out\\n'))\nexport default { name: 'tide' }`
  const { plugin, server, said } = await given(t, ebbs)
  await said(/listens on http/)

  await writeFile(plugin, `${ebbs}\n`)
  await said(/The tide goes out/)
  server.kill('SIGTERM')

  // Its streams close once the server that shares them has ended, too.
  await once(server, 'close')
  await assert.rejects(said(/starting again/))
})
