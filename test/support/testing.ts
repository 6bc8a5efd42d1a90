/** Public as 'archivolt/testing': a whole server on a temporary folder, with its clock stopped, for one test. */
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
   * Exactly these plugins, with the embedded index unless one of them keeps documents, and with accounts unless one of
   * them keeps those. Default: all built-in ones.
   */
  plugins?: readonly Plugin[]
  /** Each takes the place of the built-in one of its name, or is one more. */
  replace?: readonly Plugin[]
  /** Beside them, as if they came from AV_PLUGINS_DIR. */
  outside?: readonly Plugin[]
  settings?: Partial<Settings>
  clock?: TestClock
  log?: Log
  /** A folder that stays, such as one that another test app has just left. */
  dataDir?: string
  /** Copies the ledger each day, as a server does. Default: only in a folder that stays. */
  hasCopies?: boolean
}

export interface TestReply {
  status: number
  // What a server answers is what the test is about: it is looked at, not declared.
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
  /** What whoever types it answers where it asks for a secret, one after the other. */
  secrets?: readonly string[]
}

export interface CommandReply {
  /** 0: done; 1: it could not be. */
  code: 0 | 1
  /** Line by line. */
  said: string[]
  /** Why it could not be done, as people are told. */
  error?: string
}

export interface TestApp {
  readonly app: WholeApp
  readonly clock: TestClock
  readonly dataDir: string
  /** With the final slash of its base path. */
  readonly url: string
  /** A client with that account's token; `user` is no admin. Any other is a name. */
  as(who: 'admin' | 'user' | 'nobody' | (string & {})): Client
  /** Puts documents into the index, as the plugin that owns them would have. */
  given(...documents: Given[]): Promise<void>
  /** Ids of all documents of an index, sorted. */
  ids(index: string): Promise<string[]>
  /** The stored document. */
  doc(index: string, id: string): Promise<any>
  /**
   * Resolves when no job waits or runs (those that wait for a time, wait for the clock). In the kit of authors it fails,
   * and names the task, where a job waits for the clock.
   */
  settled(): Promise<void>
  /** As SIGTERM does. Called by itself at the test's end. */
  close(): Promise<void>
  /** The next start on the same folder, clock and settings. */
  restart(): Promise<void>
  /**
   * What people type after `archivolt`, as a plugin brings it. The server stops for it and starts again afterwards,
   * unless it was closed before: `app` is another one then.
   * @param typed  words, and options with `--`: `'tide list --all'`, or `['tide', 'list', 'a name with spaces']`
   */
  command(typed: string | readonly string[], options?: CommandOptions): Promise<CommandReply>
}

/** Of indexes that are closed: most tests have one at a time. */
export const KEPT_THREADS = 2
keepThreads(KEPT_THREADS)

/** Most servers close within some milliseconds. */
const CLOSING_MS = 5000

/** Of both accounts, for tests that sign in as people do. */
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
    file: { port: 0, password: PASSWORD, ...withoutUpdates(plugins), ...STRICT, ...settings, dataDir },
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
    // What does not finish is ended once the clock has moved on: a test that moved it too early must not stand still.
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

/** Those of a plugin's own tables are written as a restore does it. */
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

/** As `config/cli/commands.ts` does it, but for where it is said and asked. */
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
    // Documents are kept somewhere, whatever a test is about.
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
/** Found once: their folders are read in a thirtieth of the time that a server takes. */
const builtInPlugins = (): Promise<FoundPlugin[]> =>
  (builtIn ??= findBuiltIn().then((found) => found.map(withCheapParts)))

/** They add to the app of every plugin. */
const HANDED: ReadonlySet<string> = new Set(['fetch', 'lanes'])

/** An author is told what is wrong. */
const STRICT = { pluginsStrict: true }
/** Where nothing listens. */
const NO_INDEX = 'http://127.0.0.1:1/simple/'
/** No test fetches programs from outside unless it is about that. */
const withoutUpdates = (plugins: FoundPlugin[]) =>
  plugins.some(({ plugin }) => plugin.settings?.['ytdlpUpdate']) ? { ytdlpUpdate: 'off', packageIndex: NO_INDEX } : {}

/** Accounts without the routes of the plugin `user`. */
const ACCOUNTS: Plugin = { name: 'accounts', credentials: cheapCredentials }

const cheapPlugins = new WeakMap<Plugin, Plugin>()

/** A plugin stays one and the same, so that its process registers it once. */
function withCheapParts(found: FoundPlugin): FoundPlugin {
  const { plugin } = found
  const parts = cheapPartsOf(plugin)
  if (!parts) return found
  const known = cheapPlugins.get(plugin) ?? { ...plugin, ...parts }
  cheapPlugins.set(plugin, known)
  return { ...found, plugin: known }
}

/** A platform that a test brings remains as it is. */
function cheapPartsOf({ name, services }: Plugin): Partial<Plugin> | undefined {
  if (name === 'user') return { credentials: cheapCredentials }
  return services === platform.services ? { services: pacedPlatform() } : undefined
}

const isEmbedded = ({ plugin }: FoundPlugin): boolean =>
  plugin.indexAdapter?.chosenBy === undefined && plugin.indexAdapter !== undefined

/** The built-in plugins if all of their tables are as built; others of the test make theirs when they are first started. */
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

/** At once: a few small files, in a third of the time that copying folders takes. */
function copyFiles(from: string, to: string): void {
  for (const name of readdirSync(from)) copyFileSync(join(from, name), join(to, name))
}

const folders = new Map<string, Promise<string>>()

/**
 * The accounts, and the empty tables of these plugins: to make them takes a server as long as all the rest of its
 * start. The same for all test apps of a process.
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
  // Where the clock stands still nobody would see the end of a pause.
  await ledger.write(() => {
    const put = ledger.sql('INSERT INTO preferences (section, key, value) VALUES (?, ?, ?)')
    for (const [section, values] of Object.entries(UNPACED))
      for (const [key, value] of Object.entries(values)) put.run(section, key, JSON.stringify(value))
  })
  await ledger.close()
  // As in a folder that was in use before these plugins: some ask whether there are accounts.
  await (await openLedger({ file, log, clock, plugins: migrations })).close()
  const embedded = adapters.find(({ chosenBy }) => chosenBy === undefined)
  if (embedded) {
    const settings = { dataDir: folder, prefix: 'av' } as Settings
    const holdings = await openHoldings({ dataDir: folder, kind: embedded.name, clock, log })
    const { index } = await embedded.open({ settings, definitions: indexes, log, clock, version: '', holdings })
    await index.close()
  }
  // What the making has left: a new installation has no copies.
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
 * Nothing starts by itself any more. Also for a folder that a server takes over as a process of its own: its clock is
 * the real one, so it would begin with what was scheduled for the last day, a weekly backup on a Sunday.
 */
export async function endSchedules({ as }: Pick<TestApp, 'as'>): Promise<void> {
  for (const { name } of (await as('admin').get('/api/schedule/')).body)
    await as('admin').delete('/api/schedule/', { task_name: name })
}
