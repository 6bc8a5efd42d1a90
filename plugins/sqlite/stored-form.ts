/**
 * How documents are stored: as JSON texts; or, if all values of a collection are texts and whole numbers, as columns,
 * so that no key is repeated in each row. The file itself describes the form of each version of a collection.
 */
import type { DefinitionData, FieldPlan, Json, JsonObject } from 'archivolt/index'
import type Database from 'better-sqlite3'
import type { Bind, Connection } from './connection.ts'

/** A top-level key of a flat document, and the table with its values. */
interface FlatKey {
  key: string
  type: 'text' | 'integer'
  /** `main`: the field has a column in the narrow table. */
  table: 'main' | 'flat'
}

/** The keys of all documents, in the order of the reply. */
export interface FlatForm {
  reply: FlatKey[]
  internal: FlatKey[]
}

/** @param isColumn  whether the narrow table has the unchanged values of the field */
export function flatFormOf(
  { scalars }: DefinitionData,
  plans: readonly FieldPlan[],
  isColumn: (plan: FieldPlan) => boolean,
): FlatForm | undefined {
  if (!scalars) return undefined
  if (!Object.keys(scalars).every(isKey)) return undefined
  const topLevel = plans.filter(({ path: [key = ''], path }) => path.length === 1 && Object.hasOwn(scalars, key))
  const plansByKey = new Map(topLevel.map((plan) => [plan.path[0]!, plan]))
  const toKey = (key: string): FlatKey => {
    const plan = plansByKey.get(key)
    return { key, type: scalars[key]!, table: plan && isColumn(plan) ? 'main' : 'flat' }
  }
  const isInternal = (key: string) => plansByKey.get(key)?.isInternal === true
  return {
    reply: Object.keys(scalars)
      .filter((key) => !isInternal(key))
      .map(toKey),
    internal: [...plansByKey.keys()].filter(isInternal).map(toKey), // in the order of `splitInternal`
  }
}

const isKey = (key: unknown): key is string =>
  typeof key === 'string' && /^[a-z][a-z0-9_]{0,63}$/i.test(key) && key !== 'rid'

const columnsOf = ({ reply, internal }: FlatForm): FlatKey[] =>
  [...reply, ...internal].filter(({ table }) => table === 'flat')

/** Names of the tables with the documents of one version. */
export interface DocTables {
  main: string
  doc: string
  flat: string
}

export function createFlat(form: FlatForm, { flat }: DocTables): string {
  const columns = columnsOf(form).map(({ key, type }) => `, "${key}" ${type.toUpperCase()}`)
  return `CREATE TABLE "${flat}"(rid INTEGER PRIMARY KEY${columns.join('')}) STRICT`
}

/** SQL that reads documents, for use with `FROM <main> m`. */
export interface DocSql {
  join: string
  text: string
  /** The text, or '' if it is damaged: pages are spliced from texts without parsing. */
  soundText: string
  /** The internal values as JSON, or NULL. */
  internal: string
  /** Whether both texts can be read. */
  isSound: string
}

export function docSql(form: FlatForm | undefined, { doc, flat }: DocTables): DocSql {
  const isSound = `(json_valid(d.text) AND (d.internal IS NULL OR json_valid(d.internal)))`
  const soundText = `CASE WHEN json_valid(d.text) THEN d.text ELSE '' END`
  if (!form)
    return {
      join: ` CROSS JOIN "${doc}" d ON d.rid = m.rid`,
      text: 'd.text',
      soundText,
      internal: 'd.internal',
      isSound,
    }
  const ifFlat = (then: string, otherwise: string) => `CASE WHEN f.rid IS NULL THEN ${otherwise} ELSE ${then} END`
  const [text, internal] = [objectSql(form.reply), form.internal.length > 0 ? objectSql(form.internal) : 'NULL']
  return {
    join: ` LEFT JOIN "${flat}" f ON f.rid = m.rid LEFT JOIN "${doc}" d ON d.rid = m.rid`,
    text: ifFlat(text, 'd.text'),
    soundText: ifFlat(text, soundText),
    internal: ifFlat(internal, 'd.internal'),
    isSound: `(f.rid IS NOT NULL OR ${isSound} IS TRUE)`,
  }
}

/** A text that is the document's id is stored as NULL. */
function objectSql(keys: readonly FlatKey[]): string {
  const members = keys.map(({ key, type, table }) => {
    if (table === 'main') return `'${key}', m."${key}"`
    return `'${key}', ${type === 'text' ? `ifnull(f."${key}", m.id)` : `f."${key}"`}`
  })
  return `json_object(${members.join(', ')})`
}

/** The reply and the internal values, both as JSON. */
export interface StoredDoc {
  text: string
  internal: string | null
}

/**
 * The values of the flat table's columns. undefined: this document has other keys or values, and is stored as text.
 * @param reply     the document without its internal values
 */
export function flatValues(
  form: FlatForm,
  id: string,
  reply: JsonObject,
  internal: JsonObject = {},
): Bind[] | undefined {
  if (!hasKeys(reply, form.reply) || !hasKeys(internal, form.internal)) return undefined
  return columnsOf(form).map(({ key }) => {
    const value = reply[key] ?? internal[key]
    return value === id ? null : (value as string | number)
  })
}

function hasKeys(object: JsonObject, keys: readonly FlatKey[]): boolean {
  return Object.keys(object).length === keys.length && keys.every(({ key, type }) => fits(object[key], type))
}

/** Whether SQLite's JSON functions write the value as `JSON.stringify` does. */
function fits(value: Json | undefined, type: FlatKey['type']): boolean {
  if (type === 'integer') return Number.isSafeInteger(value) && !Object.is(value, -0)
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0')
}

/** Writes the documents of one version to their tables. */
export interface DocWriter {
  /**
   * @param values  columns of the flat table; undefined: the document is stored as text
   * @param isNew  the row does not exist yet
   */
  put(rid: number, stored: StoredDoc, values?: readonly Bind[], isNew?: boolean): void
  remove(rid: number): void
}

export function openDocs(
  { sql }: Pick<Connection, 'sql'>,
  form: FlatForm | undefined,
  { doc, flat }: DocTables,
): DocWriter {
  const columns = form ? columnsOf(form).map(({ key }) => `, "${key}"`) : []
  const intoFlat = `INSERT OR REPLACE INTO "${flat}"(rid${columns.join('')}) VALUES (?${', ?'.repeat(columns.length)})`
  const intoTexts = `INSERT OR REPLACE INTO "${doc}"(rid, text, internal) VALUES (?, ?, ?)`
  const removeFrom = (table: string, rid: number) => sql(`DELETE FROM "${table}" WHERE rid = ?`).run(rid)
  return {
    put(rid, { text, internal }, values, isNew = false) {
      if (form && !isNew) removeFrom(values ? doc : flat, rid)
      if (values) sql(intoFlat).run(rid, ...values)
      else sql(intoTexts).run(rid, text, internal)
    },
    remove(rid) {
      removeFrom(doc, rid)
      if (form) removeFrom(flat, rid)
    },
  }
}

const DESCRIPTIONS = 'index_flat'

export const CREATE_DESCRIPTIONS = `CREATE TABLE IF NOT EXISTS ${DESCRIPTIONS}(main TEXT PRIMARY KEY, form TEXT NOT NULL) STRICT`

/** Records in the file how the documents of a version are stored. */
export function noteForm({ sql }: Pick<Connection, 'sql'>, form: FlatForm, { main }: Pick<DocTables, 'main'>): void {
  sql(`INSERT OR REPLACE INTO ${DESCRIPTIONS}(main, form) VALUES (?, ?)`).run(main, JSON.stringify(form))
}

export function forgetForm({ sql }: Pick<Connection, 'sql'>, main: string): void {
  sql(`DELETE FROM ${DESCRIPTIONS} WHERE main = ?`).run(main)
}

/**
 * How a file stores the documents of a version. undefined: as texts only, as in all older files.
 * @throws Error  the recorded form is not from this program: the file may come from elsewhere
 */
export function formIn(db: Database.Database, main: string): FlatForm | undefined {
  if (!db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(DESCRIPTIONS)) return undefined
  const told = db.prepare<unknown[], string>(`SELECT form FROM ${DESCRIPTIONS} WHERE main = ?`).pluck().get(main)
  if (told === undefined) return undefined
  const { reply, internal } = JSON.parse(told) as { reply?: unknown; internal?: unknown }
  return { reply: checkedKeys(reply), internal: checkedKeys(internal) }
}

function checkedKeys(told: unknown): FlatKey[] {
  const keys = Array.isArray(told) ? (told as Array<Partial<Record<keyof FlatKey, unknown>> | null>) : [null]
  return keys.map((one) => {
    const { key, type, table } = one ?? {}
    if (!isKey(key) || (type !== 'text' && type !== 'integer') || (table !== 'main' && table !== 'flat'))
      throw new Error('it describes its documents in an unknown form')
    return { key, type, table }
  })
}
