/**
 * The tables of the ledger as sources of replies (`core/sources.ts`). A statement names the tables that it reads; which
 * rows change, the database itself tells by triggers that live as long as the connection, so cascades count too.
 */
import type Database from 'better-sqlite3'
import { noteRead, type Source } from '../sources.ts'

/** The column of tables whose rows belong to accounts. */
const ACCOUNT = 'user_id'

export interface TableSources {
  /** For one statement: notes what it reads with these values. */
  readerOf(text: string): (given: readonly unknown[]) => void
  /** To be called after each commit and each rollback: what was read in the transaction may be another now. */
  ended(): void
}

interface Changing extends Source {
  version: number
}
interface Table {
  all: Changing
  hasAccounts: boolean
  /** The rows of each account that somebody has read. */
  byAccount: Map<number, Changing>
}

export function openTableSources(db: Database.Database): TableSources {
  const tables = new Map(tablesOf(db).map(({ name, hasAccounts }) => [name, newTable(hasAccounts)]))
  const numbered = [...tables.values()]
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
  const triggers = [...tables].map(([name, { hasAccounts }], number) =>
    triggersOf(name, number, hasAccounts ? ACCOUNT : undefined),
  )
  db.exec(`BEGIN; ${triggers.join('\n')} COMMIT`)

  /** The sources of a statement. One that names no table may read any. */
  function sourcesOf(text: string): Changing[] {
    const named = tablesIn(text)
    return (named.length > 0 ? named : numbered).map(({ all }) => all)
  }

  const tablesIn = (text: string): Table[] =>
    [...new Set(text.toLowerCase().match(/\w+/g))].flatMap((word) => tables.get(word) ?? [])

  return {
    readerOf(text) {
      const sources = sourcesOf(text)
      const own = ofOneAccount(text)
      const table = own === undefined ? undefined : tables.get(own)
      if (!table?.hasAccounts || sources.length > 1) return () => sources.forEach(noteRead)
      return ([account]) => noteRead(typeof account === 'number' ? rowsOf(table, account) : table.all)
    },
    ended() {
      for (const source of written) source.version++
      written.clear()
    },
  }
}

const newTable = (hasAccounts: boolean): Table => ({
  all: { version: 0 },
  hasAccounts,
  byAccount: new Map(),
})

function rowsOf({ byAccount }: Table, account: number): Changing {
  const known = byAccount.get(account)
  if (known) return known
  const rows = { version: 0 }
  byAccount.set(account, rows)
  return rows
}

/** By names in lower case. A view stands for whatever its text names, so it may not be there. */
function tablesOf(db: Database.Database): Array<{ name: string; hasAccounts: boolean }> {
  const [view] = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE type = 'view'").pluck().all()
  if (view !== undefined) throw new Error(`The ledger has no views, but ${view} is one`)
  return db
    .prepare<[string], { name: string; has_accounts: number }>(
      `SELECT lower(name) AS name,
         EXISTS (SELECT 1 FROM pragma_table_info(t.name) c WHERE c.name = ?) AS has_accounts
       FROM sqlite_schema t WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
    )
    .all(ACCOUNT)
    .map(({ name, has_accounts }) => ({ name, hasAccounts: has_accounts === 1 }))
}

function triggersOf(table: string, number: number, column: string | undefined): string {
  const of = (...rows: string[]) => (column === undefined ? '' : rows.map((row) => `, ${row}.${column}`).join(''))
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
