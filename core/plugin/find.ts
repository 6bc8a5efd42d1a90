/** Where plugins come from: the built-in ones, and folders named in the settings, bundled against the one copy of core. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartError } from '../error.ts'
import { writeWhole } from '../whole-file.ts'
import type { Plugin } from './define.ts'

/** A plugin with the place it came from, for messages. Nothing of it has been checked yet. */
export interface FoundPlugin {
  plugin: Plugin
  origin: string
}

/** Read from sources (tests, `make dev`) or from the bundle: there this file is a part of some `dist/*.js`. */
const isSource = import.meta.url.endsWith('.ts')
const BUILT_IN = fileURLToPath(new URL(isSource ? '../../plugins/' : './plugins/', import.meta.url))
const PUBLIC = new URL(isSource ? '../public.ts' : './public.js', import.meta.url).href
const ENTRIES = ['plugin.ts', 'plugin.js']

/** The plugins that come along. */
export async function findBuiltIn(): Promise<FoundPlugin[]> {
  const entry = isSource ? 'plugin.ts' : 'plugin.js'
  const found = (await readdir(BUILT_IN)).sort().filter((name) => existsSync(join(BUILT_IN, name, entry)))
  return Promise.all(found.map((name) => load(pathToFileURL(join(BUILT_IN, name, entry)).href, join('plugins', name))))
}

/**
 * The plugins of folders from outside: each holds `plugin.ts` or `plugin.js`, or subfolders that do.
 * They are bundled into `<cache>/<name>-<hash>.mjs`; their `import.meta.url` stays that of their own `plugin.ts`.
 * @throws StartError  names the folder and what is wrong
 */
export async function findOutside(folders: readonly string[], cache: string): Promise<FoundPlugin[]> {
  const found: FoundPlugin[] = []
  for (const folder of folders) {
    const entries = await entriesIn(folder)
    if (entries.length === 0) throw new StartError(`AV_PLUGINS_DIR: ${folder} holds no plugin.ts or plugin.js, nor does a folder in it; correct the setting`)
    for (const entry of entries) found.push(await load(await bundled(entry.folder, entry.file, cache), entry.folder))
  }
  return found
}

async function entriesIn(folder: string): Promise<Array<{ folder: string; file: string }>> {
  const entryOf = (place: string) => ENTRIES.map((name) => join(place, name)).find((path) => existsSync(path))
  const own = entryOf(folder)
  if (own) return [{ folder, file: own }]
  const names = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    throw new StartError(`AV_PLUGINS_DIR: ${folder} cannot be read (${error.code}); correct the setting or the folder's permissions`, { cause: error })
  })
  return names
    .filter((entry) => entry.isDirectory() || entry.isSymbolicLink())
    .map(({ name }) => ({ folder: join(folder, name), file: entryOf(join(folder, name)) }))
    .filter((entry): entry is { folder: string; file: string } => entry.file !== undefined)
    .sort((one, other) => (one.folder < other.folder ? -1 : 1))
}

/** @returns URL of the bundle */
async function bundled(folder: string, file: string, cache: string): Promise<string> {
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
      logLevel: 'silent',
      alias: { archivolt: PUBLIC },
      external: ['file:*'],
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
    })
    text = outputFiles[0]!.text
  } catch (error) {
    throw new StartError(`plugin ${folder} cannot be built: ${firstLine(error)}; correct or remove it`, { cause: error })
  }
  const name = `${stem}-${createHash('sha256').update(file).update(text).digest('hex').slice(0, 12)}.mjs`
  const path = join(cache, name)
  if (!existsSync(path) || (await readFile(path, 'utf8')) !== text) {
    await mkdir(cache, { recursive: true, mode: 0o700 })
    await writeWhole(path, text)
    const old = (await readdir(cache)).filter((other) => other.startsWith(`${stem}-`) && other.length === name.length && other !== name)
    await Promise.all(old.map((other) => rm(join(cache, other), { force: true })))
  }
  return pathToFileURL(path).href
}

async function load(url: string, origin: string): Promise<FoundPlugin> {
  let module: { default?: unknown }
  try {
    module = (await import(url)) as { default?: unknown }
  } catch (error) {
    throw new StartError(`plugin ${origin} cannot be loaded: ${firstLine(error)}; correct or remove it`, { cause: error })
  }
  if (typeof module.default !== 'object' || module.default === null) {
    throw new StartError(`plugin ${origin} has no default export; it must be the value of definePlugin({ … })`)
  }
  return { plugin: module.default as Plugin, origin }
}

interface BuildFailure {
  errors?: Array<{ text: string; location: { file: string; line: number } | null }>
}

function firstLine(thrown: unknown): string {
  const [first] = (thrown as BuildFailure).errors ?? []
  if (first) return first.location ? `${first.text} (${basename(first.location.file)}, line ${first.location.line})` : first.text
  return (thrown instanceof Error ? thrown.message : String(thrown)).split('\n')[0]!
}
