/** Reads or copies files of other programs, with a size limit. Never opens them for writing. */

import {
  closeSync,
  constants,
  copyFileSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { say } from 'archivolt'
import Database from 'better-sqlite3'
import { orWhereAbsent } from '../../film-kit/disk-fault.ts'
import { reportAlive } from '../../film-kit/heartbeat.ts'
import { isTooMany, looseJson } from '../../film-kit/loose-json.ts'
import { withFile } from '../../film-kit/with-file.ts'
import { NoCatalog } from './types.ts'

const MOST_BYTES = 64 << 20
const MOST_DATABASE_BYTES = 8 * 2 ** 30
/** Number of tries, because a running program may write during the copy. */
const TRIES = 3
const PIECE_BYTES = 8 << 20

const sizeOf = (bytes: number): string => (bytes < 1 << 20 ? `${bytes >> 10} KiB` : `${bytes >> 20} MiB`)

/** Reads a whole file. @throws NoCatalog: it is too large */
export function wholeFile(path: string, most = MOST_BYTES): Buffer {
  const bytes = withFile(path, (file, { size }) => (size > most ? undefined : readFileSync(file)))
  if (!bytes) throw new NoCatalog(say`It is not a file, or is larger than ${{ size: sizeOf(most) }}`)
  return bytes
}

/** @throws NoCatalog: the text is not JSON, or has too many values */
export function jsonOf(bytes: Buffer): unknown {
  if (isTooMany(bytes)) throw new NoCatalog('It contains too many values')
  try {
    return looseJson(bytes)
  } catch {
    throw new NoCatalog('It is not complete JSON')
  }
}

export const jsonIn = (path: string): unknown => jsonOf(wholeFile(path))

/** The size limit of a file that people write by hand. */
const MOST_YAML_BYTES = 512 << 10
const NESTED = /(?:[-?:][ \t]+){50}/
/** Maximum number of YAML aliases, because a few of them can expand to a huge value. */
const MOST_ALIASES = 50

const YAML = { schema: 'failsafe', merge: false, uniqueKeys: false, prettyErrors: false, logLevel: 'silent' } as const

/** Reads texts, lists and maps; ignores tags and types. @throws NoCatalog: the file is not YAML, or malicious */
export async function yamlIn(path: string): Promise<unknown> {
  // Loaded on demand, because few libraries have such a file. In a bundle the module has only a default export.
  const loaded = await import('yaml')
  const { parseDocument } = loaded.default as unknown as typeof loaded
  const text = wholeFile(path, MOST_YAML_BYTES).toString('utf8')
  if (NESTED.test(text)) throw new NoCatalog('It is nested too deep')
  try {
    const document = parseDocument(text, YAML)
    if (document.errors.length === 0) return document.toJS({ maxAliasCount: MOST_ALIASES })
  } catch (thrown) {
    if (thrown instanceof ReferenceError) throw new NoCatalog('It uses too many YAML aliases')
    throw thrown
  }
  throw new NoCatalog('It is not complete YAML')
}

/** Like `jsonIn`, for a file that may be compressed. */
export function packedJsonIn(path: string): unknown {
  const bytes = wholeFile(path)
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return jsonOf(bytes)
  try {
    return jsonOf(gunzipSync(bytes, { maxOutputLength: MOST_BYTES }))
  } catch {
    throw new NoCatalog('It cannot be unpacked')
  }
}

/** Number of bytes of a database that are searched: table names are at its beginning. */
const GLANCE_BYTES = 8 << 20

/** Whether a database or its log contains a word; reads only its beginning, without a copy. */
export function mentions(path: string, word: string): boolean {
  return [path, `${path}-wal`].some((one) =>
    orWhereAbsent(
      () =>
        withFile(one, (file, { size }) => {
          const bytes = Buffer.alloc(Math.min(size, GLANCE_BYTES))
          return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0)).includes(word)
        }) ?? false,
      false,
    ),
  )
}

/**
 * The size and time of a file; empty: the file does not exist. Other errors are thrown, because a database without its
 * -wal has older content.
 */
export const stampOf = (path: string): string => {
  const found = statSync(path, { throwIfNoEntry: false })
  return found ? `${found.size} ${found.mtimeMs}` : ''
}

/** Copies in pieces, because a large file on a network share takes longer than the time limit of one read. */
function copyFile(path: string, to: string): void {
  const found = statSync(path)
  // Opening a pipe would wait for its writer.
  if (!found.isFile()) throw new NoCatalog('A companion of the database (-wal or -shm) is not a file')
  if (found.size <= PIECE_BYTES) return copyFileSync(path, to)
  const [from, into] = [openSync(path, constants.O_RDONLY | constants.O_NONBLOCK), openSync(to, 'w', 0o600)]
  try {
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let count = readSync(from, piece); count > 0; count = readSync(from, piece)) {
      for (let at = 0; at < count; ) at += writeSync(into, piece, at, count - at)
      reportAlive()
    }
  } finally {
    closeSync(from)
    closeSync(into)
  }
}

function copyBoth(path: string, to: string): void {
  for (let left = TRIES; ; left--) {
    const before = [stampOf(path), stampOf(`${path}-wal`)].join()
    copyFile(path, to)
    rmSync(`${to}-wal`, { force: true })
    if (stampOf(`${path}-wal`) !== '') copyFile(`${path}-wal`, `${to}-wal`)
    if ([stampOf(path), stampOf(`${path}-wal`)].join() === before) return
    if (left === 1)
      throw new NoCatalog('The database changes while it is being read: stop its program, then scan again')
  }
}

export type ForeignDatabase = ReturnType<typeof readerOf>

/** Whether it is an SQLite database. @throws NoCatalog: it is not a file, or too large to copy */
export function isDatabase(path: string): boolean {
  const head = withFile(path, (file, { size }) => {
    const bytes = Buffer.alloc(16)
    if (size <= MOST_DATABASE_BYTES) return bytes.subarray(0, readSync(file, bytes, 0, bytes.length, 0))
  })
  if (!head) throw new NoCatalog('It is not a file, or is larger than 8 GiB')
  return head.toString('latin1', 0, 15) === 'SQLite format 3'
}

/**
 * Opens another program's SQLite file. Works with copies of the file and its -wal: the newest content is only in the
 * -wal, and opening the original would write files next to it. Only tables are read.
 */
export function withDatabase(
  path: string,
  own: string,
  tables: readonly string[],
  read: (db: ForeignDatabase) => void,
): void {
  if (!isDatabase(path)) throw new NoCatalog('It is not an SQLite database')
  const copy = `${own}/copy.db`
  copyBoth(path, copy)
  let db: Database.Database | undefined
  try {
    db = new Database(copy, { fileMustExist: true })
    db.pragma('trusted_schema = OFF')
    const missing = tables.filter((table) => !isTable(db!, table))
    if (missing.length > 0) throw new NoCatalog(say`The database has no table ${{ name: missing.join(', ') }}`)
    db.pragma('ignore_check_constraints = ON')
    const checked = tables.filter((table) => !isComputed(db!, table))
    const isWhole = checked.every((table) => db!.pragma(`quick_check(${quoted(table)})`, { simple: true }) === 'ok')
    if (!isWhole) throw new NoCatalog('The database is damaged')
    read(readerOf(db))
  } catch (thrown) {
    if (thrown instanceof Database.SqliteError)
      throw new NoCatalog(say`The database cannot be read: ${{ reason: thrown.message }}`)
    throw thrown
  } finally {
    db?.close()
    for (const ending of ['', '-wal', '-shm']) rmSync(`${copy}${ending}`, { force: true })
  }
}

/** Whether it is a table with stored rows: a virtual table is computed by a module, and may be endless. */
const isTable = (db: Database.Database, name: string): boolean =>
  db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name = ?`).get(name) !== undefined

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * Whether the table has generated columns. Reading such a table evaluates their expressions, which may run forever, and
 * SQLite cannot be interrupted during a call.
 */
const isComputed = (db: Database.Database, table: string): boolean =>
  (db.pragma(`table_xinfo(${quoted(table)})`) as Array<{ hidden: number }>).some(({ hidden }) => hidden > 1)

function readerOf(db: Database.Database) {
  const has = (table: string): boolean => isTable(db, table)
  const columnsOf = (table: string): Set<string> => {
    if (!has(table)) throw new NoCatalog(say`The database has no table ${{ name: table }}`)
    // Uses a statement, because a pragma cannot run while rows are read.
    return new Set(db.prepare('SELECT name FROM pragma_table_info(?)').pluck().all(table) as string[])
  }
  const cells = new Map<string, Database.Statement>()
  return {
    has,
    /** Reads one column of a row, by the row's number. */
    cell(table: string, column: string, rowid: number): unknown {
      const key = `${quoted(table)}.${quoted(column)}`
      if (!cells.has(key) && !columnsOf(table).has(column)) return null
      const cell =
        cells.get(key) ?? db.prepare(`SELECT ${quoted(column)} FROM ${quoted(table)} WHERE rowid = ?`).pluck()
      cells.set(key, cell)
      return cell.get(rowid)
    },
    /**
     * Reads the rows of a table one by one. Missing columns are null, because older versions have fewer. `rowid` is the
     * row's number.
     * @throws NoCatalog: there is no such table
     */
    rows(table: string, columns: readonly string[]): IterableIterator<Record<string, unknown>> {
      const there = columnsOf(table).add('rowid')
      const asked = columns.map((name) => (there.has(name) ? quoted(name) : `NULL AS ${quoted(name)}`))
      return eachRow(db.prepare(`SELECT ${asked.join(', ')} FROM ${quoted(table)}`))
    },
  }
}

/** Starts when the first row is requested; the database cannot be closed before the last row. */
function* eachRow(rows: Database.Statement): Generator<Record<string, unknown>> {
  for (const row of rows.iterate()) {
    reportAlive()
    yield row as Record<string, unknown>
  }
}
