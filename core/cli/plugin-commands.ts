/** `archivolt plugin add`, `list`, `update` and `remove`: plugins in `<data>/plugins`, also while a server runs. */
import { existsSync } from 'node:fs'
import { readCore, readSources } from '../../config/load-settings.ts'
import type { Plugin } from '../plugin/define.ts'
import { registerWhole } from '../plugin/load.ts'
import { writeSwitchedOff } from '../plugin/switched-off.ts'
import { addedNamed, addPlugin, removePlugin } from './add-plugin.ts'
import { addedFolder, addedPlugins } from './added-plugins.ts'
import { refuseOtherUser } from './at-rest.ts'
import { findPlugins } from './find-plugins.ts'
import { forgetPlugin } from './forget-plugin.ts'
import type { OwnCommand } from './own-command.ts'

const AFTER = 'Restart the server for it to take effect'

const called = ({ name, version }: Plugin): string => (version === undefined ? name : `${name} ${version}`)

const add: OwnCommand = {
  name: 'plugin add',
  summary: 'Add a plugin: an npm package, a folder or a tarball. It may do everything that the server may',
  takes: ['what'],
  async run({ taken: [from = ''], say }) {
    const core = openCore()
    const plugin = await addPlugin(core, from)
    say(`The plugin ${called(plugin)} is in ${addedFolder(core.dataDir)}. ${AFTER}`)
  },
}

const list: OwnCommand = {
  name: 'plugin list',
  summary: 'List the plugins that do not come with Archivolt, and where they are from',
  async run({ say }) {
    const core = readCore(readSources())
    const found = await findPlugins({ ...core, pluginsStrict: false })
    const { off } = await registerWhole(found, { ...core, pluginsStrict: false })
    const sources = new Map((await addedPlugins(core.dataDir)).map(({ folder, from }) => [folder, from]))
    const outside = found.filter(({ isOutside }) => isOutside)
    for (const { plugin, origin } of outside) {
      const left = off.find((one) => one.origin === origin)
      const state = left ? (left.fault === undefined ? 'off' : `left out: ${left.fault}`) : 'on'
      say([called(plugin), state, sources.get(origin) ?? origin].join('  '))
    }
    if (outside.length === 0) say('No plugin was added. Add one with archivolt plugin add <what>')
  },
}

const update: OwnCommand = {
  name: 'plugin update',
  summary: 'Take the newest version of a plugin, from where it was added; without a name: of all',
  takes: ['name?'],
  async run({ taken: [name], say }) {
    const core = openCore()
    const all = await addedPlugins(core.dataDir)
    const some =
      name === undefined ? all.filter(({ from }) => from !== undefined) : [await addedNamed(core.dataDir, name)]
    for (const one of some) {
      if (one.from === undefined) throw new Error(`${one.root} was put there by hand: replace it in the same way`)
      say(`The plugin ${called(await addPlugin(core, one.from, one.name))} is in ${one.root}. ${AFTER}`)
    }
    if (some.length === 0) say('No plugin was added')
  },
}

const remove: OwnCommand = {
  name: 'plugin remove',
  summary: 'Remove a plugin. Its tables, documents, preferences and schedules stay for when it comes back',
  takes: ['name'],
  options: {
    'with-data': { type: 'boolean', meaning: 'delete its data too, for good (stop the server first)' },
  },
  async run({ taken: [name = ''], options, say, log }) {
    const { dataDir } = openCore()
    const added = await addedNamed(dataDir, name)
    if (options['with-data'] === true) await forgetPlugin(added.name, dataDir, log)
    await removePlugin(dataDir, added.name)
    await writeSwitchedOff(dataDir, added.name, false)
    say(`The plugin ${added.name} is removed${options['with-data'] === true ? ', with its data' : ''}. ${AFTER}`)
  },
}

/** @throws a sentence: the folder belongs to another user */
function openCore() {
  const core = readCore(readSources())
  if (existsSync(core.dataDir)) refuseOtherUser(core.dataDir)
  return core
}

export const pluginCommands: readonly OwnCommand[] = [add, list, update, remove]
