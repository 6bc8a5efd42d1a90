/**
 * Checks the architecture: core knows no domain, layers import only in one direction, plugins use each other only as
 * declared.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findBuiltIn } from '../config/cli/find-plugins.ts'
import { readSources, type Source } from './support/sources.ts'

const core = readSources('core')
const base = core.filter(({ path }) => path.startsWith('core/base/'))
const config = readSources('config')
/** The program around the server. */
const cli = config.filter(({ path }) => path.startsWith('config/cli/'))
const plugins = readSources('plugins')
const all = [...core, ...config, ...plugins]

/** `core/x.ts: why` for each file that has one. */
const faults = (sources: Source[], find: (source: Source) => Iterable<string>): string[] =>
  sources.flatMap((source) => [...find(source)].map((why) => `${source.path}: ${why}`))

test('core and the command line know no domain: they could serve another archive with other plugins', () => {
  const words = /\b\w*(video|channel|playlist|youtube|subtitle|thumbnail|yt-?dlp|ffmpeg)\w*\b/gi

  assert.deepEqual(
    // Node's own names for its parts do not count.
    faults(
      [...core, ...cli],
      ({ text }) => new Set(text.replaceAll(/^import .* from 'node:.*$/gm, '').match(words) ?? []),
    ),
    [],
  )
})

/** `cli → app → http, jobs, plugin/load → accounts, plugin/define → index, ledger → events, log → base`. */
const LAYERS: Array<[layer: number, path: RegExp]> = [
  [0, /^config\/cli\//],
  [1, /^core\/app\.ts$/],
  [2, /^core\/(http|jobs)\//],
  [2, /^core\/plugin\/(check|found|load|manifest|outside|remembered-settings|switched-off|wire)\.ts$/],
  [3, /^core\/(accounts\/|plugin\/(define|command|api)\.ts$)/],
  [4, /^core\/(index|ledger)\//],
  // All other files of the folder itself.
  [5, /^core\/[\w-]+\.ts$/],
  [6, /^core\/base\//],
]
/** Leaves: they import no other code of the project at run time. */
const EVERYWHERE = new Set(['config/schema.ts', 'package.json'])

const layerOf = (path: string): number | undefined => LAYERS.find(([, pattern]) => pattern.test(path))?.[0]

test('core and the command line name no index adapter', () => {
  const words = /\b(elastic\w*|openSqliteIndex|index\.sqlite|AV_ELASTICSEARCH\w*)\b/gi

  assert.deepEqual(
    faults([...core, ...cli], ({ text }) => new Set(text.match(words) ?? [])),
    [],
  )
})

test('core/base imports nothing else of Archivolt, so that any program could use it', () => {
  assert.deepEqual(
    faults(base, ({ imports }) =>
      imports.flatMap(({ target }) =>
        !target.startsWith('core/base/') && /^(core|config|plugins|test)\/|^archivolt/.test(target) ? [target] : [],
      ),
    ),
    [],
  )
})

test('every file of core has its layer', () => {
  assert.deepEqual(
    core.map(({ path }) => path).filter((path) => layerOf(path) === undefined),
    [],
  )
})

test('a layer imports only layers to its right', () => {
  const folderOf = (path: string) => path.split('/').slice(0, 2).join('/')
  const back = faults([...core, ...cli], function* ({ path, imports }) {
    const own = layerOf(path)!
    for (const { target, isType } of imports) {
      if (
        (isType && !target.startsWith('config/cli/')) ||
        !/^(core|config)\//.test(target) ||
        EVERYWHERE.has(target) ||
        (own <= 1 && target.startsWith('config/') && layerOf(target) === undefined)
      )
        continue
      const other = layerOf(target)
      const isOwnFolder = folderOf(path) === folderOf(target)
      if (other === undefined || other < own || (other === own && own < 5 && !isOwnFolder)) yield target
    }
  })

  assert.deepEqual(back, [])
})

test('the settings are a leaf: they import types and the schema package', () => {
  const [schema] = config.filter(({ path }) => path === 'config/schema.ts')

  assert.deepEqual(
    schema!.imports.filter(({ isType }) => !isType).map(({ target }) => target),
    ['typebox'],
  )
})

test('the environment is read in two files: that of the settings, and that of what children may inherit', () => {
  const places = ['config/load-settings.ts', 'core/base/child.ts']

  assert.deepEqual(
    faults(
      all.filter(({ path }) => !places.includes(path)),
      ({ code }) => code.match(/process\.env\b/g) ?? [],
    ),
    [],
  )
})

test('one file starts every child process and chooses what it inherits, so that no child gets our secrets', () => {
  const starts = /\b(child_process|process\.binding)\b/g

  assert.deepEqual(
    faults(
      [...core, ...cli, ...plugins].filter(({ path }) => path !== 'core/base/child.ts'),
      ({ imports, code }) => [
        ...imports.flatMap(({ target, isType }) => (target.endsWith('child_process') && !isType ? [target] : [])),
        ...(code.replaceAll(/^import .*$/gm, '').match(starts) ?? []),
        ...(code.match(/\bcluster\b.*node:cluster/g) ?? []),
      ],
    ),
    [],
  )
})

const manifests = (await findBuiltIn()).map(({ plugin }) => plugin)
const pluginOf = (path: string): string => path.split('/')[1]!

/** A plugin with everything that it needs, recursively. */
function reach(name: string, seen = new Set<string>()): Set<string> {
  if (!seen.has(name)) {
    seen.add(name)
    for (const need of manifests.find((plugin) => plugin.name === name)?.needs ?? []) reach(need, seen)
  }
  return seen
}

const keepsDocuments = (path: string): boolean =>
  manifests.some(({ name, indexAdapter }) => name === pluginOf(path) && indexAdapter)

/** What a plugin may import, including parts that core itself does not need. */
const PLUGIN_KIT = 'plugin-kit'

/** What index adapters share; not a plugin, so that worker threads load only the smallest files of core. */
const KIT = 'index-kit'
const USED_BY_KIT = /^core\/(base\/|index\/|[\w-]+\.ts$)/

/** What plugins share that read films in folders; code for their child processes, in which no service is available. */
const FILM_KIT = 'film-kit'
const FILM_READERS = ['library', 'adoption', 'exports']

/** What plugins share that use crowd-sourced services; not a plugin, because it works with the app of each. */
const COMMUNITY_KIT = 'community-kit'
const COMMUNITY_READERS = ['segment', 'dislike', 'dearrow']

/** The page's types are those of the replies of all plugins. */
const OF_ALL_REPLIES = 'plugins/web/page/server/records.ts'

test('a plugin imports archivolt, its own files, Node and packages; of plugins that it needs, types; an index adapter archivolt/index; readers of films their kit', () => {
  const foreign = faults(plugins, function* ({ path, imports }) {
    for (const { target, isType } of imports) {
      if (path === OF_ALL_REPLIES && isType) continue
      if (pluginOf(path) === PLUGIN_KIT && /^(core|config|plugins\/index-kit)\//.test(target)) continue
      if (pluginOf(path) === KIT && USED_BY_KIT.test(target)) continue
      if (/^(core|config|test)\//.test(target)) yield target
      if (target.startsWith('archivolt/') && !(target === 'archivolt/index' && keepsDocuments(path))) yield target
      if (!target.startsWith('plugins/') || pluginOf(target) === pluginOf(path)) continue
      if (pluginOf(target) === FILM_KIT && FILM_READERS.includes(pluginOf(path))) continue
      if (pluginOf(target) === COMMUNITY_KIT && COMMUNITY_READERS.includes(pluginOf(path))) continue
      if ([FILM_KIT, COMMUNITY_KIT].includes(pluginOf(path)) && isType && !pluginOf(target).endsWith('-kit')) continue
      if (!isType) yield target
      else if (!reach(pluginOf(path)).has(pluginOf(target))) yield `${target}, which its needs do not lead to`
    }
  })

  assert.deepEqual(foreign, [])
})

/** `app` → frame → views → player → parts → stores → browser → server → plugin-page → texts. */
const PAGE_FOLDERS = [
  'app.tsx',
  'frame',
  'views',
  'player',
  'parts',
  'stores',
  'browser',
  'server',
  'plugin-page',
  'texts',
]

test('a folder of the page imports only folders to its right', () => {
  const rankOf = (path: string): number => PAGE_FOLDERS.indexOf(path.replace('plugins/web/page/', '').split('/')[0]!)
  const back = faults(
    plugins.filter(({ path }) => path.startsWith('plugins/web/page/')),
    function* ({ path, imports }) {
      if (rankOf(path) === -1) yield 'lies in no folder of the page'
      for (const { target } of imports)
        if (target.startsWith('plugins/web/page/') && rankOf(target) < rankOf(path)) yield target
    },
  )

  assert.deepEqual(back, [])
})

test('the page runs in browsers: it uses nothing of Node, and only types of the server', () => {
  const strangers = faults(
    plugins.filter(({ path }) => path.startsWith('plugins/web/page/')),
    function* ({ code, imports }) {
      // Node's types are visible there, because the replies' types lead to the server.
      yield* code.match(/\b(process|Buffer|setImmediate|__dirname|require)\b(?=[.(])/g) ?? []
      for (const { target, isType } of imports)
        if (!isType && (target.startsWith('node:') || target === 'archivolt')) yield target
    },
  )

  assert.deepEqual(strangers, [])
})

test('no time limit can be lost: `withLimit` keeps its timer', () => {
  assert.deepEqual(
    faults([...core, ...cli, ...plugins], ({ path, text }) =>
      path.startsWith('plugins/web/page/') ? [] : new Set(text.match(/(?<!`)AbortSignal\.timeout\b/g) ?? []),
    ),
    [],
  )
})

test('a plugin emits events that it or a plugin that it needs declares', () => {
  const undeclared = faults(plugins, function* ({ path, code }) {
    const events = [...reach(pluginOf(path))].flatMap(
      (name): string[] => manifests.find((plugin) => plugin.name === name)?.events ?? [],
    )
    for (const [, event] of code.matchAll(/\bapp\.emit\('([^']+)'/g)) if (!events.includes(event!)) yield event!
  })

  assert.deepEqual(undeclared, [])
})

test('every file begins with one line that says what it is for', () => {
  assert.deepEqual(
    faults(all, ({ text }) => (/^\/\*\*\s/.test(text) ? [] : ['has no such line'])),
    [],
  )
})

test('no file collects unrelated helpers', () => {
  assert.deepEqual(
    all
      .map(({ path }) => path)
      .filter((path) => /\/(utils?|helpers?|misc|common|shared|.*[-.]?manager)\.ts$/i.test(path)),
    [],
  )
})

test('the code contains no reminders of unfinished work', () => {
  assert.deepEqual(
    faults(all, ({ text }) => text.match(/\b(TODO|FIXME|XXX)\b|not implemented|@ts-(ignore|expect-error)/g) ?? []),
    [],
  )
  assert.deepEqual(
    faults(all, ({ code }) => code.match(/\bas any\b|: any\b/g) ?? []),
    [],
  )
})

/** One is created for each request or failure, and one handles every request. */
const CLASSES_WITH_INTERFACE = new Set(['core/http/input.ts', 'core/http/send.ts', 'plugins/platform/ask-failure.ts'])

test('a function opens a service: no class repeats its interface, and no comment only refers to it', () => {
  const services = all.filter(({ path }) => !CLASSES_WITH_INTERFACE.has(path) && !path.startsWith('plugins/web/page/'))

  assert.deepEqual(
    faults(
      services,
      ({ text }) => text.match(/^(?:export )?class \w+.* implements .*$|\/\*\* As `\w+\.\w+` says.*/gm) ?? [],
    ),
    [],
  )
})

/** Documents that a single writer owns: no other code changes their fields. */
const WRITTEN_WHOLE: Record<string, string> = {
  'plugins/video/refresh.ts': 'comments of a video',
  'plugins/video/subtitles.ts': 'what is said in a video',
}

test('a document with several writers is created or patched, never replaced as a whole', () => {
  const put =
    /\b(?:collection|items|comments|subtitles|videos|channels|playlists)\s*\.put(?:Many)?\((?![^;]*\bonlyNew: true)/g
  const putting = faults(
    plugins.filter(({ path }) => !keepsDocuments(path)),
    ({ code }) => code.match(put) ?? [],
  )

  assert.deepEqual(putting.map((fault) => fault.split(':')[0]).sort(), Object.keys(WRITTEN_WHOLE).sort())
})

test('code that waits for a wall-clock time uses clock.at, because timers stop while a machine sleeps', () => {
  // One line, or several up to the end of the first argument.
  const reckoned = /\.(?:after|sleep)\((?:[^,()]|\([^()]*(?:\([^()]*\)[^()]*)*\))*\.now\(\)/g

  assert.deepEqual(
    faults(
      [...core, ...cli, ...plugins].filter(
        ({ path }) => path !== 'core/base/clock.ts' && !path.startsWith('plugins/web/page/'),
      ),
      ({ code }) => code.match(reckoned) ?? [],
    ),
    [],
  )
})

test('code that compares with the documents after a restore also does so after an older ledger', async () => {
  const found = await findBuiltIn()

  const hearing = (event: string) =>
    found.filter(({ plugin }) => Object.keys(plugin.on ?? {}).includes(event)).map(({ plugin }) => plugin.name)
  const hearingOfLedgers = hearing('ledger.replaced')

  assert.deepEqual(
    hearing('index.replaced').filter((name) => !hearingOfLedgers.includes(name)),
    [],
  )
})
