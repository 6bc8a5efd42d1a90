/**
 * Where plugins come from: the built-in ones, and folders named in the settings, bundled against the one copy of core.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartError } from '../error.ts'
import { rememberCode } from '../error-origin.ts'
import { IMPORTABLE, isSource, OWN_FOLDER } from '../own-files.ts'
import { writeWhole } from '../whole-file.ts'
import type { Plugin } from './define.ts'

/** A plugin with the place it came from, for messages. Nothing of it has been checked yet. */
export interface FoundPlugin {
  plugin: Plugin
  origin: string
  isOutside?: boolean
  /** AV_PLUGINS_OFF names its folder: nothing of it was run, so there is no more than a name. */
  isUnread?: boolean
}

const BUILT_IN = fileURLToPath(new URL('plugins/', OWN_FOLDER))
const MANIFESTS = ['plugin.ts', 'plugin.js']
const LOAD_WITHIN_MS = 60_000

export const isLeftOut = (off: readonly string[], name: string, isOutside: boolean): boolean =>
  off.includes(name) || (isOutside && off.includes('all'))

/** The built-in plugins. */
export async function findBuiltIn(): Promise<FoundPlugin[]> {
  const entry = isSource ? 'plugin.ts' : 'plugin.js'
  const found = (await readdir(BUILT_IN)).sort().filter((name) => existsSync(join(BUILT_IN, name, entry)))
  return Promise.all(
    found.map(async (name) => ({
      plugin: await load(pathToFileURL(join(BUILT_IN, name, entry)).href, join('plugins', name)),
      origin: join('plugins', name),
    })),
  )
}

/**
 * The plugins of folders from outside: each holds `plugin.ts` or `plugin.js`, or subfolders that do.
 * They are bundled into `<cache>/<name>-<hash>.mjs`; their `import.meta.url` stays that of their own `plugin.ts`.
 * @param off  AV_PLUGINS_OFF: a folder of such a name is not even read
 * @throws StartError  names the folder and what is wrong
 */
export async function findOutside(
  folders: readonly string[],
  cache: string,
  off: readonly string[] = [],
  loadWithinMs = LOAD_WITHIN_MS,
): Promise<FoundPlugin[]> {
  const found: FoundPlugin[] = []
  for (const folder of folders) {
    const entries = await entriesIn(folder)
    if (entries.length === 0)
      throw new StartError(
        `AV_PLUGINS_DIR: ${folder} holds no plugin.ts or plugin.js, nor does a folder in it; correct the setting`,
      )
    for (const { folder: origin, file } of entries) {
      const isUnread = isLeftOut(off, basename(origin), true)
      const plugin = isUnread ? { name: basename(origin) } : await outside(origin, file, cache, loadWithinMs)
      found.push({ plugin, origin, isOutside: true, isUnread })
    }
  }
  return found
}

async function entriesIn(folder: string): Promise<Array<{ folder: string; file: string }>> {
  const entryOf = (place: string) => MANIFESTS.map((name) => join(place, name)).find((path) => existsSync(path))
  const own = entryOf(folder)
  if (own) return [{ folder, file: own }]
  const names = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(
      `AV_PLUGINS_DIR: ${folder} cannot be read (${error.code}); correct the setting or the folder's permissions`,
      { cause: error },
    )
  })
  return names
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => ({ folder: join(folder, name), file: entryOf(join(folder, name)) }))
    .filter((entry): entry is { folder: string; file: string } => entry.file !== undefined)
    .sort((one, other) => (one.folder < other.folder ? -1 : 1))
}

/** Imports a bundle. Errors name the plugin, and lines of its own sources. */
async function outside(folder: string, file: string, cache: string, loadWithinMs: number): Promise<Plugin> {
  const without = `correct or remove it, or start without it: AV_PLUGINS_OFF=${basename(folder)}`
  const path = await bundled(folder, file, cache, without)
  process.setSourceMapsEnabled(true)
  const plugin = await load(pathToFileURL(path).href, folder, { without, withinMs: loadWithinMs })
  if (typeof plugin.name === 'string') rememberCode(plugin.name, [join(folder, '/'), path])
  return plugin
}

/** @returns path of the bundle */
async function bundled(folder: string, file: string, cache: string, without: string): Promise<string> {
  const { buildSync } = await import('esbuild')
  const stem = basename(folder).replace(/[^A-Za-z0-9_-]/g, '_')
  let text: string
  try {
    // Synchronous: nothing else runs yet, and no child of the bundler stays behind.
    const { outputFiles } = buildSync({
      entryPoints: [file],
      bundle: true,
      write: false,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      sourcemap: 'inline',
      sourcesContent: false,
      // No file is written there: the source map names sources relative to it.
      outfile: join(cache, `${stem}.mjs`),
      logLevel: 'silent',
      alias: Object.fromEntries(Object.entries(IMPORTABLE).map(([name, { href }]) => [name, href])),
      external: ['file:*'],
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
    })
    text = outputFiles[0]!.text
  } catch (error) {
    throw new StartError(`plugin ${folder} cannot be built: ${firstLine(error)}; ${without}`, { cause: error })
  }
  const name = `${stem}-${createHash('sha256').update(file).update(text).digest('hex').slice(0, 12)}.mjs`
  const path = join(cache, name)
  if (!existsSync(path) || (await readFile(path, 'utf8')) !== text) {
    await mkdir(cache, { recursive: true, mode: 0o700 })
    await writeWhole(path, text)
    const old = (await readdir(cache)).filter(
      (other) => other.startsWith(`${stem}-`) && other.length === name.length && other !== name,
    )
    await Promise.all(old.map((other) => rm(join(cache, other), { force: true })))
  }
  return path
}

async function load(
  url: string,
  origin: string,
  { without = 'correct or remove it', withinMs = LOAD_WITHIN_MS } = {},
): Promise<Plugin> {
  let module: { default?: unknown }
  // A timer that keeps the process alive: nothing else may, while a plugin awaits something at the top of its file.
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>(
    (_resolve, reject) =>
      (timer = setTimeout(() => reject(new Error(`it takes longer than ${withinMs / 1000} s`)), withinMs)),
  )
  try {
    module = (await Promise.race([import(url), tooLong])) as { default?: unknown }
  } catch (error) {
    throw new StartError(`plugin ${origin} cannot be loaded: ${firstLine(error)}; ${without}`, { cause: error })
  } finally {
    clearTimeout(timer)
  }
  if (typeof module.default !== 'object' || module.default === null) {
    throw new StartError(`plugin ${origin} has no default export; it must be the value of definePlugin({ … })`)
  }
  return module.default as Plugin
}

interface BuildFailure {
  errors?: Array<{ text: string; location: { file: string; line: number } | null }>
}

function firstLine(thrown: unknown): string {
  const [first] = (thrown as BuildFailure).errors ?? []
  if (first)
    return first.location ? `${first.text} (${basename(first.location.file)}, line ${first.location.line})` : first.text
  return (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')[0]!
}
