/** A connection to the index file: pragmas, cached statements, and detection of damage. */
import { createHash } from 'node:crypto'
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import { statementCache } from 'archivolt/index'
import Database from 'better-sqlite3'

/** Limit of cached values. A search caches nine, most of them about a kilobyte. */
const MOST_VALUES = 1500
const FEWEST_ROWS_PLANNED_FOR = 1000
/**
 * Page cache of each of the two connections, in kB. With 8 MB, a request over 100,000 videos takes the same time;
 * reading one of a million takes 12 µs instead of 21.
 */
const CACHE_KB = 4000
const LONGEST_KEY = 4000

export interface Connection {
  db: Database.Database
  /** A cached prepared statement. */
  sql<Row = unknown>(text: string): Database.Statement<unknown[], Row>
  /** The same, returning only the first column. */
  pluck<Value = unknown>(text: string): Database.Statement<unknown[], Value>
  /**
   * A count, cached until the next write: each page and each typed letter needs the same one.
   * @param isOfColumns  the count depends on the narrow table alone: changes of texts or multi-value fields do not
   * affect it
   */
  count(text: string, values: readonly Bind[], isOfColumns?: boolean): number
  /** Caches any value that depends only on the tables until the next write, if it is worth its memory. */
  cached<Value>(key: string, find: () => Value, shouldCache?: (value: Value) => boolean): Value
  /**
   * Runs several reads in one transaction: they see the same state, and the file is locked only once, which costs as
   * much as a read.
   */
  together<Value>(read: () => Value): Value
  /** Clears the caches, including SQLite's. */
  relax(): void
  close(): void
}

/** Values that can be bound: SQLite has no booleans. */
export type Bind = string | number | null

export function connect(file: string, options: { isReader: boolean }): Connection {
  // Created here, readable only by its owner: SQLite gives its log the same mode. An existing file is left alone:
  // closing it would release this process's locks on it.
  if (!options.isReader && !existsSync(file)) closeSync(openSync(file, 'wx', 0o600))
  const db = new Database(file, { readonly: options.isReader, timeout: 5000 })
  try {
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    db.pragma('mmap_size = 0')
    db.pragma(`cache_size = -${CACHE_KB}`)
    if (!options.isReader) prepareToWrite(db, file)
    db.function('stamp', { deterministic: true }, (text: Buffer) =>
      createHash('sha1').update(text).digest('base64url').slice(0, 16),
    )
  } catch (error) {
    db.close()
    throw error
  }
  const statements = statementsOf(db)
  // For a reader this number changes when another connection commits; the writer counts its own changes.
  const state = options.isReader ? 'PRAGMA data_version' : 'SELECT total_changes()'
  const cache = openCache(statements, () => statements.pluck<number>(state).get()!)
  return {
    ...statements,
    ...cache,
    db,
    together: openTogether(db, statements),
    relax() {
      cache.forget()
      db.pragma('shrink_memory')
    },
    close: () => db.close(),
  }
}

/** Two version numbers that change right before and right after each commit. */
export interface Versions {
  /** Changes with any change of a collection. */
  all: number
  /** Changes with the narrow table: when a document is added, removed, or changed in a single-value field. */
  columns: number
}

/** The same connection for the reads of one collection: its cached values last until that collection changes. */
export function ofCollection(connection: Connection, versions: () => Versions): Connection {
  /** The versions before the current transaction, which may see an earlier state. */
  let seen: Versions | undefined
  const cache = openCache(connection, () => (seen ?? versions()).all)
  const ofColumns = openCache(connection, () => (seen ?? versions()).columns)
  return {
    ...connection,
    ...cache,
    count: (text, values, isOfColumns = false) => (isOfColumns ? ofColumns : cache).count(text, values),
    together(read) {
      seen ??= versions()
      try {
        return connection.together(read)
      } finally {
        if (!connection.db.inTransaction) seen = undefined
      }
    },
    relax() {
      cache.forget()
      ofColumns.forget()
    },
  }
}

function openTogether(db: Database.Database, { sql }: Pick<Connection, 'sql'>): Connection['together'] {
  return (read) => {
    if (db.inTransaction) return read()
    sql('BEGIN').run()
    try {
      return read()
    } finally {
      if (db.inTransaction) sql('COMMIT').run()
    }
  }
}

/** SQLite compiles statements again itself after a schema change. */
const statementsOf = (db: Database.Database) =>
  ({
    sql: statementCache((text) => db.prepare(text)),
    pluck: statementCache((text) => db.prepare(text).pluck()),
  }) as Pick<Connection, 'sql' | 'pluck'>

/** @param state  a number that changes whenever the data behind the values changes */
function openCache(
  { pluck }: Pick<Connection, 'pluck'>,
  state: () => number,
): Pick<Connection, 'cached' | 'count'> & { forget(): void } {
  const values = new Map<string, unknown>()
  let cachedFor: number | undefined
  const cached = <Value>(
    key: string,
    find: () => Value,
    shouldCache: (value: Value) => boolean = () => true,
  ): Value => {
    if (key.length > LONGEST_KEY) return find()
    const now = state()
    if (now !== cachedFor) values.clear()
    cachedFor = now
    if (values.has(key)) return values.get(key) as Value
    const value = find()
    if (!shouldCache(value)) return value
    values.set(key, value)
    if (values.size > MOST_VALUES) values.delete(values.keys().next().value!)
    return value
  }
  const count = (text: string, given: readonly Bind[]) =>
    cached(`${text}\n${JSON.stringify(given)}`, () => pluck<number>(text).get(...given)!)
  return { cached, count, forget: () => values.clear() }
}

function prepareToWrite(db: Database.Database, file: string): void {
  // Both only affect a new file.
  db.pragma('page_size = 8192')
  db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('journal_size_limit = 8388608')
  // A search waits during a checkpoint, which follows a commit: limit it to 4 MB.
  db.pragma('wal_autocheckpoint = 500')
  db.pragma('wal_checkpoint(TRUNCATE)')
  const pages = db.pragma('page_count', { simple: true }) as number
  const pageSize = db.pragma('page_size', { simple: true }) as number
  // SQLite notices a truncated file only when it reads a missing page, possibly much later.
  if (statSync(file).size < pages * pageSize)
    throw new Database.SqliteError('the file is shorter than its header says', 'SQLITE_CORRUPT')
  db.prepare('SELECT count(*) FROM sqlite_schema').get()
}

/**
 * Samples a few hundred rows of a table, so that the planner chooses better indexes. Small tables are skipped: a plan
 * for a few rows scans them all, and this connection would still use it for a million rows.
 */
export function analyze({ db }: Pick<Connection, 'db'>, table: string): void {
  const count = db
    .prepare<unknown[], number>(`SELECT count(*) FROM (SELECT 1 FROM "${table}" LIMIT ?)`)
    .pluck()
    .get(FEWEST_ROWS_PLANNED_FOR)!
  if (count < FEWEST_ROWS_PLANNED_FOR) return
  db.pragma('analysis_limit = 400')
  db.exec(`ANALYZE "${table}"`)
}

export function isDamage(error: unknown): boolean {
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
  )
}
