/**
 * The commands `archivolt plugin add`, `list`, `update` and `remove` for plugins in `<data>/plugins`. They also work
 * while a server runs.
 */
import type { AddedPlugins, AsideCommand } from 'archivolt'
import { install, originOf } from './install.ts'

const AFTER = 'Restart the server for it to take effect'

const called = ({ name, version }: { name: string; version?: string }): string =>
  version === undefined ? name : `${name} ${version}`

/** @returns the message for the user */
async function addFrom(what: string, added: AddedPlugins, update?: string): Promise<string> {
  const origin = await originOf(what)
  const plugin = await added.add(origin.from, (folder) => install(folder, origin), update)
  return `The plugin ${called(plugin)} is in ${(await added.named(plugin.name)).root}. ${AFTER}`
}

const leftOut = async ({ found }: AddedPlugins): Promise<string[]> =>
  (await found()).filter(({ fault }) => fault !== undefined).map(({ name }) => name)

const add: AsideCommand = {
  name: 'plugin add',
  summary: 'Add a plugin: an npm package, a folder or a tarball. It can do everything that the server can',
  takes: ['what'],
  run: async ({ taken: [what = ''], say }, added) => say(await addFrom(what, added)),
}

const list: AsideCommand = {
  name: 'plugin list',
  summary: 'List the plugins that do not come with Archivolt, and their sources',
  async run({ say }, added) {
    // This also completes an interrupted update.
    const found = await added.found()
    const sources = new Map((await added.list()).map(({ folder, from }) => [folder, from]))
    for (const { origin, isOff, fault, ...plugin } of found) {
      const state = fault === undefined ? (isOff ? 'off' : 'on') : `left out: ${fault}`
      say([called(plugin), state, sources.get(origin) ?? origin].join('  '))
    }
    if (found.length === 0) say('No plugin was added. Add one with archivolt plugin add <what>')
  },
}

const update: AsideCommand = {
  name: 'plugin update',
  summary: 'Install the newest version of a plugin, from where it was added; without a name: of all plugins',
  takes: ['name?'],
  async run({ taken: [name], say }, added) {
    const all = await added.list()
    const some = name === undefined ? all.filter(({ from }) => from !== undefined) : [await added.named(name)]
    for (const { name: own, root, from } of some) {
      if (from === undefined) throw new Error(`${root} was put there by hand: replace it in the same way`)
      say(await addFrom(from, added, own))
    }
    if (some.length === 0) say('No plugin was added')
  },
}

const remove: AsideCommand = {
  name: 'plugin remove',
  summary: 'Remove a plugin. Its tables, documents, preferences and schedules stay in case you add it again',
  takes: ['name'],
  options: {
    'with-data': { type: 'boolean', meaning: 'delete its data too, for good (stop the server first)' },
  },
  async run({ taken: [what = ''], options, say, log }, added) {
    const withData = options['with-data'] === true
    const { name } = await added.named(what)
    const before = await leftOut(added)
    await added.remove(name, withData, log)
    const lacking = (await leftOut(added)).filter((one) => !before.includes(one))
    const others = lacking.length > 0 ? ` These plugins need it and will be left out: ${lacking.join(', ')}.` : ''
    say(`The plugin ${name} is removed${withData ? ', with its data' : ''}.${others} ${AFTER}`)
  },
}

export const asideCommands: readonly AsideCommand[] = [add, list, update, remove]
