/** Checks the plugins, orders them by needs, checks them together, and registers everything they bring. */
import { basename } from 'node:path'
import type { SettingDefinition } from '../../config/schema.ts'
import { adaptersOf } from '../index/adapter.ts'
import type { LaneRule } from '../lane-rules.ts'
import type { MigrationOwner } from '../ledger/migrate.ts'
import { joinSections } from '../ledger/preferences.ts'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import { checkPlugin, checkTogether, deprecationsOf } from './check.ts'
import type { Method, Plugin, Registry, Route } from './define.ts'
import { type FoundPlugin, isLeftOut } from './found.ts'
import { openHearing } from './outside.ts'

export type LoadedPlugins = ReturnType<typeof register>

let last: { plugins: readonly Plugin[]; loaded: LoadedPlugins } | undefined

/** @param pluginsOff  names; `all`: all from outside. @throws StartError  names the plugin and the reason */
export function registerPlugins(all: readonly FoundPlugin[], pluginsOff: readonly string[] = []): LoadedPlugins {
  // Built-in plugins never change: a test process that opens one server after another registers them once.
  if (pluginsOff.length > 0 || all.some(({ isOutside, isUnread }) => isOutside || isUnread))
    return register(all, pluginsOff)
  const plugins = all.map(({ plugin }) => plugin)
  const isKnown = last?.plugins.length === plugins.length && plugins.every((plugin, at) => plugin === last?.plugins[at])
  if (!isKnown) last = { plugins, loaded: register(all, []) }
  return last!.loaded
}

function register(all: readonly FoundPlugin[], pluginsOff: readonly string[]) {
  const isOff = ({ plugin, isOutside = false, isUnread = false, isSwitchedOff = false }: FoundPlugin) =>
    isUnread || isSwitchedOff || isLeftOut(pluginsOff, plugin.name, isOutside)
  const [off, found] = [all.filter(isOff), all.filter((one) => !isOff(one))]
  for (const one of found) checkPlugin(one)
  checkLeftOut(found, off)
  const plugins = inOrderOfNeeds(found)
  const outside = new Set(found.filter(({ isOutside }) => isOutside).map(({ plugin }) => plugin))
  const isOutside = (plugin: Plugin) => outside.has(plugin)
  const added = new Set(all.filter(({ isAdded }) => isAdded).map(({ plugin }) => plugin))
  const leaveOut = (plugin: Plugin) => (isOutside(plugin) ? plugin.name : undefined)
  const switchedOff = off.map(({ plugin }) => plugin)
  checkTogether(plugins, switchedOff, isOutside)

  const owners = new Map<object, Plugin>()
  for (const plugin of plugins)
    for (const part of [...(plugin.routes ?? []), ...(plugin.tasks ?? [])]) owners.set(part, plugin)
  const hearing = new Map(
    plugins.filter((plugin) => isOutside(plugin) && plugin.on).map((plugin) => [plugin, openHearing(plugin)]),
  )
  for (const [plugin, { task }] of hearing) owners.set(task, plugin)
  const tasks = [...plugins.flatMap((plugin) => plugin.tasks ?? []), ...[...hearing.values()].map(({ task }) => task)]
  const registry: Registry = {
    plugins,
    routes: adapted(plugins, owners),
    tasks: new Map(tasks.map((task) => [task.name, task])),
  }
  const lanes: Record<string, LaneRule> = Object.assign(
    {},
    ...plugins.map((plugin) => rulesOf(plugin.lanes)),
    rulesOf([...hearing.values()].map(({ task }) => task.lane)),
  )
  return {
    /** Plugins in the order of needs, with all routes and tasks. */
    registry,
    settings: Object.assign({}, ...plugins.map((plugin) => plugin.settings)) as Record<string, SettingDefinition>,
    preferences: joinSections(
      plugins.map((plugin) => ({ plugin: plugin.name, sections: plugin.preferences, leaveOut: leaveOut(plugin) })),
    ),
    indexes: plugins.flatMap(({ indexes }) => indexes ?? []),
    migrations: plugins.map(
      (plugin): MigrationOwner => ({
        name: plugin.name,
        migrations: plugin.migrations ?? [],
        secretColumns: plugin.secretColumns ?? [],
        leaveOut: leaveOut(plugin),
      }),
    ),
    adapters: adaptersOf(plugins),
    /** Names of switched-off plugins with an index adapter. */
    adaptersOff: adaptersOf(switchedOff).map(({ name }) => name),
    recovery: plugins.find(({ recovery }) => recovery)?.recovery,
    reserve: plugins.find(({ reserve }) => reserve)?.reserve,
    salvage: plugins.find(({ salvage }) => salvage)?.salvage,
    /** All lanes except core's own. */
    lanes,
    /** The plugin that brought a route or a task. */
    ownerOf: (part: object) => owners.get(part),
    /** The event delivery of an external plugin; undefined: built in, or without listeners. */
    hearingOf: (plugin: Plugin) => hearing.get(plugin),
    isOutside,
    isAdded: (plugin: Plugin) => added.has(plugin),
    /** The plugins that AV_PLUGINS_OFF or an admin has switched off, and those left out because they are broken. */
    off,
    /** Names in AV_PLUGINS_OFF that no plugin has. */
    unknownOff: pluginsOff.filter((name) => name !== 'all' && !off.some(({ plugin }) => plugin.name === name)),
  }
}

function adapted(plugins: readonly Plugin[], owners: Map<object, Plugin>): Route[] {
  const routes = plugins.flatMap((plugin) => plugin.routes ?? [])
  for (const { of, at, change } of plugins.flatMap(({ adaptations }) => adaptations ?? [])) {
    const index = routes.findIndex(({ method, path }) => `${method} ${path}` === of)
    const route = routes[index]
    if (!route) continue // its plugin is switched off
    const [method, path] = (at ?? of).split(' ') as [Method, string]
    const made: Route = { ...route, ...change?.(route), method, path }
    owners.set(made, owners.get(route)!)
    if (at === undefined) routes[index] = made
    else routes.push(made)
  }
  return routes
}

/** Logs what authors should change before a later version refuses it. */
export function logDeprecations({ registry, isOutside }: LoadedPlugins, log: Log): void {
  for (const plugin of registry.plugins.filter(isOutside))
    for (const sentence of deprecationsOf(plugin)) log.warn({ plugin: plugin.name }, `deprecated: ${sentence}`)
}

/** @param left  settings of missing plugins */
export function logLeftOut({ off, unknownOff }: LoadedPlugins, left: readonly string[], log: Log): void {
  if (left.length > 0) log.warn({ settings: left }, 'settings of plugins that are not installed are ignored')
  if (unknownOff.length > 0) log.warn({ names: unknownOff }, 'AV_PLUGINS_OFF names plugins that do not exist')
  const names = off.filter(({ fault }) => fault === undefined).map(({ plugin }) => plugin.name)
  if (names.length > 0) log.info({ plugins: names }, 'plugins are switched off')
  for (const { plugin, origin, fault } of off)
    if (fault !== undefined) log.error({ plugin: plugin.name, origin }, `the plugin is left out: ${fault}`)
}

/** Refuses to switch off a plugin that others need. */
function checkLeftOut(found: readonly FoundPlugin[], off: readonly FoundPlugin[]): void {
  const there = new Set(found.map(({ plugin }) => plugin.name))
  for (const { plugin, fault, isSwitchedOff = false } of off) {
    if (there.has(plugin.name)) continue // another plugin with this name is loaded
    const askers = found.filter((other) => other.plugin.needs?.includes(plugin.name)).map((other) => other.plugin.name)
    if ((fault !== undefined || isSwitchedOff) && askers[0] !== undefined)
      throw new StartError(
        `plugin ${askers[0]} needs the plugin ${plugin.name}, which is ${isSwitchedOff ? 'switched off' : 'left out because it is broken'}`,
        { leaveOut: askers[0] },
      )
    if (askers.length > 0)
      throw new StartError(
        `AV_PLUGINS_OFF: ${plugin.name} cannot be switched off because ${askers.join(', ')} ${askers.length > 1 ? 'need' : 'needs'} it; switch ${askers.length > 1 ? 'those' : 'that'} off too, or remove ${plugin.name} from the list`,
      )
  }
}

/** Needed plugins first, otherwise by name, so that every start has the same order. */
function inOrderOfNeeds(found: readonly FoundPlugin[]): Plugin[] {
  const byName = new Map<string, FoundPlugin>()
  const leaveOut = (name: string) => (byName.get(name)?.isOutside ? name : undefined)
  for (const one of found) {
    const other = byName.get(one.plugin.name)
    if (other) {
      const outside = [one, other].find(({ isOutside }) => isOutside)
      throw new StartError(`two plugins are called ${one.plugin.name}: ${other.origin} and ${one.origin}`, {
        leaveOut: outside && basename(outside.origin),
      })
    }
    byName.set(one.plugin.name, one)
  }
  const ordered = new Set<Plugin>()
  const visit = (name: string, path: string[]): void => {
    const one = byName.get(name)
    if (!one)
      throw new StartError(
        `plugin ${path.at(-1)} needs the plugin ${name}, which is not installed: add it with archivolt plugin add, or in AV_PLUGINS_DIR`,
        { leaveOut: leaveOut(path.at(-1)!) },
      )
    if (path.includes(name))
      throw new StartError(
        `plugins need each other in a circle: ${[...path.slice(path.indexOf(name)), name].join(' → ')}`,
        { leaveOut: leaveOut(name) },
      )
    if (ordered.has(one.plugin)) return
    for (const need of [...(one.plugin.needs ?? [])].sort()) visit(need, [...path, name])
    ordered.add(one.plugin)
  }
  for (const name of [...byName.keys()].sort()) visit(name, [])
  return [...ordered]
}

/** Lanes given only by name run one job at a time. */
const rulesOf = (lanes: Plugin['lanes'] = []): Record<string, LaneRule> =>
  Array.isArray(lanes) ? Object.fromEntries(lanes.map((lane) => [lane, 1])) : lanes
