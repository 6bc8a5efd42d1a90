/** Generates plugins/reference.md from the manifests of the built-in plugins. Run it after a change of a manifest. */
import { readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from '../core/plugin/define.ts'
import { findBuiltIn } from './cli/find-plugins.ts'
import { type Declaration, declarationsIn, handedToAll } from './declarations.ts'
import { pathOf, withParsedSources } from './parsed-sources.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))
const PLUGINS = join(ROOT, 'plugins')
const OF_CORE = ['core/events.ts', 'core/plugin/define.ts']
const ADDING_TO_APP = ['core/plugin/define.ts', 'plugins/fetch/plugin.ts', 'plugins/lanes/plugin.ts']
const PAGE = 'plugins/web/page/'
export const MAP_FILE = join(PLUGINS, 'reference.md')
const [BEGIN, END] = ['<!-- drawn by config/plugin-map.ts: do not edit -->', '<!-- end of the drawing -->']

/** The current text of the reference. */
export async function drawnReference(): Promise<string> {
  const page = await readFile(MAP_FILE, 'utf8')
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`plugins/reference.md has no place for the drawing: ${BEGIN} … ${END}`)
  const plugins = (await findBuiltIn()).map(({ plugin }) => plugin)
  const parts = [BEGIN, draw(plugins), table(plugins), ...listed(declarations()), handed(), '']
  return `${page.slice(0, begin)}${parts.join('\n\n')}${page.slice(end)}`
}

type Declared = Declaration & { plugin: string }

/** What every plugin gets. */
export const handedParts = (): ReturnType<typeof handedToAll> =>
  withParsedSources(
    (path) => ADDING_TO_APP.includes(path),
    (files) => files.flatMap(handedToAll),
  )

function handed(): string {
  const rows = handedParts().map(({ name, meaning }) => `| \`app.${name}\` | ${meaning} |`)
  const head =
    '## Handed to every plugin\n\nWhat every plugin receives, whatever its `needs`; the types describe the details.'
  return [head, ['| part of the app | what it is |', '| --- | --- |', ...rows].join('\n')].join('\n\n')
}

let declared: readonly Declared[] | undefined

/** The declarations of plugins and core, each with its owner. */
export function declarations(): readonly Declared[] {
  return (declared ??= readDeclarations())
}

function readDeclarations(): Declared[] {
  // Most files declare nothing: parsing them takes much longer than reading their text.
  const isDeclaring = (path: string): boolean =>
    OF_CORE.includes(path) ||
    (path.startsWith('plugins/') &&
      !path.startsWith(PAGE) &&
      readFileSync(join(ROOT, path), 'utf8').includes("declare module 'archivolt'"))
  return withParsedSources(isDeclaring, (files) =>
    files
      .map((file) => ({ file, path: pathOf(file) }))
      .sort((one, other) => (one.path < other.path ? -1 : 1))
      .flatMap(({ file, path }) => {
        const plugin = OF_CORE.includes(path) ? 'core' : path.split('/')[1]!
        return declarationsIn(file).map((one) => ({ ...one, plugin }))
      }),
  )
}

/** One line for each hook, event and service. */
function listed(all: readonly Declared[]): string[] {
  const cell = (text: string): string => text.replaceAll('|', '\\|')
  const rows = (kind: Declaration['kind']): string[] =>
    all
      .filter((one) => one.kind === kind)
      .sort((one, other) => (one.name < other.name ? -1 : 1))
      .map(({ name, plugin, type, meaning }) => {
        const code = kind === 'Services' ? `app.${name}` : name
        const by = kind === 'Hooks' && plugin === 'core' ? 'any plugin' : plugin
        return `| \`${code}\` | ${by} | ${kind === 'Services' ? '' : `\`${cell(type)}\``} | ${cell(meaning)} |`.replace(
          '|  |',
          '|',
        )
      })
  return [
    '## Hooks\n\nQuestions that a plugin asks the plugins that need it: who asks, what they answer, and when.',
    ['| hook | asked by | answer | when, and what for |', '| --- | --- | --- | --- |', ...rows('Hooks')].join('\n'),
    '## Events\n\nWhat has happened, and the data that listeners receive.',
    ['| event | emitted by | with | when |', '| --- | --- | --- | --- |', ...rows('Events')].join('\n'),
    '## Services\n\nWhat a plugin may call from the plugins that it needs.',
    ['| service | plugin | what it is |', '| --- | --- | --- |', ...rows('Services')].join('\n'),
  ]
}

/** Draws which plugin needs which; indirect needs are left out. */
function draw(plugins: readonly Plugin[]): string {
  const needs = new Map(plugins.map(({ name, needs: own = [] }) => [name, own]))
  const reach = (name: string): Set<string> =>
    new Set((needs.get(name) ?? []).flatMap((need) => [need, ...reach(need)]))
  const arrows = plugins.flatMap(({ name, needs: own = [] }) => {
    const through = new Set(own.flatMap((need) => [...reach(need)]))
    return own.filter((need) => !through.has(need)).map((need) => `  ${name} --> ${need}`)
  })
  const alone = plugins
    .filter(({ name, needs: own = [] }) => own.length === 0 && !arrows.some((arrow) => arrow.endsWith(` ${name}`)))
    .map(({ name }) => `  ${name}`)
  return ['```mermaid', 'flowchart LR', ...arrows, ...alone, '```'].join('\n')
}

function table(plugins: readonly Plugin[]): string {
  const code = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ')
  const rows = plugins.map((plugin) => {
    const { name, needs = [], hooks = [], implements: implemented = {}, events = [], on = {} } = plugin
    return `| [${name}](${name}/README.md) | ${needs.join(', ')} | ${code(hooks)} | ${code(Object.keys(implemented))} | ${code(events)} | ${code(Object.keys(on))} |`
  })
  return [
    '| plugin | needs | hooks it declares | hooks it implements | events it emits | events it hears |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n')
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(MAP_FILE, await drawnReference())
