/** A connection to the index file: pragmas, kept statements, and how damage is told from other trouble. */
import { closeSync, existsSync, openSync, statSync } from 'node:fs'
import Database from 'better-sqlite3'

const STATEMENTS_KEPT = 500
/** A search leaves nine, most of a kilobyte. */
const VALUES_KEPT = 1500
const FEWEST_ROWS_PLANNED_FOR = 1000
/** An item among a million videos takes 12 µs; with 4 MB it took 21, and with 32 MB it takes 11. */
const CACHE_KB = 8000
const LONGEST_KEY = 4000

export interface Connection {
  db: Database.Database
  /** A prepared statement, kept. */
  sql<Row = unknown>(text: string): Database.Statement<unknown[], Row>
  /** The same, giving the first column only. */
  pluck<Value = unknown>(text: string): Database.Statement<unknown[], Value>
  /** A count, kept until something is written: each page and each letter typed asks for the same one. */
  count(text: string, values: readonly Bind[]): number
  /** Whatever follows from the tables alone, kept until something is written if it is worth its memory. */
  kept<Value>(key: string, find: () => Value, isWorthKeeping?: (value: Value) => boolean): Value
  /**
   * Several reads of one state: nobody's write comes between, and the file is locked once instead of for each, which
   * costs as much as a read.
   */
  together<Value>(read: () => Value): Value
  /** Forgets what is kept, and what SQLite has read. */
  relax(): void
  close(): void
}

/** What can be bound: SQLite has no flags. */
export type Bind = string | number | null

export function connect(file: string, options: { isReader: boolean }): Connection {
  // Made here, for its owner's eyes only: SQLite gives its log the same mode. One that is there is let be: closing it
  // would end this process's locks on it.
  if (!options.isReader && !existsSync(file)) closeSync(openSync(file, 'wx', 0o600))
  const db = new Database(file, { readonly: options.isReader, timeout: 5000 })
  try {
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    db.pragma('mmap_size = 0')
    db.pragma(`cache_size = -${CACHE_KB}`)
    if (!options.isReader) prepareToWrite(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  const statements = statementsOf(db)
  const kept = keptValues(statements, options.isReader)
  const count = (text: string, values: readonly Bind[]) =>
    kept.find(`${text}\n${JSON.stringify(values)}`, () => statements.pluck<number>(text).get(...values)!)
  return {
    ...statements,
    db,
    kept: kept.find,
    count,
    together: openTogether(db, statements),
    relax() {
      kept.forget()
      db.pragma('shrink_memory')
    },
    close: () => db.close(),
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

/** Statements are compiled once; a changed schema makes SQLite compile them again by itself. */
function statementsOf(db: Database.Database): Pick<Connection, 'sql' | 'pluck'> {
  const kept = new Map<string, Database.Statement<unknown[], unknown>>()
  const prepare = (key: string, make: () => Database.Statement<unknown[], unknown>) => {
    let statement = kept.get(key)
    if (!statement) {
      if (kept.size >= STATEMENTS_KEPT) kept.clear()
      kept.set(key, (statement = make()))
    }
    return statement
  }
  return {
    sql: <Row>(text: string) => prepare(text, () => db.prepare<unknown[]>(text)) as Database.Statement<unknown[], Row>,
    pluck: <Value>(text: string) =>
      prepare(`pluck ${text}`, () => db.prepare<unknown[]>(text).pluck()) as Database.Statement<unknown[], Value>,
  }
}

function keptValues(
  { pluck }: Pick<Connection, 'pluck'>,
  isReader: boolean,
): { find: Connection['kept']; forget(): void } {
  // A reader sees by this number that another connection has committed; the writer sees what it has changed itself.
  const state = isReader ? 'PRAGMA data_version' : 'SELECT total_changes()'
  const values = new Map<string, unknown>()
  let keptFor: number | undefined
  const keep = <Value>(
    key: string,
    find: () => Value,
    isWorthKeeping: (value: Value) => boolean = () => true,
  ): Value => {
    if (key.length > LONGEST_KEY) return find()
    const now = pluck<number>(state).get()
    if (now !== keptFor) values.clear()
    keptFor = now
    if (values.has(key)) return values.get(key) as Value
    const value = find()
    if (!isWorthKeeping(value)) return value
    values.set(key, value)
    if (values.size > VALUES_KEPT) values.delete(values.keys().next().value!)
    return value
  }
  return { find: keep, forget: () => values.clear() }
}

function prepareToWrite(db: Database.Database, file: string): void {
  // Both take effect on a new file only.
  db.pragma('page_size = 8192')
  db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('journal_size_limit = 8388608')
  // A search waits while the log is copied into the file, which follows a commit: 4 MB at a time.
  db.pragma('wal_autocheckpoint = 500')
  db.pragma('wal_checkpoint(TRUNCATE)')
  const pages = db.pragma('page_count', { simple: true }) as number
  const pageSize = db.pragma('page_size', { simple: true }) as number
  // A cut file is noticed by SQLite only when the missing page is read, which may be next month.
  if (statSync(file).size < pages * pageSize)
    throw new Database.SqliteError('the file is shorter than its header says', 'SQLITE_CORRUPT')
  db.prepare('SELECT count(*) FROM sqlite_schema').get()
}

/**
 * Looks at a few hundred rows of a table, so that filters find the better index. Small tables are left out: a plan for
 * a handful of rows reads all there are, and this connection would keep to it when there are a million.
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
