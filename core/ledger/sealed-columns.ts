/** A start seals what is still plain in these columns; a key rotation seals all of them again. */
import type Database from 'better-sqlite3'
import { type Sentence, say } from '../base/say.ts'
import type { Log } from '../log.ts'
import { dropNextKey, openSecretKey, readNextKey, takeNextKey } from '../secret-key.ts'
import type { MigrationOwner } from './migrate.ts'
import { isSealedSql, openSeal, type Seal } from './seal.ts'

const TOTP_SECRET = 'totp.secret'
export const OUTGOING_URL = 'outgoing_urls.url'
/** Only for preferences declared secret. */
export const PREFERENCE_VALUE = 'preferences.value'

interface Column {
  /** The name used for sealing. */
  name: string
  table: string
  /** Quoted. */
  column: string
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

function columnOf(name: string): Column {
  const [table = '', column = ''] = name.split('.')
  return { name, table: quoted(table), column: quoted(column) }
}

/** The columns that exist: a plugin may have dropped a column of an earlier version. */
export function knownColumns(db: Database.Database): Column[] {
  const hasRegister = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'sealed_columns'").get() !== undefined
  if (!hasRegister) return []
  return db
    .prepare<[], string>(
      `SELECT s.table_name || '.' || s.column_name FROM sealed_columns s
       JOIN pragma_table_info(s.table_name) c ON c.name = s.column_name ORDER BY 1`,
    )
    .pluck()
    .all()
    .map(columnOf)
}

/** @param where  a condition with one parameter */
export function changeColumn(
  db: Database.Database,
  { table, column }: Column,
  to: (text: string) => string,
  where: string,
  given: string,
) {
  const texts = db
    .prepare<[string], string>(`SELECT DISTINCT ${column} FROM ${table} WHERE ${where}`)
    .pluck()
    .all(given)
  const update = db.prepare(`UPDATE ${table} SET ${column} = ? WHERE ${column} = ? AND ${where}`)
  for (const text of texts) update.run(to(text), text, given)
  return texts.length
}

interface SealingParts {
  plugins: readonly MigrationOwner[]
  /** As `section.key`. */
  secretPreferences: readonly string[]
  log: Log
}

/** Registers the columns, and seals plain values that an earlier version left in them. */
export function sealWhatIsPlain(
  db: Database.Database,
  { seal }: Seal,
  { plugins, secretPreferences, log }: SealingParts,
): void {
  const whole = [TOTP_SECRET, OUTGOING_URL, ...plugins.flatMap(({ secretColumns }) => secretColumns ?? [])]
  const names = [...whole, PREFERENCE_VALUE]
  const known = new Set(knownColumns(db).map(({ name }) => name))
  const secret = JSON.stringify(secretPreferences)
  const isSecret = "section || '.' || key IN (SELECT value FROM json_each(?))"
  const sealColumn = (name: string): number => {
    const column = columnOf(name)
    const [where, given] = name === PREFERENCE_VALUE ? [isSecret, secret] : ["'' = ?", '']
    return changeColumn(db, column, (text) => seal(name, text), `NOT ${isSealedSql(column.column)} AND ${where}`, given)
  }
  const count = db.transaction(() => {
    const enter = db.prepare('INSERT INTO sealed_columns (table_name, column_name) VALUES (?, ?)')
    for (const name of names) if (!known.has(name)) enter.run(...name.split('.'))
    const there = new Set(knownColumns(db).map(({ name }) => name))
    const missing = names.find((name) => !there.has(name))
    if (missing !== undefined)
      throw new Error(`A plugin names ${missing} in secretColumns, but the ledger has no such column`)
    return names.reduce((sum, name) => sum + sealColumn(name), 0)
  })()
  if (count === 0) return
  log.info({ count }, 'secrets in the ledger have been encrypted')
  cleanUp(db, log)
}

/** Rewrites the file: overwritten values otherwise remain in its free space. */
function cleanUp(db: Database.Database, log: Log): void {
  try {
    db.exec('VACUUM')
    db.pragma('wal_checkpoint(TRUNCATE)')
  } catch (err) {
    log.warn(
      { err },
      'the ledger could not be rewritten: its free space may still contain secrets that are encrypted now',
    )
  }
}

/** Column → its sealed texts. */
const sealedIn = (db: Database.Database): Array<[name: string, texts: string[]]> =>
  knownColumns(db).map(({ name, table, column }) => [
    name,
    db
      .prepare<[], string>(`SELECT ${column} FROM ${table} WHERE ${isSealedSql(column)}`)
      .pluck()
      .all(),
  ])

/** Column → number of secrets that this key does not open. */
export function unreadableIn(db: Database.Database, { unseal }: Pick<Seal, 'unseal'>): Map<string, number> {
  const counted = sealedIn(db).map(
    ([name, texts]) => [name, texts.filter((text) => unseal(name, text) === undefined).length] as const,
  )
  return new Map(counted.filter(([, count]) => count > 0))
}

/** What people can do about them, for the log and `archivolt check`. */
export const wayOutOf = (unreadable: ReadonlyMap<string, number>): Sentence => {
  const counts = [...unreadable].map(([name, count]) => `${count} in ${name}`).join(', ')
  return say`secrets that were encrypted with another secret key (${{ counts }}): put the former secret.key back into the data folder, or set these again: authenticator apps (archivolt user totp-off <name>, or Settings → Users), webhooks, addresses of messages, proxies`
}

/** The key of this ledger, after completing or discarding an interrupted rotation. */
export async function openKeyOf(db: Database.Database, folder: string): Promise<Buffer> {
  const next = await readNextKey(folder)
  if (next) await (opensAny(db, openSeal(next)) ? takeNextKey(folder) : dropNextKey(folder))
  return openSecretKey(folder)
}

const opensAny = (db: Database.Database, { unseal }: Pick<Seal, 'unseal'>): boolean =>
  sealedIn(db).some(([name, texts]) => texts.some((text) => unseal(name, text) !== undefined))
