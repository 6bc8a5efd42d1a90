/** The ledger's SQLite file: opened once, written in one transaction per tick. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import { type Clock, DAY_MS, systemClock } from '../base/clock.ts'
import { errors } from '../base/error.ts'
import { inEnglish, say, type Words } from '../base/say.ts'
import { statementCache } from '../base/statement-cache.ts'
import { removeUnfinished } from '../folder.ts'
import { isDiskFull } from '../full-disk.ts'
import type { Log } from '../log.ts'
import { isRecorded, openCached } from '../sources.ts'
import { StartError } from '../start-error.ts'
import { openDiskSync } from './disk-sync.ts'
import { followRows, type ToldRows } from './follow.ts'
import { backupTo, openChecked } from './ledger-copies.ts'
import { lockFolder } from './lock.ts'
import { applyMigrations, type MigrationOwner, type MigrationPlan, planMigrations } from './migrate.ts'
import type { LedgerFault, LedgerRecovery, Salvage } from './recovery.ts'
import { openSeal, type Seal } from './seal.ts'
import { openKeyOf, sealWhatIsPlain, unreadableIn, wayOutOf } from './sealed-columns.ts'
import { openStoredJson, type ReadJson } from './stored-json.ts'
import { openTableSources, type TableSources } from './table-sources.ts'
import { isDamage, isUnreadable } from './whole-check.ts'

export interface Ledger extends Seal {
  /** A cached statement: reads at any time, writes only inside `write`. Plugins use only their own tables. */
  sql<Row = unknown>(text: string): Database.Statement<unknown[], Row>
  /** Runs `work` (synchronous) in a shared transaction; resolves once on disk. A throw undoes only this `work`. */
  write<Result>(work: () => Result): Promise<Result>
  /** Caches a value until a table that it was read from changes. @param key  unique among all plugins */
  cached<Value>(key: string, find: () => Value): Value
  /** Notes in `into` (columns `kind`, `id`, `times`) which rows change, in the same transaction. Call it in `setup`. */
  follow(rows: ToldRows, into: string, kind: string): void
  /** Makes a complete, checked copy at this path while the ledger is in use. */
  backup(path: string, signal?: AbortSignal): Promise<void>
  /** Parses JSON from a row. Every reader of stored JSON uses it, so that one damaged row stops nothing else. */
  readonly json: ReadJson
}

/** The ledger, with what only its opener uses. */
export interface OpenedLedger extends Ledger {
  /** Commits waiting writes, checkpoints the log, and unlocks the data folder. */
  close(): Promise<void>
  /** Frees SQLite's page cache. */
  relax(): void
  /** What this start did about an unusable file. */
  readonly recovered?: Words | undefined
  /** The last recovery, by this start or an earlier one, while people are still told about it. */
  readonly lastRecovery?: Recovery | undefined
  /** Calls back once if damage is found while the ledger is in use; the next start recovers it. */
  whenDamaged(tell: () => void): void
  /** What people can do about secrets sealed with another secret key, if there are any. */
  readonly unreadable?: Words
}

interface Recovery {
  said: Words
  /** Until when people are told, in epoch milliseconds. */
  until: number
}

interface LedgerOptions {
  /** Its folder is the data folder, which is created if needed and locked by this process. */
  file: string
  log: Log
  clock: Clock
  plugins?: readonly MigrationOwner[]
  recovery?: LedgerRecovery | undefined
  salvage?: Salvage | undefined
  /** Preferences to seal, as `section.key`. */
  secretPreferences?: readonly string[]
  /** Called when the disk is full. @returns true if space was freed: try once more */
  onFull?: () => boolean
}
type Opening = LedgerOptions & Required<Pick<LedgerOptions, 'plugins' | 'secretPreferences' | 'onFull'>>

/** With this cache, one of 100,000 rows is found in 8 µs; with better-sqlite3's default of 16 MB, in 6 µs. */
const CACHE_KB = 4000
/** Time limit of a shared transaction, so that many writes at once do not block the event loop. */
const BATCH_BUDGET_MS = 5
const CACHED_VALUES = 400

/** A larger write-ahead log is truncated after its checkpoint: a long read or a large write makes the log grow. */
const WAL_BYTES = 8 << 20
const RECOVERY_TOLD_MS = 7 * DAY_MS

/** @throws a sentence, such as: the folder is in use, a later version wrote the file, a migration failed */
export async function openLedger(options: LedgerOptions): Promise<OpenedLedger> {
  const opening: Opening = { plugins: [], secretPreferences: [], onFull: () => false, ...options }
  const { clock, log } = opening
  const folder = dirname(opening.file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const lock = lockFolder(folder)
  try {
    removeUnfinished(folder)
    const { db, recovered } = await openWhole(opening)
    try {
      const lastRecovery = storeRecovery(db, recovered, { now: clock.now(), json: openStoredJson(log) })
      const secrets = await openSecrets(db, opening)
      const opened = groupCommit(db, opening, () => lock.release())
      return Object.assign(opened, secrets, { recovered, lastRecovery })
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

interface Whole {
  db: Database.Database
  recovered: Words | undefined
}

/** Opens the ledger; replaces a file that is unusable, or turns out to be damaged while it is opened or copied. */
async function openWhole(opening: Opening): Promise<Whole> {
  const { file, clock, plugins, recovery, salvage, log } = opening
  const replace = async (fault: LedgerFault, err?: unknown) => {
    if (!recovery)
      throw new StartError(
        `The ledger ${file} is ${fault}, and the plugin that replaces it is switched off: switch on \`recovery\`, or replace the ledger with a copy`,
        { cause: err },
      )
    const now = clock.now()
    const migrations = {
      plan: (db: Database.Database) => planMigrations(db, plugins),
      apply: (db: Database.Database, steps: MigrationPlan['steps']) => applyMigrations(db, steps, now, log),
    }
    const recovered = await recovery.replace(fault, file, { salvage, now, migrations })
    log.error({ err }, inEnglish(recovered))
    return { ...(await openMigrated(opening)), recovered }
  }
  const fault = await readable(file, async () => recovery?.faultOf(file))
  if (fault !== undefined) return replace(fault)
  try {
    return await openMigrated(opening)
  } catch (error) {
    if (!isDamage(error)) throw error
    return replace('damaged', error)
  }
}

/** @throws StartError  the disk cannot be read, so the file's state is unknown */
async function readable<Result>(file: string, read: () => Result): Promise<Awaited<Result>> {
  try {
    return await read()
  } catch (cause) {
    if (!isUnreadable(cause)) throw cause
    throw new StartError(
      `The ledger ${file} cannot be read from its disk: check the disk and its connection. If the disk is broken, move the ledger away: the next start takes the newest copy in ledger-copies/`,
      { cause },
    )
  }
}

/** @throws SqliteError  the file is damaged */
async function openMigrated({ file, clock, plugins, recovery, log }: Opening): Promise<Whole> {
  // Created here, readable only by its owner: SQLite gives its log the same mode.
  closeSync(openSync(file, 'a', 0o600))
  const lostInLog = recovery?.readLog(file)
  const db = await readable(file, () => openChecked(file))
  try {
    const recovered = lostInLog?.(db, clock.now())
    if (recovered) log.error(inEnglish(recovered))
    db.pragma('journal_mode = WAL')
    db.pragma('synchronous = FULL')
    db.pragma(`journal_size_limit = ${WAL_BYTES}`)
    db.pragma(`cache_size = -${CACHE_KB}`)
    const plan = planMigrations(db, plugins)
    if (recovery && plan.hasContent && plan.steps.length > 0) {
      const copy = await recovery.copyBeforeMigration(file, clock.now(), (path) => backupTo(db, path))
      log.info({ copy }, 'ledger copied before its migration')
    }
    applyMigrations(db, plan.steps, clock.now(), log)
    return { db, recovered }
  } catch (error) {
    db.close()
    throw error
  }
}

const RECOVERED = 'recovered'

/** Stores the message about a recovery, so that it survives a restart; without a new one, reads the stored one. */
function storeRecovery(
  db: Database.Database,
  said: Words | undefined,
  { now, json }: { now: number; json: ReadJson },
): Recovery | undefined {
  if (said !== undefined) {
    const recovery: Recovery = { said, until: now + RECOVERY_TOLD_MS }
    db.prepare('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)').run(RECOVERED, JSON.stringify(recovery))
    return recovery
  }
  const text = db.prepare<[string], string>('SELECT value FROM meta WHERE key = ?').pluck().get(RECOVERED)
  const recovery = text === undefined ? undefined : json<Recovery | undefined>(text, `meta.${RECOVERED}`, undefined)
  return recovery && now < recovery.until ? recovery : undefined
}

async function openSecrets(
  db: Database.Database,
  options: Opening,
): Promise<Pick<OpenedLedger, keyof Seal | 'unreadable'>> {
  const seal = openSeal(await openKeyOf(db, dirname(options.file)))
  sealWhatIsPlain(db, seal, options)
  const found = unreadableIn(db, seal)
  if (found.size === 0) return seal
  const unreadable = say`The ledger has ${{ what: wayOutOf(found) }}`
  options.log.error(inEnglish(unreadable))
  return { ...seal, unreadable }
}

interface Waiting {
  work: () => unknown
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

function groupCommit(
  db: Database.Database,
  { file, recovery, log, onFull, clock }: Opening,
  release: () => void,
): Omit<OpenedLedger, keyof Seal> {
  const damage = openDamage(() => recovery?.noteDamage(file), log)
  const [begin, commit, rollback] = [db.prepare('BEGIN IMMEDIATE'), db.prepare('COMMIT'), db.prepare('ROLLBACK')]
  const mark = db.prepare('SAVEPOINT work')
  const [keep, undo] = [db.prepare('RELEASE work'), db.prepare('ROLLBACK TO work')]
  const changes = db.prepare<[], number>('SELECT total_changes()').pluck()

  let queue: Waiting[] = []
  let [isScheduled, isClosed] = [false, false]
  const sources = openTableSources(db)
  const wal = `${file}-wal`
  // Tests advance their clock by turns of the event loop; with it each write must end within one turn.
  const disk = clock === systemClock && existsSync(wal) ? openDiskSync(wal) : undefined
  // NORMAL commits without waiting for the disk. Writers are answered once the log is synced, so they lose nothing.
  if (disk) db.pragma('synchronous = NORMAL')

  /** One transaction: as much of the queue as the budget allows. */
  const commitBatch = () => {
    const batch: Waiting[] = []
    const answers: Array<(failure: unknown) => void> = []
    let isRoomMade = false
    const before = changes.get()
    const makesRoom = (error: unknown) => isDiskFull(error) && (isRoomMade ||= onFull())
    try {
      sources.begin()
      begin.run()
      const startedAt = performance.now()
      for (const waiting of queue) {
        if (batch.length > 0 && performance.now() - startedAt > BATCH_BUDGET_MS) break
        batch.push(waiting)
        mark.run()
        try {
          const result = waiting.work()
          if (result instanceof Promise) throw new TypeError('Work in a ledger transaction must not be asynchronous')
          keep.run()
          answers.push((failure) => (failure ? waiting.reject(forCaller(failure)) : waiting.resolve(result)))
        } catch (error) {
          if (!db.inTransaction || makesRoom(error)) throw error // undoes the whole transaction, not only this work
          undo.run()
          keep.run()
          answers.push(() => waiting.reject(forCaller(error)))
        }
      }
      commit.run()
    } catch (error) {
      if (db.inTransaction) rollback.run()
      if (makesRoom(error)) return // everything is still in the queue and runs again
      damage.watched(error)
      if (batch.length === 0) batch.push(...queue) // BEGIN failed
      answers.length = 0
      for (const waiting of batch) answers.push(() => waiting.reject(forCaller(error)))
    } finally {
      sources.ended()
    }
    queue = queue.slice(batch.length)
    const answerAll = (failure: unknown) => answers.forEach((answer) => answer(failure))
    // A batch that changed nothing waits only for an earlier sync, because it may have read rows that are not synced yet.
    if (disk && (changes.get() !== before || disk.isBusy())) disk.whenSynced(answerAll)
    else answerAll(undefined)
  }

  const flush = () => {
    isScheduled = false
    if (isClosed || queue.length === 0) return
    commitBatch()
    schedule()
  }
  const schedule = () => {
    if (isScheduled || queue.length === 0) return
    isScheduled = true
    setImmediate(flush)
  }

  return {
    whenDamaged: (tell) => damage.tellBy(tell),
    sql: statementCache((text) => guarded(db, text, damage.watched, sources)) as OpenedLedger['sql'],
    cached: openCached(CACHED_VALUES),
    json: openStoredJson(log),
    write<Result>(work: () => Result): Promise<Result> {
      if (isClosed) return Promise.reject(errors.unavailable('The ledger is closed'))
      return new Promise<Result>((resolve, reject) => {
        queue.push({ work, resolve: resolve as (result: unknown) => void, reject })
        schedule()
      })
    },
    follow: (rows, into, kind) => followRows(db, rows, into, kind),
    backup: (path, signal) =>
      backupTo(db, path, signal).catch((error: unknown) => {
        throw damage.watched(error)
      }),
    relax: () => void db.pragma('shrink_memory'),
    async close() {
      if (isClosed) return
      while (queue.length > 0) commitBatch()
      // Writers that are answered now can still read and write.
      if (disk?.isBusy()) await new Promise<unknown>((resolve) => disk.whenSynced(resolve))
      while (queue.length > 0) commitBatch()
      isClosed = true
      disk?.close()
      try {
        db.pragma('wal_checkpoint(TRUNCATE)')
      } finally {
        db.close()
        release()
      }
    },
  }
}

type Damage = ReturnType<typeof openDamage>

/** Handles damage found while the ledger is in use. The server goes on, because most content is still readable. */
function openDamage(note: () => void, log: Log) {
  let isNoted = false
  let tell: (() => void) | undefined
  return {
    /** Records damage that an error reveals. @returns the error for the caller */
    watched(error: unknown): unknown {
      if (!isDamage(error)) return error
      if (!isNoted) {
        isNoted = true
        note()
        log.error({ err: error }, 'the ledger is damaged; the next start recovers it')
        tell?.()
      }
      return errors.unavailable('The database is damaged: restart the server, which recovers it', { cause: error })
    },
    tellBy(told: () => void): void {
      tell = told
      if (isNoted) told()
    },
  }
}

/** Refuses CREATE, ALTER, DROP, and writes outside a transaction (slow, not atomic); notes damage and reads. */
function guarded(
  db: Database.Database,
  text: string,
  watched: Damage['watched'],
  sources: TableSources,
): Database.Statement<unknown[], unknown> {
  const statement = db.prepare<unknown[], unknown>(text)
  if (/^\s*(?:create|alter|drop)\b/i.test(text)) throw new Error(`Only migrations create and change tables: ${text}`)
  let noteRead: ReturnType<TableSources['readerOf']> | undefined
  for (const verb of ['run', 'get', 'all', 'iterate'] as const) {
    const act = statement[verb].bind(statement) as (...given: unknown[]) => never
    statement[verb] = (...given: unknown[]) => {
      if (!statement.readonly && !db.inTransaction)
        throw new Error(`This statement changes the ledger outside of \`ledger.write(() => …)\`: ${statement.source}`)
      if (isRecorded()) (noteRead ??= sources.readerOf(text))(given)
      try {
        return act(...given)
      } catch (error) {
        throw watched(error)
      }
    }
  }
  return statement
}

/** A full or failing disk is not the writer's defect: the error becomes `unavailable`. */
function forCaller(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code = '' } = error as { code?: string }
  if (isDiskFull(error))
    return errors.unavailable('The disk with the data folder is full: free some space there', { cause: error })
  if (code === 'EIO' || code.startsWith('SQLITE_IOERR') || code === 'SQLITE_READONLY')
    return errors.unavailable('The disk with the data folder cannot be written', { cause: error })
  return error
}
