/**
 * Draws how the built-in plugins hang together, from their manifests, into plugins/README.md: run it after a manifest
 * has changed.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Plugin } from '../core/plugin/define.ts'
import { findBuiltIn } from '../core/plugin/find.ts'

const PLUGINS = fileURLToPath(new URL('../plugins/', import.meta.url))
export const MAP_FILE = join(PLUGINS, 'README.md')
const [BEGIN, END] = ['<!-- drawn by config/plugin-map.ts: do not edit -->', '<!-- end of the drawing -->']

/** The README as it must be now. */
export async function drawnReadme(): Promise<string> {
  const readme = await readFile(MAP_FILE, 'utf8')
  const [begin, end] = [readme.indexOf(BEGIN), readme.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`plugins/README.md has no place for the drawing: ${BEGIN} … ${END}`)
  const plugins = (await findBuiltIn()).map(({ plugin }) => plugin)
  return `${readme.slice(0, begin)}${BEGIN}\n\n${draw(plugins)}\n\n${table(plugins)}\n\n${readme.slice(end)}`
}

/** Who needs whom; what is needed through another is left out. */
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

if (process.argv[1] === fileURLToPath(import.meta.url)) await writeFile(MAP_FILE, await drawnReadme())
