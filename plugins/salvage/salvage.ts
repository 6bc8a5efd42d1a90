/** Copies the readable content of a damaged ledger to a new file, table by table, accounts first. */
import { randomBytes } from 'node:crypto'
import { closeSync, copyFileSync, existsSync, fstatSync, openSync, rmSync, writeSync } from 'node:fs'
import { isDamage, joined, type SalvageParts, say, type Words } from 'archivolt'
import Database from 'better-sqlite3'

interface Salvaged {
  /** Tables that could not be read completely. */
  lost: string[]
  /** Lost accounts that other rows refer to: recreated without name and password. */
  nameless: string[]
}

type Row = unknown[]

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/**
 * @param from  the damaged file, which is only read, like its log
 * @param to    a new file; complete, but not yet synced, if something was saved
 * @returns undefined: no account could be saved
 * @throws a sentence: the file was written by a later version
 */
export function salvage(from: string, to: string, parts: SalvageParts): Words | undefined {
  const saved = copyReadable(from, to, parts)
  return saved && describe(saved)
}

function describe({ lost, nameless }: Salvaged): Words {
  const tables =
    lost.length > 0
      ? say`Rows are missing from these tables: ${{ tables: lost.join(', ') }}.`
      : say`All tables could be read completely.`
  if (nameless.length === 0) return joined([tables], ' ')
  const accounts = say`Accounts that have lost their name and password: ${{ names: nameless.join(', ') }}. archivolt user password <name> gives each a new password.`
  return joined([tables, accounts], ' ')
}

function copyReadable(from: string, to: string, parts: SalvageParts): Salvaged | undefined {
  const scratch = `${to}.scratch.part`
  const clear = (path: string) => {
    for (const end of ['', '-wal', '-shm', '-journal']) rmSync(path + end, { force: true })
  }
  clear(scratch)
  clear(to)
  try {
    for (const end of ['', '-wal']) if (existsSync(from + end)) copyFileSync(from + end, scratch + end)
    const source = openScratch(scratch) ?? (mendHeader(scratch), openScratch(scratch))
    if (!source) return undefined
    try {
      return fill(source, to, parts)
    } finally {
      source.close()
    }
  } finally {
    clear(scratch)
  }
}

function openScratch(file: string): Database.Database | undefined {
  let db: Database.Database | undefined
  try {
    db = new Database(file)
    db.unsafeMode() // lets SQLite list the tables whose definitions are readable
    db.pragma('writable_schema = ON')
    db.pragma('cell_size_check = ON')
    tablesOf(db)
    return db
  } catch (error) {
    db?.close()
    if (isDamage(error)) return undefined
    throw error
  }
}

const PAGE_BYTES = 4096
/** Rewrites the header with SQLite's defaults (description of the file format, 1.3). */
function mendHeader(file: string): void {
  const header = Buffer.alloc(100)
  header.write('SQLite format 3\0', 0, 'latin1')
  header.writeUInt16BE(PAGE_BYTES, 16)
  header.set([2, 2, 0, 64, 32, 32], 18)
  const handle = openSync(file, 'r+')
  try {
    header.writeUInt32BE(1, 24)
    header.writeUInt32BE(Math.floor(fstatSync(handle).size / PAGE_BYTES), 28)
    header.writeUInt32BE(1, 40)
    header.writeUInt32BE(4, 44)
    header.writeUInt32BE(1, 56)
    header.writeUInt32BE(1, 92)
    writeSync(handle, header, 0, header.length, 0)
  } finally {
    closeSync(handle)
  }
}

interface Table {
  name: string
  sql: string
}

/** If the schema is damaged, the first query fails, and the next one returns the readable part. */
function tablesOf(db: Database.Database): Table[] {
  const ask = () =>
    db
      .prepare<[], Table>(
        `SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
      )
      .iterate()
  const found: Table[] = []
  for (let attempt = 0; ; attempt++) {
    try {
      for (const table of ask()) found.push(table)
      return found
    } catch (error) {
      if (!isDamage(error) || attempt > 0) {
        if (found.length > 0) return found
        throw error
      }
      found.length = 0
    }
  }
}

function fill(source: Database.Database, to: string, { now, migrations }: SalvageParts): Salvaged | undefined {
  closeSync(openSync(to, 'wx', 0o600))
  const db = new Database(to)
  try {
    db.pragma('synchronous = OFF') // the file is synced once, at the end
    migrations.apply(db, stepsOf(source, db, migrations))
    db.pragma('foreign_keys = OFF')
    const lost = new Set<string>()
    takeForeignTables(source, db)
    for (const table of inOrder(db)) if (!copyTable(source, db, table)) lost.add(table)
    copyCounters(source, db)
    const nameless = nameAccounts(db, now)
    dropOrphans(db)
    if (db.prepare('SELECT 1 FROM users').get() === undefined) return undefined
    return { lost: [...lost], nameless }
  } finally {
    db.close()
  }
}

/** The migrations that were applied to the file: before an upgrade, those of the previous version. */
function stepsOf(source: Database.Database, db: Database.Database, { plan: planOf }: SalvageParts['migrations']) {
  const { steps } = planOf(db)
  try {
    const plan = planOf(source)
    if (!plan.hasContent) return steps
    const isPending = new Set(plan.steps.map(({ owner, number }) => `${owner} ${number}`))
    return steps.filter(({ owner, number }) => !isPending.has(`${owner} ${number}`))
  } catch (error) {
    if (isSqlError(error)) return steps
    throw error
  }
}

const isSqlError = (error: unknown): boolean => error instanceof Database.SqliteError

/** Creates the tables of plugins that are not loaded, with the SQL in the damaged file. */
function takeForeignTables(source: Database.Database, db: Database.Database): void {
  const known = new Set(tablesOf(db).map(({ name }) => name))
  const missing = tablesOf(source).filter(({ name }) => !known.has(name))
  const names = new Set(missing.map(({ name }) => name))
  for (const { sql } of missing) attempt(() => db.exec(sql))
  if (missing.length === 0) return
  attempt(() => {
    const rest = source
      .prepare<[], { tbl_name: string; sql: string }>(
        "SELECT tbl_name, sql FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL",
      )
      .all()
    for (const { tbl_name, sql } of rest) if (names.has(tbl_name)) attempt(() => db.exec(sql))
  })
}

/** Ignores damage; any other error, such as a full disk, ends the salvage. */
function attempt(work: () => void): void {
  try {
    work()
  } catch (error) {
    if (!isDamage(error) && !(error instanceof Database.SqliteError && error.code === 'SQLITE_ERROR')) throw error
  }
}

/**
 * The order of tables: accounts, then data of accounts such as marks and lists, then everything that can be recreated.
 */
function inOrder(db: Database.Database): string[] {
  const isOfAccounts = new Set(
    db
      .prepare<[], string>(
        `SELECT DISTINCT s.name FROM sqlite_schema s JOIN pragma_table_info(s.name) c
         WHERE s.type = 'table' AND c.name = 'user_id'`,
      )
      .pluck()
      .all(),
  )
  const rankOf = (name: string): number => {
    if (name === 'users') return 0
    if (isOfAccounts.has(name)) return 1
    return name === 'jobs' || name === 'notifications' ? 3 : 2
  }
  return tablesOf(db)
    .map(({ name }) => name)
    .sort((a, b) => rankOf(a) - rankOf(b))
}

interface Column {
  name: string
  type: string
  pk: number
  hidden: number
}

const columnsOf = (db: Database.Database, table: string): Column[] =>
  db.prepare<[string], Column>('SELECT name, type, pk, hidden FROM pragma_table_xinfo(?)').all(table)

/** @returns whether the whole table could be read, as far as is known */
function copyTable(source: Database.Database, db: Database.Database, table: string): boolean {
  const wanted = columnsOf(db, table)
  let there: Column[]
  try {
    there = columnsOf(source, table)
  } catch (error) {
    if (!isSqlError(error)) throw error
    return false
  }
  const isBoth = (name: string): boolean => there.some((column) => column.name === name && column.hidden === 0)
  const columns = wanted.filter(({ name, hidden }) => hidden === 0 && isBoth(name)).map(({ name }) => name)
  if (columns.length === 0) return false
  const isWithoutRowid = db.prepare<[string], number>('SELECT wr FROM pragma_table_list(?)').pluck().get(table) === 1
  const key = isWithoutRowid
    ? wanted
        .filter(({ pk }) => pk > 0)
        .sort((a, b) => a.pk - b.pk)
        .map(({ name, type }) => ({ name: quoted(name), isText: type === 'TEXT' }))
    : [{ name: 'rowid', isText: false }]
  const insert = db.prepare(
    `INSERT OR REPLACE INTO ${quoted(table)} (${columns.map(quoted).join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`,
  )
  const reading: Reading = { db: source, table, key, columns: columns.map(quoted), isWhole: true }
  db.transaction(() => {
    for (const row of rowsOf(reading)) {
      try {
        insert.run(...row)
      } catch (error) {
        // A row with damaged content violates a constraint of its table.
        if (!(error instanceof Database.SqliteError && /^SQLITE_(CONSTRAINT|MISMATCH)/.test(error.code))) throw error
        reading.isWhole = false
      }
    }
  })()
  return reading.isWhole
}

interface Reading {
  db: Database.Database
  table: string
  key: Array<{ name: string; isText: boolean }>
  columns: string[]
  isWhole: boolean
}

/** Ends the loop even if damaged pages refer to each other in a circle. */
const MOST_GAPS = 1000

/** All rows in key order; after an unreadable page, searches for the next readable row. */
function* rowsOf(reading: Reading): Generator<Row> {
  let last: Row | undefined
  let next: Row | undefined
  for (let gaps = 0; gaps < MOST_GAPS; gaps++) {
    try {
      for (const row of from(reading, last, next)) {
        last = row.slice(0, reading.key.length)
        next = undefined
        yield row.slice(reading.key.length)
      }
      return
    } catch (error) {
      if (!isSqlError(error)) throw error
      reading.isWhole = false
      next = readableAfter(reading, last)
      if (!next) return
    }
  }
}

/** The rows after a position. @param next  the first readable row; undefined: continue right after the last row */
function from(reading: Reading, last: Row | undefined, next: Row | undefined): Iterable<Row> {
  const { db, table, columns } = reading
  const key = reading.key.map(({ name }) => name)
  const at = next ?? last ?? []
  const condition =
    at.length === 0
      ? ''
      : `WHERE (${key.slice(0, at.length).join(', ')}) ${next ? '>=' : '>'} (${at.map(() => '?').join(', ')})`
  return db
    .prepare<Row, Row>(
      `SELECT ${[...key, ...columns].join(', ')} FROM ${quoted(table)} ${condition} ORDER BY ${key.join(', ')}`,
    )
    .raw()
    .safeIntegers()
    .iterate(...at)
}

/** The lowest readable key found above the last one; undefined: there are no more rows, or all are damaged. */
function readableAfter(reading: Reading, last: Row | undefined): Row | undefined {
  for (let part = last ? last.length - 1 : 0; part >= 0; part--) {
    const found = search(reading, last?.slice(0, part) ?? [], last?.[part])
    if (found) return found
  }
  return undefined
}

/**
 * Tests whether the rows from a key on are readable. undefined: there are no rows from this key on. A damaged page
 * makes all its keys unreachable.
 */
type Probe<Value> = (value: Value) => 'readable' | 'damaged' | undefined

/** @param start  lower bound of the key part after `head`; undefined: none */
function search(reading: Reading, head: Row, start: unknown): Row | undefined {
  const { key } = reading
  const probe: Probe<unknown> = (value) => {
    try {
      for (const _row of from(reading, undefined, [...head, value])) return 'readable'
      return undefined
    } catch (error) {
      if (!isSqlError(error)) throw error
      return 'damaged'
    }
  }
  if (key[head.length]!.isText) {
    const text = textAbove(typeof start === 'string' ? start : ' ', probe)
    return text === undefined ? undefined : [...head, text]
  }
  const least = typeof start === 'bigint' ? start : -1n
  const { below, above } = integerAbove(least, probe)
  const within =
    head.length + 1 < key.length && below > least ? search(reading, [...head, below], undefined) : undefined
  return within ?? (above === undefined ? undefined : [...head, above])
}

const LARGEST = 2n ** 62n

/** The lowest readable value, and the highest damaged one below it. */
function integerAbove(least: bigint, probe: Probe<bigint>): { below: bigint; above: bigint | undefined } {
  let below = least
  let above = least + 1n
  for (let step = 1n; probe(above) === 'damaged'; step *= 2n) {
    below = above
    above += step
    if (above > LARGEST) return { below: least, above: undefined }
  }
  while (above - below > 1n) {
    const middle = (below + above) / 2n
    if (probe(middle) === 'damaged') below = middle
    else above = middle
  }
  return { below, above: probe(above) === 'readable' ? above : undefined }
}

const [FIRST, LAST] = [0x20, 0x7e]
const LONGEST_PREFIX = 16

/**
 * Tries near keys first: changes the last letter, then earlier ones, and appends letters as long as this gets closer.
 */
function textAbove(text: string, probe: Probe<string>): string | undefined {
  const withLetter = (head: string, from: number): string | undefined => {
    let code = from
    while (code <= LAST && probe(head + String.fromCharCode(code)) === 'damaged') code++
    const below = head + String.fromCharCode(code - 1)
    const within = code > FIRST && below.length < LONGEST_PREFIX ? withLetter(below, FIRST) : undefined
    if (within !== undefined || code > LAST) return within
    const next = head + String.fromCharCode(code)
    return probe(next) === 'readable' ? next : undefined
  }
  for (let at = text.length - 1; at >= 0; at--) {
    const found = withLetter(text.slice(0, at), Math.max(FIRST, text.charCodeAt(at) + 1))
    if (found !== undefined) return found
  }
  return undefined
}

/** Copies the counters, so that ids are never reused, not even those of lost rows. */
function copyCounters(source: Database.Database, db: Database.Database): void {
  attempt(() => {
    const known = source.prepare<[], { name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence').all()
    for (const { name, seq } of known) {
      const { changes } = db.prepare('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?').run(seq, name)
      if (changes === 0) db.prepare('INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)').run(name, seq)
    }
  })
}

interface Reference {
  table: string
  parent: string
  from: string
  to: string
}

const referencesIn = (db: Database.Database): Reference[] =>
  db
    .prepare<[], Reference>(
      `SELECT s.name AS "table", f."table" AS parent, group_concat(f."from", ',') AS "from", group_concat(coalesce(f."to", f."from"), ',') AS "to"
       FROM sqlite_schema s JOIN pragma_foreign_key_list(s.name) f WHERE s.type = 'table' GROUP BY s.name, f.id`,
    )
    .all()

/** The account created at the first start is an admin. */
const FIRST_ID = 1

/** Recreates lost rows of accounts, so that their marks and lists survive; the new password matches nothing. */
function nameAccounts(db: Database.Database, now: number): string[] {
  const ids = new Set<number>()
  for (const { table, from } of referencesIn(db).filter(({ parent }) => parent === 'users')) {
    const lost = db.prepare<[], number>(
      `SELECT DISTINCT ${quoted(from)} FROM ${quoted(table)} WHERE ${quoted(from)} NOT IN (SELECT id FROM users)`,
    )
    for (const id of lost.pluck().all()) ids.add(id)
  }
  const add = db.prepare(
    'INSERT OR IGNORE INTO users (id, username, password, is_staff, created_at) VALUES (?, ?, ?, ?, ?)',
  )
  const nameless = [...ids].map((id) => ({ id, name: `recovered-${id}` }))
  for (const { id, name } of nameless) {
    const [salt, key] = [randomBytes(16), randomBytes(32)].map((bytes) => bytes.toString('base64url'))
    add.run(id, name, `scrypt$14$8$5$${salt}$${key}`, id === FIRST_ID ? 1 : 0, now)
  }
  return nameless.map(({ name }) => name)
}

/** Deletes rows that refer to a lost row, and rows that refer to those. */
function dropOrphans(db: Database.Database): void {
  const list = (columns: string): string => columns.split(',').map(quoted).join(', ')
  const drops = referencesIn(db).map(({ table, parent, from, to }) =>
    db.prepare(
      `DELETE FROM ${quoted(table)} WHERE ${from
        .split(',')
        .map((column) => `${quoted(column)} IS NOT NULL`)
        .join(' AND ')} AND (${list(from)}) NOT IN (SELECT ${list(to)} FROM ${quoted(parent)})`,
    ),
  )
  while (drops.some((drop) => drop.run().changes > 0)) {}
}
