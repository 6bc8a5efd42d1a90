/**
 * Wires the plugins: their services, hooks, listeners, setup and shutdown. Calls to plugins from outside have limits,
 * and their failures name the plugin.
 */
import type { Clock } from '../clock.ts'
import type { CloseStack } from '../close-stack.ts'
import { withinTime } from '../concurrency/limit.ts'
import { StartError, wayOut } from '../error.ts'
import { EventBus, type EventName, type Listener } from '../events.ts'
import type { FaultForm } from '../http/fault.ts'
import type { RouteOwner } from '../http/pipeline.ts'
import { beyondView } from '../index/view.ts'
import { waitAtBarrier } from '../index/write-barrier.ts'
import type { Job } from '../ledger/jobs.ts'
import type { Preferences } from '../ledger/preferences.ts'
import type { Log } from '../log.ts'
import { publicUrl } from '../public-url.ts'
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
import { type Failures, guardedImplementation, openFailures } from './outside.ts'

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

export class Wiring {
  readonly #loaded: LoadedPlugins
  readonly #clock: Clock
  readonly #log: Log
  readonly #version: string
  readonly #pages: readonly BuiltPage[]
  readonly #plugins: readonly Plugin[]
  readonly #failures: Failures
  readonly #bus = new EventBus()
  readonly #hooks = new Map<string, unknown[]>()
  #app!: WholeApp
  readonly #apps = new Map<Plugin, WholeApp>()
  readonly #rules: Map<string, HookRule>
  readonly faultForms: FaultForm[] = []
  readonly replyHeaders: Record<string, string> = {}
  readonly envelopes: ((preferences: Preferences) => Record<string, unknown>)[]

  constructor({ loaded, clock, log, version, pages }: WiringParts) {
    this.#loaded = loaded
    this.#clock = clock
    this.#log = log
    this.#version = version
    this.#pages = pages
    this.#plugins = loaded.registry.plugins
    this.#failures = openFailures(clock)
    this.#rules = new Map<string, HookRule>(this.#plugins.flatMap(({ hookRules = {} }) => Object.entries(hookRules)))
    this.envelopes = this.#plugins.flatMap((plugin) => this.#envelopeOf(plugin))
  }

  hook(name: string): unknown[] {
    return this.#hooks.get(name) ?? this.#hooks.set(name, []).get(name)!
  }

  /** Creates core's app, and one for each plugin with its own log. All of them share later services. */
  makeApps(parts: AppParts): WholeApp {
    const own: CoreApp = {
      ...parts,
      version: this.#version,
      clock: this.#clock,
      log: this.#log,
      registry: this.#loaded.registry,
      plugins: { list: () => this.#list(), pages: this.#pages },
      publicUrl: (request) => publicUrl(parts.settings, request),
      // Listeners see all documents, even if the requesting account has a view.
      emit: (name, event) => beyondView(() => this.#bus.emit(name, event)),
      hook: (name) => this.hook(name) as never,
    }
    // Plugins add their services to this app, one after the other.
    this.#app = own as WholeApp
    for (const plugin of this.#plugins) {
      const ownLog = { value: this.#log.child({ plugin: plugin.name }), enumerable: true }
      this.#apps.set(plugin, Object.create(this.#app, { log: ownLog }) as WholeApp)
    }
    return this.#app
  }

  /** The app that a route or a task receives. */
  appOf(part: Route | Task): WholeApp {
    return this.#apps.get(this.#loaded.ownerOf(part)!) ?? this.#app
  }

  /** Opens services, then hooks, then listeners, then runs setup: each step for all plugins in the order of needs. */
  async putToWork(opened: CloseStack): Promise<void> {
    const each = async (some: readonly Plugin[], work: (plugin: Plugin, own: WholeApp) => Promise<void> | void) => {
      for (const plugin of some) await this.named(plugin, () => work(plugin, this.#apps.get(plugin)!))
    }
    await each(this.#plugins, (plugin, own) => this.#addServices(plugin, own))
    await each(this.#plugins, (plugin, own) => this.#addImplementations(plugin, own))
    await each(this.#plugins, (given, own) => this.#addFaultForm(given, own))
    await each(this.#plugins, (plugin, own) => this.#addReplyHeaders(plugin, own))
    // Built-in listeners are called first; then a row is written for each plugin from outside.
    await each(
      [
        ...this.#plugins.filter((plugin) => !this.#loaded.isOutside(plugin)),
        ...this.#plugins.filter(this.#loaded.isOutside),
      ],
      (plugin, own) => this.#listen(plugin, own),
    )
    await each(this.#plugins, (plugin, own) => {
      opened.add({ close: () => this.#end(plugin, own) })
      return this.#setUp(plugin, own)
    })
    this.#app.jobs.onEnded((run) => this.#ended(run))
  }

  ownerOf(route: Route): RouteOwner | undefined {
    const plugin = this.#loaded.ownerOf(route)
    if (!plugin) return undefined
    const seconds = route.withinSeconds ?? (route.rawBody ? undefined : REQUEST_WITHIN_MS / 1000)
    return {
      name: plugin.name,
      ...(this.#loaded.isOutside(plugin) && seconds !== undefined && { limitMs: seconds * 1000 }),
      failed: (error) => this.#failures.note(plugin.name, error),
    }
  }

  /** Names the plugin in any error of `work`. @throws StartError */
  async named<Result>(plugin: Plugin, work: () => Result | Promise<Result>): Promise<Result> {
    try {
      return await work()
    } catch (error) {
      const without = this.#loaded.isOutside(plugin) ? wayOut(plugin.name) : ''
      throw new StartError(
        `plugin ${plugin.name}: ${error instanceof Error ? error.message : String(error)}${without}`,
        { cause: error },
      )
    }
  }

  #addServices(plugin: Plugin, own: WholeApp): void {
    for (const [name, service] of Object.entries(plugin.services?.(own) ?? {})) {
      if (name in this.#app)
        throw new StartError(`its service ${name} has the name of something that is there already; rename it`)
      Object.assign(this.#app, { [name]: service })
    }
  }

  #addImplementations(plugin: Plugin, own: WholeApp): void {
    for (const [name, implement] of Object.entries(plugin.implements ?? {}) as Array<
      [HookName, (app: WholeApp) => Hooks[HookName]]
    >) {
      const implementation: unknown = implement(own)
      this.hook(name).push(
        this.#loaded.isOutside(plugin)
          ? guardedImplementation(implementation, name, this.#rules.get(name), plugin, own, this.#failures)
          : implementation,
      )
    }
  }

  #addFaultForm({ faults }: Plugin, own: WholeApp): void {
    if (faults) this.faultForms.push(faults(own))
  }

  #addReplyHeaders(plugin: Plugin, own: WholeApp): void {
    Object.assign(this.replyHeaders, plugin.replyHeaders?.(own))
  }

  #listen(plugin: Plugin, own: WholeApp): void {
    const hearing = this.#loaded.hearingOf(plugin)
    if (hearing) return hearing.listen(plugin, own, this.#bus, this.#failures)
    for (const [event, toListener] of Object.entries(plugin.on ?? {}) as Array<
      [EventName, (app: WholeApp) => Listener<EventName>]
    >)
      this.#bus.listen(event, toListener(own))
    if (plugin.onEvery) this.#bus.listenToAll(plugin.onEvery(own))
  }

  /** Waiting for an unreachable index server does not count towards the plugin's time limit. */
  async #setUp(plugin: Plugin, app: WholeApp): Promise<void> {
    const told = this.#clock.after(SETUP_TOLD_AFTER_MS, () => app.log.warn('the plugin is still setting itself up'))
    let isWaiting = false
    const work = waitAtBarrier(
      new AbortController().signal,
      async () => plugin.setup?.(app),
      () => (isWaiting = true),
    )
    try {
      await (this.#loaded.isOutside(plugin) ? this.#withinOwnTime(work, () => isWaiting) : work)
    } finally {
      told.cancel()
    }
  }

  async #withinOwnTime(work: Promise<void>, isWaiting: () => boolean): Promise<void> {
    const late = new Error(`it has been setting itself up for ${SETUP_WITHIN_MS / 1000} s`)
    try {
      await withinTime(this.#clock, SETUP_WITHIN_MS, work, () => late)
    } catch (error) {
      if (error !== late || !isWaiting()) throw error
      await work
    }
  }

  #end(plugin: Plugin, app: WholeApp): Promise<void> {
    return this.named(plugin, async () => {
      const work = async () => plugin.close?.(app)
      await (this.#loaded.isOutside(plugin)
        ? withinTime(
            this.#clock,
            END_WITHIN_MS,
            work(),
            () => new Error(`it takes longer than ${END_WITHIN_MS / 1000} s to close`),
          )
        : work())
    })
  }

  /** This part is in every reply: its failure must not fail all requests. */
  #envelopeOf(plugin: Plugin): Envelope[] {
    const { envelope } = plugin
    if (!envelope || !this.#loaded.isOutside(plugin)) return envelope ? [envelope] : []
    return [
      (preferences: Preferences) => {
        try {
          return JSON.parse(JSON.stringify(envelope(preferences))) as Record<string, unknown>
        } catch (error) {
          this.#failures.note(plugin.name, error)
          this.#log.error({ err: error, plugin: plugin.name }, 'a plugin has nothing to say in the envelope of answers')
          return {}
        }
      },
    ]
  }

  /** Tells people, and logs the reason, when a plugin from outside has failed all tries for an event. */
  #ended(run: Job): void {
    const task = this.#loaded.registry.tasks.get(run.task)
    const plugin = task && this.#loaded.ownerOf(task)
    if (!plugin || run.state !== 'FAILURE' || !this.#loaded.isOutside(plugin)) return
    this.#failures.note(plugin.name, run.result)
    if (task !== this.#loaded.hearingOf(plugin)?.task) return
    this.#app.jobs
      .warn(
        `Plugin ${plugin.name}`,
        `It failed ${run.retries + 1} times to take in ${String(run.payload['event'])}. The log says why`,
      )
      .catch((error: unknown) =>
        this.#log.error({ err: error, plugin: plugin.name }, 'nobody could be told of a failure'),
      )
  }

  #list(): PluginRecord[] {
    const record = (plugin: Plugin, isOutside: boolean, isOn: boolean): PluginRecord => {
      const lastFailure = this.#failures.of(plugin.name)
      return {
        name: plugin.name,
        version: isOutside ? (plugin.version ?? '') : this.#version,
        isBuiltIn: !isOutside,
        isOn,
        needs: plugin.needs ?? [],
        routes: plugin.routes?.length ?? 0,
        tasks: plugin.tasks?.length ?? 0,
        lastFailure,
      }
    }
    return [
      ...this.#plugins.map((plugin) => record(plugin, this.#loaded.isOutside(plugin), true)),
      ...this.#loaded.off.map(({ plugin, isOutside = false }) => record(plugin, isOutside, false)),
    ]
  }
}
