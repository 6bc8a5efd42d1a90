/**
 * Holds the arrows: core knows no domain, what stands left may import what stands right, plugins reach each other only
 * as they say.
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
    // What Node calls its own parts is no word of ours.
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
  // All others of the folder itself.
  [5, /^core\/[\w-]+\.ts$/],
  [6, /^core\/base\//],
]
/** Leaves: they import nothing of ours that runs. */
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

test('what stands left may import what stands right, never back', () => {
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

test('the environment is read in two places: what the settings are, and what children may know of it', () => {
  const places = ['config/load-settings.ts', 'core/base/child.ts']

  assert.deepEqual(
    faults(
      all.filter(({ path }) => !places.includes(path)),
      ({ code }) => code.match(/process\.env\b/g) ?? [],
    ),
    [],
  )
})

test('every child process is started by one file, which chooses what it inherits: none learns a secret of ours', () => {
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

/** A plugin with all that it needs, and what those need. */
function reach(name: string, seen = new Set<string>()): Set<string> {
  if (!seen.has(name)) {
    seen.add(name)
    for (const need of manifests.find((plugin) => plugin.name === name)?.needs ?? []) reach(need, seen)
  }
  return seen
}

const keepsDocuments = (path: string): boolean =>
  manifests.some(({ name, indexAdapter }) => name === pluginOf(path) && indexAdapter)

/** What a plugin may import, and what of it core itself does not need. */
const PLUGIN_KIT = 'plugin-kit'

/** What index adapters share; no plugin, so that worker threads load no more of core than its smallest files. */
const KIT = 'index-kit'
const USED_BY_KIT = /^core\/(base\/|index\/|[\w-]+\.ts$)/

/** What plugins share that read films in folders: code of their reading children, where no service can be asked. */
const FILM_KIT = 'film-kit'
const FILM_READERS = ['library', 'adoption', 'exports']

/** What plugins share that ask services of viewers; no plugin, because it works with the app of each. */
const COMMUNITY_KIT = 'community-kit'
const COMMUNITY_READERS = ['segment', 'dislike', 'dearrow']

/** The page's types are those of the replies, whoever sends them. */
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

test('on the page what stands left may import what stands right, never back', () => {
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

test('the page runs in browsers: it names nothing of Node, and of a server only types', () => {
  const strangers = faults(
    plugins.filter(({ path }) => path.startsWith('plugins/web/page/')),
    function* ({ code, imports }) {
      // Types of Node are known there because the replies' types lead to the server.
      yield* code.match(/\b(process|Buffer|setImmediate|__dirname|require)\b(?=[.(])/g) ?? []
      for (const { target, isType } of imports)
        if (!isType && (target.startsWith('node:') || target === 'archivolt')) yield target
    },
  )

  assert.deepEqual(strangers, [])
})

test('no limit of time is one that may never come: `withLimit` keeps its timer', () => {
  assert.deepEqual(
    faults([...core, ...cli, ...plugins], ({ path, text }) =>
      path.startsWith('plugins/web/page/') ? [] : new Set(text.match(/(?<!`)AbortSignal\.timeout\b/g) ?? []),
    ),
    [],
  )
})

test('a plugin emits events that it declares, or a plugin that it needs', () => {
  const undeclared = faults(plugins, function* ({ path, code }) {
    const events = [...reach(pluginOf(path))].flatMap(
      (name): string[] => manifests.find((plugin) => plugin.name === name)?.events ?? [],
    )
    for (const [, event] of code.matchAll(/\bapp\.emit\('([^']+)'/g)) if (!events.includes(event!)) yield event!
  })

  assert.deepEqual(undeclared, [])
})

test('every file opens with one line on what it is for', () => {
  assert.deepEqual(
    faults(all, ({ text }) => (/^\/\*\*\s/.test(text) ? [] : ['has no such line'])),
    [],
  )
})

test('no file is a drawer for odds and ends', () => {
  assert.deepEqual(
    all
      .map(({ path }) => path)
      .filter((path) => /\/(utils?|helpers?|misc|common|shared|.*[-.]?manager)\.ts$/i.test(path)),
    [],
  )
})

test('nothing in the code is left for later', () => {
  assert.deepEqual(
    faults(all, ({ text }) => text.match(/\b(TODO|FIXME|XXX)\b|not implemented|@ts-(ignore|expect-error)/g) ?? []),
    [],
  )
  assert.deepEqual(
    faults(all, ({ code }) => code.match(/\bas any\b|: any\b/g) ?? []),
    [],
  )
})

/** Made for each request or failure, and one that every request goes through. */
const CLASSES_WITH_INTERFACE = new Set(['core/http/input.ts', 'core/http/send.ts', 'plugins/platform/ask-failure.ts'])

test('a service is opened by a function: no class repeats its interface, and no comment refers a reader to it', () => {
  const services = all.filter(({ path }) => !CLASSES_WITH_INTERFACE.has(path) && !path.startsWith('plugins/web/page/'))

  assert.deepEqual(
    faults(
      services,
      ({ text }) => text.match(/^(?:export )?class \w+.* implements .*$|\/\*\* As `\w+\.\w+` says.*/gm) ?? [],
    ),
    [],
  )
})

/** Documents of one writer each: nobody else changes a field of them. */
const WRITTEN_WHOLE: Record<string, string> = {
  'plugins/video/refresh.ts': 'comments of a video',
  'plugins/video/subtitles.ts': 'what is said in a video',
}

test('a document that several write is created or patched, never put whole over what others wrote', () => {
  const put =
    /\b(?:collection|items|comments|subtitles|videos|channels|playlists)\s*\.put(?:Many)?\((?![^;]*\bonlyNew: true)/g
  const putting = faults(
    plugins.filter(({ path }) => !keepsDocuments(path)),
    ({ code }) => code.match(put) ?? [],
  )

  assert.deepEqual(putting.map((fault) => fault.split(':')[0]).sort(), Object.keys(WRITTEN_WHOLE).sort())
})

test('what waits for a time on the wall waits by clock.at: timers stand still while a machine sleeps', () => {
  // One line, or the next ones up to the end of the first argument.
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

test('who compares with the documents after a restore does so after an older ledger, too', async () => {
  const found = await findBuiltIn()

  const hearing = (event: string) =>
    found.filter(({ plugin }) => Object.keys(plugin.on ?? {}).includes(event)).map(({ plugin }) => plugin.name)

  assert.deepEqual(hearing('ledger.replaced'), hearing('index.replaced'))
})
