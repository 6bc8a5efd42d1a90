/** Checks that manifests fit their plugin and each other; runs no code of a plugin. Their form: `manifest.ts`. */
import { basename } from 'node:path'
import { coreSettings } from '../../config/schema.ts'
import { readCron } from '../base/cron.ts'
import { HEARD_IN_PLACE } from '../events.ts'
import { adaptersOf } from '../index/adapter.ts'
import { OWN_LANES } from '../lane-rules.ts'
import { StartError } from '../start-error.ts'
import { API } from './api.ts'
import type { Plugin, PluginPage, Route, Task } from './define.ts'
import type { FoundPlugin } from './found.ts'
import { formFault } from './manifest.ts'

type Schedule = NonNullable<Task['schedule']>

/** Hooks of core, which any plugin may call and implement. */
const CORE_HOOKS: readonly string[] = ['archive.documents', 'archive.belongings']
const CORE_ROUTES = ['GET /health/', 'GET /health/ready/']
const CORE_EVENTS: readonly string[] = [...HEARD_IN_PLACE, 'ledger.replaced']
const CORE_COMMANDS = ['start', 'setup', 'check', 'rotate-key', 'index-move', 'help']

/** @throws StartError  names the plugin and the problem */
export function checkPlugin({ plugin, origin, isOutside = false }: FoundPlugin): void {
  const refuse = (reason: string): never => {
    const name = typeof plugin.name === 'string' ? plugin.name : '?'
    throw new StartError(`plugin ${name} (${origin}): ${reason}`, {
      leaveOut: isOutside ? basename(origin) : undefined,
    })
  }
  // Checked first: a plugin made for another version may have keys that are unknown here.
  if (plugin.api !== undefined && plugin.api !== API)
    refuse(
      `it is made for version ${JSON.stringify(plugin.api)} of the plugin API, and this Archivolt has ${API}: install a release of the plugin that is made for this version`,
    )
  const fault = formFault(plugin)
  if (fault) refuse(fault)
  for (const { name } of plugin.indexes ?? []) {
    const isOwn = name === plugin.name || name.startsWith(`${plugin.name}_`) || plugin.owns?.includes(name)
    if (!isOwn) refuse(`its index ${name} is neither ${plugin.name} nor ${plugin.name}_…; claim the name in \`owns\``)
  }
  for (const [at, { number, sql }] of (plugin.migrations ?? []).entries()) {
    if (number !== at + 1)
      refuse(`its migrations must be numbered 1, 2, 3 …; number ${number} is at position ${at + 1}`)
    for (const [, kind, made = ''] of sql.matchAll(
      /\bcreate\s+(?:unique\s+|virtual\s+)*(table|view|index|trigger)\s+(?:if\s+not\s+exists\s+)?["`[]?(\w+)/gi,
    )) {
      if (!made.startsWith(`${plugin.name}_`))
        refuse(
          `its migration ${number} creates the ${kind?.toLowerCase()} ${made}: names in its migrations must start with ${plugin.name}_`,
        )
    }
  }
  for (const column of plugin.secretColumns ?? []) {
    const [table = '', ...rest] = column.split('.')
    if (rest.length !== 1 || !/^\w+$/.test(rest[0]!) || !/^\w+$/.test(table) || !table.startsWith(`${plugin.name}_`))
      refuse(`its secret column ${column} must be named ${plugin.name}_<table>.<column>`)
  }
  if (Array.isArray(plugin.lanes) && !isOutside && plugin.lanes.length > 0)
    refuse(
      `it declares its lanes ${plugin.lanes.join(', ')} only by name: set each of them to 'turns', or to the number of jobs that run at once`,
    )
  checkAdapter(plugin, refuse)
  if (plugin.credentials && plugin.needs?.length)
    refuse(`it manages accounts, so it is opened before ${plugin.needs.join(', ')}, and cannot need them`)
  if (isOutside && (plugin.recovery || plugin.reserve))
    refuse('only built-in plugins replace the ledger or reserve space for a full disk')
  if (isOutside && (plugin.adaptations || plugin.faults || plugin.replyHeaders))
    refuse('only built-in plugins change the replies of others; this one may add routes of its own')
  if (isOutside && plugin.onEvery)
    refuse('only built-in plugins listen to every event; name those that it listens to in `on`')
  if (isOutside && plugin.asideCommands) refuse('only built-in plugins have commands that run beside a server')
  if (plugin.page && !isOutside) refuse('only external plugins have a page of their own')
  if (plugin.playerButton && !isOutside) refuse('only external plugins have a button of their own')
  for (const route of plugin.routes ?? []) {
    checkRoute(route, refuse)
    if (isOutside && !route.path.startsWith('/api/'))
      refuse(`its route ${route.method} ${route.path}: the paths of an external plugin begin with /api/`)
  }
  for (const task of plugin.tasks ?? []) checkTask(task, refuse)
  checkTries(plugin, refuse)
}

/** `x-try` of a preference names a route of its plugin, which the page calls when somebody presses *Try it*. */
function checkTries({ preferences = {}, routes = [] }: Plugin, refuse: (reason: string) => never): void {
  const own = new Set(routes.flatMap(({ method, path }) => (method === 'POST' ? [path] : [])))
  for (const [section, keys] of Object.entries(preferences))
    for (const [key, schema] of Object.entries(keys)) {
      const path: unknown = Reflect.get(schema, 'x-try')
      if (path !== undefined && !(typeof path === 'string' && own.has(path)))
        refuse(`its preference ${section}.${key}: x-try must be the path of one of its POST routes`)
    }
}

/** Deprecated uses in an external plugin, each as a sentence. */
export function deprecationsOf({ api }: Plugin): string[] {
  return api === undefined
    ? [`its manifest does not say which version of the plugin API it is made for: add api: ${API}`]
    : []
}

const lanesOf = ({ lanes = [] }: Plugin): string[] => (Array.isArray(lanes) ? lanes : Object.keys(lanes))

function checkAdapter({ indexAdapter, settings = {}, needs = [] }: Plugin, refuse: (reason: string) => never): void {
  if (!indexAdapter) return
  const { chosenBy } = indexAdapter
  if (chosenBy !== undefined && !Object.hasOwn(settings, chosenBy))
    refuse(`its index adapter is chosen by ${chosenBy}, which is not one of its settings`)
  if (needs.length > 0) refuse(`it stores documents, so it is opened before ${needs.join(', ')}, and cannot need them`)
}

function checkRoute(route: Route, refuse: (reason: string) => never): void {
  const title = `its route ${route.method} ${route.path}`
  // Requests without the slash reach the same handler, but links and descriptions use one form. File paths have none.
  if (route.path.startsWith('/api/') && !route.path.endsWith('/'))
    refuse(`${title}: a path of the API must end with a slash`)
  const declared = Object.keys(route.params?.properties ?? {})
  const inPath = [...route.path.matchAll(/:(\w+)|(\*)$/g)].map(([, name, rest]) => name ?? rest!)
  const odd = inPath.find((name) => !declared.includes(name)) ?? declared.find((name) => !inPath.includes(name))
  if (odd) refuse(`${title}: the variable ${odd} must be in both the path and \`params\``)
}

function checkTask(task: Task, refuse: (reason: string) => never): void {
  const title = `its task ${task.name}`
  if (task.schedule) checkTimes(title, task.schedule, refuse)
  const required = task.payload.required ?? []
  if (task.apiStart && required.length > 0)
    refuse(`${title} may be started by name alone, so its payload cannot ask for ${required.join(', ')}`)
}

function checkTimes(task: string, { auto, initially }: Schedule, refuse: (reason: string) => never): void {
  const said = [auto, ...(typeof initially === 'object' ? [`0 ${initially.hour} *`] : [])]
  for (const times of said) {
    try {
      readCron(times)
    } catch (error) {
      refuse(`${task}: its schedule says ${JSON.stringify(times)}. ${(error as Error).message}`)
    }
  }
}

/** Whether a route answers this path, which may have values for the route's variables. */
export function isOf(ask: string, route: string): boolean {
  const [own, parts] = [ask.split('/'), route.split('/')]
  return own.length === parts.length && parts.every((part, at) => part.startsWith(':') || part === own[at])
}

/** The same for paths that differ only in the names of their variables or in the final slash. */
const patternOf = (path: string): string => path.replace(/:\w+/g, ':…').replace(/\/?$/, '/')

/** Refuses a set of plugins. @param owners  those named in the sentence, such as `plugin atlas` */
type RefuseTogether = (sentence: string, ...owners: string[]) => never

const ownerOf = ({ name }: Plugin): string => `plugin ${name}`

/**
 * Lanes and hooks must come from a needed plugin, events from any, and nothing may have two owners.
 * @param plugins  in the order of needs. @param off  their events are known, but never emitted
 * @throws StartError  names both owners, or the plugin and what it lacks
 */
export function checkTogether(
  plugins: readonly Plugin[],
  off: readonly Plugin[],
  isOutside: (plugin: Plugin) => boolean,
): void {
  const refuse: RefuseTogether = (sentence, ...owners) => {
    const named = owners.map((owner) => plugins.find((plugin) => ownerOf(plugin) === owner))
    throw new StartError(sentence, { leaveOut: named.findLast((one) => one && isOutside(one))?.name })
  }
  checkAsks(plugins, refuse)
  checkOwners(plugins, refuse)
  const events = new Set([...CORE_EVENTS, ...[...plugins, ...off].flatMap((plugin): string[] => plugin.events ?? [])])
  const reach = new Map<string, Set<string>>()
  for (const plugin of plugins) {
    const needs = new Set([plugin.name, ...(plugin.needs ?? []).flatMap((need) => [...(reach.get(need) ?? [])])])
    reach.set(plugin.name, needs)
    const needed = plugins.filter(({ name }) => needs.has(name))
    for (const sentence of missingFor(plugin, needed, events)) refuse(sentence, ownerOf(plugin))
  }
}

function checkAsks(plugins: readonly Plugin[], refuse: RefuseTogether): void {
  const routes = plugins.flatMap(({ routes: own = [] }) => own)
  const unanswered = (page: PluginPage | undefined) =>
    page?.asks?.find((ask) => !routes.some(({ method, path }) => isOf(ask, `${method} ${path}`)))
  for (const plugin of plugins) {
    for (const [what, page] of Object.entries({ page: plugin.page, button: plugin.playerButton })) {
      const asked = unanswered(page)
      if (asked !== undefined)
        refuse(`${ownerOf(plugin)}: its ${what} asks ${asked}, which no plugin answers`, ownerOf(plugin))
    }
  }
}

function checkOwners(plugins: readonly Plugin[], refuse: RefuseTogether): void {
  const owners = new Map(OF_CORE.map((what) => [what, 'core']))
  for (const plugin of plugins)
    for (const what of ownedBy(plugin)) {
      const [other, owner] = [owners.get(what), ownerOf(plugin)]
      if (other !== undefined) refuse(`the ${what} has two owners: ${other} and ${owner}`, other, owner)
      owners.set(what, owner)
    }
}

const OF_CORE = Object.entries({
  setting: Object.keys(coreSettings),
  variable: Object.values(coreSettings).map(({ env }) => env),
  lane: Object.keys(OWN_LANES),
  ...{ hook: CORE_HOOKS, route: CORE_ROUTES, event: CORE_EVENTS, command: CORE_COMMANDS },
}).flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`))

/** What only one plugin may have. */
function ownedBy(plugin: Plugin): string[] {
  const { settings = {}, hooks = [], events = [], indexes = [], routes = [], adaptations = [], tasks = [] } = plugin
  const { commands = [], asideCommands = [] } = plugin
  return [
    ...Object.entries(settings).flatMap(([key, { env }]) => [`setting ${key}`, `variable ${env}`]),
    ...lanesOf(plugin).map((lane) => `lane ${lane}`),
    ...hooks.map((hook) => `hook ${hook}`),
    ...events.map((event) => `event ${event}`),
    ...indexes.map(({ name }) => `index ${name}`),
    ...(plugin.credentials ? ['management of accounts'] : []),
    ...(plugin.recovery ? ['recovery of the ledger'] : []),
    ...(plugin.reserve ? ['space for a full disk'] : []),
    ...(plugin.salvage ? ['salvage of a damaged ledger'] : []),
    ...adaptersOf([plugin]).flatMap(({ target, chosenBy }) => [
      `target ${target} of index-move`,
      ...(chosenBy === undefined ? ['default index'] : []),
    ]),
    ...routes.map(({ method, path }) => `route ${method} ${patternOf(path)}`),
    ...adaptations.flatMap(({ at }) => (at === undefined ? [] : [`route ${patternOf(at)}`])),
    ...tasks.map(({ name }) => `task ${name}`),
    ...[...commands, ...asideCommands].map(({ name }) => `command ${name}`),
  ]
}

/** What a plugin uses, but none of `needed` declares, as sentences. @param needed  itself, and those that it needs */
function* missingFor(plugin: Plugin, needed: readonly Plugin[], events: ReadonlySet<string>): Generator<string> {
  const owner = ownerOf(plugin)
  const hooks = new Set<string>(needed.flatMap(({ hooks: own = [] }) => own))
  const lanes = new Set(needed.flatMap(lanesOf))
  for (const hook of Object.keys(plugin.implements ?? {}))
    if (!CORE_HOOKS.includes(hook) && !hooks.has(hook))
      yield `${owner} implements the hook ${hook}, which no plugin that it needs declares`
  for (const event of Object.keys(plugin.on ?? {}))
    if (!events.has(event)) yield `${owner} listens to the event ${event}, which no plugin emits`
  for (const hook of Object.keys(plugin.hookRules ?? {}))
    if (!(plugin.hooks as string[] | undefined)?.includes(hook))
      yield `${owner} has a rule for the hook ${hook}, which it does not declare`
  for (const { method, path, queryHook } of plugin.routes ?? [])
    if (queryHook && !hooks.has(queryHook))
      yield `${owner}: its route ${method} ${path} reads the hook ${queryHook}, which no plugin that it needs declares`
  for (const { name, lane } of plugin.tasks ?? [])
    if (!(lane in OWN_LANES) && !lanes.has(lane))
      yield `${owner}: its task ${name} is to run in the lane ${lane}, which no plugin that it needs declares`
}
