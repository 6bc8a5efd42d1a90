/** External plugins in the built program share its one copy of core. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryFolder } from '../support/folder.ts'
import { startServer } from '../support/server.ts'
import { ROOT } from '../support/sources.ts'

const PLUGINS = join(ROOT, 'test/data/plugins')

test('a plugin is loaded from an external folder, with the same core', async (t) => {
  const folder = await temporaryFolder(t)
  await cp(join(PLUGINS, 'note'), join(folder, 'plugins', 'note'), { recursive: true })
  // Throws core's error class: with a second copy of core, the code would still be recognized by its shape, but the
  // class would differ.
  await writeFile(
    join(folder, 'plugins', 'note', 'refuse.js'),
    `import { AppError, defineRoute, errors, Type } from 'archivolt'
     export const refuse = defineRoute({ method: 'GET', path: '/api/refusal/', access: 'open', summary: 'Refuses', reply: Type.Object({}),
       handle: () => { throw errors.conflict(String(errors.conflict('') instanceof AppError)) } })`,
  )
  const manifest = await readFile(join(folder, 'plugins', 'note', 'plugin.ts'), 'utf8')
  await writeFile(
    join(folder, 'plugins', 'note', 'plugin.ts'),
    `import { refuse } from './refuse.js'\n${manifest.replace('findNotes]', 'findNotes, refuse]')}`,
  )
  const server = await startServer(t, join(folder, 'data'), { AV_PLUGINS_DIR: join(folder, 'plugins') })

  assert.equal((await server.api('PUT', '/api/note/n1/', { text: 'low water' })).status, 200)
  assert.deepEqual((await server.api('GET', '/api/note/?q=water')).body.data, [{ text: 'low water' }])
  const refusal = await server.api('GET', '/api/refusal/')
  assert.deepEqual([refusal.status, refusal.body.message], [409, 'true'])
  assert.ok(existsSync(join(folder, 'data', 'plugins')))
})

test('a plugin has a worker thread', async (t) => {
  const folder = await temporaryFolder(t)
  await cp(join(PLUGINS, 'loom'), join(folder, 'plugins', 'loom'), { recursive: true })
  const server = await startServer(t, join(folder, 'data'), { AV_PLUGINS_DIR: join(folder, 'plugins') })

  assert.deepEqual((await server.api('GET', '/api/loom/')).body, { said: 'strasse' })
})
