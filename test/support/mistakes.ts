/** The table of mistakes that plugin authors make: when each is reported, and by which sentence. */
import { API_PACKAGE } from '../../core/plugin/api.ts'

/** Files of the plugin `tide`, or its plugin.js. */
export type Code = string | Readonly<Record<string, string>>

/**
 * - `compile`: the compiler reports it with one error
 * - `load`: `archivolt check` and a start report it, and only the plugin's files have been loaded
 * - `start`: a start reports it
 * - `run`: the archive keeps running, and it is the plugin's last failure
 */
type Told = 'compile' | 'load' | 'start' | 'run'
type Mistake = readonly [what: string, told: Told, code: Code, says: RegExp]

/** What the code of each example may use. */
export const HEAD = `import { createWriteStream } from 'node:fs'
import { spawn } from 'node:child_process'
import { definePlugin, defineRoute, defineTask, Type } from '${API_PACKAGE}'
const aRoute = (path, more = {}) => ({ ...defineRoute({ method: 'GET', path, access: 'user', summary: 'x',
  reply: Type.Object({}), handle: () => ({}) }), ...more })
const aTask = (name, more = {}) => ({ ...defineTask({ name, title: 'x', payload: Type.Object({}), lane: 'light',
  run: async () => undefined }), ...more })
`
const tide = (keys: string): string => `${HEAD}export default definePlugin({ name: 'tide', api: 1, ${keys} })`
const aPackage = (more: object): string =>
  JSON.stringify({ name: 'tide', version: '1.4.0', keywords: ['archivolt-plugin'], type: 'module', ...more })
const installed = (more: object): Code => ({
  'node_modules/tide/package.json': aPackage({ exports: './index.js', ...more }),
  'node_modules/tide/index.js': tide(''),
})

export const TYPES = `import { type AppOf, definePlugin, defineRoute, defineTask, listing, Type } from '${API_PACKAGE}'`
const answering = (handler: string): string =>
  `defineRoute({ method: 'GET', path: '/api/tide/', access: 'user', summary: 'x', ${handler}, reply: Type.Object({ height: Type.Number(), kind: Type.Enum(['low', 'high']) }) })`
export const USES_VIDEO = answering(
  "async handle(_input, { videos }: AppOf<'video'>) { await videos.get('v1'); return { height: 1, kind: 'low' } }",
)
export const A_TASK = `defineTask({ name: 'tide', title: 'x', payload: Type.Object({}), lane: 'light', run: async (_job, { videos }: AppOf<'video'>) => void (await videos.get('v1')) })`

const MISTAKES: readonly Mistake[] = [
  [
    'a listener uses what is not needed',
    'compile',
    "definePlugin({ name: 'tide', on: { 'video.added': ({ videos }) => async ({ id }) => void (await videos.get(id)) } })",
    /^Property 'get' does not exist on type '"Add 'video' to `needs`" & Missing'\.$/,
  ],
  [
    'setup uses what only a needed plugin needs',
    'compile',
    "definePlugin({ name: 'tide', needs: ['video'], setup: (app) => void app.platform.targetsIn('v1') })",
    /^Property 'targetsIn' does not exist on type '"Add 'platform' to `needs`" & Missing'\.$/,
  ],
  [
    'a route uses what is not needed',
    'compile',
    `definePlugin({ name: 'tide', routes: [${USES_VIDEO}] })`,
    /^Type 'Route<[^\n]*' is not assignable to type '"Add 'video' to `needs`"'\.$/,
  ],
  [
    'a task uses what is not needed',
    'compile',
    `definePlugin({ name: 'tide', needs: ['channel'], tasks: [${A_TASK}] })`,
    /^Type 'Task<[^\n]*' is not assignable to type '"Add 'video' to `needs`"'\.$/,
  ],
  [
    'a handler does not name the type of its app',
    'compile',
    answering("async handle(_input, app) { await app.videos.get('v1'); return { height: 1, kind: 'low' } }"),
    /^Property 'videos' does not exist on type 'App'\.$/,
  ],
  [
    'a reply lacks a key',
    'compile',
    answering('async handle() { return { height: 1 } }'),
    /Property 'kind' is missing in type '\{ readonly height: 1; \}' but required in type '\{ readonly height: number; readonly kind: "high" \| "low"; \}'\.$/,
  ],
  [
    'a reply has another value',
    'compile',
    answering("handle: () => ({ height: 1, kind: 'mid' })"),
    /Type '"mid"' is not assignable to type '"high" \| "low"'\.$/,
  ],
  [
    'a list has another record',
    'compile',
    "defineRoute({ method: 'GET', path: '/api/tide/', access: 'user', summary: 'x', reply: Type.Array(Type.Object({ height: Type.Number() })), async handle() { return [{ height: '1' }] } })",
    /Types of property 'height' are incompatible\.\s+Type 'string' is not assignable to type 'number'\.$/,
  ],

  ['a file does not parse', 'load', 'export default {', /cannot be built: .* \(plugin\.js, line 1\)/],
  [
    'an import is not there',
    'load',
    "import 'no-such-package'\nexport default {}",
    /cannot be built: Could not resolve "no-such-package" \(plugin\.js, line 1\)/,
  ],
  ['its files throw', 'load', "throw new Error('out of tea')", /cannot be loaded: out of tea/],
  [
    'it is CommonJS',
    'load',
    `const { definePlugin } = require('${API_PACKAGE}')\nmodule.exports = definePlugin({ name: 'tide' })`,
    /cannot be loaded: it is a CommonJS module: use import and export, and set "type": "module" in its package\.json/,
  ],
  [
    'it imports a part of the package that there is not',
    'load',
    `import { x } from '${API_PACKAGE}/server'\nexport default { name: 'tide', x }`,
    /cannot be loaded: there is no @archivolt\/plugin\/server for its code: import from @archivolt\/plugin,/,
  ],
  ['it has no default export', 'load', 'export const plugin = {}', /has no default export, which must be the value of/],
  [
    'its package has no default export',
    'load',
    {
      'node_modules/tide/package.json': aPackage({ exports: './index.js' }),
      'node_modules/tide/index.js': 'export const plugin = {}',
    },
    /has no default export, which must be the value of/,
  ],
  [
    'its package names no entry',
    'load',
    { 'node_modules/tide/package.json': aPackage({}) },
    /has no entry file: name one in `exports` of its package\.json/,
  ],
  [
    'the entry of its package is not there',
    'load',
    { 'node_modules/tide/package.json': aPackage({ exports: './dist/gone.js' }) },
    /cannot be built: /,
  ],
  [
    'its package.json is none',
    'load',
    { 'package.json': '[', 'plugin.js': tide('') },
    /its package\.json is not a JSON object; correct it/,
  ],
  [
    'its package is made for another version of the plugin API',
    'load',
    installed({ peerDependencies: { [API_PACKAGE]: '^2.0.0' } }),
    /is made for version \^2\.0\.0 of the plugin API \(peerDependencies .*this Archivolt has 1\.\d+\.\d+: install /,
  ],
  [
    'its package is made for no version that there is',
    'load',
    installed({ peerDependencies: { [API_PACKAGE]: 7 } }),
    /is made for version 7 of/,
  ],
  [
    'it is made for another version of the plugin API, whatever else is wrong',
    'load',
    tide('api: 2, layers: []'),
    /it is made for version 2 of the plugin API, and this Archivolt has 1: install a release of the plugin that is made for this version/,
  ],
  ['its name has capitals and spaces', 'load', tide("name: 'My Tide'"), /plugin My Tide \(\S+\): its name must be/],
  [
    'its name is that of another',
    'load',
    tide("name: 'stats'"),
    /two plugins are called stats: plugins\/stats and \S+/,
  ],
  ['a key of the manifest is misspelt', 'load', tide('route: []'), /definePlugin has no key route/],
  ['a list is none', 'load', tide('routes: {}'), /its routes must be an array/],
  ['a function is none', 'load', tide('setup: true'), /its setup must be a function/],
  [
    'a need is not there',
    'load',
    tide("needs: ['moon']"),
    /needs the plugin moon, which is not installed: add it with/,
  ],
  [
    'a path has no final slash',
    'load',
    tide("routes: [aRoute('/api/tide')]"),
    /its route GET \/api\/tide: a path of the API must end with a slash/,
  ],
  [
    'a path is not below /api/',
    'load',
    tide("routes: [aRoute('/tide/')]"),
    /its route GET \/tide\/: the paths of an external plugin begin with \/api\//,
  ],
  [
    'a path is taken',
    'load',
    tide("routes: [aRoute('/api/video/')]"),
    /the route GET \/api\/video\/ has two owners: plugin tide and plugin video|plugin video and plugin tide/,
  ],
  [
    'a variable of a path has no schema',
    'load',
    tide("routes: [aRoute('/api/tide/:id/')]"),
    /its route GET \/api\/tide\/:id\/: the variable id must be in both the path and `params`/,
  ],
  [
    'a query parameter is no schema',
    'load',
    tide("routes: [aRoute('/api/tide/', { query: { q: 'text' } })]"),
    /its route GET \/api\/tide\/: query\.q must be an object/,
  ],
  [
    'a method is none',
    'load',
    tide("routes: [aRoute('/api/tide/', { method: 'FETCH' })]"),
    /its route FETCH \/api\/tide\/: method must be one of GET/,
  ],
  [
    'a route has no handler',
    'load',
    tide("routes: [aRoute('/api/tide/', { handle: undefined })]"),
    /its route GET \/api\/tide\/: handle must be a function/,
  ],
  [
    'a task has no work',
    'load',
    tide("tasks: [aTask('tide.go', { run: undefined })]"),
    /its task tide\.go: run must be a function/,
  ],
  [
    'a task that admins start asks for something',
    'load',
    tide("tasks: [aTask('tide.go', { apiStart: true, payload: Type.Object({ id: Type.String() }) })]"),
    /its? task tide\.go .*cannot ask for id|cannot ask for id/,
  ],
  [
    'a task runs in a lane that nobody declares',
    'load',
    tide("tasks: [aTask('tide.go', { lane: 'slow' })]"),
    /tide\.go .*is to run in the lane slow/,
  ],
  [
    'a lane runs too many jobs',
    'load',
    tide('lanes: { tide: 100 }'),
    /its lanes\.tide must be "turns" or an integer from 1 to 16/,
  ],
  [
    'a schedule lacks a field',
    'load',
    tide("tasks: [aTask('tide.go', { schedule: { auto: '20 *' } })]"),
    /its task tide\.go: its schedule says "20 \*"\. A schedule has three fields: minute hour day_of_week/,
  ],
  [
    'an hour of a schedule is none',
    'load',
    tide("tasks: [aTask('tide.go', { schedule: { auto: '20 * *', initially: { hour: '25' } } })]"),
    /its task tide\.go: its schedule says "0 25 \*"\. The hour of a schedule/,
  ],
  [
    'a preference has no default',
    'load',
    tide('preferences: { tide: { height: Type.Integer() } }'),
    /its preference tide\.height has no `default`/,
  ],
  [
    'a preference refuses its own default',
    'load',
    tide("preferences: { tide: { height: Type.Integer({ default: 'x' }) } }"),
    /its preference tide\.height has a default that its schema refuses: "x"/,
  ],
  [
    'a preference is tried by no route',
    'load',
    tide("preferences: { tide: { place: Type.String({ default: '', title: 'Place', 'x-try': '/api/tide/try/' }) } }"),
    /its preference tide\.place: x-try must be the path of one of its POST routes/,
  ],
  [
    "a setting's variable does not begin with AV_",
    'load',
    tide("settings: { tide: { env: 'HOME', schema: Type.String(), default: '', meaning: 'x' } }"),
    /must be AV_…/,
  ],
  [
    'an index is called like somebody else’s',
    'load',
    tide("indexes: [{ name: 'sea', doc: Type.Object({}), fields: {} }]"),
    /its index sea is neither tide nor tide_…/,
  ],
  [
    'an index has no fields',
    'load',
    tide("indexes: [{ name: 'tide', doc: Type.Object({}) }]"),
    /its index tide: fields is required/,
  ],
  [
    'a table is called like somebody else’s',
    'load',
    tide("migrations: [{ number: 1, sql: 'create table tide_x (id int); CREATE TABLE IF NOT EXISTS users (id int)' }]"),
    /creates the table users: names in its migrations must start with tide_/,
  ],
  ['a migration has no number', 'load', tide("migrations: [{ sql: '' }]"), /its migrations\.0\.number is required/],
  ['a need is no name', 'load', tide('needs: [5]'), /its needs\.0 must be/],
  ['the first migration has another number', 'load', tide("migrations: [{ number: 2, sql: '' }]"), /numbered 1, 2, 3/],
  [
    'a hook is declared by nobody that it needs',
    'load',
    tide("implements: { 'video.remove': () => () => null }"),
    /implements the hook video\.remove, which no plugin that it needs declares/,
  ],
  [
    'an event is told by nobody',
    'load',
    tide("needs: ['video'], on: { 'video.add': () => () => undefined }"),
    /listens to the event video\.add, which no plugin emits/,
  ],
  ['it hears every event', 'load', tide('onEvery: () => () => undefined'), /name those that it listens to in `on`/],
  [
    'the name of a command cannot be typed',
    'load',
    tide("commands: [{ name: 'Tide!', summary: 'x', run: async () => undefined }]"),
    /its command Tide!: name must be one or two words in lower case/,
  ],
  [
    'a page has no title',
    'load',
    tide("page: { title: '', module: new URL('./page.js', import.meta.url) }"),
    /its page\.title must be a title of at most 40 characters/,
  ],
  [
    'a page asks for what nobody answers',
    'load',
    tide("page: { title: 'A', module: new URL('./page.js', import.meta.url), asks: ['GET /api/moon/'] }"),
    /its page asks GET \/api\/moon\/, which no plugin answers/,
  ],
  [
    'a page lies on another server',
    'load',
    tide("page: { title: 'A', module: new URL('https://example.org/page.js') }"),
    /its page\.module must be a file of the plugin: new URL/,
  ],
  [
    'a page cannot be built',
    'load',
    {
      'plugin.js': tide("page: { title: 'A', module: new URL('./page.js', import.meta.url) }"),
      'page.js': "import { x } from 'node:fs'; export default {",
    },
    /its page cannot be built: .* \(page\.js, line 1\)/,
  ],

  [
    'a migration is no SQL',
    'start',
    tide("migrations: [{ number: 1, sql: 'CREATE TABLE tide_x (' }]"),
    /^Ledger migration 1 of tide failed/,
  ],
  ['its services throw', 'start', tide("services() { throw new Error('dry') }"), /^plugin tide: dry/],
  ['its setup fails', 'start', tide("setup: () => Promise.reject(new Error('dry'))"), /^plugin tide: dry/],

  ['a timer throws', 'run', `setTimeout(() => { throw new Error('no water') })`, /^no water$/],
  ['a timer of the clock throws', 'run', `app.clock.after(1, () => { throw new Error('no water') })`, /^no water$/],
  ['a program is not there', 'run', `spawn('/no/such/program')`, /^spawn (ENOENT|\S+ ENOENT)$/],
  [
    'a folder of a stream is not there',
    'run',
    `createWriteStream('/no/such/folder/file')`,
    /^ENOENT: no such file or directory/,
  ],
  ['a text is thrown', 'run', `setTimeout(() => { throw 'a text' })`, /^a text$/],
  ['nobody waits for a failure', 'run', `void Promise.reject(new Error('later'))`, /^later$/],
]

export const told = (where: Told) => MISTAKES.filter((mistake) => mistake[1] === where)
