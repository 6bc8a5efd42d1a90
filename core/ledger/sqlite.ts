/** The SQLite file of the ledger: opened once, written in one transaction per tick. */
import { closeSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type Database from 'better-sqlite3'
import type { Clock } from '../clock.ts'
import { errors } from '../error.ts'
import { isDiskFull } from '../full-disk.ts'
import type { Log } from '../log.ts'
import { inEnglish, say, type Words } from '../say.ts'
import {
  backupTo,
  copiesOf,
  copyBeforeMigration,
  isDamage,
  type LedgerFault,
  openChecked,
  recoverFrom,
} from './ledger-copies.ts'
import { lockFolder } from './lock.ts'
import { applyMigrations, type MigrationOwner, planMigrations } from './migrate.ts'
import { openKeyOf } from './rotate-key.ts'
import { openSeal, type Seal } from './seal.ts'
import { sealWhatIsPlain, unreadableIn, wayOutOf } from './sealed-columns.ts'

export interface Ledger extends Seal {
  /**
   * A prepared statement, kept: for reads (any time) and for writes (inside `write` only). Plugins touch their own
   * tables only.
   */
  sql<Row = unknown>(text: string): Database.Statement<unknown[], Row>
  /**
   * Runs `work` in this tick's shared transaction (in a savepoint of its own: what throws is undone alone).
   * Resolves after the commit, so what it wrote is on disk. No await inside.
   */
  write<Result>(work: () => Result): Promise<Result>
}

/** The ledger as its opener holds it. */
export interface OpenedLedger extends Ledger {
  /** Another number after each write. */
  readonly version: number
  /** A whole copy at this path, made while the ledger is in use. */
  backup(path: string): Promise<void>
  /** Commits what still waits, writes the log back, and frees the data folder. */
  close(): Promise<void>
  /** What was done about a damaged file, where there was one. */
  readonly recovered?: Words | undefined
  /** What people do about secrets that another secret key has sealed, where there are some. */
  readonly unreadable?: Words
}

interface LedgerOptions {
  /** Its folder is the data folder: it is made if need be, and held by this process alone. */
  file: string
  log: Log
  clock: Clock
  plugins?: readonly MigrationOwner[]
  /** Preferences that nobody may read off the file, as `section.key`. */
  secretPreferences?: readonly string[]
  /** Called when the disk takes nothing more. @returns true: it does again, try once more */
  onFull?: () => boolean
}

/**
 * A condition on a column that takes one value: any of these. One alone is compared, which takes a third of the time
 * of a list.
 */
export function isAmong(column: string, values: readonly string[]): [condition: string, value: string] {
  const [first] = values
  return first !== undefined && values.length === 1
    ? [`${column} = ?`, first]
    : [`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(values)]
}

/** A mark among 100,000 is found in 8 µs; with 16 MB, which is better-sqlite3's own, it took 6. */
const CACHE_KB = 4000
/** A tick's transaction is cut after so long, so that many writes at once never hold the loop. */
const BATCH_BUDGET_MS = 5
const KEPT_STATEMENTS = 400

/** @throws a sentence: the folder is in use, the file comes from a later version, a migration is bad */
export async function openLedger({
  file,
  log,
  clock,
  plugins = [],
  secretPreferences = [],
  onFull = () => false,
}: LedgerOptions): Promise<OpenedLedger> {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  const lock = lockFolder(dirname(file))
  try {
    const { db, recovered } = openOrRecover(file, clock, log)
    try {
      db.pragma('journal_mode = WAL')
      db.pragma('synchronous = FULL')
      db.pragma(`cache_size = -${CACHE_KB}`)
      const plan = planMigrations(db, plugins)
      if (plan.hasContent && plan.steps.length > 0)
        log.info({ copy: await copyBeforeMigration(db, file, clock.now()) }, 'ledger copied before its migration')
      applyMigrations(db, plan.steps, clock.now(), log)
      const secrets = await openSecrets(db, { file, plugins, secretPreferences, log })
      const opened = groupCommit(db, () => lock.release(), recovered, onFull)
      return Object.assign(opened, secrets)
    } catch (error) {
      db.close()
      throw error
    }
  } catch (error) {
    lock.release()
    throw error
  }
}

async function openSecrets(
  db: Database.Database,
  options: { file: string; plugins: readonly MigrationOwner[]; secretPreferences: readonly string[]; log: Log },
): Promise<Pick<OpenedLedger, keyof Seal | 'unreadable'>> {
  const seal = openSeal(await openKeyOf(db, dirname(options.file)))
  sealWhatIsPlain(db, seal, options)
  const found = unreadableIn(db, seal)
  if (found.size === 0) return seal
  const unreadable = say`The ledger has ${{ what: wayOutOf(found) }}`
  options.log.error(inEnglish(unreadable))
  return { ...seal, unreadable }
}

function openOrRecover(file: string, clock: Clock, log: Log): { db: Database.Database; recovered: Words | undefined } {
  const recover = (fault: LedgerFault, err?: unknown) => {
    const { db, said } = recoverFrom(file, fault, clock.now())
    log.error({ err }, inEnglish(said))
    return { db, recovered: said }
  }
  const size = statSync(file, { throwIfNoEntry: false })?.size
  // Where there are copies there was a ledger: a blank one would put them out within days.
  if (!size && copiesOf(file).length > 0) return recover(size === undefined ? 'missing' : 'empty')
  // Made here, for its owner's eyes only: SQLite gives its log the same mode.
  closeSync(openSync(file, 'a', 0o600))
  try {
    return { db: openChecked(file), recovered: undefined }
  } catch (error) {
    if (!isDamage(error)) throw error
    return recover('damaged', error)
  }
}

interface Waiting {
  work: () => unknown
  resolve: (result: unknown) => void
  reject: (error: unknown) => void
}

function groupCommit(
  db: Database.Database,
  release: () => void,
  recovered: Words | undefined,
  onFull: () => boolean,
): Omit<OpenedLedger, keyof Seal> {
  const [begin, commit, rollback] = ['BEGIN IMMEDIATE', 'COMMIT', 'ROLLBACK'].map((text) => db.prepare(text)) as [
    Database.Statement,
    Database.Statement,
    Database.Statement,
  ]
  const [mark, keep, undo] = ['SAVEPOINT work', 'RELEASE work', 'ROLLBACK TO work'].map((text) => db.prepare(text)) as [
    Database.Statement,
    Database.Statement,
    Database.Statement,
  ]

  let queue: Waiting[] = []
  let isScheduled = false
  let isClosed = false
  let version = 0

  /** One transaction: as much of the queue as the budget allows. */
  const commitBatch = () => {
    const batch: Waiting[] = []
    const answers: Array<() => void> = []
    let isRoomMade = false
    const makesRoom = (error: unknown) => isDiskFull(error) && (isRoomMade ||= onFull())
    try {
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
          answers.push(() => waiting.resolve(result))
        } catch (error) {
          if (!db.inTransaction || makesRoom(error)) throw error // a full disk undoes the whole transaction
          undo.run()
          keep.run()
          answers.push(() => waiting.reject(forCaller(error)))
        }
      }
      commit.run()
      version++
    } catch (error) {
      if (db.inTransaction) rollback.run()
      if (makesRoom(error)) return // all of it once more: it is still in the queue
      if (batch.length === 0) batch.push(...queue) // not even begun
      answers.length = 0
      for (const waiting of batch) answers.push(() => waiting.reject(forCaller(error)))
    }
    queue = queue.slice(batch.length)
    for (const answer of answers) answer()
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
    recovered,
    get version() {
      return version
    },
    sql: keptStatements(db),
    write<Result>(work: () => Result): Promise<Result> {
      if (isClosed) return Promise.reject(errors.unavailable('The ledger is closed'))
      return new Promise<Result>((resolve, reject) => {
        queue.push({ work, resolve: resolve as (result: unknown) => void, reject })
        schedule()
      })
    },
    backup: (path) => backupTo(db, path),
    async close() {
      if (isClosed) return
      while (queue.length > 0) commitBatch()
      isClosed = true
      try {
        db.pragma('wal_checkpoint(TRUNCATE)')
      } finally {
        db.close()
        release()
      }
    },
  }
}

/** Prepares each statement once, and keeps those that were used last. */
function keptStatements(db: Database.Database) {
  const statements = new Map<string, Database.Statement<unknown[], unknown>>()
  return <Row>(text: string): Database.Statement<unknown[], Row> => {
    const kept = statements.get(text) ?? withinWrite(db, db.prepare<unknown[], unknown>(text))
    // Moved to the end: the first of the map is the one unused for longest.
    statements.delete(text)
    statements.set(text, kept)
    if (statements.size > KEPT_STATEMENTS) {
      for (const oldest of statements.keys()) {
        statements.delete(oldest)
        break
      }
    }
    return kept as Database.Statement<unknown[], Row>
  }
}

/** A write beside the shared transaction would be one of its own: slow, and done though what belongs to it was not. */
function withinWrite<Statement extends Database.Statement<unknown[], unknown>>(
  db: Database.Database,
  statement: Statement,
): Statement {
  if (statement.readonly) return statement
  for (const verb of ['run', 'get', 'all', 'iterate'] as const) {
    const act = statement[verb].bind(statement) as (...given: unknown[]) => never
    statement[verb] = (...given: unknown[]) => {
      if (!db.inTransaction)
        throw new Error(`It changes the ledger outside of \`ledger.write(() => …)\`: ${statement.source}`)
      return act(...given)
    }
  }
  return statement
}

/** A disk that takes nothing more is no defect of whoever writes: it passes. */
function forCaller(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const { code = '' } = error as { code?: string }
  if (isDiskFull(error))
    return errors.unavailable('The disk with the data folder is full: make room there', { cause: error })
  if (code.startsWith('SQLITE_IOERR') || code === 'SQLITE_READONLY')
    return errors.unavailable('The disk with the data folder cannot be written', { cause: error })
  return error
}
