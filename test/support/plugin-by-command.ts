/** Adds, updates and removes a plugin as people do, by `archivolt plugin` of an installed program. */
import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Its route returns its version. */
const CODE = `import { definePlugin, defineRoute, Type } from '@archivolt/plugin'

export default definePlugin({
  name: 'tide', api: 1,
  routes: [
    defineRoute({
      method: 'GET', path: '/api/tide/', access: 'open', summary: 'Tells its version',
      reply: Type.Object({ version: Type.String() }), handle: () => ({ version: 'VERSION' }),
    }),
  ],
})
`

async function write(folder: string, version: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  const about = { name: 'archivolt-plugin-tide', version, type: 'module', keywords: ['archivolt-plugin'] }
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...about, exports: './plugin.js' }))
  await writeFile(join(folder, 'plugin.js'), CODE.replace('VERSION', version))
}

/**
 * @param folder  where it is written
 * @param place   the same folder, as the program sees it
 * @param plugin  runs `archivolt plugin <words>` and returns its output
 * @param answer  starts a server and returns its answer to GET /api/tide/, undefined if there is none
 */
export async function addUpdateRemove(
  folder: string,
  place: string,
  plugin: (...words: string[]) => Promise<string>,
  answer: () => Promise<unknown>,
): Promise<void> {
  await write(folder, '1.0.0')
  assert.match(await plugin('add', place), /^The plugin tide 1\.0\.0 is in \S+\. Restart the server/)
  assert.equal((await plugin('list')).trim(), `tide 1.0.0  on  ${place}`)
  assert.deepEqual(await answer(), { version: '1.0.0' })
  await write(folder, '1.1.0')
  assert.match(await plugin('update'), /^The plugin tide 1\.1\.0 is in /)
  assert.deepEqual(await answer(), { version: '1.1.0' })
  assert.match(await plugin('remove', 'tide', '--with-data'), /^The plugin tide is removed, with its data\. /)
  assert.match(await plugin('list'), /^No plugin was added\. /)
  assert.equal(await answer(), undefined)
}
