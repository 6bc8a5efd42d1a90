/** Public as 'archivolt/testing': a whole server on a temporary folder, with a stopped clock, for one test. */
import { copyFileSync, readdirSync, rmSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findBuiltIn } from '../../config/cli/find-plugins.ts'
import { buildPages } from '../../config/cli/pages.ts'
import { commandsOf, noSuchCommand, sentenceOf, understood } from '../../config/cli/typed.ts'
import type { Settings } from '../../config/schema.ts'
import { openSigning } from '../../core/accounts/signing.ts'
import { type OpenedApp, openApp } from '../../core/app.ts'
import { GRACE_MS } from '../../core/http/server.ts'
import { openHoldings } from '../../core/index/in-use.ts'
import type { StoredDocuments } from '../../core/index/stored-documents.ts'
import { openLedger } from '../../core/ledger/sqlite.ts'
import { type Log, openLog } from '../../core/log.ts'
import type { Plugin, WholeApp } from '../../core/plugin/define.ts'
import type { FoundPlugin } from '../../core/plugin/found.ts'
import { registerPlugins } from '../../core/plugin/load.ts'
import { openSecretKey } from '../../core/secret-key.ts'
import platform from '../../plugins/platform/plugin.ts'
import { keepThreads } from '../../plugins/sqlite/threads.ts'
import type { Given } from './builders.ts'
import { type TestClock, testClock } from './clock.ts'
import { lastFirst, type Scope } from './last-first.ts'
import { pacedPlatform } from './paced-platform.ts'
import { cheapCredentials } from './password-cost.ts'
import { UNPACED } from './preferences.ts'

export * from './builders.ts'
export { type TestClock, testClock } from './clock.ts'

export interface TestOptions {
  /**
   * Loads exactly these plugins, with the embedded index unless one of them is an index adapter, and with accounts
   * unless one of them provides those. Default: all built-in plugins.
   */
  plugins?: readonly Plugin[]
  /** Each replaces the built-in plugin of its name, or is added. */
  replace?: readonly Plugin[]
  /** Added as if they came from AV_PLUGINS_DIR. */
  outside?: readonly Plugin[]
  settings?: Partial<Settings>
  clock?: TestClock
  log?: Log
  /** A folder that is not removed, such as that of an earlier test app. */
  dataDir?: string
  /** Copies the ledger every day, as a server does. Default: only with `dataDir`. */
  hasCopies?: boolean
}

export interface TestReply {
  status: number
  // Untyped, because the answer is what a test checks.
  body: any
  text: string
  bytes: Buffer
  headers: Headers
}

type Body = object | string | Uint8Array
export type Ask = (path: string, body?: Body, headers?: Record<string, string>) => Promise<TestReply>

export interface Client {
  get: (path: string, headers?: Record<string, string>) => Promise<TestReply>
  post: Ask
  put: Ask
  delete: Ask
}

export interface CommandOptions {
  /** Answers to the command's prompts for secrets, in order. */
  secrets?: readonly string[]
}

export interface CommandReply {
  /** 0: success; 1: failure. */
  code: 0 | 1
  /** The output, line by line. */
  said: string[]
  /** The error message as users see it. */
  error?: string
}

export interface TestApp {
  readonly app: WholeApp
  readonly clock: TestClock
  readonly dataDir: string
  /** Ends with the slash of its base path. */
  readonly url: string
  /** A client with the account's token; `user` is not an admin. Any other value is the name of an account. */
  as(who: 'admin' | 'user' | 'nobody' | (string & {})): Client
  /** Adds documents to the index, as the plugins that own them would. */
  given(...documents: Given[]): Promise<void>
  /** Ids of all documents of an index, sorted. */
  ids(index: string): Promise<string[]>
  /** The stored document. */
  doc(index: string, id: string): Promise<any>
  /**
   * Resolves when no job is pending or running; jobs that wait for a time wait for the clock. In the testing kit for
   * authors it fails if a job waits for the clock, and names the task.
   */
  settled(): Promise<void>
  /** Stops the server as SIGTERM does. Called automatically at the end of the test. */
  close(): Promise<void>
  /** Starts again with the same folder, clock and settings. */
  restart(): Promise<void>
  /**
   * Runs a plugin's command, as typed after `archivolt`. The server stops for it and starts again afterwards, unless it
   * was closed before; after that, `app` is a new object.
   * @param typed  words, and options with `--`: `'tide list --all'`, or `['tide', 'list', 'a name with spaces']`
   */
  command(typed: string | readonly string[], options?: CommandOptions): Promise<CommandReply>
}

/** Number of threads of closed indexes that are reused: most tests have one index at a time. */
export const KEPT_THREADS = 2
keepThreads(KEPT_THREADS)

/** A server that takes this long to close waits for the clock; most take some milliseconds. */
const CLOSING_MS = 5000

/** The password of both accounts, for tests that sign in. */
export const PASSWORD = 'a password for tests'

export async function testApp(scope: Scope, options: TestOptions = {}): Promise<TestApp> {
  const { clock = testClock(), log = openLog('silent'), settings = {} } = options
  const plugins = await chosenPlugins(options)
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'av-test-')))
  if (!options.dataDir) copyFiles(await madeFolder(await withTables(options, plugins)), dataDir)
  const sources = {
    env: {},
    dataDir,
    filePath: 'settings',
    file: { port: 0, password: PASSWORD, ...withoutDownloader(plugins), ...STRICT, ...settings, dataDir },
  }
  const isTemporary = options.dataDir === undefined && !options.hasCopies
  const open = (isAtRest = false) =>
    openApp({ sources, clock, log, findPlugins: async () => plugins, buildPages, isAtRest, isTemporary })

  let opened: OpenedApp | undefined = await open()
  const isOpen = (): OpenedApp => {
    if (!opened) throw new Error('The test app is closed')
    return opened
  }
  const close = async (): Promise<void> => {
    if (!opened) return
    const closing = opened.close()
    opened = undefined
    // Work that does not end is aborted once the clock has advanced: without this, a test that advanced the clock too
    // early would hang.
    const moveOn = setInterval(() => void clock.advance(GRACE_MS), CLOSING_MS)
    await closing.finally(() => clearInterval(moveOn))
  }
  lastFirst(scope).after(async () => {
    await close()
    if (!options.dataDir) rmSync(dataDir, { recursive: true, force: true })
  })

  const collectionOf = (name: string): Documents => {
    const { index, hook } = isOpen().app
    const definition = index.definitions.find((one) => one.name === name)
    if (definition) return index.collection(definition)
    const kept = hook('archive.documents').find((one) => one.name === name)
    if (!kept) throw new Error(`No plugin of this test app declares the index ${name}`)
    return writable(kept)
  }

  return {
    get app() {
      return isOpen().app
    },
    get url() {
      return isOpen().url
    },
    clock,
    dataDir,
    as: (who) =>
      clientOf(async (path, init) =>
        fetch(new URL(path.replace(/^\//, ''), isOpen().url), {
          ...init,
          headers: { ...(await authorization(isOpen().app, who)), ...init.headers },
        }),
      ),
    async given(...documents) {
      for (const { index, id, doc } of documents) await collectionOf(index).put(id, doc)
      await isOpen().app.index.refresh()
    },
    async ids(index) {
      const ids: string[] = []
      for await (const batch of collectionOf(index).scan({ batch: 1000 })) ids.push(...batch.map(({ id }) => id))
      return ids.sort()
    },
    doc: async (index, id) => (await collectionOf(index).getMany([id])).get(id),
    async settled() {
      const { ledger, jobs } = isOpen().app
      const isBusy = () =>
        ledger.sql(`SELECT 1 FROM jobs WHERE state IN ('PENDING', 'STARTED') LIMIT 1`).get() !== undefined
      while (isBusy()) {
        await new Promise<void>((resolve) => {
          const unwatch = jobs.watch(() => {
            unwatch()
            resolve()
          })
        })
      }
    },
    close,
    async restart() {
      await close()
      opened = await open()
    },
    async command(typed, given = {}) {
      const isRunning = opened !== undefined
      await close()
      try {
        return await commandReply(typeof typed === 'string' ? typed.split(' ') : typed, given, () => open(true))
      } finally {
        if (isRunning) opened = await open()
      }
    },
  }
}

type Documents = Pick<StoredDocuments, 'getMany' | 'scan'> & { put(id: string, doc: object): Promise<void> }

/** Documents of a plugin's own tables are written in the same way as by a restore. */
const writable = (kept: StoredDocuments): Documents => ({
  ...kept,
  async put(id, doc) {
    const { write, commit } = await kept.replacement()
    for await (const batch of kept.scan({ batch: 1000 })) await write(batch)
    const { failed } = await write([{ id, doc: doc as Record<string, unknown> }])
    if (failed[0]) throw new Error(failed[0].reason)
    await commit()
  },
})

/** Like `config/cli/commands.ts`, except for input and output. */
async function commandReply(
  typed: readonly string[],
  { secrets = [] }: CommandOptions,
  open: () => Promise<OpenedApp>,
): Promise<CommandReply> {
  const said: string[] = []
  const answers = [...secrets]
  const secret = async (question: string): Promise<string> => {
    const answer = answers.shift()
    if (answer === undefined) throw new Error(`${question}: the test has no answer; give it in \`secrets\``)
    return answer
  }
  const { app, close } = await open()
  try {
    const read = understood(commandsOf(app.registry), typed)
    if (!read) throw noSuchCommand(typed)
    const { command, help, taken, options } = read
    if (help === undefined)
      await command.run({ taken, options, secret, say: (line) => void said.push(line), log: app.log }, app)
    else said.push(help)
    return { code: 0, said }
  } catch (error) {
    return { code: 1, said, error: sentenceOf(error) }
  } finally {
    await close()
  }
}

async function chosenPlugins({ plugins, replace = [], outside = [] }: TestOptions): Promise<FoundPlugin[]> {
  const given = (list: readonly Plugin[], isOutside = false) =>
    list.map((plugin) => ({ plugin, origin: `test/${plugin.name}`, isOutside }))
  const builtIn = await builtInPlugins()
  if (plugins) {
    // Every test app needs an index adapter.
    const keeper = [...plugins, ...outside].some(({ indexAdapter }) => indexAdapter) ? [] : builtIn.filter(isEmbedded)
    const found = given(plugins).map(withCheapParts)
    const handed = builtIn.filter(
      ({ plugin }) => HANDED.has(plugin.name) && !plugins.some(({ name }) => name === plugin.name),
    )
    const people = [...plugins, ...outside].some(({ credentials }) => credentials) ? [] : given([ACCOUNTS])
    return [...keeper, ...people, ...handed, ...found, ...given(outside, true)]
  }
  const kept = builtIn.filter(({ plugin }) => !replace.some(({ name }) => name === plugin.name))
  return [...kept, ...given(replace), ...given(outside, true)]
}

let builtIn: Promise<FoundPlugin[]> | undefined
/** Found only once, because reading their folders takes a thirtieth of a server's start. */
const builtInPlugins = (): Promise<FoundPlugin[]> =>
  (builtIn ??= findBuiltIn().then((found) => found.map(withCheapParts)))

/** These plugins add to the app of every plugin. */
const HANDED: ReadonlySet<string> = new Set(['fetch', 'lanes'])

/** Errors of an author's plugin are thrown. */
const STRICT = { pluginsStrict: true }
/** An address on which nothing listens. */
const NO_INDEX = 'http://127.0.0.1:1/simple/'
/** Prevents downloads of programs, except in tests of these downloads; in the light tests, also starts of yt-dlp. */
const withoutDownloader = (plugins: FoundPlugin[]) => {
  if (!plugins.some(({ plugin }) => plugin.settings?.['ytdlp'])) return {}
  const { TEST_YTDLP: ytdlp = null } = process.env // set by `refused.ts`
  return { ytdlpUpdate: 'off', packageIndex: NO_INDEX, ytdlp }
}

/** Accounts without the routes of the plugin `user`. */
const ACCOUNTS: Plugin = { name: 'accounts', credentials: cheapCredentials }

const cheapPlugins = new WeakMap<Plugin, Plugin>()

/** Returns the same object for the same plugin, so that a process registers it only once. */
function withCheapParts(found: FoundPlugin): FoundPlugin {
  const { plugin } = found
  const parts = cheapPartsOf(plugin)
  if (!parts) return found
  const known = cheapPlugins.get(plugin) ?? { ...plugin, ...parts }
  cheapPlugins.set(plugin, known)
  return { ...found, plugin: known }
}

/** A test's own platform is not replaced. */
function cheapPartsOf({ name, services }: Plugin): Partial<Plugin> | undefined {
  if (name === 'user') return { credentials: cheapCredentials }
  return services === platform.services ? { services: pacedPlatform() } : undefined
}

const isEmbedded = ({ plugin }: FoundPlugin): boolean =>
  plugin.indexAdapter?.chosenBy === undefined && plugin.indexAdapter !== undefined

/**
 * Copies prepared tables if all plugins of the test are built-in ones; other plugins create theirs at the first start.
 */
async function withTables({ plugins }: TestOptions, found: readonly FoundPlugin[]): Promise<FoundPlugin[]> {
  const isEmbeddedUsed = !found.some(({ plugin, isOutside }) => isOutside && plugin.indexAdapter)
  if (plugins || !isEmbeddedUsed) return []
  const builtIn = await builtInPlugins()
  const isAsBuilt = ({ plugin }: FoundPlugin) =>
    found.some(
      ({ plugin: { name, migrations, indexes } }) =>
        name === plugin.name && migrations === plugin.migrations && indexes === plugin.indexes,
    )
  return builtIn.every(isAsBuilt) ? builtIn : []
}

/** Synchronous: a few small files, in a third of the time that copying folders takes. */
function copyFiles(from: string, to: string): void {
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name))
}

const folders = new Map<string, Promise<string>>()

/**
 * Prepares a folder with the accounts and the empty tables of these plugins, because creating them takes as long as the
 * rest of a server's start. All test apps of a process share it.
 */
function madeFolder(found: readonly FoundPlugin[]): Promise<string> {
  const key = found.map(({ plugin }) => plugin.name).join()
  const known = folders.get(key)
  if (known) return known
  const made = makeFolder(found)
  folders.set(key, made)
  return made
}

async function makeFolder(found: readonly FoundPlugin[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'av-test-made-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  const [log, clock] = [openLog('silent'), testClock()]
  const { migrations, indexes, adapters } = registerPlugins(found)
  const file = join(folder, 'ledger.sqlite')
  const ledger = await openLedger({ file, log, clock })
  const signing = openSigning(await openSecretKey(folder))
  const { accounts, ensureFirst } = cheapCredentials.open({ ledger, clock, log, dataDir: folder, signing })
  await ensureFirst({ username: 'admin', password: PASSWORD })
  await accounts.create({ username: 'user', password: PASSWORD, isStaff: false })
  // With a stopped clock a pause would never end.
  await ledger.write(() => {
    const put = ledger.sql('INSERT INTO preferences (section, key, value) VALUES (?, ?, ?)')
    for (const [section, values] of Object.entries(UNPACED))
      for (const [key, value] of Object.entries(values)) put.run(section, key, JSON.stringify(value))
  })
  await ledger.close()
  // Opened twice, like a folder that was in use before these plugins: some check whether there are accounts.
  await (await openLedger({ file, log, clock, plugins: migrations })).close()
  const embedded = adapters.find(({ chosenBy }) => chosenBy === undefined)
  if (embedded) {
    const settings = { dataDir: folder, prefix: 'av' } as Settings
    const holdings = await openHoldings({ dataDir: folder, kind: embedded.name, clock, log })
    const { index } = await embedded.open({ settings, definitions: indexes, log, clock, version: '', holdings })
    await index.close()
  }
  // Removes what the preparation has left: a new installation has no copies.
  for (const name of ['ledger-copies', 'lock']) await rm(join(folder, name), { recursive: true, force: true })
  return folder
}
async function authorization({ accounts: book }: WholeApp, who: string): Promise<Record<string, string>> {
  if (who === 'nobody') return {}
  const accounts = book.list()
  const account = accounts.find(({ is_staff, username }) =>
    who === 'admin' ? is_staff : who === 'user' ? !is_staff : username === who,
  )
  if (!account)
    throw new Error(
      `There is no account ${who}; there are ${accounts.map(({ username }) => username).join(', ')}. Another is made by as('admin').post('/api/user/', { username, password })`,
    )
  return { authorization: `Token ${await book.token(account.id)}` }
}

function clientOf(
  send: (
    path: string,
    init: { method: string; headers: Record<string, string>; body?: string | Uint8Array<ArrayBuffer> },
  ) => Promise<Response>,
): Client {
  const ask =
    (method: string): Ask =>
    async (path, body, headers = {}) => {
      const isJson = typeof body === 'object' && !(body instanceof Uint8Array)
      const response = await send(path, {
        method,
        headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
        ...(body !== undefined && { body: isJson ? JSON.stringify(body) : (body as string | Uint8Array<ArrayBuffer>) }),
      })
      const bytes = Buffer.from(await response.arrayBuffer())
      const text = bytes.toString()
      return {
        status: response.status,
        headers: response.headers,
        bytes,
        text,
        body: response.headers.get('content-type')?.startsWith('application/json') ? JSON.parse(text) : undefined,
      }
    }
  return {
    get: (path, headers) => ask('GET')(path, undefined, headers),
    post: ask('POST'),
    put: ask('PUT'),
    delete: ask('DELETE'),
  }
}

/**
 * Ends all schedules, so that nothing starts by itself. Needed if a server in its own process takes over the folder:
 * its clock is the real one, so it would start what was scheduled for the last day, such as a weekly backup on a
 * Sunday.
 */
export async function endSchedules({ as }: Pick<TestApp, 'as'>): Promise<void> {
  for (const { name } of (await as('admin').get('/api/schedule/')).body)
    await as('admin').delete('/api/schedule/', { task_name: name })
}
