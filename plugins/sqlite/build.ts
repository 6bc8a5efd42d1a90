/**
 * Builds tables: for a new collection, for added fields, for a rebuild, and for replacing everything. Progress is
 * stored in the same transaction, so that an interrupted build continues. Runs in the worker.
 */
import type { JsonObject } from 'archivolt/index'
import { createIndex, createTables, indexName, tableNames } from './layout.ts'
import type { IdText } from './protocol.ts'
import {
  buildingOf,
  isResumable,
  layoutFor,
  makeTables,
  noteBuilding,
  noteCurrent,
  openTables,
  type Store,
  type Tables,
  tableList,
  tablesOf,
} from './store.ts'
import type { Units } from './work-loop.ts'

const READ_AT_ONCE = 100
/**
 * FTS5 settings: how many bytes of words wait in memory for the next commit (`hashsize`), how many segments of one
 * level start an incremental merge (`automerge`), and how many an immediate merge (`crisismerge`).
 */
const WORDS = {
  usual: { hashsize: 1 << 20, automerge: 4, crisismerge: 16 },
  /** During a bulk load nobody searches the documents: fewer and larger segments, which are merged later. */
  loading: { hashsize: 8 << 20, automerge: 16, crisismerge: 64 },
}

/** Creates the first tables of a collection and their indexes. @returns its version */
export function create(store: Store, name: string): number {
  const version = makeTables(store, name)
  for (const index of layoutFor(store, name).indexes)
    store.connection.db.exec(createIndex(tableNames(name, version), index))
  noteCurrent(store, name, version)
  store.afterCommit(() => store.current.set(name, openTables(store, name, version)))
  return version
}

/** Creates and drops indexes to match the definition. */
export function* arrange(store: Store, name: string, isStaged = false): Units<null> {
  const { db, pluck } = store.connection
  const { layout, names } = tablesOf(store, name, isStaged)
  const wanted = new Map(layout.indexes.map((index) => [indexName(names, index), index]))
  // SQLite's automatic index on ids has no SQL text.
  const present = pluck<string>(
    `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`,
  ).all(names.main)
  let steps = 0
  for (const index of present) if (!wanted.delete(index)) db.exec(`DROP INDEX "${index}"`)
  for (const index of wanted.values()) {
    db.exec(createIndex(names, index))
    yield ++steps
  }
  return null
}

/** Adds empty columns and tables for new fields. */
export function addFields(store: Store, name: string): void {
  if (isResumable(store, name, 'add')) return
  const { db, pluck } = store.connection
  const { layout, names, version } = tablesOf(store, name)
  const present = new Set(pluck<string>(`SELECT name FROM pragma_table_info(?)`).all(names.main))
  for (const column of layout.columns)
    if (!present.has(column.name)) db.exec(`ALTER TABLE "${names.main}" ADD COLUMN "${column.name}" ${column.sql}`)
  const tables = tableList(store)
  for (const table of [names.values, names.lists]) {
    if (tables.includes(table)) continue
    for (const statement of createTables(layout, names)) if (statement.includes(`"${table}`)) db.exec(statement)
  }
  noteBuilding(store, name, 'add', version)
}

/** Fills new fields from the documents. @returns how many had a value of another type */
export function* fill(store: Store, name: string): Units<number> {
  const tables = tablesOf(store, name)
  const wrong = yield* copyAll(store, name, tables, tables)
  noteCurrent(store, name, tables.version)
  return wrong
}

export function rebuildBegin(store: Store, name: string): { done: number; total: number } {
  if (!isResumable(store, name, 'rebuild')) noteBuilding(store, name, 'rebuild', makeToLoad(store, name))
  const { version } = buildingOf(store, name)!
  store.afterCommit(() => store.building.set(name, openTables(store, name, version)))
  const { main } = tablesOf(store, name).names
  return { done: countRows(store, main, doneOf(store, name)), total: countRows(store, main) }
}

/** Copies all remaining documents. @returns how many fields had a value of another type */
export function* rebuild(store: Store, name: string): Units<number> {
  return yield* copyAll(store, name, tablesOf(store, name), tablesOf(store, name, true))
}

/** Rewrites each document, starting after the stored progress. */
function* copyAll(store: Store, name: string, from: Tables, to: Tables): Units<number> {
  let wrong = 0
  let count = countRows(store, from.names.main, doneOf(store, name))
  for (
    let rids = ridsAfter(store, from, doneOf(store, name));
    rids.length > 0;
    rids = ridsAfter(store, from, rids.at(-1)!)
  ) {
    for (const rid of rids) {
      const row = from.writer.readRow(rid)
      if (row?.doc) to.writer.put(row.id, row.doc, () => wrong++)
      else if (row && to !== from) to.writer.putGarbled(row.id, row.stored)
      noteDone(store, name, rid)
      yield ++count
    }
  }
  return wrong
}

/** Reads the next batch of a rebuild whose documents pass through the main thread. @returns null: no more documents */
export function rebuildRead(store: Store, name: string): { docs: IdText[]; last: number } | null {
  const tables = tablesOf(store, name)
  const rids = ridsAfter(store, tables, doneOf(store, name))
  const last = rids.at(-1)
  if (last === undefined) return null
  const docs = rids.flatMap((rid): IdText[] => {
    const row = tables.writer.readRow(rid)
    if (row && !row.doc) tablesOf(store, name, true).writer.putGarbled(row.id, row.stored)
    return row?.doc ? [[row.id, JSON.stringify(row.doc)]] : []
  })
  return { docs, last }
}

/** Call it in one transaction: the stored progress must not be ahead of the documents. */
export function rebuildWrite(store: Store, name: string, docs: readonly IdText[], last: number): number {
  const { writer } = tablesOf(store, name, true)
  let wrong = 0
  for (const [id, text] of docs) writer.put(id, JSON.parse(text) as JsonObject, () => wrong++)
  noteDone(store, name, last)
  return wrong
}

/** Makes the built tables current. @returns their version */
export function* rebuildEnd(store: Store, name: string): Units<number> {
  yield* arrange(store, name, true)
  return takeIntoUse(store, name)
}

export function replaceBegin(store: Store): void {
  store.afterCommit(() => store.building.clear())
  for (const name of store.layouts.keys()) {
    const version = makeToLoad(store, name)
    noteBuilding(store, name, 'replace', version)
    store.afterCommit(() => store.building.set(name, openTables(store, name, version)))
  }
}

/** Makes all built tables current at once. @returns the new versions */
export function* replaceEnd(store: Store): Units<Record<string, number>> {
  const names = [...store.building.keys()]
  for (const name of names) yield* arrange(store, name, true)
  return Object.fromEntries(names.map((name) => [name, takeIntoUse(store, name)]))
}

export function replaceAbort({ connection, afterCommit, building }: Store): void {
  connection.sql(`DELETE FROM index_building WHERE purpose = 'replace'`).run()
  afterCommit(() => building.clear())
}

function takeIntoUse(store: Store, name: string): number {
  const staged = tablesOf(store, name, true)
  storeWords(store, staged, 'usual')
  noteCurrent(store, name, staged.version)
  store.afterCommit(() => {
    store.current.set(name, staged)
    store.building.delete(name)
  })
  return staged.version
}

function makeToLoad(store: Store, name: string): number {
  const version = makeTables(store, name)
  storeWords(store, { layout: layoutFor(store, name), names: tableNames(name, version) }, 'loading')
  return version
}

function storeWords(
  { connection }: Store,
  { layout, names }: Pick<Tables, 'layout' | 'names'>,
  how: keyof typeof WORDS,
): void {
  if (layout.searched.length === 0) return
  for (const [option, value] of Object.entries(WORDS[how]))
    connection.db.exec(`INSERT INTO "${names.text}"("${names.text}", rank) VALUES ('${option}', ${value})`)
}

const doneOf = (store: Store, name: string): number => buildingOf(store, name)?.done ?? -1

function noteDone({ connection }: Store, name: string, rid: number): void {
  connection.sql('UPDATE index_building SET done = ? WHERE name = ?').run(rid, name)
}

const countRows = ({ connection }: Store, table: string, upTo = Number.MAX_SAFE_INTEGER): number =>
  connection.pluck<number>(`SELECT count(*) FROM "${table}" WHERE rid <= ?`).get(upTo)!

const ridsAfter = ({ connection }: Store, { names }: Tables, rid: number): number[] =>
  connection.pluck<number>(`SELECT rid FROM "${names.main}" WHERE rid > ? ORDER BY rid LIMIT ?`).all(rid, READ_AT_ONCE)
