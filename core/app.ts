/** Builds the server's parts in order and closes them in reverse: the whole server on one screen. */
import { join } from 'node:path'
import { type ConfigSources, readCore, readSettings } from '../config/load-settings.ts'
import type { Settings } from '../config/schema.ts'
import manifest from '../package.json' with { type: 'json' }
import { chooseAccountsPlugin, type FirstAccount } from './accounts/credentials.ts'
import { openSigning } from './accounts/signing.ts'
import { type Clock, DAY_SECONDS, systemClock } from './base/clock.ts'
import { changed, say } from './base/say.ts'
import { openCloseStack } from './close-stack.ts'
import { openDataFolder } from './folder.ts'
import { isDiskFull, noRoomLeft } from './full-disk.ts'
import { openHttp } from './http/server.ts'
import { releaseWhenIdle } from './idle-memory.ts'
import { chooseAdapter, openIndex } from './index/adapter.ts'
import { forgetGeneration, type Generation, openGeneration } from './index/generation.ts'
import { enterIndex } from './index/in-use.ts'
import { openJobs } from './jobs/open-jobs.ts'
import { openScheduler } from './jobs/scheduler.ts'
import type { JobsRunner } from './jobs/types.ts'
import { openPreferences, secretPreferencesOf } from './ledger/preferences.ts'
import { takeRestored } from './ledger/restored-folder.ts'
import { type OpenedLedger, openLedger } from './ledger/sqlite.ts'
import { type Log, openLog } from './log.ts'
import type { BuiltPage, Plugin, Task, WholeApp } from './plugin/define.ts'
import { type FoundPlugin, withoutBroken } from './plugin/found.ts'
import { type LoadedPlugins, logDeprecations, logLeftOut, registerPlugins } from './plugin/load.ts'
import { openRememberedSettings } from './plugin/remembered-settings.ts'
import { openWiring } from './plugin/wire.ts'
import { openSecretKey } from './secret-key.ts'
import { openTouched } from './sources.ts'

const WEEK_SECONDS = 7 * DAY_SECONDS
const DAMAGED = say`The database is damaged. Restart the server: it uses the newest intact copy, or saves what can be read.`

/** Where plugins are found, and which are left out. */
export type PluginSettings = Pick<Settings, 'pluginsDir' | 'pluginsOff' | 'pluginsStrict' | 'dataDir' | 'logLevel'>

interface AppOptions {
  sources: ConfigSources
  clock?: Clock
  log?: Log
  /** Called once the data folder is there. */
  findPlugins(settings: PluginSettings): Promise<readonly FoundPlugin[]>
  /** Bundles the pages and buttons of these plugins for browsers. @throws StartError */
  buildPages(plugins: readonly Plugin[]): readonly BuiltPage[]
  /** Called as soon as errors of plugins are noted, with what notes them. */
  onBlame?: (blame: OpenedApp['blame']) => void
  /** For commands: serves no requests, starts no jobs, and creates no first account. */
  isAtRest?: boolean
  /** The data folder is removed after the close, as in tests: nothing is copied or reserved in it. */
  isTemporary?: boolean
}

export interface OpenedApp {
  /** The app as core uses it; each plugin gets one with its own log. */
  app: WholeApp
  url: string
  /** The first admin; with its password if this start created it. */
  first: FirstAccount
  /** Notes an error or rejection (`isLate`) that nobody catches. @returns false: no external plugin is to blame */
  blame(error: unknown, isLate?: boolean): boolean
  /** Lets requests finish, hands running jobs back to the ledger, ends children, writes everything to disk. */
  close(): Promise<void>
}

/** Listens once the ledger is open, and answers 503 until the index is up to date. @throws StartError, or a sentence */
export async function openApp(options: AppOptions): Promise<OpenedApp> {
  const core = readCore(options.sources)
  await openDataFolder(core.dataDir)
  takeRestored(core.dataDir, options.log ?? openLog(core.logLevel))
  const found = await options.findPlugins(core)
  return withoutBroken(found, core.pluginsStrict, (working) =>
    start(options, registerPlugins(working, core.pluginsOff)),
  )
}

async function start(
  { sources, clock = systemClock, isAtRest = false, isTemporary = false, ...given }: AppOptions,
  loaded: LoadedPlugins,
): Promise<OpenedApp> {
  const { dataDir } = readCore(sources)
  const { registry } = loaded
  const remembered = await openRememberedSettings(dataDir, loaded)
  const settings = readSettings(sources, loaded.settings, remembered.owners)
  const adapter = chooseAdapter(loaded.adapters, settings, loaded.adaptersOff)
  const accountsPlugin = chooseAccountsPlugin(
    registry.plugins,
    loaded.off.map(({ plugin }) => plugin),
  )
  const log = given.log ?? openLog(settings.logLevel)
  const pages = given.buildPages(registry.plugins)
  const wiring = openWiring({ loaded, clock, log, version: manifest.version, pages })
  const { blame } = wiring
  given.onBlame?.(blame)

  const opened = openCloseStack(log)
  try {
    // Opened before anything is written: a start on a full disk needs some space.
    const reserve = await loaded.reserve?.open({ folder: dataDir, clock, log, isTemporary })
    if (reserve) opened.add(reserve)
    const onFull = () => reserve?.release() ?? false
    const file = join(dataDir, 'ledger.sqlite')
    const secretPreferences = secretPreferencesOf(loaded.preferences)
    const ledger = opened.add(
      await openLedger({
        ...{ file, log, clock, plugins: loaded.migrations, secretPreferences, onFull },
        ...{ recovery: loaded.recovery, salvage: loaded.salvage },
      }),
    )
    if (ledger.recovered !== undefined) await forgetGeneration(ledger)
    await remembered.remember()
    logLeftOut(loaded, remembered.left(sources), log)
    logDeprecations(loaded, log)
    let generation: Generation | undefined
    const copy = async (path: string, signal?: AbortSignal) => {
      await ledger.backup(path, signal)
      await generation?.advance()
    }
    if (loaded.recovery && !isTemporary) opened.add(loaded.recovery.keepDailyCopies({ file, copy, clock, log }))
    const preferences = openPreferences({ ledger, sections: loaded.preferences })
    const signing = openSigning(await openSecretKey(dataDir))
    const credentials = await wiring.named(accountsPlugin, () =>
      accountsPlugin.credentials.open({ ledger, clock, log, dataDir, signing }),
    )

    let isReady = false
    const touched = openTouched()
    const http = openHttp({
      ...{ routes: registry.routes, settings, log, clock, credentials, preferences },
      ...{ app: wiring.appOf, ownerOf: wiring.ownerOf, within: wiring.within },
      ...{ hook: (name) => wiring.hook(name), faultForms: () => wiring.faultForms },
      ...{ envelopes: wiring.envelopes, replyHeaders: wiring.replyHeaders },
      isReady: () => isReady,
      available: () => index.available?.(),
      touched,
    })
    const { url } = isAtRest ? { url: '' } : await http.listen()
    if (!isAtRest) {
      log.info({ url }, 'listening; requests are answered once the index is ready')
      opened.add(http)
    }

    const { username, password } = settings
    const first = isAtRest ? { isNew: false, username } : await credentials.ensureFirst({ username, password })
    await enterIndex(dataDir, adapter, loaded.adapters, log)
    const parts = { settings, definitions: loaded.indexes, log, clock, version: manifest.version }
    const index = opened.add(await openIndex(adapter, { ...parts, onFull }))

    const jobs = openJobs({
      ...{ ledger, clock, log, tasks: registry.tasks, lanes: loaded.lanes, debug: settings.debug },
      ...{ app: wiring.appOf, within: wiring.within },
      writable: () => index.writable(),
    })
    const schedules = openScheduler({
      ...{ ledger, clock, log, tasks: registry.tasks, jobs },
      app: (task) => wiring.appOf(task as Task),
      ...{ within: wiring.within, isOff: wiring.isOff },
    })
    const app = wiring.makeApps({
      ...{ settings, index, ledger, jobs, schedules, preferences },
      accounts: credentials.accounts,
      touch: touched.touch,
    })
    await wiring.putToWork(opened)

    if (isAtRest) {
      opened.add(jobs)
      return { app, url, first, blame, close: () => opened.close() }
    }
    await jobs.begin()
    opened.add({ close: () => Promise.all([http.close(), jobs.close()]) })
    generation = opened.add(await openGeneration({ ledger, index, log }))
    await reportOlder(generation, app)
    await warnOfLedger(ledger, jobs, dataDir, clock.now())
    await reserve?.tellBy((sentence, isOver) => jobs.warn('The disk is full', sentence, undefined, isOver))
    await opened.add(schedules).begin()
    const release = async () => {
      http.clearCaches()
      ledger.relax()
      await index.relax?.()
    }
    opened.add(releaseWhenIdle({ clock, log, requests: http.requests, release }))
    isReady = true
    await app.emit('server.ready', { url })
    return { app, url, first, blame, close: () => opened.close() }
  } catch (error) {
    log.debug({ err: error }, 'the start failed')
    await opened.close()
    throw isDiskFull(error) ? noRoomLeft(dataDir, error) : error
  }
}

async function warnOfLedger(ledger: OpenedLedger, jobs: JobsRunner, dataDir: string, now: number): Promise<void> {
  const { lastRecovery, unreadable } = ledger
  // Every account sees this message, so the path of the data folder goes only to the log.
  if (lastRecovery)
    await jobs.warn(
      'The database was damaged',
      changed(lastRecovery.said, (text) => text.replaceAll(join(dataDir, '/'), '')),
      Math.ceil((lastRecovery.until - now) / 1000),
    )
  if (unreadable) await jobs.warn('Secrets cannot be read', unreadable)
  ledger.whenDamaged(() => void jobs.warn('The database is damaged', DAMAGED, WEEK_SECONDS).catch(() => undefined))
}

/** Emits the event at each start until all listeners have handled it. */
async function reportOlder(generation: Generation, { emit, log }: Pick<WholeApp, 'emit' | 'log'>): Promise<void> {
  const { older } = generation
  try {
    if (older !== undefined) {
      log.warn(`the ${older} was replaced by an older copy; plugins now compare their data`)
      await emit(`${older}.replaced`, {})
    }
    await generation.advance()
  } catch (err) {
    log.error({ err }, `not every plugin could adapt to the older ${older}; the next start tries again`)
  }
}
