/** Numbered migrations of core and plugins: each is applied once, in order, in its own transaction. */
import { createHash } from 'node:crypto'
import type Database from 'better-sqlite3'
import type { Log } from '../log.ts'
import { StartError } from '../start-error.ts'
import { CORE_MIGRATIONS } from './migrations.ts'

export interface Migration {
  /** 1, 2, 3 …: each is applied once, in order, in one transaction. Never edit a released one. */
  number: number
  sql: string
}

/** The owner of migrations: core, or a plugin by its name. */
export interface MigrationOwner {
  name: string
  migrations: readonly Migration[]
  /** `table.column` of sealed columns (`seal.ts`). */
  secretColumns?: readonly string[]
  /** The end of an error sentence about these migrations. */
  leaveOut?: string | undefined
}

const CORE = 'core'
const ofCore: MigrationOwner = {
  name: CORE,
  migrations: CORE_MIGRATIONS.map((sql, at) => ({ number: at + 1, sql })),
}
const CREATE_REGISTER = `CREATE TABLE IF NOT EXISTS migrations (
  owner TEXT NOT NULL,
  number INTEGER NOT NULL,
  applied_at INTEGER NOT NULL,
  PRIMARY KEY (owner, number)
) STRICT, WITHOUT ROWID`

/** Of the statement that was applied; NULL: by a version that did not store it. */
const ADD_DIGEST = 'ALTER TABLE migrations ADD COLUMN digest TEXT'
/** Spaces and line breaks do not count. */
const digestOf = (sql: string): string =>
  createHash('sha256').update(sql.replace(/\s+/g, ' ').trim()).digest('base64url')

export interface MigrationPlan {
  /** An earlier start has applied migrations, so the file has content to protect. */
  hasContent: boolean
  steps: Array<{ owner: string; number: number; sql: string; leaveOut: string | undefined }>
}

/** @throws a sentence: a later version wrote the file, or an external plugin has edited a migration */
export function planMigrations(db: Database.Database, plugins: readonly MigrationOwner[]): MigrationPlan {
  db.exec(CREATE_REGISTER)
  if (!(db.pragma('table_info(migrations)') as Array<{ name: string }>).some(({ name }) => name === 'digest'))
    db.exec(ADD_DIGEST)
  const applied = db.prepare<[string], Applied>('SELECT number, digest FROM migrations WHERE owner = ? ORDER BY number')
  const steps: MigrationPlan['steps'] = []
  for (const { name, migrations, leaveOut } of [ofCore, ...plugins]) {
    const before = applied.all(name)
    const last = before.at(-1)?.number ?? 0
    if (last > migrations.length) {
      throw new StartError(
        `The ledger was written by a later version of ${name} (its migration ${last}; this version knows ${migrations.length}): install that version, or replace the ledger with a copy`,
        { leaveOut },
      )
    }
    if (leaveOut !== undefined) compare(db, before, { name, migrations, leaveOut })
    for (const { number, sql } of migrations.slice(last)) steps.push({ owner: name, number, sql, leaveOut })
  }
  return { hasContent: db.prepare('SELECT 1 FROM migrations LIMIT 1').get() !== undefined, steps }
}

interface Applied {
  number: number
  digest: string | null
}

/** @throws a sentence: a migration is not the one that was applied here */
function compare(
  db: Database.Database,
  applied: readonly Applied[],
  { name, migrations, leaveOut }: MigrationOwner,
): void {
  const store = db.prepare('UPDATE migrations SET digest = ? WHERE owner = ? AND number = ?')
  for (const { number, digest } of applied) {
    const now = digestOf(migrations[number - 1]!.sql)
    if (digest === null) store.run(now, name, number)
    else if (digest !== now)
      throw new StartError(
        `Migration ${number} of ${name} was edited after it was applied here: restore it, and write the change as migration ${migrations.length + 1}`,
        { leaveOut },
      )
  }
}

/** Applies a plan. If a step fails, the file stays as the previous step left it. */
export function applyMigrations(db: Database.Database, steps: MigrationPlan['steps'], now: number, log: Log): void {
  // Referenced tables can be rebuilt only while foreign keys are off; instead each step is checked as a whole.
  db.pragma('foreign_keys = OFF')
  const enter = db.prepare('INSERT INTO migrations (owner, number, applied_at, digest) VALUES (?, ?, ?, ?)')
  /** What the previous step has left. */
  let objects: ReturnType<typeof objectsOf> | undefined
  for (const { owner, number, sql, leaveOut } of steps) {
    const apply = db.transaction(() => {
      const before = owner === CORE ? undefined : (objects ?? objectsOf(db))
      try {
        db.exec(sql)
      } catch (cause) {
        throw new Error(
          `Ledger migration ${number} of ${owner} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
          { cause },
        )
      }
      if (!db.inTransaction)
        throw new Error(
          `Ledger migration ${number} of ${owner} ends the transaction it runs in: leave out BEGIN, COMMIT and ROLLBACK`,
        )
      objects = before && objectsOf(db)
      if (before && objects) refuseForeignObjects(owner, number, before, objects)
      const broken = db.pragma('foreign_key_check') as Array<{ table: string }>
      if (broken[0])
        throw new Error(
          `Ledger migration ${number} of ${owner} leaves rows in ${broken[0].table} that refer to nothing`,
        )
      enter.run(owner, number, now, digestOf(sql))
    })
    try {
      apply()
    } catch (error) {
      throw leaveOut === undefined ? error : new StartError((error as Error).message, { leaveOut, cause: error })
    }
    log.debug({ owner, number }, 'ledger migration applied')
  }
  db.pragma('foreign_keys = ON')
}

interface SchemaObject {
  name: string
  tbl_name: string
  sql: string | null
}

function objectsOf(db: Database.Database): Map<string, SchemaObject> {
  const rows = db.prepare<[], SchemaObject>('SELECT name, tbl_name, sql FROM sqlite_schema').all()
  return new Map(rows.map((row) => [row.name, row]))
}

/** A plugin may change only tables, indexes, triggers and views that start with its name. */
function refuseForeignObjects(
  owner: string,
  number: number,
  before: Map<string, SchemaObject>,
  after: Map<string, SchemaObject>,
): void {
  const isOwn = ({ name, tbl_name }: SchemaObject) =>
    [name, tbl_name].every((text) => text.startsWith(`${owner}_`) || text.startsWith('sqlite_'))
  for (const [name, object] of after) {
    const isTheSame = before.has(name) && before.get(name)?.sql === object.sql
    if (!isTheSame && !isOwn(object))
      throw new Error(
        `Ledger migration ${number} of the plugin ${owner} creates or changes ${name}: its tables and indexes must be named ${owner}_…`,
      )
  }
  for (const [name, object] of before) {
    if (!after.has(name) && !isOwn(object))
      throw new Error(`Ledger migration ${number} of the plugin ${owner} drops ${name}, which is not its own`)
  }
}
