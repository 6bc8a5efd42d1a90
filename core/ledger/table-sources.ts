/**
 * The tables of the ledger as sources of replies (`core/sources.ts`). A statement names the tables that it reads; which
 * rows change, the database tells by triggers that live as long as the connection, so cascades count too. A table gets
 * them once a reply has read it: making those of all tables took six milliseconds of each start.
 */
import type Database from 'better-sqlite3'
import { madeOnce } from '../base/made-once.ts'
import { noteRead, type Source, UNKNOWN } from '../sources.ts'

/** The column of tables whose rows belong to accounts. */
const ACCOUNT = 'user_id'

interface Changing extends Source {
  version: number
}
interface Table {
  name: string
  number: number
  /** Has its triggers. */
  isFollowed: boolean
  all: Changing
  hasAccounts: boolean
  /** The rows of each account that somebody has read. */
  byAccount: Map<number, Changing>
}

export type TableSources = ReturnType<typeof openTableSources>

export function openTableSources(db: Database.Database) {
  const numbered = tablesOf(db)
  const tables = new Map(numbered.map((table) => [table.name, table]))
  /** Read, and without triggers yet. */
  const pending = new Set<Table>()
  const written = new Set<Changing>()
  const change = (source: Changing) => {
    source.version++
    written.add(source)
  }

  db.function('note_change', { varargs: true }, (number: number, ...accounts: unknown[]) => {
    const { all, byAccount } = numbered[number]!
    change(all)
    for (const account of accounts) {
      const rows = byAccount.get(account as number)
      if (rows) change(rows)
    }
    return null
  })
  // Replaced rows count as deleted.
  db.pragma('recursive_triggers = ON')

  /** Until the table has its triggers, a change in the same transaction goes unnoticed. */
  function note(table: Table, source: Changing): void {
    if (!table.isFollowed) pending.add(table)
    noteRead(table.isFollowed || !db.inTransaction ? source : UNKNOWN)
  }

  const tablesIn = (text: string): Table[] =>
    [...new Set(text.toLowerCase().match(/\w+/g))].flatMap((word) => tables.get(word) ?? [])

  return {
    /** For one statement: notes what it reads with these values. */
    readerOf(text: string): (given: readonly unknown[]) => void {
      const named = tablesIn(text)
      // A statement that names no table may read any.
      const read = named.length > 0 ? named : numbered
      const own = ofOneAccount(text)
      const table = own === undefined ? undefined : tables.get(own)
      if (!table?.hasAccounts || read.length > 1) return () => read.forEach((one) => note(one, one.all))
      return ([account]) => note(table, typeof account === 'number' ? rowsOf(table, account) : table.all)
    },
    /** Call it before each transaction: it makes the triggers of the tables that were read since the last one. */
    begin(): void {
      if (pending.size === 0) return
      db.exec(`BEGIN; ${[...pending].map(triggersOf).join('\n')} COMMIT`)
      for (const table of pending) table.isFollowed = true
      pending.clear()
    },
    /** To be called after each commit and each rollback: what was read in the transaction may be another now. */
    ended(): void {
      for (const source of written) source.version++
      written.clear()
    },
  }
}

const rowsOf = ({ byAccount }: Table, account: number): Changing => madeOnce(byAccount, account, () => ({ version: 0 }))

/** With names in lower case. A view stands for whatever its text names, so it may not be there. */
function tablesOf(db: Database.Database): Table[] {
  const [view] = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all()
  if (view !== undefined) throw new Error(`The ledger has no views, but ${view} is one`)
  return db
    .prepare<[string], { name: string; has_accounts: number }>(
      `SELECT lower(name) AS name,
         EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = ?) AS has_accounts
       FROM sqlite_schema t WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all(ACCOUNT)
    .map(({ name, has_accounts }, number) => ({
      ...{ name, number, hasAccounts: has_accounts === 1, isFollowed: false },
      all: { version: 0 },
      byAccount: new Map(),
    }))
}

function triggersOf({ name: table, number, hasAccounts }: Table): string {
  const of = (...rows: string[]) => (hasAccounts ? rows.map((row) => `, ${row}.${ACCOUNT}`).join('') : '')
  const trigger = (verb: string, accounts: string) =>
    `CREATE TEMP TRIGGER "${table} ${verb}" AFTER ${verb} ON main."${table}" BEGIN SELECT note_change(${number}${accounts}); END;`
  return [trigger('INSERT', of('NEW')), trigger('UPDATE', of('OLD', 'NEW')), trigger('DELETE', of('OLD'))].join('\n')
}

const OWN_ROWS =
  /^\s*SELECT (?:(?!\bFROM\b|\bSELECT\b)[^?])* FROM (\w+) WHERE user_id = \?(?=\s*$| AND | ORDER | LIMIT )(.*)$/is
const GIVEN_LIST = /\bIN \(SELECT value FROM json_each\(\?\)\)/gi
const FURTHER_ROWS = /\b(?:OR|SELECT|FROM|JOIN|UNION|EXCEPT|INTERSECT)\b/i

/** The table of a statement that reads the rows of one account alone, the first of its values. */
function ofOneAccount(text: string): string | undefined {
  const [, table, rest = ''] = OWN_ROWS.exec(text) ?? []
  return FURTHER_ROWS.test(rest.replace(GIVEN_LIST, '')) ? undefined : table?.toLowerCase()
}
