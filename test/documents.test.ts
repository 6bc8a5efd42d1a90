/** Checks that the documents describe the code: sections of the contract, diagrams, names of files. */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { findBuiltIn } from '../config/cli/find-plugins.ts'
import { declarations, drawnReference, handedParts, MAP_FILE } from '../config/plugin-map.ts'
import { coreSettings } from '../config/schema.ts'
import type { Task } from '../core/plugin/define.ts'
import { registerPlugins } from '../core/plugin/load.ts'
import { ERROR_CLASSES } from '../plugins/download/schema.ts'
import { ROOT } from './support/sources.ts'

const FOLDERS = ['core', 'plugins', 'config', 'test', '.github']
const TEXTS = /\.(ts|tsx|js|mjs|py|md|sh|css)$/

const texts = [
  'README.md',
  ...FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
  ),
]
  .filter((path) => TEXTS.test(path) && !path.startsWith('test/data/recordings/'))
  .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
const documents = texts.filter(({ path }) => path.endsWith('.md'))
const contract = texts.find(({ path }) => path === 'plugins/openapi/contract.md')!.text

/** The section numbers after the word: `contract 5.3, 6.6 and 9.5`, `[contract](…), 9.17`, `contract.md`, section 4. */
function citedIn(text: string): string[] {
  const unbroken = text.replace(/\n *(?:\*|\/\/|#|\|)? */g, ' ')
  return [...unbroken.matchAll(/\bcontract\b/gi)].flatMap(({ index }) => {
    let rest = unbroken.slice(index + 'contract'.length, index + 200)
    const numbers: string[] = []
    for (;;) {
      const between = numbers.length > 0 ? AFTER_A_NUMBER : AFTER_THE_WORD
      rest = rest.slice(between.exec(rest)![0].length)
      const [number] = /^(?:\d+\.\d+|\d+|[ABC])(?![\w.]\w)\b/.exec(rest) ?? []
      if (number === undefined) return numbers
      numbers.push(number)
      rest = rest.slice(number.length)
      if (!AFTER_A_NUMBER.exec(rest)?.[0]) return numbers
    }
  })
}
const AFTER_THE_WORD = /^(?:\.md)?`?(?:\]\([^)]*\))?,? ?(?:section |appendix )?/
const AFTER_A_NUMBER = /^(?:(?:, | and | to )(?:section |appendix )?)?/

test('every section of the contract that code and documents cite exists', () => {
  const headings = new Set([...contract.matchAll(/^#{2,3} ([0-9ABC](?:\.\d+)?)\.? /gm)].map(([, number]) => number))

  const cited = texts.flatMap(({ path, text }) => citedIn(text).map((number) => ({ path, number })))
  const lost = cited.filter(({ number }) => !headings.has(number))

  assert.ok(cited.length > 150, 'the code cites the contract')
  assert.deepEqual(lost, [])
})

test('a list of cited sections is read to its end, even across a link and a line break', () => {
  assert.deepEqual(citedIn('(contract 5.3, 6.6, appendix B).'), ['5.3', '6.6', 'B'])
  assert.deepEqual(citedIn('[the contract](plugins/openapi/contract.md), 9.17 tells'), ['9.17'])
  assert.deepEqual(citedIn('/**\n * See contract\n * 3.2 and 3.4\n */'), ['3.2', '3.4'])
  assert.deepEqual(citedIn('(`plugins/openapi/contract.md`, section 4, says all of it)'), ['4'])
  assert.deepEqual(citedIn('the contract has 3 readers'), [])
})

test('the diagram of plugins matches their manifests (node --import tsx --conditions=source config/plugin-map.ts draws it again)', async () => {
  assert.equal(await readFile(MAP_FILE, 'utf8'), await drawnReference())
})

test('the tutorial for plugin authors shows a plugin that the tests run', () => {
  const textOf = (path: string) => readFileSync(join(ROOT, path), 'utf8')
  const shown = [...textOf('plugins/tutorial.md').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].flatMap(([, code]) =>
    code!.split('\n').map((line) => line.trim()),
  )
  const run = ['test/data/plugins/rewind/plugin.ts', 'test/contracts/recipes.test.ts'].flatMap((path) =>
    textOf(path)
      .split('\n')
      .map((line) => line.trim()),
  )
  // Authors import the package, and load the plugin from their own folder.
  const theirOwn = shown.filter((line) =>
    /^import .* from '(node:test|@archivolt\/plugin\/testing|\.\/plugin\.ts)'$/.test(line),
  )

  assert.equal(theirOwn.length, 3)
  assert.deepEqual(
    shown.filter((line) => !run.includes(line) && !theirOwn.includes(line)),
    ['const archive = await testApp(t, { plugins: [rewind] })'],
  )
})

test('the table of settings lists exactly the existing settings', async () => {
  const page = await readFile(join(ROOT, 'config/README.md'), 'utf8')
  const table = page.slice(page.indexOf('\n## All settings'))
  const told = [...table.matchAll(/^\| (`AV_[^|]+) \|/gm)].flatMap(([, names]) => names!.match(/AV_[A-Z0-9_]+/g)!)

  const settings = [coreSettings, ...plugins.map((plugin) => plugin.settings ?? {})].flatMap((some) =>
    Object.values(some),
  )
  assert.deepEqual(told.toSorted(), settings.map(({ env }) => env).toSorted())
})

test('every file of the project that a document names exists', () => {
  // Files of a running installation, and files of other programs.
  const places =
    /`((?:core|cli|plugins|config|test|\.github|\.ci)\/[\w./-]+)`|\]\((?!https?:|#)([\w./-]+)(?:#[\w-]+)?\)/g
  const lost = documents.flatMap(({ path, text }) =>
    [...text.matchAll(places)]
      .map(([, fromRoot, relative]) => fromRoot ?? join(dirname(path), relative!))
      .filter((named) => !existsSync(join(ROOT, named)))
      .map((named) => `${path}: ${named}`),
  )

  assert.deepEqual(lost, [])
})

const plugins = (await findBuiltIn()).map(({ plugin }) => plugin)
const { registry, ownerOf } = registerPlugins(await findBuiltIn())
const routes = registry.routes.map((route) => ({
  plugin: ownerOf(route)!.name,
  method: route.method,
  path: route.path.replace(/:\w+/g, '*'),
  access: route.access,
}))
const tasks = plugins.flatMap(({ tasks = [] }) => tasks as Task[])

/** The text of the contract below a heading. */
function section(heading: string): string {
  const from = contract.indexOf(`\n${heading}`)
  assert.ok(from >= 0, heading)
  const level = /^#+/.exec(heading)![0].length
  const end = contract.slice(from + 1).search(new RegExp(`\n#{2,${level}} `))
  return contract.slice(from, end < 0 ? undefined : from + 1 + end)
}

/** The cells of all rows of the tables in a section of the contract. */
const rowsOf = (part: string): string[][] =>
  part
    .split('\n')
    .filter((line) => line.startsWith('| ') && !/^\|[-| ]+$/.test(line))
    .map((line) =>
      line
        .slice(1, -1)
        .split(/(?<!\\)\|/)
        .map((cell) => cell.trim()),
    )

const wildcards = (path: string): string => path.replace(/\\?<[\w-]+\\?>/g, '*')

/** `GET, POST /api/config/, POST /login/` → each method with its path. */
const namedIn = (text: string): string[] =>
  [...text.matchAll(/((?:GET|POST|PUT|PATCH|DELETE)(?:, (?:GET|POST|PUT|PATCH|DELETE))*) (\/[^\s|,`)]*)/g)].flatMap(
    ([, methods, path]) => methods!.split(', ').map((method) => `${method} ${wildcards(path!)}`),
  )

/** Rows of the endpoint matrix: `/api/stats/{video,channel}/`, `/api/video/*\/comment/, similar/`. */
function matrix(): Array<{ method: string; path: string; access: string }> {
  return rowsOf(section('## A. Endpoint matrix'))
    .slice(1)
    .flatMap(([paths = '', ...cells]) => {
      const kind = cells.at(-1)!
      const [first = '', ...others] = wildcards(paths).split(', ')
      const [, before = '', choices, after = ''] = /^(.*?)\{(.*)\}(.*)$/.exec(wildcards(paths)) ?? []
      const all = choices
        ? choices.split(',').map((choice) => `${before}${choice}${after}`)
        : [first, ...others.map((other) => first.replace(/[^/]+\/$/, other))]
      return all.flatMap((path) =>
        ['GET', 'POST', 'PUT', 'DELETE'].flatMap((method, at) => {
          if (!/^\d+$/.test(cells[at]!)) return []
          return [{ method, path, access: accessOf(kind, method, path) }]
        }),
      )
    })
}

/** The access class of a route (contract 3.2). */
function accessOf(kind: string, method: string, path: string): string {
  if (kind === 'admin-write') return method === 'GET' ? 'user' : 'admin'
  if (kind !== 'download') return kind
  return method === 'GET' || (method === 'POST' && path === '/api/download/') ? 'downloader' : 'admin'
}

test('the API and the contract’s appendices list the same routes', () => {
  const isOfPage = ({ plugin }: { plugin: string }) => plugin === 'web'
  const there = routes.filter((route) => !isOfPage(route)).map(({ method, path }) => `${method} ${path}`)
  const files = namedIn(section('### 1.4 Files served next to the API'))
  const told = [
    ...matrix().map(({ method, path }) => `${method} ${path}`),
    ...rowsOf(section('## B. Endpoints beyond the seed')).flatMap(([first = '']) => namedIn(first)),
    ...rowsOf(section("## C. The reference's next line")).flatMap(([first = '']) => namedIn(first)),
    ...files,
  ]
  const named = new Set([...told, ...rowsOf(contract).flatMap(([first = '']) => namedIn(first))])
  const ofCore = ['GET /health', 'GET /health/', 'GET /health/ready', 'GET /health/ready/']

  assert.deepEqual(
    there.filter((route) => !told.includes(route)),
    [],
    'routes that the contract does not tell of',
  )
  assert.deepEqual(
    [...named].filter((route) => !there.includes(route) && !ofCore.includes(route)),
    [],
    'rows of the contract that no plugin answers',
  )
})

test('the contract states the access of each route correctly', () => {
  // Contract 3.4 lists the user routes that accounts with a view may use; the role matrix checks them.
  const isOf = (access: string, route: { access: string } | undefined) =>
    route?.access === access || (access === 'user' && route?.access === 'viewer')
  const wrong = matrix().filter(
    ({ method, path, access }) =>
      !isOf(
        access,
        routes.find((route) => route.method === method && route.path === path),
      ),
  )

  assert.deepEqual(wrong, [])
})

test('the contract lists every task that is not internal, with its actual properties', () => {
  const yes = (is: unknown): string => (typeof is === 'function' ? 'one each' : is ? 'yes' : 'no')
  const told = rowsOf(section('### 8.1 Task names'))
    .slice(1)
    .map((cells) => cells.slice(0, 6))
  const there = tasks
    .filter(({ internal }) => !internal)
    .map(({ name, title, group = '(empty)', apiStart, apiStop, unique }) => [
      name,
      title,
      group,
      yes(apiStart),
      yes(apiStop),
      yes(unique),
    ])

  assert.deepEqual(told.toSorted(), there.toSorted())
})

test('the contract states the time of `auto`, and the tasks that notify external services', () => {
  const schedules = section('### 8.2 Schedules')
  const stands = schedules.slice(schedules.indexOf('stands for the default'), schedules.indexOf('At the first start'))
  const auto = [...stands.matchAll(/(\w+) `([^`]+)`/g)].map(([, name, cron]) => [name, cron])
  const [, list = ''] = /supported tasks: ([\w, ]+)\./.exec(section('### 8.5 Schedule notifications')) ?? []

  const scheduled = tasks.flatMap(({ name, schedule }) => (schedule ? [[name, schedule.auto]] : []))
  assert.deepEqual(auto.toSorted(), scheduled.toSorted())
  assert.deepEqual(
    list.split(', ').toSorted(),
    tasks.flatMap(({ name, outgoing }) => (outgoing ? [name] : [])).toSorted(),
  )
})

test('the contract lists every failure class of queue items', () => {
  const rows = rowsOf(section('### 9.3 Download queue')).map(([name]) => name)
  const told = rows.slice(rows.indexOf('error_class') + 1)

  assert.deepEqual(told.toSorted(), ERROR_CLASSES.toSorted())
})

/** `a, b (s, default 5) int or false` → a, b: the names without their descriptions. */
const keysIn = (list: string): string[] =>
  list
    .replace(/\([^)]*\)/g, '')
    .split(/[,;·]/)
    .flatMap((part) => /^\s*(?:\[ours\] )?([a-z][A-Za-z_]+)\b/.exec(part)?.[1] ?? [])

test('the contract lists every preference of the installation', () => {
  const rows = rowsOf(contract)
  const [, envelope = ''] = rows.find(([field]) => field === 'downloads')!
  const [, , body = ''] = rows.find(([route]) => route === 'GET, POST /api/config/')!
  const told = new Map([...body.matchAll(/`(\w+)` \{([^}]*)\}/g)].map(([, name, keys]) => [name!, keysIn(keys!)]))
  const fields = envelope.slice('object: '.length, envelope.indexOf(' W reads')).split(' · ')
  told.set(
    'downloads',
    fields.flatMap((field) => keysIn(field.replace(/\([^)]*\)/g, '').split(':')[0]!)),
  )
  told.set(
    'platform',
    rowsOf(section('### 9.18 Requests to the platform'))
      .slice(1)
      .map(([key]) => key!),
  )

  const there = new Map<string, string[]>()
  for (const { preferences = {} } of plugins)
    for (const [name, keys] of Object.entries(preferences))
      there.set(name, [...(there.get(name) ?? []), ...Object.keys(keys as object)])
  const sorted = (sections: Map<string, string[]>) =>
    [...sections].map(([name, keys]) => `${name}: ${keys.toSorted().join()}`).toSorted()

  assert.deepEqual(sorted(told), sorted(there))
})

test('the contract lists the tasks that continue after an interruption', () => {
  const [, list = ''] = /Tasks that can be resumed \([^:]*: ([\w, ]+)\)/.exec(section('### 8.3 Task states')) ?? []

  assert.deepEqual(
    list.split(', ').toSorted(),
    tasks.flatMap(({ name, resumable, internal }) => (resumable && !internal ? [name] : [])).toSorted(),
  )
})

test('hooks and events of manifests are declared, each with a line that says when it is called or emitted', async () => {
  const declared = declarations().filter(({ plugin }) => plugin !== 'core')
  const namesOf = (kind: string) =>
    declared.flatMap((one) => (one.kind === kind ? [`${one.plugin} ${one.name}`] : [])).toSorted()

  assert.deepEqual(
    namesOf('Hooks'),
    plugins.flatMap(({ name, hooks = [] }) => hooks.map((hook) => `${name} ${hook}`)).toSorted(),
  )
  assert.deepEqual(
    namesOf('Events'),
    plugins.flatMap(({ name, events = [] }) => events.map((event) => `${name} ${event}`)).toSorted(),
  )
  for (const { kind, name, meaning } of declared)
    assert.match(meaning, { Hooks: /^Asked /, Events: /^Emitted /, Services: /\w/ }[kind], `${kind} ${name}`)
})

test('documents name only members of the app that plugins get', async () => {
  const services = declarations().flatMap(({ kind, name }) => (kind === 'Services' ? [name] : []))
  const known = new Set([...services, ...handedParts().map(({ name }) => name)])
  const unknown = documents.flatMap(({ path, text }) =>
    [...text.matchAll(/`app\.(\w+)/g)].flatMap(([named, name]) =>
      known.has(name!) || /\.tsx?$/.test(named) || ['ts', 'tsx'].includes(name!) ? [] : [`${path}: ${named}`],
    ),
  )

  assert.ok(services.length > 15 && known.has('emit'))
  assert.deepEqual(unknown, [])
})

test('every plugin’s README names its tasks, hooks and events', () => {
  const wrong = plugins.flatMap(({ name, tasks: own = [], hooks = [], events = [] }) => {
    const readme = texts.find(({ path }) => path === `plugins/${name}/README.md`)?.text ?? ''
    const parts = [...(own as Task[]).map((task) => task.name), ...hooks, ...events]
    return parts.filter((part) => !readme.includes(part)).map((part) => `${name}: ${part}`)
  })

  assert.deepEqual(wrong, [])
})
