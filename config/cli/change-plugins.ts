/** Changes the plugins in `<data>/plugins`: a new one is checked together with the others before it is put in place. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { PluginSettings } from '../../core/app.ts'
import { saidBy } from '../../core/base/error.ts'
import { syncFolder, writeWhole } from '../../core/base/whole-file.ts'
import { openDataFolder } from '../../core/folder.ts'
import { type FolderLock, holdFile, LockError } from '../../core/ledger/lock.ts'
import { openLog } from '../../core/log.ts'
import { PLUGIN_KEYWORD } from '../../core/plugin/api.ts'
import type { AddedPlugin, AddedPlugins } from '../../core/plugin/command.ts'
import type { Plugin } from '../../core/plugin/define.ts'
import type { FoundPlugin } from '../../core/plugin/found.ts'
import { writeSwitchedOff } from '../../core/plugin/switched-off.ts'
import { StartError } from '../../core/start-error.ts'
import { addedAt, addedFolder, addedPlugins, OLD, restoreFormer } from './added-plugins.ts'
import { refuseOtherUser } from './at-rest.ts'
import { findOutside, findPlugins, registerWhole } from './find-plugins.ts'
import { forgetPlugin } from './forget-plugin.ts'
import { tryOut } from './try-out.ts'

const STAGE = '.new-'
const GONE = '.gone-'

export function openAddedPlugins(core: PluginSettings): AddedPlugins {
  const { dataDir } = core
  const lenient = { ...core, pluginsStrict: false }
  const base = addedFolder(dataDir)
  return {
    list: () => addedPlugins(dataDir),
    named: (name) => addedNamed(dataDir, name),
    async found() {
      const found = await findPlugins(lenient)
      const { off } = await registerWhole(found, lenient)
      return found
        .filter(({ isOutside }) => isOutside)
        .map(({ plugin, origin }) => {
          const left = off.find((one) => one.origin === origin)
          const { name, version } = plugin
          return {
            name,
            ...(version !== undefined && { version }),
            origin,
            isOff: left !== undefined,
            ...(left?.fault !== undefined && { fault: left.fault }),
          }
        })
    },
    async add(from, install, update) {
      refuseOtherUser(dataDir)
      if (!existsSync(dataDir)) await openDataFolder(dataDir)
      return await alone(base, async () => {
        const stage = await mkdtemp(join(base, STAGE))
        try {
          await writeWhole(join(stage, 'package.json'), JSON.stringify({ private: true, archivolt: { from } }))
          await install(stage)
          const plugin = await checked(core, stage, update).catch((error: unknown) => refuse(error, stage))
          await takePlace(base, stage, plugin.name)
          return plugin
        } finally {
          await rm(stage, { recursive: true, force: true })
        }
      })
    },
    async remove(name, withData, log) {
      refuseOtherUser(dataDir)
      const { root, folder } = await addedNamed(dataDir, name)
      if (withData) await forgetPlugin(name, dataDir, log)
      await alone(base, async () => {
        // Renamed first, so that an interruption leaves no incomplete plugin.
        await rename(root, join(base, `${GONE}${basename(root)}`))
        await removeUnfinished(base)
        await removeBundles(base, basename(folder))
      })
      await writeSwitchedOff(dataDir, name, false)
    },
  }
}

/** @throws a sentence if it was not added by the command */
async function addedNamed(dataDir: string, name: string): Promise<AddedPlugin> {
  const added = await addedPlugins(dataDir)
  const found = added.find((one) => one.name === name) ?? added.find(({ packageName }) => packageName === name)
  if (found) return found
  const names = added.map((one) => one.name).join(', ')
  throw new Error(
    `No plugin ${name} was added to ${addedFolder(dataDir)}${names ? `: there are ${names}` : ''}. Plugins in AV_PLUGINS_DIR are changed there`,
  )
}

/** Loads it, checks it with all others and tries it out, so that it does not fail at the next start. */
async function checked(core: PluginSettings, stage: string, update: string | undefined): Promise<Plugin> {
  const { folder, packageName } = await addedAt(stage, '')
  const cache = join(stage, 'bundle')
  const [found] = packageName === undefined ? [] : await findOutside([folder], cache)
  if (!found) {
    const { name } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { name: string }
    throw new Error(`${name} is not a plugin: the keywords in its package.json do not contain ${PLUGIN_KEYWORD}`)
  }
  const { plugin } = found
  if (update !== undefined && plugin.name !== update)
    throw new Error(`It is another plugin now: ${plugin.name}, not ${update}. Remove ${update} and add ${plugin.name}`)
  const others = (await findPlugins({ ...core, pluginsStrict: false })).filter((one) => !isSame(one, found, core))
  const loaded = await registerWhole([...others, found], { pluginsOff: [], pluginsStrict: false })
  const fault =
    loaded.off.find(({ origin }) => origin === found.origin)?.fault ??
    (await tryOut([plugin], loaded, core.dataDir, openLog(core.logLevel))).get(plugin.name)
  if (fault !== undefined) throw new Error(fault)
  await rm(cache, { recursive: true, force: true })
  return plugin
}

/** Leaves out the path of the temporary folder, and the remedy for a plugin that is installed already. */
function refuse(error: unknown, stage: string): never {
  const said = error instanceof StartError ? error.reason : saidBy(error)
  throw new Error(said.replaceAll(`${join(stage, 'node_modules')}/`, '').replace(/"[^"]*\/(?=[^"/]+")/g, '"'), {
    cause: error,
  })
}

/** Whether it is the plugin that is replaced. */
const isSame = ({ plugin, origin }: FoundPlugin, found: FoundPlugin, { dataDir }: PluginSettings): boolean =>
  plugin.name === found.plugin.name && origin.startsWith(join(addedFolder(dataDir), '/'))

async function takePlace(base: string, stage: string, name: string): Promise<void> {
  const [target, old] = [join(base, name), join(base, `${OLD}${name}`)]
  await rm(old, { recursive: true, force: true })
  await rename(target, old).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  await rename(stage, target)
  syncFolder(base)
  await rm(old, { recursive: true, force: true })
}

/** Runs one call at a time, after removing the remains of an interrupted one. */
async function alone<Result>(base: string, work: () => Promise<Result>): Promise<Result> {
  await mkdir(base, { recursive: true, mode: 0o700 })
  const lock = holdLock(join(base, '.lock'))
  try {
    await restoreFormer(base)
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
