/** Plugins: found, ordered, checked; a bad one is named. */
import assert from 'node:assert/strict'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Type } from 'typebox'
import { findOutside } from '../../core/cli/find-plugins.ts'
import { buildPages } from '../../core/cli/pages.ts'
import { defineRoute, defineTask, type Plugin, type PluginPage } from '../../core/plugin/define.ts'
import { registerPlugins } from '../../core/plugin/load.ts'
import { lanesOfTurns } from '../../plugins/plugin-kit/lanes.ts'
import { errors } from '../../plugins/plugin-kit/public.ts'
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

test('whoever is needed comes before, and otherwise the name decides', () => {
  assert.deepEqual(names({ name: 'a', needs: ['c'] }, { name: 'd' }, { name: 'c', needs: ['d', 'b'] }, { name: 'b' }), [
    'b',
    'd',
    'c',
    'a',
  ])
})

test('what plugins bring is put together, and everything has an owner', () => {
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

const REFUSALS: Array<[why: string, plugins: object[], says: RegExp]> = [
  ['a plugin without a proper name', [{ name: 'My Map' }], /plugin My Map \(here\): its name must be/],
  [
    'a preference that is tried by no route',
    [
      {
        name: 'map',
        preferences: { map: { place: Type.String({ default: '', title: 'Place', 'x-try': '/api/map/try/' }) } },
      },
    ],
    /its preference map\.place: x-try must be the path of one of its POST routes/,
  ],
  ['two plugins of one name', [{ name: 'map' }, { name: 'map' }], /two plugins are called map: here and here/],
  [
    'a need that is not there',
    [{ name: 'map', needs: ['earth'] }],
    /plugin map needs the plugin earth, which is not installed/,
  ],
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
    'a plugin for another version of the plugin API, whatever else it has',
    [{ name: 'map', api: 2, layers: [] }],
    /plugin map \(here\): it is made for version 2 of the plugin API, and this Archivolt has 1: install a release of it that is made for this one/,
  ],
  [
    'a misspelt key of the manifest',
    [{ name: 'map', route: [] }],
    /plugin map \(here\): definePlugin has no key route/,
  ],
  ['a list that is none', [{ name: 'map', routes: {} }], /plugin map \(here\): its routes must be an array/],
  ['what should be a function', [{ name: 'map', setup: true }], /plugin map \(here\): its setup must be a function/],
  [
    'a query parameter that is no schema',
    [{ name: 'map', routes: [aRoute('/api/map/', { query: { q: 'text' } })] }],
    /its route GET \/api\/map\/: query\.q must be an object/,
  ],
  [
    'a path without its final slash',
    [{ name: 'map', routes: [aRoute('/api/map')] }],
    /its route GET \/api\/map: a path of the API ends with a slash/,
  ],
  [
    'a path variable without a schema',
    [{ name: 'map', routes: [aRoute('/api/map/:id/')] }],
    /the variable id must stand in the path and in `params`/,
  ],
  [
    'a method that is none',
    [{ name: 'map', routes: [aRoute('/api/map/', { method: 'FETCH' })] }],
    /its route FETCH \/api\/map\/: method must be one of GET/,
  ],
  [
    'a route without its handler',
    [{ name: 'map', routes: [aRoute('/api/map/', { handle: undefined })] }],
    /its route GET \/api\/map\/: handle must be a function/,
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
  ['a variable outside AV_', [{ name: 'a', settings: { x: aSetting('HOME') } }], /must be AV_…/],
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
    'an index with a foreign name',
    [{ name: 'map', indexes: [anIndex('sea')] }],
    /its index sea is neither map nor map_…/,
  ],
  [
    'a table with a foreign name',
    [
      {
        name: 'map',
        migrations: [{ number: 1, sql: 'create table map_tiles (id int); CREATE TABLE IF NOT EXISTS users (id int)' }],
      },
    ],
    /makes the table users; its names start with map_/,
  ],
  ['migrations out of order', [{ name: 'map', migrations: [{ number: 2, sql: '' }] }], /numbered 1, 2, 3/],
  [
    'a lane of too many jobs at once',
    [{ name: 'map', lanes: { map: 100 } }],
    /its lanes\.map must be "turns" or an integer from 1 to 16/,
  ],
  [
    'a hook that nobody needed declares',
    [
      { name: 'a', hooks: ['a.s'] },
      { name: 'b', implements: { 'a.s': () => null } },
    ],
    /plugin b implements the hook a\.s, which no plugin that it needs declares/,
  ],
  [
    'an event that nobody tells',
    [
      { name: 'a', events: ['a.done'] },
      { name: 'b', on: { 'a.don': () => () => undefined } },
    ],
    /plugin b listens to the event a\.don, which no plugin emits/,
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
  [
    'a lane that nobody needed declares',
    [{ name: 'a', tasks: [aTask('t', { lane: 'slow' })] }],
    /is to run in the lane slow/,
  ],
  [
    'a command whose name cannot be typed',
    [{ name: 'a', commands: [aCommand('Tide!')] }],
    /its command Tide!: name must be one or two words in lower case/,
  ],
  [
    'a time of a schedule that is none',
    [{ name: 'a', tasks: [aTask('t', { schedule: { auto: '20 *' } })] }],
    /plugin a \(here\): its task t: its schedule says "20 \*"\. A schedule has three fields: minute hour day_of_week/,
  ],
  [
    'an hour of a schedule that is none',
    [{ name: 'a', tasks: [aTask('t', { schedule: { auto: '20 * *', initially: { hour: '25' } } })] }],
    /its schedule says "0 25 \*"\. The hour of a schedule/,
  ],
  [
    'a preference without a default',
    [{ name: 'a', preferences: { s: { k: Type.Integer() } } }],
    /plugin a: its preference s\.k has no `default`/,
  ],
  [
    'a preference whose default is refused',
    [{ name: 'a', preferences: { s: { k: Type.Integer({ default: 'x' }) } } }],
    /plugin a: its preference s\.k has a default that its schema refuses: "x"/,
  ],
  [
    'a task without its work',
    [{ name: 'a', tasks: [aTask('t', { run: undefined })] }],
    /its task t: run must be a function/,
  ],
  [
    'a task for everybody that asks for something',
    [{ name: 'a', tasks: [aTask('t', { apiStart: true, payload: Type.Object({ id: Type.String() }) })] }],
    /cannot ask for id/,
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

test('a lane that does not say how it goes stops the start; of a plugin from outside it runs one job at a time', () => {
  const plugin = { name: 'map', lanes: ['map'] }

  assert.throws(() => register(plugin), { message: /does not say how its lanes map go/ })
  const { lanes } = registerPlugins([{ plugin, origin: 'a', isOutside: true }])

  assert.deepEqual([lanes, lanesOfTurns([plugin])], [{ map: 1 }, ['map']])
})

test('a plugin from outside has its paths below /api/', () => {
  const found = (path: string) => [{ plugin: { name: 'a', routes: [aRoute(path)] }, origin: 'a', isOutside: true }]

  assert.throws(() => registerPlugins(found('/a/')), {
    message: /its route GET \/a\/: the paths of a plugin from outside begin with \/api\/; correct/,
  })
  assert.equal(registerPlugins(found('/api/a/')).registry.routes.length, 1)
})

const anywhere = new URL('file:///x.ts')
const BAD_PAGES: Array<[why: string, page: object, says: RegExp]> = [
  ['without a title', { title: '', module: anywhere }, /its page\.title must be a title of at most 40 letters/],
  ['whose title is a text', { title: 'x'.repeat(41), module: anywhere }, /a title of at most 40 letters/],
  [
    'that is no file',
    { title: 'A', module: new URL('https://example.org/x.js') },
    /its page\.module must be a file of the plugin: new URL/,
  ],
  [
    'for nobody in particular',
    { title: 'A', module: anywhere, access: 'open' },
    /its page\.access must be one of viewer, user, downloader, admin/,
  ],
  [
    'that asks for what is no route',
    { title: 'A', module: anywhere, asks: ['GET /media/x'] },
    /its page\.asks\.0 must be a route of the API/,
  ],
  [
    'that asks for what nobody answers',
    { title: 'A', module: anywhere, asks: ['GET /api/tide/'] },
    /plugin a: its page asks GET \/api\/tide\/, which no plugin answers/,
  ],
]

for (const [why, page, says] of BAD_PAGES) {
  test(`a page ${why} stops the start`, () => {
    const plugin = { name: 'a', page } as Plugin
    assert.throws(() => registerPlugins([{ plugin, origin: 'here', isOutside: true }]), { message: says })
  })
}

test('a page that cannot be built stops the start by the name of its plugin, with the next step', async (t) => {
  const folder = await aFolder(t, { 'page.ts': `import { x } from 'node:fs'; export default {` })
  const page = (name: string): Plugin => ({
    name,
    page: { title: 'A', module: pathToFileURL(join(folder, 'page.ts')) },
  })

  assert.throws(() => buildPages([page('tide')]), {
    name: 'StartError',
    message:
      /^plugin tide: its page cannot be built: .* \(page\.ts, line 1\); correct or remove it, or .* AV_PLUGINS_OFF=tide$/,
  })
})

test('a plugin from outside names the events that it hears', () => {
  const plugin = { name: 'a', onEvery: () => () => undefined } as Plugin
  assert.throws(() => registerPlugins([{ plugin, origin: 'here', isOutside: true }]), {
    message: /plugin a .*only built-in plugins hear every event; name those that it listens to in `on`/,
  })
})

test('a button is judged as a page is', () => {
  const button =
    (playerButton: PluginPage, isOutside = true) =>
    () =>
      registerPlugins([{ plugin: { name: 'a', playerButton }, origin: 'here', isOutside }])

  assert.throws(button({ title: '', module: anywhere }), { message: /its playerButton\.title must be a title/ })
  assert.throws(button({ title: 'A', module: anywhere, asks: ['GET /api/tide/'] }), {
    message: /plugin a: its button asks GET \/api\/tide\/, which no plugin answers/,
  })
  assert.throws(button({ title: 'A', module: anywhere }, false), { message: /only plugins from outside have a button/ })
})

test('a built-in plugin has no page of its own', () => {
  assert.throws(() => register({ name: 'a', page: { title: 'A', module: anywhere } }), {
    message: /only plugins from outside have a page/,
  })
})

test('a hook may be implemented by whoever needs its owner, also by way of a third', () => {
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

test('a folder from outside is bundled against the one core there is, beside its own files', async (t) => {
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

test('a changed plugin takes the place of its old bundle', async (t) => {
  const cache = await aFolder(t, {})
  const folder = await aFolder(t, { 'plugin.js': `export default { name: 'one' }` })
  await findOutside([folder], cache)
  await writeFile(join(folder, 'plugin.js'), `export default { name: 'two' }`)

  const [found] = await findOutside([folder], cache)

  assert.equal(found?.plugin.name, 'two')
  assert.equal((await readdir(cache)).length, 1)
})

const BROKEN: Array<[why: string, files: Record<string, string>, says: RegExp]> = [
  [
    'one that does not parse',
    { 'plugin.ts': 'export default {' },
    /plugin \S+ cannot be built: .* \(plugin\.ts, line 1\)/,
  ],
  [
    'one that imports what is not there',
    { 'plugin.ts': `import 'no-such-package'; export default {}` },
    /cannot be built: Could not resolve "no-such-package"/,
  ],
  [
    'one that throws',
    { 'plugin.ts': `throw new Error('out of tea')` },
    /cannot be loaded: out of tea; correct or remove it, or start without it: AV_PLUGINS_OFF=archivolt-\w+$/,
  ],
  [
    'one that is CommonJS',
    {
      'plugin.js': `const { definePlugin } = require('@archivolt/plugin')\nmodule.exports = definePlugin({ name: 'tide' })`,
    },
    /cannot be loaded: it is a CommonJS module: use import and export/,
  ],
  [
    'one that imports a part of the package that there is not',
    { 'plugin.ts': `import { x } from '@archivolt/plugin/server'\nexport default { name: 'tide', x }` },
    /cannot be loaded: there is no @archivolt\/plugin\/server for its code: import from @archivolt\/plugin,/,
  ],
  ['one without a default export', { 'plugin.js': `export const plugin = {}` }, /has no default export/],
]

for (const [why, files, says] of BROKEN) {
  test(`${why} is named with its reason`, async (t) => {
    const folder = await aFolder(t, files)

    await assert.rejects(findOutside([folder], join(folder, 'cache')), { name: 'StartError', message: says })
  })
}

test('one that waits for ever while it is loaded is named', async (t) => {
  const folder = await aFolder(t, { 'plugin.ts': `await new Promise(() => undefined); export default {}` })

  await assert.rejects(findOutside([folder], join(folder, 'cache'), { loadWithinMs: 50 }), {
    name: 'StartError',
    message: /cannot be loaded: it takes longer than 0\.05 s/,
  })
})

test('of a folder that is to be left out nothing is run', async (t) => {
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

test('a folder that is not there is named', async () => {
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
  test(`a plugin begins with ${what}, and has the version of its package`, async (t) => {
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

test('what npm has installed beside is a plugin if its keywords say so, scoped or not; AV_PLUGINS_OFF names it as npm does', async (t) => {
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

const BROKEN_PACKAGES: Array<[why: string, files: Record<string, string>, says: RegExp]> = [
  [
    'without an entry',
    { 'node_modules/tide/package.json': aPackage({}) },
    /plugin \S+tide has no entry: name it by `exports` in its package\.json; .* AV_PLUGINS_OFF=tide$/,
  ],
  [
    'whose entry is not there',
    { 'node_modules/archivolt-tide/package.json': aPackage({ exports: './dist/gone.js' }) },
    /plugin \S+tide cannot be built: .*; correct or remove it, or start without it: AV_PLUGINS_OFF=archivolt-tide$/,
  ],
  [
    'that does not parse',
    { ...inNodeModules('@moon/tide'), 'node_modules/@moon/tide/index.ts': 'export default {' },
    /plugin \S+tide cannot be built: .* \(index\.ts, line 1\); .* AV_PLUGINS_OFF=@moon\/tide$/,
  ],
  [
    'for another version of the plugin API',
    inNodeModules('tide', { peerDependencies: { '@archivolt/plugin': '^2.0.0' } }),
    /plugin tide is made for version \^2\.0\.0 of the plugin API \(peerDependencies .*this Archivolt has 1\.\d+\.\d+: install .* AV_PLUGINS_OFF=tide$/,
  ],
  [
    'for no version that there is',
    inNodeModules('tide', { peerDependencies: { '@archivolt/plugin': 7 } }),
    /plugin tide is made for version 7 of/,
  ],
  [
    'whose package.json is none',
    { 'package.json': '[', 'plugin.ts': '' },
    /package\.json is no JSON object; correct it/,
  ],
]

for (const [why, files, says] of BROKEN_PACKAGES) {
  test(`a package ${why} is named with the next step`, async (t) => {
    const folder = await aFolder(t, files)

    await assert.rejects(findOutside([folder], join(folder, 'cache')), { name: 'StartError', message: says })
  })
}

test('a package for this version of the plugin API is taken', async (t) => {
  const folder = await aFolder(t, inNodeModules('tide', { peerDependencies: { '@archivolt/plugin': '^1.0.0' } }))

  const [found] = await findOutside([folder], join(folder, 'cache'))

  assert.equal(found?.plugin.name, 'tide')
})

test('two plugins of one name are both named, and how to start with one of them', () => {
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
