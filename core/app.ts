/** Builds each part once, in order, and closes in reverse: the whole server on one screen. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ConfigSources, readCore, readSettings } from '../config/load.ts'
import type { Settings } from '../config/schema.ts'
import manifest from '../package.json' with { type: 'json' }
import { type FirstAccount, openAccounts } from './accounts/accounts.ts'
import { openSecretKey } from './accounts/secret-key.ts'
import { type Clock, systemClock } from './clock.ts'
import { StartError } from './error.ts'
import { EventBus } from './events.ts'
import { closeFilesIn, openFolder } from './folder.ts'
import { isDiskFull } from './full-disk.ts'
import { type Http, openHttp } from './http/server.ts'
import { chooseAdapter, openIndex } from './index/adapter.ts'
import { enterIndex } from './index/in-use.ts'
import { openLanes } from './jobs/lanes.ts'
import { openJobs } from './jobs/runner.ts'
import { openScheduler } from './jobs/scheduler.ts'
import { keepDailyCopies } from './ledger/copies.ts'
import { openPreferences } from './ledger/preferences.ts'
import { openLedger } from './ledger/sqlite.ts'
import { type Log, openLog } from './log.ts'
import type { App, Plugin, WholeApp } from './plugin/define.ts'
import type { FoundPlugin } from './plugin/find.ts'
import { openFormerSettings } from './plugin/former.ts'
import { findPlugins, registerPlugins } from './plugin/load.ts'
import { openWiring } from './plugin/wire.ts'
import { openReserve } from './reserve.ts'

/** Of the data folder, core's own. */
const PRIVATE_FOLDERS = ['ledger-copies', 'plugins']

export interface AppOptions {
  sources: ConfigSources
  clock?: Clock
  log?: Log
  /** Instead of the built-in plugins and those of AV_PLUGINS_DIR. */
  plugins?: readonly FoundPlugin[]
}

export interface OpenedApp {
  /** As core sees it; a plugin's own has its log. */
  app: WholeApp
  url: string
  /** The first admin; where it was made just now, with its password. */
  first: FirstAccount
  /** Lets requests finish, hands running jobs back to the ledger, ends children, writes everything to disk. */
  close(): Promise<void>
}

/**
 * Starts a server. It listens as soon as the ledger is open, and answers 503 until the index has been brought up to
 * date.
 * @throws StartError, or an Error with a sentence; then everything that was opened is closed again
 */
export async function openApp({
  sources,
  clock = systemClock,
  log: givenLog,
  plugins: given,
}: AppOptions): Promise<OpenedApp> {
  const core = readCore(sources)
  // Others may go through it, to the library within; its files are closed to them, and so are its other folders.
  await openFolder('data folder', core.dataDir, { mode: 0o711, setting: 'AV_DATA_DIR' })
  await closeFilesIn(core.dataDir)
  for (const name of PRIVATE_FOLDERS)
    if (existsSync(join(core.dataDir, name)))
      await openFolder(`folder ${name}`, join(core.dataDir, name), { isPrivate: true })
  const loaded = registerPlugins(given ?? (await findPlugins(core)), core.pluginsOff)
  const former = await openFormerSettings(core.dataDir, loaded)
  const settings = readSettings(sources, loaded.settings, former.owners)
  const adapter = chooseAdapter(loaded.adapters, settings, loaded.adaptersOff)
  const log = givenLog ?? openLog(settings.logLevel)
  const wiring = openWiring({ loaded, clock, log, version: manifest.version })
  const { registry } = loaded
  const { plugins, tasks, routes } = registry

  const opened = new Closers(log)
  try {
    // Before anything is written: a start on a full disk needs some room.
    const reserve = await openReserve({ folder: settings.dataDir, clock, log })
    opened.add(() => reserve.close())
    const file = join(settings.dataDir, 'ledger.sqlite')
    const owners = plugins.map(({ name, migrations = [] }) => ({ name, migrations }))
    const ledger = await openLedger({ file, log, clock, plugins: owners, onFull: reserve.release })
    opened.add(() => ledger.close())
    await former.remember()
    const left = former.left(sources)
    if (left.length > 0) log.warn({ settings: left }, 'settings of plugins that are not there are left alone')
    if (loaded.unknownOff.length > 0)
      log.warn({ names: loaded.unknownOff }, 'AV_PLUGINS_OFF names plugins that are not there')
    if (loaded.off.length > 0)
      log.info({ plugins: loaded.off.map(({ plugin }) => plugin.name) }, 'plugins are left out')
    const copies = keepDailyCopies({ file, ledger, clock, log })
    opened.add(() => copies.close())
    const preferences = openPreferences({ ledger, sections: loaded.preferences })
    const accounts = openAccounts({
      ledger,
      clock,
      log,
      dataDir: settings.dataDir,
      secretKey: await openSecretKey(settings.dataDir),
    })

    let isReady = false
    const bus = new EventBus()
    const hooks = new Map<string, unknown[]>()
    const hookOf = (name: string): unknown[] => hooks.get(name) ?? hooks.set(name, []).get(name)!
    const http = openHttp({
      routes,
      app: (route) => appOf(loaded.ownerOf(route)),
      settings,
      log,
      clock,
      accounts,
      preferences,
      envelopes: wiring.envelopes,
      ownerOf: wiring.ownerOf,
      hook: hookOf,
      isReady: () => isReady,
      available: () => index.available?.(),
    })
    const { url } = await listen(http, settings)
    log.info({ url }, 'listening; requests are answered once the index is ready')
    const stopServing = once(() => http.close())
    opened.add(stopServing)

    const first = await accounts.ensureFirst({ username: settings.username, password: settings.password })
    await enterIndex(settings.dataDir, adapter, loaded.adapters, log)
    const index = await openIndex(adapter, {
      ...{ settings, definitions: loaded.indexes, log, clock, version: manifest.version },
      onFull: reserve.release,
    })
    opened.add(() => index.close())

    const lanes = openLanes({ clock, lanes: loaded.lanes })
    const jobs = openJobs({
      ledger,
      clock,
      log,
      tasks,
      lanes: loaded.lanes,
      queues: loaded.queues,
      app: (task) => appOf(loaded.ownerOf(task)),
      debug: settings.debug,
      writable: () => index.writable(),
    })
    const schedules = openScheduler({ ledger, clock, log, tasks, jobs })
    const own: App = {
      settings,
      version: manifest.version,
      clock,
      log,
      index,
      ledger,
      jobs,
      lanes,
      schedules,
      accounts,
      preferences,
      registry,
      plugins: wiring.book,
      emit: (name, event) => bus.emit(name, event),
      hook: (name) => hookOf(name) as never,
    }
    // Plugins add their services to it, one after the other.
    const app = own as WholeApp

    // A plugin's app is core's, with its own log: services that come later are seen by all.
    const apps = new Map<Plugin, WholeApp>(
      plugins.map((plugin) => [
        plugin,
        Object.create(app, { log: { value: log.child({ plugin: plugin.name }), enumerable: true } }) as WholeApp,
      ]),
    )
    const appOf = (plugin: Plugin | undefined): WholeApp => (plugin && apps.get(plugin)) ?? app

    for (const plugin of plugins) await wiring.named(plugin, () => wiring.addServices(plugin, app, appOf(plugin)))
    for (const plugin of plugins)
      await wiring.named(plugin, () => wiring.addImplementations(plugin, appOf(plugin), hookOf))
    for (const plugin of wiring.inOrderOfHearing)
      await wiring.named(plugin, () => wiring.listen(plugin, appOf(plugin), bus))
    for (const plugin of plugins) {
      opened.add(() => wiring.end(plugin, appOf(plugin)))
      await wiring.named(plugin, () => wiring.setUp(plugin, appOf(plugin)))
    }

    jobs.onEnded((run) => wiring.ended(run, app))
    await jobs.begin()
    opened.add(() => Promise.all([stopServing(), jobs.close()]))
    // Every account sees it: where the data folder lies is for the log alone.
    const said = ledger.recovered?.replaceAll(join(settings.dataDir, '/'), '')
    if (said)
      await jobs.notify({
        title: 'The ledger was damaged',
        group: 'setting:application',
        level: 'error',
        messages: [said],
        shownForSeconds: 3600,
      })
    await reserve.tellBy((sentence) =>
      jobs.notify({
        title: 'The disk is full',
        group: 'setting:application',
        level: 'error',
        messages: [sentence],
        shownForSeconds: 3600,
      }),
    )
    await schedules.begin()
    opened.add(() => schedules.close())
    isReady = true
    return { app, url, first, close: () => opened.close() }
  } catch (error) {
    log.debug({ err: error }, 'the start failed')
    await opened.close()
    if (isDiskFull(error))
      throw new StartError(
        `The disk with the data folder ${core.dataDir} is full, and nothing more was kept for this: make room on it`,
        { cause: error },
      )
    throw error
  }
}

async function listen(http: Http, { host, port }: Settings): Promise<{ url: string }> {
  try {
    return await http.listen()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const problem =
      code === 'EADDRINUSE'
        ? `port ${port} of ${host} is taken by another program: end that one, or set AV_PORT`
        : code === 'EACCES'
          ? `port ${port} needs rights that this user does not have: set AV_PORT to one from 1024 on`
          : `${host} is not an address of this machine (${code}): set AV_HOST`
    throw new StartError(`Cannot listen: ${problem}`, { cause: error })
  }
}

function once<Result>(work: () => Promise<Result>): () => Promise<Result> {
  let running: Promise<Result> | undefined
  return () => (running ??= work())
}

/** What has been opened, to be closed in reverse; one that fails does not keep the others open. */
class Closers {
  readonly #list: Array<() => unknown> = []
  readonly #log: Log
  constructor(log: Log) {
    this.#log = log
  }

  add(close: () => unknown): void {
    this.#list.push(close)
  }

  async close(): Promise<void> {
    for (let close = this.#list.pop(); close; close = this.#list.pop()) {
      try {
        await close()
      } catch (error) {
        this.#log.error({ err: error }, 'a part could not be closed')
      }
    }
  }
}
