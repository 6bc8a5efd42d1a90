/** `make dev`: what changes is started anew, plugins from outside too. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { lastFirst } from '../support/last-first.ts'
import { spokenBy } from '../support/said.ts'
import { ROOT } from '../support/sources.ts'

test('a plugin from outside that stops the start is loaded again as soon as it is mended', async (t) => {
  const folder = await temporaryFolder(t)
  const plugin = join(folder, 'plugins/tide/plugin.ts')
  await mkdir(join(folder, 'plugins/tide'), { recursive: true })
  await writeFile(plugin, 'export default {')
  const server = spawn(process.execPath, ['--import', 'tsx', '--conditions=source', join(ROOT, 'config/dev.ts')], {
    env: { ...process.env, AV_DATA_DIR: join(folder, 'data'), AV_PORT: '0', AV_PLUGINS_DIR: join(folder, 'plugins') },
  })
  lastFirst(t).after(async () => {
    server.kill('SIGTERM')
    await once(server, 'exit')
    // A bundler that outlives it would hold this process by them.
    for (const stream of [server.stdout, server.stderr]) stream.destroy()
  })
  const said = spokenBy(server)
  await said(/Archivolt could not start.*tide/)

  await writeFile(plugin, `process.stdout.write('The tide is in\\n')\nexport default { name: 'tide' }`)

  await said(/The tide is in\n[\s\S]*listens on http/)
})
