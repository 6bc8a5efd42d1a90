/** Finds what was removed from the plugin API, or changed so that existing plugins no longer compile. */
import { execFile } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { API_PACKAGE } from '../../core/plugin/api.ts'
import { ROOT } from './sources.ts'

/** Declarations by path (`config/declaration-files.ts`). */
export type Declarations = ReadonlyMap<string, string>

/** The file of each entry point, and its paths in older releases. */
const ENTRIES: Record<string, readonly string[]> = {
  '.': ['plugins/plugin-kit/public', 'core/public'],
  './index': ['plugins/index-kit/public'],
  './page': ['plugins/web/page/plugin-page/interface'],
  './testing': ['test/support/plugin-testing'],
}
/**
 * Types that authors write and the server reads: an earlier value must still be valid. For all other types it is the
 * reverse.
 */
const WRITTEN_BY_AUTHORS = new Set([
  'Plugin',
  'Route',
  'Task',
  'TaskDefinition',
  'PluginCommand',
  'Finding',
  'EventName',
  'SettingDefinition',
  'ErrorOptions',
  'MarkOptions',
  'BulkOptions',
  'StepOptions',
  'RestoreOptions',
  'TestOptions',
  'IndexAdapterDefinition',
  'IndexAdapter',
  'PluginPage',
  'Question',
  'PageAccess',
  'Start',
  'Row',
  'FieldOptions',
  'ChoiceOptions',
  'Content',
  'Query',
])

/** Types for built-in plugins only. */
const NOT_FOR_AUTHORS = new Set(['Adaptation'])
const ANYTHING = '<any>'
const ALL_SERVICES = `keyof import('before').Services`
/** Type arguments with which generic exports are compared. */
const ARGUMENTS: Record<string, string> = {
  AppOf: `<${ALL_SERVICES}>`,
  definePlugin: `<'any', ${ALL_SERVICES}>`,
  RouteInput: '<any, any, any>',
  ...Object.fromEntries(
    ['Static', 'QueryOf', 'DocOf', 'NamesOf', 'MergePatch', 'JobContext', 'PreferencesOf', 'TaskDefinition'].map(
      (name) => [name, ANYTHING],
    ),
  ),
}

/**
 * @param folder  where the compiled files are written
 * @returns one line for each export, service, hook or event that a plugin written for `before` can no longer use in the
 * same way
 */
export async function apiBreaks(before: Declarations, now: Declarations, folder: string): Promise<string[]> {
  const checks = Object.keys(ENTRIES).flatMap((entry) => checksOf(entry, exportsOf(before, fileOf(entry, before))))
  const versions = { before: comparable(before, 'before'), now: comparable(now, 'now') }
  const told = await complaints(
    folder,
    versions,
    checks.map(({ code }) => code),
  )
  return told.map(({ line, text }) => `${checks[line]!.what}: ${text}`)
}

/**
 * Returns the compiler's errors for code that imports packages with these declarations.
 * @param folder  where the compiled files are written
 * @param lines    one statement each
 */
export async function complaints(
  folder: string,
  packages: Readonly<Record<string, Declarations>>,
  lines: readonly string[],
): Promise<Array<{ line: number; text: string }>> {
  for (const [name, files] of Object.entries(packages)) await writePackage(folder, name, files)
  for (const name of ['typebox', 'pino', '@types/node', '@types/better-sqlite3']) {
    await mkdir(dirname(join(folder, 'node_modules', name)), { recursive: true })
    await symlink(join(ROOT, 'node_modules', name), join(folder, 'node_modules', name))
  }
  await writeFile(join(folder, 'checks.ts'), `${lines.join('\n')}\n`)
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        ...{ target: 'es2022', module: 'nodenext', strict: true, noEmit: true, skipLibCheck: true, types: ['node'] },
        lib: ['es2023', 'es2024.string', 'dom'],
      },
      files: ['checks.ts'],
    }),
  )
  const said = await new Promise<string>((resolve) => {
    execFile(join(ROOT, 'node_modules/.bin/tsc'), ['-p', folder, '--pretty', 'false'], (_error, stdout) =>
      resolve(stdout),
    )
  })
  return said
    .split(/^(?=\S)/m)
    .filter((part) => part.trim() !== '')
    .map((part) => {
      const [, line, text] = /^.*?checks\.ts\((\d+),\d+\): error \w+: ([\s\S]*)$/.exec(part) ?? []
      if (line === undefined) throw new Error(`The declarations cannot be used: ${part}`)
      return { line: Number(line) - 1, text: text!.trim().replace(/import\("[^"]*"\)\./g, '') }
    })
}

function fileOf(entry: string, files: Declarations): string {
  const path = ENTRIES[entry]!.map((name) => `${name}.d.ts`).find((name) => files.has(name))
  if (path === undefined) throw new Error(`There are no declarations of ${entry}`)
  return path
}

interface Check {
  what: string
  /** A single line. */
  code: string
}

function checksOf(entry: string, names: ReadonlyMap<string, 'type' | 'value'>): Check[] {
  const of = (version: string) => `import('${version}${entry.slice(1)}')`
  return [...names].flatMap(([name, kind]) => {
    const what = entry === '.' ? name : `${name} of ${API_PACKAGE}${entry.slice(1)}`
    const whole = `${name}${ARGUMENTS[name] ?? ''}`
    const type = (version: string) => `${of(version)}.${whole}`
    const parameter = (version: string) => `Parameters<typeof ${type(version)}>[0]`
    const fits = (given: string, wanted: string): Check => ({ what, code: `(null! as ${given}) satisfies ${wanted}` })
    /** The compiler accepts a value with a key that no longer exists, but the server does not. */
    const written = (by: typeof type): Check[] => [
      fits(by('before'), by('now')),
      fits(`keyof (${by('before')})`, `keyof (${by('now')})`),
    ]
    if (NOT_FOR_AUTHORS.has(name)) return []
    // The server also reads what it returns.
    if (name.startsWith('define')) return written(parameter)
    if (kind === 'value') return [fits(`typeof ${type('now')}`, `typeof ${type('before')}`)]
    // Authors implement the hooks that they know.
    if (name === 'Hooks') return [fits(type('before'), `Pick<${type('now')}, keyof ${type('before')}>`)]
    return WRITTEN_BY_AUTHORS.has(name) ? written(type) : [fits(type('now'), type('before'))]
  })
}

function exportsOf(files: Declarations, path: string): Map<string, 'type' | 'value'> {
  const text = files.get(path)
  if (text === undefined) throw new Error(`There are no declarations of ${path}`)
  const found = new Map<string, 'type' | 'value'>()
  for (const [, isType, list] of text.matchAll(/^export (type )?\{([^}]*)\}/gm))
    for (const part of list!.split(',').map((one) => one.trim())) {
      if (part === '') continue
      const name = part
        .replace(/^type /, '')
        .split(' as ')
        .at(-1)!
      found.set(name, isType || part.startsWith('type ') ? 'type' : 'value')
    }
  for (const [, kind, name] of text.matchAll(/^export (?:declare )?(?:abstract )?(\w+) (\w+)/gm))
    if (['function', 'const', 'class'].includes(kind!)) found.set(name!, 'value')
    else if (['interface', 'type'].includes(kind!)) found.set(name!, 'type')
  for (const [, target] of text.matchAll(/^export \* from '([^']+)'/gm))
    for (const [name, kind] of exportsOf(files, join(dirname(path), target!.replace(/\.js$/, '.d.ts'))))
      found.set(name, kind)
  return found
}

async function writePackage(folder: string, name: string, files: Declarations): Promise<void> {
  const place = join(folder, 'node_modules', name)
  for (const [path, text] of files) {
    await mkdir(dirname(join(place, path)), { recursive: true })
    await writeFile(join(place, path), text)
  }
  const exports = Object.fromEntries(
    Object.keys(ENTRIES).map((entry) => [entry, { types: `./${fileOf(entry, files)}` }]),
  )
  await writeFile(join(place, 'package.json'), JSON.stringify({ name, type: 'module', exports }))
}

/**
 * The declarations under a name for their version, without what makes two classes of the same form differ, and without
 * the one circular type: the author's types contain a list of the author's own types. Replies of hooks are compared by
 * name only, because the compiler reports every difference in a generic method as a break.
 */
const comparable = (files: Declarations, name: string): Declarations =>
  new Map(
    [...files].map(([path, text]) => [
      path,
      text
        .replaceAll(API_PACKAGE, name)
        .replace(/^\s*(?:#private;|(?:private|protected) .*;)$/gm, '')
        .replace(/(?<=^export interface Registry \{)[^}]*/m, '')
        .replace(/^ *adaptations\?: .*$/m, '')
        .replace(/^ *hook<.*$/m, 'hook(name: HookName): readonly unknown[];'),
    ]),
  )
