/**
 * `archivolt plugin`: adds a plugin from a registry, a folder and a tarball to the data folder, updates it, and removes
 * it with its data.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readdir, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import Database from 'better-sqlite3'
import { temporaryFolder } from '../../support/folder.ts'
import { npmRegistry, type PackageFile } from '../../support/registry.ts'
import { START, startServer } from '../../support/server.ts'
import '../../support/long.ts'

const KEYWORDS = ['archivolt-plugin']
const packageOf = (version: string, more: object = {}): PackageFile => ({
  ...{ name: 'archivolt-plugin-tide', version, type: 'module', keywords: KEYWORDS, exports: './plugin.ts' },
  ...{ description: 'Tells the tide', author: 'Ann <ann@example.org>', ...more },
})
/** With a table, an index, a preference, a schedule, a page and its own package. */
const TIDE = `
import { definePlugin, defineIndex, defineTask, Type } from '@archivolt/plugin'
import { moon } from 'moonlib'
const index = defineIndex({ name: 'tide', doc: Type.Object({ height: Type.Integer() }), fields: { height: { type: 'long' } } })
export default definePlugin({
  name: 'tide', api: 1, title: 'Tide of ' + moon, indexes: [index],
  migrations: [{ number: 1, sql: 'CREATE TABLE tide_mark (height INTEGER NOT NULL) STRICT' }],
  preferences: { tide: { height: Type.Integer({ title: 'Height', default: 1, 'x-per-channel': true }) } },
  tasks: [defineTask({
    name: 'tide.tell', title: 'Tell', payload: Type.Object({}), lane: 'light', apiStart: true,
    schedule: { auto: '0 7 *', initially: 'auto' },
    async run(_job, app) {
      await app.ledger.write(() => app.ledger.sql('INSERT INTO tide_mark VALUES (3)').run())
      await app.index.collection(index).put('high', { height: 3 })
      return 'told'
    },
  })],
  page: { title: 'Tide', module: new URL('./page.ts', import.meta.url) },
})`
const FILES = { 'plugin.ts': TIDE, 'page.ts': 'export default ({ root }: { root: HTMLElement }) => root.append("x")' }

async function given(t: TestContext) {
  const folder = await temporaryFolder(t)
  const registry = await npmRegistry(t, folder)
  const data = join(folder, 'data')
  const clean = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^(AV_|npm_)/.test(key)))
  const archivolt = (...args: string[]) =>
    new Promise<{ code: number; said: string }>((resolve) =>
      execFile(
        START,
        args,
        { env: { ...clean, AV_DATA_DIR: data, npm_config_registry: registry.url, npm_config_noproxy: '127.0.0.1' } },
        (error, out, errors) => resolve({ code: error ? Number(error.code) : 0, said: `${out}${errors}`.trim() }),
      ),
    )
  await registry.publish(
    { name: 'moonlib', version: '1.0.0', type: 'module', exports: './moon.js' },
    {
      'moon.js': `export const moon = 'the moon'`,
    },
  )
  return { folder, registry, data, archivolt, plugins: join(data, 'plugins') }
}
const WITH_MOON = { dependencies: { moonlib: '^1.0.0' } }

test('a package is installed with its dependencies, and none of its scripts runs; an update replaces it; a server loads it; an edited migration is refused', async (t) => {
  const { registry, data, archivolt, plugins } = await given(t)
  const scripts = { postinstall: `node -e "require('fs').writeFileSync('${data}/ran', '')"` }
  await registry.publish(packageOf('1.0.0', { ...WITH_MOON, scripts }), FILES)

  const added = await archivolt('plugin', 'add', 'archivolt-plugin-tide')
  assert.deepEqual(added, {
    code: 0,
    said: `The plugin tide 1.0.0 is in ${join(plugins, 'tide')}. Restart the server for it to take effect`,
  })
  assert.equal((await archivolt('plugin', 'list')).said, 'tide 1.0.0  on  archivolt-plugin-tide')
  await registry.publish(packageOf('1.1.0', WITH_MOON), FILES)
  assert.match((await archivolt('plugin', 'update')).said, /^The plugin tide 1\.1\.0 is in /)

  assert.equal(existsSync(join(data, 'ran')), false)
  assert.deepEqual((await readdir(plugins)).filter((name) => !/\.mjs$/.test(name)).sort(), ['.lock', 'tide'])
  const server = await startServer(t, data)
  const { body } = await server.api('GET', '/api/plugin/')
  const tide = body.find(({ name }: { name: string }) => name === 'tide')
  assert.deepEqual([tide.version, tide.enabled, tide.fault], ['1.1.0', true, undefined])

  const edited = { ...FILES, 'plugin.ts': TIDE.replace('height INTEGER NOT NULL)', 'height REAL)') }
  await registry.publish(packageOf('1.2.0', WITH_MOON), edited)
  assert.match((await archivolt('plugin', 'update')).said, /Migration 1 of tide was edited after it was applied here/)
  assert.match((await archivolt('plugin', 'list')).said, /^tide 1\.1\.0 {2}on/)
})

test('a plain folder and a tarball are added and updated from their location; one copied to the data folder by hand is found', async (t) => {
  const { folder, registry, data, archivolt, plugins } = await given(t)
  const source = join(folder, 'Sea side')
  const write = async (at: string, text: string) => {
    await mkdir(at, { recursive: true })
    await writeFile(join(at, 'plugin.ts'), text)
  }
  await write(source, `export default { name: 'sea', version: '1' }`)
  await write(join(plugins, 'hand'), `export default { name: 'hand' }`)
  const tarball = await registry.publish(packageOf('1.0.0', WITH_MOON), FILES)

  assert.match((await archivolt('plugin', 'add', source)).said, /The plugin sea 1 is in/)
  await write(source, `export default { name: 'sea', version: '2' }`)
  assert.match((await archivolt('plugin', 'update', 'sea')).said, /The plugin sea 2 is in/)
  assert.match((await archivolt('plugin', 'add', tarball)).said, /The plugin tide 1\.0\.0 is in/)

  assert.equal(
    (await archivolt('plugin', 'list')).said,
    [`hand  on  ${join(plugins, 'hand')}`, `sea 2  on  ${source}`, `tide 1.0.0  on  ${tarball}`].join('\n'),
  )
  await rename(source, `${source}, moved`)
  assert.match((await archivolt('plugin', 'update', 'sea')).said, /Sea side is neither a file or folder nor/)
  assert.match((await archivolt('plugin', 'update', 'hand')).said, /put there by hand/)
  assert.match((await archivolt('plugin', 'list')).said, /^sea 2 {2}on/m)
  assert.equal(existsSync(join(data, 'ledger.sqlite')), false)
})

const REFUSED: Array<[what: string, source: string, packageFile: object, says: RegExp]> = [
  ['one that throws', `throw new Error('out of tea'); export default {}`, {}, /cannot be loaded: out of tea/],
  ['one that needs what is not there', `export default { name: 'tide', needs: ['moon'] }`, {}, /needs the plugin moon/],
  [
    'a package without the keyword',
    `export default { name: 'tide' }`,
    { keywords: [], exports: './index.ts' },
    /archivolt-plugin-tide is not a plugin: the keywords/,
  ],
  [
    'one whose page does not build',
    `export default { name: 'tide', page: { title: 'T', module: new URL('./none.ts', import.meta.url) } }`,
    {},
    /its page cannot be built/,
  ],
  [
    'one with a route of another plugin',
    `import { defineRoute, Type } from '@archivolt/plugin'
const route = { method: 'GET', path: '/api/video/:id/', access: 'user', summary: 's', params: Type.Object({ id: Type.String() }) }
export default { name: 'tide', routes: [defineRoute({ ...route, reply: Type.Object({}), handle: () => ({}) })] }`,
    {},
    /the route GET \/api\/video\/\S+ has two owners/,
  ],
  [
    'one whose migration fails',
    `export default { name: 'tide', migrations: [{ number: 1, sql: 'CREATE TABLE tide_mark (' }] }`,
    {},
    /Ledger migration 1 of tide failed: incomplete input/,
  ],
  ['another plugin than before', `export default { name: 'ebb' }`, {}, /It is another plugin now: ebb, not tide/],
]
for (const [what, source, packageFile, says] of REFUSED)
  test(`an update to ${what} is refused, and the former version stays`, async (t) => {
    const { registry, archivolt, plugins } = await given(t)
    await registry.publish(packageOf('1.0.0', WITH_MOON), FILES)
    await archivolt('plugin', 'add', 'archivolt-plugin-tide')
    await registry.publish(packageOf('2.0.0', packageFile), {
      ['exports' in packageFile ? 'index.ts' : 'plugin.ts']: source,
    })

    const { code, said } = await archivolt('plugin', 'update', 'tide')

    assert.equal(code, 1)
    assert.match(said, /^Archivolt could not finish plugin update\. /)
    assert.match(said, says)
    assert.equal((await archivolt('plugin', 'list')).said, 'tide 1.0.0  on  archivolt-plugin-tide')
    assert.deepEqual((await readdir(plugins)).filter((name) => !/\.mjs$/.test(name)).sort(), ['.lock', 'tide'])
  })

test('a missing package, unknown words, and a name in use are refused with a sentence, and nothing is created', async (t) => {
  const { folder, registry, data, archivolt } = await given(t)

  assert.match(
    (await archivolt('plugin', 'add', folder)).said,
    /has no package\.json, plugin\.ts or plugin\.js/,
    'not copied',
  )
  assert.match((await archivolt('plugin', 'add', 'archivolt-plugin-none')).said, /npm: 404|npm: .*not found/i)
  assert.match((await archivolt('plugin', 'add', '--registry=x')).said, /Unknown option/)
  assert.match((await archivolt('plugin', 'add', 'git+ssh://example.org/x')).said, /nor the name of an npm package/)
  assert.match((await archivolt('plugin', 'remove', 'tide')).said, /No plugin tide was added/)
  await registry.publish(packageOf('1.0.0'), { 'plugin.ts': `export default { name: 'video' }` })
  assert.match((await archivolt('plugin', 'add', 'archivolt-plugin-tide')).said, /two plugins are called video/)
  assert.deepEqual((await readdir(join(data, 'plugins'))).sort(), ['.lock'])
})

test('an interrupted update and an interrupted removal are completed by the next command', async (t) => {
  const { registry, archivolt, plugins } = await given(t)
  await registry.publish(packageOf('1.0.0', WITH_MOON), FILES)
  await archivolt('plugin', 'add', 'archivolt-plugin-tide')
  await rename(join(plugins, 'tide'), join(plugins, '.old-tide'))
  await mkdir(join(plugins, '.new-x/node_modules'), { recursive: true })
  await mkdir(join(plugins, '.gone-y'))

  assert.equal((await archivolt('plugin', 'list')).said, 'tide 1.0.0  on  archivolt-plugin-tide')
  await archivolt('plugin', 'update', 'tide')

  assert.deepEqual((await readdir(plugins)).filter((name) => !/\.mjs$/.test(name)).sort(), ['.lock', 'tide'])
})

test('a plugin that no server has loaded yet is removed with its data; AV_PLUGINS_OFF=plugin removes the commands', async (t) => {
  const { folder, data, archivolt } = await given(t)
  await mkdir(join(folder, 'sea'))
  await writeFile(join(folder, 'sea/plugin.ts'), `export default { name: 'sea' }`)

  assert.equal((await archivolt('plugin', 'add', join(folder, 'sea'))).code, 0)
  assert.equal((await stat(data)).mode & 0o777, 0o711, 'others may pass through to the library, as after a start')
  assert.match((await archivolt('plugin', 'remove', 'sea', '--with-data')).said, /^The plugin sea is removed/)

  const env = { ...process.env, AV_DATA_DIR: data, AV_PLUGINS_OFF: 'plugin' }
  await assert.rejects(promisify(execFile)(START, ['plugin', 'list'], { env }), /Unknown command: plugin/)
})

test('a removal names the plugins that need the removed one', async (t) => {
  const { archivolt, plugins } = await given(t)
  for (const [name, needs] of [
    ['moon', '[]'],
    ['tide', "['moon']"],
    ['star', '[]'],
  ] as const) {
    await mkdir(join(plugins, name), { recursive: true })
    await writeFile(join(plugins, name, 'plugin.ts'), `export default { name: '${name}', needs: ${needs} }`)
  }

  const moon = await archivolt('plugin', 'remove', 'moon')
  const star = await archivolt('plugin', 'remove', 'star')

  assert.match(moon.said, /is removed\. These plugins need it and will be left out: tide\. Restart/)
  assert.match(star.said, /is removed\. Restart/)
})

test('a removal keeps the data for a later return; with --with-data nothing remains', async (t) => {
  const { registry, data, archivolt } = await given(t)
  await registry.publish(packageOf('1.0.0', WITH_MOON), FILES)
  await archivolt('plugin', 'add', 'archivolt-plugin-tide')
  const server = await startServer(t, data)
  await server.api('POST', '/api/config/', { tide: { height: 7 } })
  const { body } = await server.api('POST', '/api/task-name/tide.tell/')
  for (;;) if ((await server.api('GET', `/api/task-id/${body.task_id}/`)).body.status === 'SUCCESS') break
  assert.match((await archivolt('plugin', 'remove', 'tide', '--with-data')).said, /Another Archivolt is already using/)
  await server.end('SIGTERM')
  const written = new Database(join(data, 'ledger.sqlite'))
  written.exec("INSERT INTO perchannel_value VALUES ('UC1', 'tide', 'height', '9')")
  written.close()
  const left = () => {
    const [ledger, index] = ['ledger.sqlite', 'index.sqlite'].map(
      (name) => new Database(join(data, name), { readonly: true }),
    )
    const count = (db: Database.Database, sql: string) => db.prepare<[], { count: number }>(sql).get()!.count
    const counts = [
      count(ledger!, "SELECT count(*) AS count FROM sqlite_schema WHERE name GLOB 'tide_*'"),
      count(ledger!, "SELECT count(*) AS count FROM migrations WHERE owner = 'tide'"),
      count(ledger!, "SELECT count(*) AS count FROM preferences WHERE section = 'tide'"),
      count(ledger!, "SELECT count(*) AS count FROM perchannel_value WHERE section = 'tide'"),
      count(ledger!, "SELECT count(*) AS count FROM schedules WHERE task = 'tide.tell'"),
      count(ledger!, "SELECT count(*) AS count FROM meta WHERE key = 'schedule.initial.tide.tell'"),
      count(ledger!, "SELECT count(*) AS count FROM jobs WHERE task = 'tide.tell'"),
      count(index!, 'SELECT count(*) AS count FROM tide_v1'),
    ]
    for (const db of [ledger!, index!]) db.close()
    return counts
  }

  assert.match((await archivolt('plugin', 'remove', 'tide')).said, /^The plugin tide is removed\./)
  assert.deepEqual(left(), [1, 1, 1, 1, 1, 1, 1, 1])
  await archivolt('plugin', 'add', 'archivolt-plugin-tide')
  assert.match(
    (await archivolt('plugin', 'remove', 'tide', '--with-data')).said,
    /^The plugin tide is removed, with its data\./,
  )
  assert.deepEqual(left(), [0, 0, 0, 0, 0, 0, 0, 0])
  assert.match((await archivolt('check')).said, /^ok {5}Ledger/m)
})

test('an admin adds, updates and removes a plugin while the server runs; a refusal says why; AV_PLUGINS_ADD forbids it', async (t) => {
  const { registry, data, plugins } = await given(t)
  await registry.publish(packageOf('1.0.0', WITH_MOON), FILES)
  const server = await startServer(t, data, { npm_config_registry: registry.url, npm_config_noproxy: '127.0.0.1' })
  const changed = async (method: string, path: string, body?: object) => {
    const { body: begun } = await server.api(method, path, body)
    for (;;) {
      const { status, result } = (await server.api('GET', `/api/task-id/${begun.task_id}/`)).body
      if (!['PENDING', 'STARTED'].includes(status)) return [status, result]
      await delay(50)
    }
  }

  assert.deepEqual(await changed('POST', '/api/plugin/', { package: 'archivolt-plugin-tide' }), [
    'SUCCESS',
    'The plugin archivolt-plugin-tide was added: restart the server to start it',
  ])
  const [state, reason] = await changed('POST', '/api/plugin/', { package: 'archivolt-plugin-none' })
  assert.equal(state, 'FAILURE')
  assert.match(reason, /npm: .*404|npm: .*not found/i)
  await server.end('SIGTERM')

  const next = await startServer(t, data, { npm_config_registry: registry.url, AV_PLUGINS_ADD: 'false' })
  const tide = (await next.api('GET', '/api/plugin/')).body.find(({ name }: { name: string }) => name === 'tide')
  assert.deepEqual(
    [tide.title, tide.description, tide.author, tide.added, tide.brings],
    [
      ...['Tide of the moon', 'Tells the tide', 'Ann', true],
      {
        ...{ page: true, button: false, preferences: ['tide'] },
        tasks: [{ name: 'tide.tell', title: 'Tell' }],
      },
    ],
  )
  for (const [method, path, body] of [
    ['POST', '/api/plugin/', { package: 'archivolt-plugin-tide' }],
    ['POST', '/api/plugin/tide/update/', undefined],
    ['DELETE', '/api/plugin/tide/', undefined],
  ] as const)
    assert.equal((await next.api(method, path, body)).status, 403, `${method} ${path}`)
  assert.equal((await next.api('POST', '/api/plugin/tide/', { enabled: false })).body.switched_off, true)
  await next.end('SIGTERM')

  const last = await startServer(t, data)
  const off = (await last.api('GET', '/api/plugin/')).body.find(({ name }: { name: string }) => name === 'tide')
  assert.deepEqual([off.enabled, off.switched_off, off.title], [false, true, 'Tide of the moon'])
  const begun = (await last.api('DELETE', '/api/plugin/tide/')).body
  for (;;) {
    if ((await last.api('GET', `/api/task-id/${begun.task_id}/`)).body.status === 'SUCCESS') break
    await delay(50)
  }
  assert.equal(existsSync(join(plugins, 'tide')), false)
})
