/** A connection to the index file: pragmas, kept statements, and how damage is told from other trouble. */
import { statSync } from 'node:fs'
import Database from 'better-sqlite3'

const STATEMENTS_KEPT = 500
const COUNTS_KEPT = 500
const LONGEST_KEY = 2000

export interface Connection {
  db: Database.Database
  /** A prepared statement, kept. */
  sql<Row = unknown>(text: string): Database.Statement<unknown[], Row>
  /** The same, giving the first column only. */
  pluck<Value = unknown>(text: string): Database.Statement<unknown[], Value>
  /** The first column of the first row: kept until something is written, as each page and each letter typed asks for the same count. */
  count(text: string, values: readonly Bind[]): number
  close(): void
}

/** What can be bound: SQLite has no flags. */
export type Bind = string | number | null

export function connect(file: string, options: { isReader: boolean }): Connection {
  const db = new Database(file, { readonly: options.isReader, timeout: 5000 })
  try {
    db.pragma('trusted_schema = OFF')
    db.pragma('cell_size_check = ON')
    db.pragma('mmap_size = 0')
    db.pragma(`cache_size = -${options.isReader ? 4000 : 8000}`)
    if (!options.isReader) prepareToWrite(db, file)
  } catch (error) {
    db.close()
    throw error
  }
  const statements = statementsOf(db)
  return { ...statements, db, count: keptCounts(statements, options.isReader), close: () => db.close() }
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
    pluck: <Value>(text: string) => prepare(`pluck ${text}`, () => db.prepare<unknown[]>(text).pluck()) as Database.Statement<unknown[], Value>,
  }
}

function keptCounts({ pluck }: Pick<Connection, 'pluck'>, isReader: boolean): Connection['count'] {
  // A reader sees by this number that another connection has committed; the writer sees what it has changed itself.
  const state = isReader ? 'PRAGMA data_version' : 'SELECT total_changes()'
  const kept = new Map<string, number>()
  let keptFor: number | undefined
  return (text, values) => {
    const now = pluck<number>(state).get()
    if (now !== keptFor || kept.size >= COUNTS_KEPT) kept.clear()
    keptFor = now
    const key = `${text}\n${JSON.stringify(values)}`
    if (key.length > LONGEST_KEY) return pluck<number>(text).get(...values)!
    let count = kept.get(key)
    if (count === undefined) kept.set(key, (count = pluck<number>(text).get(...values)!))
    return count
  }
}

function prepareToWrite(db: Database.Database, file: string): void {
  // Both take effect on a new file only.
  db.pragma('page_size = 8192')
  db.pragma('auto_vacuum = INCREMENTAL')
  db.pragma('journal_mode = WAL')
  db.pragma('synchronous = FULL')
  db.pragma('journal_size_limit = 8388608')
  db.pragma('wal_autocheckpoint = 1000')
  db.pragma('analysis_limit = 400')
  db.pragma('wal_checkpoint(TRUNCATE)')
  const pages = db.pragma('page_count', { simple: true }) as number
  const pageSize = db.pragma('page_size', { simple: true }) as number
  // A cut file is noticed by SQLite only when the missing page is read, which may be next month.
  if (statSync(file).size < pages * pageSize) throw new Database.SqliteError('the file is shorter than its header says', 'SQLITE_CORRUPT')
  db.prepare('SELECT count(*) FROM sqlite_schema').get()
}

export function isDamage(error: unknown): boolean {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' && /^SQLITE_(CORRUPT|NOTADB)/.test(error.code)
}
