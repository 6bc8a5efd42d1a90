/**
 * Adds a plugin to `<data>/plugins`: npm installs it beside, it is loaded and checked with those that are there, and
 * only then it takes its place.
 */
import { cp, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type { PluginSettings } from '../app.ts'
import { StartError, saidBy } from '../error.ts'
import { type FolderLock, holdFile, LockError } from '../ledger/lock.ts'
import type { Plugin } from '../plugin/define.ts'
import type { FoundPlugin } from '../plugin/found.ts'
import { registerWhole } from '../plugin/load.ts'
import { syncFolder, writeWhole } from '../whole-file.ts'
import { type AddedPlugin, addedAt, addedFolder, addedPlugins, OLD, takeBackOld } from './added-plugins.ts'
import { findOutside, findPlugins } from './find-plugins.ts'
import { npm } from './npm.ts'
import { KEYWORD } from './packages.ts'
import { buildPages } from './pages.ts'

/** What npm takes for the name of a package, with a version or a range. */
const NPM_NAME = /^(@[a-z0-9][a-z0-9._-]*\/)?[a-z0-9][a-z0-9._-]*(@[\w.^~<>=*| +-]+)?$/
const TARBALL = /\.(tgz|tar\.gz)$/
const STAGE = '.new-'
const GONE = '.gone-'

/**
 * @param from  the name of an npm package, a folder or a tarball
 * @param update  the plugin that it must be
 * @throws a sentence; everything is then as it was
 */
export async function addPlugin(core: PluginSettings, from: string, update?: string): Promise<Plugin> {
  const base = addedFolder(core.dataDir)
  return await alone(base, async () => {
    const stage = await mkdtemp(join(base, STAGE))
    try {
      await install(stage, await originOf(from))
      const plugin = await checked(core, stage, update).catch((error: unknown) => refuse(error, stage))
      await takePlace(base, stage, plugin.name)
      return plugin
    } finally {
      await rm(stage, { recursive: true, force: true })
    }
  })
}

/** Removes the code of a plugin. @throws a sentence if no such plugin was added */
export async function removePlugin(dataDir: string, name: string): Promise<void> {
  const base = addedFolder(dataDir)
  const { root, folder } = await addedNamed(dataDir, name)
  await alone(base, async () => {
    // Renamed first: an interruption leaves no half plugin.
    await rename(root, join(base, `${GONE}${basename(root)}`))
    await removeUnfinished(base)
    await removeBundles(base, basename(folder))
  })
}

/** @throws a sentence: nobody has added it */
export async function addedNamed(dataDir: string, name: string): Promise<AddedPlugin> {
  const added = await addedPlugins(dataDir)
  const found = added.find((one) => one.name === name) ?? added.find(({ packageName }) => packageName === name)
  if (found) return found
  const names = added.map((one) => one.name).join(', ')
  throw new Error(
    `No plugin ${name} was added to ${addedFolder(dataDir)}${names ? `: there are ${names}` : ''}. Plugins in AV_PLUGINS_DIR are changed there`,
  )
}

/** A spec for npm; a path is absolute. */
interface Origin {
  from: string
  kind: 'npm' | 'folder' | 'tarball'
}

/** As npm does: a path has a slash or ends like a tarball, or can be no name. */
async function originOf(from: string): Promise<Origin> {
  if (NPM_NAME.test(from) && !TARBALL.test(from)) return { from, kind: 'npm' }
  const path = resolve(from)
  const found = await stat(path).catch(() => undefined)
  if (found?.isDirectory()) return { from: path, kind: 'folder' }
  if (found && TARBALL.test(from)) return { from: path, kind: 'tarball' }
  throw new Error(
    found
      ? `${from} is neither a folder nor a tarball (.tgz)`
      : `${from} is neither a file or folder nor the name of an npm package`,
  )
}

async function install(stage: string, { from, kind }: Origin): Promise<void> {
  const own = { private: true, archivolt: { from } }
  await writeWhole(join(stage, 'package.json'), JSON.stringify(own))
  let spec = from
  if (kind !== 'npm') {
    spec = join(stage, 'plugin.tgz')
    if (kind === 'tarball') await cp(from, spec)
    else await rename(join(stage, await packed(stage, from)), spec)
  }
  await npm(stage, ['install', kind === 'npm' ? spec : './plugin.tgz'])
  await rm(join(stage, '.npm'), { recursive: true, force: true })
}

/** A plain folder becomes a package first. @returns the name of the tarball in `stage` */
async function packed(stage: string, folder: string): Promise<string> {
  const source = join(stage, 'source')
  await cp(folder, source, {
    recursive: true,
    filter: (path) => !/^(node_modules|\.git|\.data)$/.test(basename(path)) || path === folder,
  })
  const file = join(source, 'package.json')
  const hasOwn = await stat(file).then(
    () => true,
    () => false,
  )
  if (!hasOwn) {
    const entry = (await readdir(source)).find((name) => name === 'plugin.ts' || name === 'plugin.js')
    if (entry === undefined) throw new Error(`${folder} holds no package.json, and no plugin.ts or plugin.js`)
    const name = `archivolt-plugin-${basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9-]+/g, '-')}`
    const made = { name, version: '0.0.0', type: 'module', keywords: [KEYWORD], exports: `./${entry}` }
    await writeFile(file, JSON.stringify(made))
  }
  const said = await npm(stage, ['pack', './source', '--json', '--pack-destination', '.'])
  const [{ filename }] = JSON.parse(said) as [{ filename: string }]
  await rm(source, { recursive: true, force: true })
  return basename(filename)
}

/** Loads it and checks it with all others, as a start does. */
async function checked(core: PluginSettings, stage: string, update: string | undefined): Promise<Plugin> {
  const { folder, packageName } = await addedAt(stage, '')
  const cache = join(stage, 'bundle')
  const [found] = packageName === undefined ? [] : await findOutside([folder], cache)
  if (!found) {
    const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { name: string }
    throw new Error(`${name} is no plugin: the keywords in its package.json do not contain ${KEYWORD}`)
  }
  const { plugin } = found
  if (update !== undefined && plugin.name !== update)
    throw new Error(`It is another plugin now: ${plugin.name}, not ${update}. Remove ${update} and add ${plugin.name}`)
  const others = (await findPlugins({ ...core, pluginsStrict: false })).filter((one) => !isSame(one, found, core))
  const { off } = await registerWhole([...others, found], { pluginsOff: [], pluginsStrict: false })
  const fault = off.find(({ origin }) => origin === found.origin)?.fault
  if (fault !== undefined) throw new Error(fault)
  buildPages([plugin])
  await rm(cache, { recursive: true, force: true })
  return plugin
}

/** Without the folder, which nobody has seen, and without the remedy for a plugin that is there already. */
function refuse(error: unknown, stage: string): never {
  const said = error instanceof StartError ? error.reason : saidBy(error)
  throw new Error(said.replaceAll(`${join(stage, 'node_modules')}/`, '').replace(/"[^"]*\/(?=[^"/]+")/g, '"'), {
    cause: error,
  })
}

/** The one in whose place it comes. */
const isSame = ({ plugin, origin }: FoundPlugin, found: FoundPlugin, { dataDir }: PluginSettings): boolean =>
  plugin.name === found.plugin.name && origin.startsWith(join(addedFolder(dataDir), '/'))

async function takePlace(base: string, stage: string, name: string): Promise<void> {
  const [place, old] = [join(base, name), join(base, `${OLD}${name}`)]
  await rm(old, { recursive: true, force: true })
  await rename(place, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rename(stage, place)
  syncFolder(base)
  await rm(old, { recursive: true, force: true })
}

/** One call at a time, after what an interrupted one has left was removed. */
async function alone<Result>(base: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(base, { recursive: true, mode: 0o700 })
  const lock = holdLock(join(base, '.lock'))
  try {
    await takeBackOld(base)
    await removeUnfinished(base)
    return await work()
  } finally {
    lock.release()
  }
}

function holdLock(file: string): FolderLock {
  try {
    return holdFile(file)
  } catch (error) {
    if (!(error instanceof LockError && error.refusal === 'taken')) throw error
    throw new Error('Plugins are being added or removed right now: wait until that has ended', { cause: error })
  }
}

async function removeUnfinished(base: string): Promise<void> {
  for (const name of await readdir(base))
    if ([STAGE, OLD, GONE].some((start) => name.startsWith(start)))
      await rm(join(base, name), { recursive: true, force: true })
}

async function removeBundles(base: string, stem: string): Promise<void> {
  for (const file of await readdir(base))
    if (file.startsWith(`${stem}-`) && /^[0-9a-f]{12}\.mjs$/.test(file.slice(stem.length + 1)))
      await rm(join(base, file), { force: true })
}
