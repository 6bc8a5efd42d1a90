/** Plugins are found, ordered and checked; a bad one is named. */
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Type } from 'typebox'
import { findOutside, registerWhole } from '../../config/cli/find-plugins.ts'
import { defineRoute, defineTask, type Plugin, type PluginPage } from '../../core/plugin/define.ts'
import { registerPlugins } from '../../core/plugin/load.ts'
import { lanesOfTurns } from '../../plugins/plugin-kit/lanes.ts'
import { errors } from '../../plugins/plugin-kit/public.ts'
import recoveryPlugin from '../../plugins/recovery/plugin.ts'
import reservePlugin from '../../plugins/reserve/plugin.ts'
import { temporaryFolder } from '../support/folder.ts'

const register = (...plugins: Array<Plugin | object>) =>
  registerPlugins(plugins.map((plugin) => ({ plugin: plugin as Plugin, origin: 'here' })))
const names = (...plugins: Plugin[]) => register(...plugins).registry.plugins.map(({ name }) => name)

const aRoute = (path: string, more: object = {}) => ({
  ...defineRoute({ method: 'GET', path, access: 'user', summary: 'x', reply: Type.Object({}), handle: () => ({}) }),
  ...more,
})
const aTask = (name: string, more: object = {}) => ({
  ...defineTask({ name, title: 'x', payload: Type.Object({}), lane: 'light', run: async () => null }),
  ...more,
})
const aCommand = (name: string) => ({ name, summary: 'x', run: async () => undefined })
const aSetting = (env: string) => ({ env, schema: Type.String(), default: '', meaning: 'x' })
const aPreference = Type.Integer({ default: 1 })
const anIndex = (name: string) => ({ name, doc: Type.Object({}), fields: {} })

async function aFolder(t: TestContext, files: Record<string, string>): Promise<string> {
  const folder = await temporaryFolder(t)
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  return folder
}

test('a plugin comes after those that it needs; otherwise the name decides', () => {
  assert.deepEqual(names({ name: 'a', needs: ['c'] }, { name: 'd' }, { name: 'c', needs: ['d', 'b'] }, { name: 'b' }), [
    'b',
    'd',
    'c',
    'a',
  ])
})

test('the parts of all plugins are collected, each with its owner', () => {
  const [route, task] = [aRoute('/api/map/'), aTask('map.draw')]

  const { registry, settings, ownerOf } = register({
    name: 'map',
    routes: [route],
    tasks: [task],
    settings: { mapScale: aSetting('AV_MAP_SCALE') },
  })

  assert.deepEqual(
    [registry.routes, [...registry.tasks.keys()], Object.keys(settings)],
    [[route], ['map.draw'], ['mapScale']],
  )
  assert.equal(ownerOf(route)?.name, 'map')
})

/** Conflicts between two plugins; mistakes within one plugin: test/config/mistakes.test.ts. */
const REFUSALS: Array<[why: string, plugins: object[], says: RegExp]> = [
  ['two plugins of one name', [{ name: 'map' }, { name: 'map' }], /two plugins are called map: here and here/],
  [
    'a circle of needs',
    [
      { name: 'a', needs: ['b'] },
      { name: 'b', needs: ['c'] },
      { name: 'c', needs: ['b'] },
    ],
    /in a circle: b → c → b/,
  ],
  [
    'two owners of one method and path',
    [
      { name: 'a', routes: [aRoute('/x/:id/', { params: Type.Object({ id: Type.String() }) })] },
      { name: 'b', routes: [aRoute('/x/:key', { params: Type.Object({ key: Type.String() }) })] },
    ],
    /the route GET \/x\/:…\/ has two owners: plugin a and plugin b/,
  ],
  [
    'two owners of a command',
    [
      { name: 'a', commands: [aCommand('tide')] },
      { name: 'b', commands: [aCommand('tide')] },
    ],
    /the command tide has two owners: plugin a and plugin b/,
  ],
  ["a command of core's", [{ name: 'a', commands: [aCommand('start')] }], /the command start has two owners: core and/],
  [
    'two owners of a task',
    [
      { name: 'a', tasks: [aTask('t')] },
      { name: 'b', tasks: [aTask('t')] },
    ],
    /the task t has two owners: plugin a and plugin b/,
  ],
  [
    'two owners of a setting',
    [
      { name: 'a', settings: { x: aSetting('AV_X') } },
      { name: 'b', settings: { x: aSetting('AV_Y') } },
    ],
    /the setting x has two owners/,
  ],
  [
    'a variable that is core’s',
    [{ name: 'a', settings: { x: aSetting('AV_PORT') } }],
    /the variable AV_PORT has two owners: core and plugin a/,
  ],
  [
    'two owners of a preference',
    [
      { name: 'a', preferences: { s: { k: aPreference } } },
      { name: 'b', preferences: { s: { k: aPreference } } },
    ],
    /plugins a and b both declare the preference s\.k/,
  ],
  [
    'two owners of an index',
    [
      { name: 'a', indexes: [anIndex('a_b')] },
      { name: 'b', owns: ['a_b'], indexes: [anIndex('a_b')] },
    ],
    /the index a_b has two owners/,
  ],
  [
    'two owners of an event',
    [
      { name: 'a', events: ['a.done'] },
      { name: 'b', events: ['a.done'] },
    ],
    /the event a\.done has two owners/,
  ],
  [
    'a rule for a hook of others',
    [
      { name: 'a', hooks: ['a.s'] },
      { name: 'b', needs: ['a'], hookRules: { 'a.s': {} } },
    ],
    /plugin b has a rule for the hook a\.s, which it does not declare/,
  ],
]

for (const [why, plugins, says] of REFUSALS) {
  test(`${why} stops the start`, () => {
    assert.throws(() => register(...plugins), { message: says })
    const outside = plugins.map((plugin) => ({ plugin: plugin as Plugin, origin: 'here', isOutside: true }))
    assert.throws(() => registerPlugins(outside), {
      name: 'StartError',
      message: /; correct or remove it, or start without it: AV_PLUGINS_OFF=\w+$/,
    })
  })
}

test('a lane without a mode stops the start; that of an external plugin runs one job at a time', () => {
  const plugin = { name: 'map', lanes: ['map'] }

  assert.throws(() => register(plugin), { message: /declares its lanes map only by name/ })
  const { lanes } = registerPlugins([{ plugin, origin: 'a', isOutside: true }])

  assert.deepEqual([lanes, lanesOfTurns([plugin])], [{ map: 1 }, ['map']])
})

test('an external plugin has its paths below /api/', () => {
  const found = (path: string) => [{ plugin: { name: 'a', routes: [aRoute(path)] }, origin: 'a', isOutside: true }]

  assert.throws(() => registerPlugins(found('/a/')), {
    message: /its route GET \/a\/: the paths of an external plugin begin with \/api\/; correct/,
  })
  assert.equal(registerPlugins(found('/api/a/')).registry.routes.length, 1)
})

test('an external plugin can neither replace the ledger nor reserve space', () => {
  const { recovery } = recoveryPlugin
  const { reserve } = reservePlugin
  for (const part of [{ recovery }, { reserve }])
    assert.throws(() => registerPlugins([{ plugin: { name: 'a', ...part } as Plugin, origin: 'a', isOutside: true }]), {
      message: /only built-in plugins replace the ledger or reserve space/,
    })
})

const anywhere = new URL('file:///x.ts')

test('a button is checked like a page', () => {
  const button =
    (playerButton: PluginPage, isOutside = true) =>
    () =>
      registerPlugins([{ plugin: { name: 'a', playerButton }, origin: 'here', isOutside }])

  assert.throws(button({ title: '', module: anywhere }), { message: /its playerButton\.title must be a title/ })
  assert.throws(button({ title: 'A', module: anywhere, asks: ['GET /api/tide/'] }), {
    message: /plugin a: its button asks GET \/api\/tide\/, which no plugin answers/,
  })
  assert.throws(button({ title: 'A', module: anywhere }, false), { message: /only external plugins have a button/ })
})

test('a built-in plugin has no page of its own', () => {
  assert.throws(() => register({ name: 'a', page: { title: 'A', module: anywhere } }), {
    message: /only external plugins have a page/,
  })
})

test('a plugin that needs a hook’s owner, directly or indirectly, may implement the hook', () => {
  const implementation = { 'a.s': () => null }

  assert.deepEqual(
    names(
      { name: 'a', hooks: ['a.s'] as never[] },
      { name: 'b', needs: ['a'] },
      { name: 'c', needs: ['b'], implements: implementation as never },
    ),
    ['a', 'b', 'c'],
  )
})

test('an external folder is bundled against the one copy of core, with its own files', async (t) => {
  const folder = await aFolder(t, {
    'tide/plugin.ts': `import { definePlugin, errors } from 'archivolt'
      import { height } from './height.ts'
      export default Object.assign(definePlugin({ name: 'tide' }), { owns: [height, import.meta.url], needs: errors as never })`,
    'tide/height.ts': `export const height: string = 'high'`,
    'no-plugin/readme.txt': '',
  })
  const cache = await aFolder(t, {})

  const [found] = await findOutside([folder], cache)

  assert.equal(found?.plugin.needs, errors as unknown)
  assert.equal(found?.plugin.owns?.[0], 'high')
  assert.match(found?.plugin.owns?.[1] ?? '', /^file:.*tide\/plugin\.ts$/)
  assert.match((await readdir(cache)).join(), /^tide-[0-9a-f]{12}\.mjs$/)
})

test('a changed plugin replaces its old bundle', async (t) => {
  const cache = await aFolder(t, {})
  const folder = await aFolder(t, { 'plugin.js': `export default { name: 'one' }` })
  await findOutside([folder], cache)
  await writeFile(join(folder, 'plugin.js'), `export default { name: 'two' }`)

  const [found] = await findOutside([folder], cache)

  assert.equal(found?.plugin.name, 'two')
  assert.equal((await readdir(cache)).length, 1)
})

test('a plugin that hangs while it is loaded is named', async (t) => {
  const folder = await aFolder(t, { 'plugin.ts': `await new Promise(() => undefined); export default {}` })

  await assert.rejects(findOutside([folder], join(folder, 'cache'), { loadWithinMs: 50 }), {
    name: 'StartError',
    message: /cannot be loaded: it takes longer than 0\.05 s/,
  })
})

test('no code of a disabled folder is run', async (t) => {
  const folder = await aFolder(t, {
    'tide/plugin.ts': 'export default {',
    'moon/plugin.ts': `export default { name: 'moon' }`,
  })

  const found = await findOutside([folder], join(folder, 'cache'), { off: ['tide'] })

  assert.deepEqual(
    found.map(({ plugin, isUnread }) => [plugin.name, isUnread]),
    [
      ['moon', false],
      ['tide', true],
    ],
  )
  assert.deepEqual(
    (await findOutside([folder], join(folder, 'cache'), { off: ['all'] })).map(({ isUnread }) => isUnread),
    [true, true],
  )
})

test('a missing folder is named', async () => {
  await assert.rejects(findOutside(['/no/such/folder'], '/no/such/cache'), {
    name: 'StartError',
    message: /\/no\/such\/folder cannot be read \(ENOENT\)/,
  })
})

const aPackage = (more: object) =>
  JSON.stringify({ name: 'archivolt-tide', version: '1.4.0', keywords: ['archivolt-plugin'], type: 'module', ...more })

const ENTRIES: Array<[what: string, files: Record<string, string>]> = [
  [
    'the `exports` of its package',
    {
      'package.json': aPackage({ exports: { '.': { types: './x.d.ts', import: './dist/tide.js' } }, main: 'none.js' }),
      'dist/tide.js': `export default { name: 'tide', owns: [import.meta.url] }`,
      'plugin.ts': `export default { name: 'another' }`,
    },
  ],
  [
    'the `main` of its package',
    {
      'package.json': aPackage({ main: './dist/tide.js' }),
      'dist/tide.js': `export default { name: 'tide', owns: [import.meta.url] }`,
    },
  ],
  [
    'its plugin.ts, where `main` is only what npm init writes',
    {
      'package.json': aPackage({ main: 'index.js' }),
      'plugin.ts': `export default { name: 'tide', owns: [import.meta.url] }`,
    },
  ],
]

for (const [what, files] of ENTRIES) {
  test(`the entry of a plugin is ${what}, and its version is that of its package`, async (t) => {
    const folder = await aFolder(t, files)

    const [found] = await findOutside([folder], join(folder, 'cache'))

    const { name, version, owns } = found!.plugin
    assert.deepEqual([name, version], ['tide', '1.4.0'])
    const file = Object.keys(files).find((path) => path.endsWith('tide.js')) ?? 'plugin.ts'
    assert.equal(owns?.[0], pathToFileURL(join(folder, file)).href)
  })
}

const inNodeModules = (name: string, more: object = {}, plugin = name.replace(/\W/g, '')) => ({
  [`node_modules/${name}/package.json`]: aPackage({ name, exports: './index.ts', ...more }),
  [`node_modules/${name}/index.ts`]: `export default { name: '${plugin}' }`,
})

test('a package that npm has installed is a plugin if its keywords say so, scoped or not; AV_PLUGINS_OFF uses npm’s name', async (t) => {
  const folder = await aFolder(t, {
    'package.json': '{ "private": true }',
    ...inNodeModules('tide'),
    ...inNodeModules('@moon/tide'),
    ...inNodeModules('left-pad', { keywords: ['pad'] }),
    'node_modules/.bin/x/package.json': aPackage({}),
    'node_modules/broken/package.json': '{',
    'sun/plugin.ts': `export default { name: 'sun' }`,
  })

  const found = await findOutside([folder], join(folder, 'cache'))
  const without = await findOutside([folder], join(folder, 'cache'), { off: ['@moon/tide', 'sun'] })

  assert.deepEqual(
    found.map(({ plugin }) => plugin.name),
    ['moontide', 'tide', 'sun'],
  )
  assert.deepEqual(
    without.filter(({ isUnread }) => isUnread).map(({ plugin }) => plugin.name),
    ['@moon/tide', 'sun'],
  )
})

test('of a plugin that is left out, the version and the author in its package.json are known', async (t) => {
  const about = { version: '1.2.0', author: 'Ann' }
  const folder = await aFolder(t, {
    ...inNodeModules('tide', about),
    'node_modules/tide/index.ts': 'export default {',
    ...inNodeModules('moon', about),
    'node_modules/moon/index.ts': `export default { name: 'moon', api: 1, needs: ['nobody'] }`,
    ...inNodeModules('sun', about),
  })

  const found = await findOutside([folder], join(folder, 'cache'), { off: ['sun'], isStrict: false })
  const { off } = await registerWhole(found, { pluginsOff: ['sun'], pluginsStrict: false })

  assert.deepEqual(
    off.map(({ plugin: { name, version, author } }) => ({ name, version, author })),
    ['moon', 'sun', 'tide'].map((name) => ({ name, ...about })),
  )
})

test('a package for this version of the plugin API is accepted', async (t) => {
  const folder = await aFolder(t, inNodeModules('tide', { peerDependencies: { '@archivolt/plugin': '^1.0.0' } }))

  const [found] = await findOutside([folder], join(folder, 'cache'))

  assert.equal(found?.plugin.name, 'tide')
})

test('two plugins with the same name are both named, and how to start with one of them', () => {
  const tide = { plugin: { name: 'tide' } as Plugin, isOutside: true }

  assert.throws(
    () =>
      registerPlugins([
        { ...tide, origin: '/x/tide' },
        { ...tide, origin: '/x/old-tide' },
      ]),
    /two plugins are called tide: \/x\/tide and \/x\/old-tide; .* AV_PLUGINS_OFF=old-tide$/,
  )
})
