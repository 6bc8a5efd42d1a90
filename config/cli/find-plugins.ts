/**
 * Finds the built-in plugins and those in folders named in the settings, which are bundled against the one copy of
 * core.
 */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { PluginSettings } from '../../core/app.ts'
import { writeWhole } from '../../core/base/whole-file.ts'
import { rememberCode } from '../../core/error-origin.ts'
import { openLog } from '../../core/log.ts'
import { isSource, OWN_FOLDER } from '../../core/own-files.ts'
import { API_PACKAGE } from '../../core/plugin/api.ts'
import type { Plugin } from '../../core/plugin/define.ts'
import { type About, brokenOne, type FoundPlugin, isLeftOut, withoutBroken } from '../../core/plugin/found.ts'
import { type LoadedPlugins, registerPlugins } from '../../core/plugin/load.ts'
import { readSwitchedOff } from '../../core/plugin/switched-off.ts'
import { StartError } from '../../core/start-error.ts'
import { addedFolder, addedPlugins, restoreFormer } from './added-plugins.ts'
import { bundle, firstLine } from './bundle.ts'
import { noPluginIn, type PluginFolder, pluginsIn } from './packages.ts'

const BUILT_IN = fileURLToPath(new URL('plugins/', OWN_FOLDER))
const LOAD_WITHIN_MS = 60_000

/** Registers plugins without those from outside that are broken. With `pluginsStrict` it throws instead. */
export const registerWhole = (
  all: readonly FoundPlugin[],
  { pluginsOff, pluginsStrict }: Pick<PluginSettings, 'pluginsOff' | 'pluginsStrict'>,
): Promise<LoadedPlugins> => withoutBroken(all, pluginsStrict, (working) => registerPlugins(working, pluginsOff))

/**
 * The built-in plugins, those of AV_PLUGINS_DIR and those in `<data>/plugins`, unordered and unchecked.
 * @throws StartError  with AV_PLUGINS_STRICT, for one that cannot be loaded
 */
export async function findPlugins({ pluginsDir, ...settings }: PluginSettings): Promise<FoundPlugin[]> {
  const { pluginsOff, pluginsStrict, dataDir, logLevel } = settings
  const cache = addedFolder(dataDir)
  const options = { off: pluginsOff, isStrict: pluginsStrict }
  const found = await findBuiltIn()
  for (const folder of pluginsDir) {
    const outside = await findOutside([folder], cache, options)
    if (outside.length === 0) {
      if (pluginsStrict) throw new StartError(noPluginIn(folder))
      openLog(logLevel).warn(noPluginIn(folder))
    }
    found.push(...outside)
  }
  await restoreFormer(cache)
  for (const { name, folder, from } of await addedPlugins(dataDir)) {
    // With AV_PLUGINS_DIR on the same folder, plain folders in it were found above.
    if (from === undefined && pluginsDir.some((one) => resolve(one) === resolve(cache))) continue
    const added = existsSync(folder)
      ? await findOutside([folder], cache, { ...options, called: name })
      : [brokenOne(name, folder, new StartError('its files are missing: remove it and add it again'))]
    found.push(...added.map((one) => ({ ...one, isAdded: true })))
  }
  const switchedOff = await readSwitchedOff(dataDir)
  return found.map((one) =>
    one.isOutside && switchedOff.includes(one.plugin.name) ? { ...one, isSwitchedOff: true } : one,
  )
}

interface FindOptions {
  /** AV_PLUGINS_OFF: no code of a folder or package with such a name is run. */
  off?: readonly string[]
  /** AV_PLUGINS_STRICT: throws instead of leaving a plugin out. */
  isStrict?: boolean
  loadWithinMs?: number
  /** The name of a broken plugin; default: that of its folder. */
  called?: string
}

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
 * Finds plugins in external folders, and in packages that npm has installed there (`packages.ts`). They are bundled
 * into `<cache>/<name>-<hash>.mjs`; their `import.meta.url` remains that of their own `plugin.ts`.
 * @throws StartError  if strict: names the folder and the problem
 */
export async function findOutside(
  folders: readonly string[],
  cache: string,
  { off = [], isStrict = true, loadWithinMs = LOAD_WITHIN_MS, called }: FindOptions = {},
): Promise<FoundPlugin[]> {
  const found: FoundPlugin[] = []
  const leaveOut = (name: string, origin: string, error: unknown, about?: About): void => {
    if (isStrict) throw error
    found.push(brokenOne(called ?? name, origin, error, about))
  }
  for (const folder of folders) {
    let inside: PluginFolder[] = []
    try {
      inside = await pluginsIn(folder, bundle)
    } catch (error) {
      leaveOut(basename(folder), folder, error)
    }
    for (const one of inside) {
      const isUnread = [one.name, basename(one.folder), called ?? one.name].some((name) => isLeftOut(off, name, true))
      try {
        const plugin = isUnread ? { ...one.about, name: called ?? one.name } : await outside(one, cache, loadWithinMs)
        found.push({ plugin, origin: one.folder, about: one.about, isOutside: true, isUnread })
      } catch (error) {
        leaveOut(one.name, one.folder, error, one.about)
      }
    }
  }
  return found
}

/** Builds and imports a bundle. Errors name the plugin and lines of its own sources. */
async function outside(found: PluginFolder, cache: string, loadWithinMs: number): Promise<Plugin> {
  const { name, folder, about } = found
  const path = await bundled(found, cache)
  process.setSourceMapsEnabled(true)
  const plugin = await load(pathToFileURL(path).href, folder, { leaveOut: name, withinMs: loadWithinMs })
  if (typeof plugin.name === 'string') rememberCode(plugin.name, [join(folder, '/'), path])
  return { ...about, ...plugin }
}

/** @returns path of the bundle */
async function bundled({ name: own, folder, entry }: PluginFolder, cache: string): Promise<string> {
  const stem = own.replace(/[^A-Za-z0-9_-]/g, '_')
  let file: string
  let text: string
  try {
    file = entry()
    const { outputFiles } = bundle({
      entryPoints: [file],
      sourcemap: 'inline',
      sourcesContent: false,
      // No file is written to this path: it is the base of the paths in the source map.
      outfile: join(cache, `${stem}.mjs`),
      define: { 'import.meta.url': JSON.stringify(pathToFileURL(file).href) },
    })
    text = outputFiles![0]!.text
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`plugin ${folder} cannot be built: ${firstLine(error)}`, { leaveOut: own, cause: error })
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
  { leaveOut, withinMs = LOAD_WITHIN_MS }: { leaveOut?: string; withinMs?: number } = {},
): Promise<Plugin> {
  let module: { default?: unknown }
  // The timer keeps the process alive: while a plugin awaits something at its top level, nothing else may.
  let timer: NodeJS.Timeout | undefined
  const tooLong = new Promise<never>(
    (_resolve, reject) =>
      (timer = setTimeout(() => reject(new Error(`it takes longer than ${withinMs / 1000} s`)), withinMs)),
  )
  try {
    module = (await Promise.race([import(url), tooLong])) as { default?: unknown }
  } catch (error) {
    throw new StartError(`plugin ${origin} cannot be loaded: ${reasonOf(error)}`, { leaveOut, cause: error })
  } finally {
    clearTimeout(timer)
  }
  if (typeof module.default !== 'object' || module.default === null) {
    throw new StartError(`plugin ${origin} has no default export, which must be the value of definePlugin({ … })`, {
      leaveOut,
    })
  }
  return module.default as Plugin
}

/** Explains two mistakes whose messages name only files of Archivolt. */
function reasonOf(error: unknown): string {
  const said = firstLine(error)
  if (/^Dynamic require of "file:/.test(said))
    return 'it is a CommonJS module: use import and export, and set "type": "module" in its package.json'
  const [, part] = /\/public(?:-index)?\.[jt]s\/([\w./-]+)/.exec(said) ?? []
  return part === undefined
    ? said
    : `there is no ${API_PACKAGE}/${part} for its code: import from ${API_PACKAGE}, or types from ${API_PACKAGE}/page`
}
