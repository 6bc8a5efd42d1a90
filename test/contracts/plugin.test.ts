/** Rules for every plugin, and that external plugins can do what built-in ones can. */
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { findBuiltIn, findOutside } from '../../config/cli/find-plugins.ts'
import { coreSettings } from '../../config/schema.ts'
import type { Plugin, Task } from '../../core/plugin/define.ts'
import { registerPlugins } from '../../core/plugin/load.ts'
import { temporaryFolder } from '../support/folder.ts'
import { ROOT, readSources } from '../support/sources.ts'
import { testApp } from '../support/testing.ts'

const found = await findBuiltIn()
const EXAMPLE = join(ROOT, 'test/data/plugins/note')
const LOOM = join(ROOT, 'test/data/plugins/loom')
const packages = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
}

test('all built-in plugins together follow the rules for manifests', () => {
  const { registry } = registerPlugins(found)

  assert.equal(registry.plugins.length, found.length)
})

for (const { plugin, origin } of found) {
  test(`the plugin ${plugin.name} is in the folder of its name, with a README`, async () => {
    assert.equal(origin, join('plugins', plugin.name))
    const readme = await readFile(join(ROOT, origin, 'README.md'), 'utf8')
    assert.match(readme, /^# \S/)
    for (const { env } of Object.values(plugin.settings ?? {}))
      assert.ok(readme.includes(env), `README.md does not tell of ${env}`)
    for (const { name } of publicTasks(plugin))
      assert.ok(readme.includes(name), `README.md does not tell of the task ${name}`)
    for (const hook of plugin.hooks ?? [])
      assert.ok(readme.includes(hook), `README.md does not tell of the hook ${hook}`)
  })

  test(`what ${plugin.name} declares has texts for people, and defaults that its schemas accept`, () => {
    for (const { method, path, summary } of plugin.routes ?? []) assert.match(summary, /\S{2,}/, `${method} ${path}`)
    for (const { name, title } of publicTasks(plugin)) assert.match(title, /\S{2,}/, name)
    for (const [key, { schema, default: value, meaning }] of Object.entries(plugin.settings ?? {})) {
      assert.match(meaning, /\S{2,}/, key)
      if (typeof value !== 'function') assert.ok(Value.Check(schema, value), `the default of ${key}`)
    }
  })

  test(`${plugin.name} imports only packages that are declared`, () => {
    for (const { path, imports } of readSources(origin)) {
      for (const { target } of imports) {
        if (/^archivolt(\/index)?$/.test(target) || target.startsWith('node:') || target.startsWith('plugins/'))
          continue
        const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : target.split('/')[0]!
        assert.ok(name in packages.dependencies, `${path} imports ${target}`)
      }
    }
  })
}

function publicTasks({ tasks = [] }: Plugin): Task[] {
  return tasks.filter(({ internal }) => !internal)
}

test('the defaults of core settings match their schemas', () => {
  for (const [key, { schema, default: value }] of Object.entries(coreSettings))
    assert.ok(Value.Check(schema, value), key)
})

test('an external plugin of at most forty lines adds routes, a task and an index', async (t) => {
  const lines = (await readFile(join(EXAMPLE, 'plugin.ts'), 'utf8')).trimEnd().split('\n').length
  assert.ok(lines <= 40, `${lines} lines`)
  const cache = await temporaryFolder(t)
  const plugins = (await findOutside([EXAMPLE], cache)).map(({ plugin }) => plugin)
  const app = await testApp(t, { plugins })

  const kept = await app.as('user').put('/api/note/n1/', { text: 'the tide turns at noon' })
  const listed = await app.as('user').get('/api/note/?q=tides')

  assert.deepEqual([kept.status, kept.body], [200, { text: 'the tide turns at noon' }])
  assert.deepEqual(listed.body.data, [{ text: 'the tide turns at noon' }])
  assert.equal(app.app.jobs.list({ task: 'note.keep' })[0]?.state, 'SUCCESS')
  assert.equal((await app.as('nobody').get('/api/note/')).status, 401)
  assert.equal((await app.as('user').put('/api/note/n1/', { text: 5 })).status, 400)
})

test('an external plugin brings a worker thread', async (t) => {
  const found = await findOutside([LOOM], await temporaryFolder(t))
  const app = await testApp(t, { plugins: found.map(({ plugin }) => plugin) })

  assert.deepEqual((await app.as('nobody').get('/api/loom/')).body, { said: 'strasse' })
})
