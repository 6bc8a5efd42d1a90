/** Wires services, hooks, listeners, setup and shutdown. External plugins have time limits; failures name them. */
import type { Clock } from '../base/clock.ts'
import { errors } from '../base/error.ts'
import { withinTime } from '../base/limit.ts'
import { madeOnce } from '../base/made-once.ts'
import { say, type Words } from '../base/say.ts'
import type { CloseStack } from '../close-stack.ts'
import { asPlugin, culpritOf } from '../error-origin.ts'
import { openEventBus } from '../events.ts'
import type { FaultForm } from '../http/fault.ts'
import type { RouteOwner } from '../http/pipeline.ts'
import { beyondView } from '../index/view.ts'
import { waitAtBarrier } from '../index/write-barrier.ts'
import type { Job } from '../ledger/jobs.ts'
import type { Preferences } from '../ledger/preferences.ts'
import type { Log } from '../log.ts'
import { publicUrl } from '../public-url.ts'
import { StartError } from '../start-error.ts'
import type {
  BuiltPage,
  CoreApp,
  HookName,
  HookRule,
  Hooks,
  Plugin,
  PluginRecord,
  Route,
  Task,
  WholeApp,
} from './define.ts'
import type { LoadedPlugins } from './load.ts'
import { guardedImplementation, guardedPreferences, listenersOf, openFailures } from './outside.ts'
import { writeSwitchedOff } from './switched-off.ts'

const SETUP_WITHIN_MS = 60_000
const SETUP_TOLD_AFTER_MS = 15_000
const END_WITHIN_MS = 5_000
const REQUEST_WITHIN_MS = 60_000

type Envelope = NonNullable<Plugin['envelope']>

/** The parts of core's app that the wiring does not create. */
type AppParts = Omit<CoreApp, 'version' | 'clock' | 'log' | 'registry' | 'plugins' | 'emit' | 'hook' | 'publicUrl'>

interface WiringParts {
  loaded: LoadedPlugins
  clock: Clock
  log: Log
  version: string
  pages: readonly BuiltPage[]
}

/** Wires the plugins. The hooks, headers and error forms that it returns are complete once `putToWork` has resolved. */
export function openWiring({ loaded, clock, log, version, pages }: WiringParts) {
  const { plugins } = loaded.registry
  const { isOutside } = loaded
  const failures = openFailures(clock)
  const bus = openEventBus()
  const hooks = new Map<string, unknown[]>()
  const apps = new Map<Plugin, WholeApp>()
  const rules = new Map<string, HookRule>(plugins.flatMap(({ hookRules = {} }) => Object.entries(hookRules)))
  const faultForms: FaultForm[] = []
  const replyHeaders: Record<string, string> = {}
  const envelopes = plugins.flatMap(envelopeOf)
  const switchedOff = new Set(loaded.off.flatMap(({ plugin, isSwitchedOff }) => (isSwitchedOff ? [plugin.name] : [])))
  let app!: WholeApp

  const hook = (name: string): unknown[] => madeOnce(hooks, name, () => [])

  /** Creates core's app, and one for each plugin with its own log. Services that are added later appear in all. */
  function makeApps(parts: AppParts): WholeApp {
    const own: CoreApp = {
      ...{ ...parts, version, clock, log },
      registry: loaded.registry,
      plugins: {
        ...{ list, pages, startAgain },
        switch: (name, isOn) => switchPlugin(name, isOn, parts.settings.dataDir),
      },
      publicUrl: (request) => publicUrl(parts.settings, request),
      // Listeners see all documents, whatever the account's view; the emitting plugin does not answer for their errors.
      emit: (name, event) => asPlugin(undefined, () => beyondView(() => bus.emit(name, event))),
      hook: (name) => hook(name) as never,
    }
    // Plugins add their services to this app, one after the other.
    app = own as WholeApp
    for (const plugin of plugins) {
      const own = Object.assign(Object.create(app), { log: log.child({ plugin: plugin.name }) }) as WholeApp
      if (isOutside(plugin))
        Object.assign(own, {
          preferences: guardedPreferences(parts.preferences, plugin, own, failures),
          emit: ownEmit(plugin, app),
        })
      apps.set(plugin, own)
    }
    return app
  }

  /** The `emit` of an external plugin, which may emit only its own events and the steps of its jobs. */
  function ownEmit({ name: plugin, events = [] }: Plugin, { emit }: Pick<WholeApp, 'emit'>): WholeApp['emit'] {
    const own = new Set<string>([...events, 'job.step'])
    return async (name, event) => {
      if (!own.has(name))
        throw new Error(`The plugin ${plugin} may not emit ${name}: its manifest does not list it in \`events\``)
      await emit(name, event)
    }
  }

  const appOf = (part: Route | Task): WholeApp => apps.get(loaded.ownerOf(part)!) ?? app

  /** Services, hooks, listeners, then setup: each step for all plugins, in the order of needs. */
  async function putToWork(opened: CloseStack): Promise<void> {
    const each = async (work: (plugin: Plugin, own: WholeApp) => Promise<void> | void, some = plugins) => {
      for (const plugin of some) await named(plugin, () => work(plugin, apps.get(plugin)!))
    }
    await each(addServices)
    await each(addImplementations)
    await each(({ faults }, own) => void (faults && faultForms.push(faults(own))))
    await each((plugin, own) => void Object.assign(replyHeaders, plugin.replyHeaders?.(own)))
    // Built-in listeners are called first; then a row is written for each external plugin that listens.
    await each(listen, [...plugins.filter((plugin) => !isOutside(plugin)), ...plugins.filter(isOutside)])
    await each((plugin, own) => {
      opened.add({ close: () => end(plugin, own) })
      return setUp(plugin, own)
    })
    app.jobs.onEnded(ended)
  }

  /** Runs code of the plugin that owns a route or a task. @throws unavailable  the plugin is stopped */
  function within<Result>(part: object, work: () => Result): Result {
    const plugin = loaded.ownerOf(part)
    if (plugin && isOff(part)) throw failures.refusal(plugin.name)!
    return asPlugin(plugin && isOutside(plugin) ? plugin.name : undefined, work)
  }

  /** Whether its plugin is stopped. The delivery of events is not refused: it waits until the plugin is started again. */
  function isOff(part: object): boolean {
    const plugin = loaded.ownerOf(part)
    return !!plugin && part !== loaded.hearingOf(plugin)?.task && failures.refusal(plugin.name) !== undefined
  }

  function blame(error: unknown, isLate = false): boolean {
    const name = culpritOf(error)
    if (name === undefined) return false
    failures.note(name, error)
    // Timers of a stopped plugin keep running, and may fail many times a second.
    const level = failures.refusal(name) ? 'debug' : 'error'
    log[level]({ err: error, plugin: name }, isLate ? 'an unhandled rejection' : 'an uncaught error')
    if (!isLate && failures.stopsAfter(name)) {
      log.error({ plugin: name }, 'the plugin is stopped')
      warn(
        name,
        say`It was stopped after repeated errors. Start it again under Settings → Plugins; the log says what failed`,
      )
    }
    return true
  }

  function startAgain(name: string): void {
    if (!list().some((plugin) => plugin.name === name)) throw errors.notFound('plugin', name)
    if (!failures.startAgain(name)) throw errors.conflict(say`The plugin ${{ name }} is not stopped`)
    log.info({ plugin: name }, 'the plugin is started again')
  }

  async function switchPlugin(name: string, isOn: boolean, dataDir: string): Promise<void> {
    const found = list().find((plugin) => plugin.name === name && !plugin.isBuiltIn)
    if (!found) throw errors.notFound('plugin', name)
    const isLoaded = plugins.some((plugin) => plugin.name === name)
    if (!isLoaded && !found.isSwitchedOff && found.fault === undefined)
      throw errors.conflict(say`The setting AV_PLUGINS_OFF has switched the plugin ${{ name }} off`)
    await writeSwitchedOff(dataDir, name, !isOn)
    if (isOn) switchedOff.delete(name)
    else switchedOff.add(name)
    if (isLoaded && isOn) failures.startAgain(name)
    else if (isLoaded) failures.switchOff(name)
    log.info({ plugin: name }, isOn ? 'the plugin is switched on' : 'the plugin is switched off')
  }

  function ownerOf(route: Route): RouteOwner | undefined {
    const plugin = loaded.ownerOf(route)
    if (!plugin) return undefined
    const seconds = route.withinSeconds ?? (route.rawBody ? undefined : REQUEST_WITHIN_MS / 1000)
    return {
      name: plugin.name,
      ...(isOutside(plugin) && seconds !== undefined && { limitMs: seconds * 1000 }),
      failed: (error) => failures.note(plugin.name, error),
    }
  }

  /** Names the plugin in any error of `work`. @throws StartError */
  async function named<Result>(plugin: Plugin, work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await asPlugin(isOutside(plugin) ? plugin.name : undefined, work)
    } catch (error) {
      const said = error instanceof Error ? error.message : String(error)
      const leaveOut = isOutside(plugin) ? plugin.name : undefined
      throw new StartError(`plugin ${plugin.name}: ${said}`, { leaveOut, cause: error })
    }
  }

  function addServices(plugin: Plugin, own: WholeApp): void {
    for (const [name, service] of Object.entries(plugin.services?.(own) ?? {})) {
      if (name in app) throw new StartError(`its service ${name} has a name that is already in use; rename it`)
      Object.assign(app, { [name]: service })
    }
  }

  function addImplementations(plugin: Plugin, own: WholeApp): void {
    for (const [name, implement] of Object.entries(plugin.implements ?? {}) as Array<
      [HookName, (app: WholeApp) => Hooks[HookName]]
    >) {
      const given: unknown = implement(own)
      const guarded = () => guardedImplementation(given, name, rules.get(name), plugin, own, failures)
      hook(name).push(isOutside(plugin) ? guarded() : given)
    }
  }

  function listen(plugin: Plugin, own: WholeApp): void {
    const hearing = loaded.hearingOf(plugin)
    if (hearing) return hearing.listen(plugin, own, bus, failures)
    for (const [event, listener] of listenersOf(plugin, own)) bus.listen(event, listener)
    if (plugin.onEvery) bus.listenToAll(plugin.onEvery(own))
  }

  /** Waiting for an unreachable index server does not count towards the plugin's time limit. */
  async function setUp(plugin: Plugin, app: WholeApp): Promise<void> {
    const told = clock.after(SETUP_TOLD_AFTER_MS, () => app.log.warn('the setup of the plugin is still running'))
    let isWaiting = false
    const waits = () => (isWaiting = true)
    const work = waitAtBarrier(new AbortController().signal, async () => plugin.setup?.(app), waits)
    try {
      await (isOutside(plugin) ? withinOwnTime(work, () => isWaiting) : work)
    } finally {
      told.cancel()
    }
  }

  async function withinOwnTime(work: Promise<void>, isWaiting: () => boolean): Promise<void> {
    const late = new Error(`its setup takes longer than ${SETUP_WITHIN_MS / 1000} s`)
    try {
      await withinTime(clock, SETUP_WITHIN_MS, work, () => late)
    } catch (error) {
      if (error !== late || !isWaiting()) throw error
      await work
    }
  }

  function end(plugin: Plugin, app: WholeApp): Promise<void> {
    return named(plugin, async () => {
      const closed = (async () => plugin.close?.(app))()
      const late = () => new Error(`it takes longer than ${END_WITHIN_MS / 1000} s to close`)
      await (isOutside(plugin) ? withinTime(clock, END_WITHIN_MS, closed, late) : closed)
    })
  }

  /** A plugin's part of the envelope is in every reply, so its failure must not fail every request. */
  function envelopeOf(plugin: Plugin): Envelope[] {
    const { envelope } = plugin
    if (!envelope || !isOutside(plugin)) return envelope ? [envelope] : []
    return [
      (preferences: Preferences) => {
        try {
          if (failures.refusal(plugin.name)) return {}
          return JSON.parse(JSON.stringify(asPlugin(plugin.name, () => envelope(preferences)))) as ReturnType<Envelope>
        } catch (error) {
          failures.note(plugin.name, error)
          log.error({ err: error, plugin: plugin.name }, 'a plugin failed to add to the envelope of replies')
          return {}
        }
      },
    ]
  }

  /** Records why a job of an external plugin failed all tries; if it delivers an event, people are told too. */
  function ended(run: Job): void {
    const task = loaded.registry.tasks.get(run.task)
    const plugin = task && loaded.ownerOf(task)
    if (!plugin || run.state !== 'FAILURE' || !isOutside(plugin)) return
    failures.note(plugin.name, run.result)
    if (task !== loaded.hearingOf(plugin)?.task) return
    warn(plugin.name, `It failed ${run.retries + 1} times to handle ${String(run.payload['event'])}. See the log`)
  }

  function warn(plugin: string, message: Words): void {
    // Before `makeApps`, there is no service to report it with.
    app?.jobs
      .warn(`Plugin ${plugin}`, message)
      .catch((error: unknown) => log.error({ err: error, plugin }, 'a failure could not be reported'))
  }

  function list(): PluginRecord[] {
    const record = (plugin: Plugin, isOutside: boolean, isOn: boolean, fault?: string): PluginRecord => {
      const { name, title, description, author, homepage } = plugin
      const isSwitchedOff = isOutside && switchedOff.has(name)
      const isRefused = isOutside && failures.refusal(name) !== undefined
      return {
        ...{ name, title, description, author, homepage, fault, lastFailure: failures.of(name) },
        version: isOutside ? (plugin.version ?? '') : version,
        isBuiltIn: !isOutside,
        isAdded: loaded.isAdded(plugin),
        isOn: isOn && !isRefused,
        isStopped: isRefused && !isSwitchedOff,
        isSwitchedOff,
        needs: plugin.needs ?? [],
        routes: plugin.routes?.length ?? 0,
        tasks: plugin.tasks?.length ?? 0,
      }
    }
    return [
      ...plugins.map((plugin) => record(plugin, isOutside(plugin), true)),
      ...loaded.off.map(({ plugin, isOutside = false, fault }) => record(plugin, isOutside, false, fault)),
    ]
  }

  return { hook, makeApps, appOf, within, isOff, blame, putToWork, ownerOf, named, faultForms, replyHeaders, envelopes }
}
