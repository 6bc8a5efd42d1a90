/**
 * The collections in the file: the current version of each, versions being built, and their stored state. Runs in the
 * worker.
 */
import { type DefinitionData, type Shape, undeclaredIndex } from 'archivolt/index'
import type { Connection } from './connection.ts'
import { openVocabulary, type Vocabulary } from './fuzzy.ts'
import { createTables, type Layout, layoutOf, type TableNames, tableNames } from './layout.ts'
import type { CollectionState } from './protocol.ts'
import { openSearcher, type Searcher } from './search.ts'
import { CREATE_DESCRIPTIONS, createFlat, formIn, noteForm } from './stored-form.ts'
import { openWriter, type Writer } from './writer.ts'

/** The tables of one version of a collection, and the code that works on them. */
export interface Tables {
  layout: Layout
  names: TableNames
  version: number
  writer: Writer
  searcher: Searcher
  terms: { vocabulary: Vocabulary; state: 'unread' | 'reading' | 'read' }
}

/** A build in progress, stored in the file, so that the next start continues it. */
interface Building {
  version: number
  shape: string
  purpose: Purpose
  done: number
}
type Purpose = 'add' | 'rebuild' | 'replace'

export type Store = ReturnType<typeof openStore>

/**
 * The state for building and sweeping.
 * @param afterCommit  delays changes in memory until the transaction is committed
 */
export function openStore(
  connection: Connection,
  definitions: readonly DefinitionData[],
  afterCommit: (callback: () => void) => void,
) {
  const { db, sql } = connection
  db.exec(`
    CREATE TABLE IF NOT EXISTS index_collections(name TEXT PRIMARY KEY, version INTEGER NOT NULL, shape TEXT NOT NULL, form TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS index_building(name TEXT PRIMARY KEY, version INTEGER NOT NULL, shape TEXT NOT NULL, purpose TEXT NOT NULL, done INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS index_sync(times INTEGER NOT NULL) STRICT;
    ${CREATE_DESCRIPTIONS};
    INSERT INTO index_sync SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM index_sync);
    DELETE FROM index_building WHERE purpose = 'replace';
  `)
  const layouts: ReadonlyMap<string, Layout> = new Map(definitions.map((data) => [data.name, layoutOf(data)]))
  /** The states when the file was opened. */
  const states: Record<string, CollectionState> = {}
  const store = {
    ...{ connection, layouts, states, afterCommit },
    /** The current versions. */
    current: new Map<string, Tables>(),
    /** Versions being built. */
    building: new Map<string, Tables>(),
    /** Collections whose narrow table changes in the current transaction. */
    inColumns: new Set<string>(),
  }
  for (const { name, version, shape } of sql<{ name: string; version: number; shape: string }>(
    'SELECT name, version, shape FROM index_collections',
  ).all()) {
    if (!layouts.has(name)) continue
    const isOurs = flattened(store, name, version)
    states[name] = { version, shape: asLeft(store, name, JSON.parse(shape) as Shape, isOurs) }
    store.current.set(name, openTables(store, name, version))
    // Reading the ends of the tables finds most damage now instead of later.
    const names = tableNames(name, version)
    for (const table of [names.main, names.doc, ...(isOurs && layouts.get(name)!.flat ? [names.flat] : [])])
      sql(`SELECT * FROM "${table}" ORDER BY rid DESC LIMIT 1`).get()
  }
  return store
}

/**
 * Adds a flat table to a version that an older release created; its documents stay as texts until `pack` moves them.
 * @returns false: the columns do not match the definition
 */
function flattened({ connection, layouts }: Store, name: string, version: number): boolean {
  const names = tableNames(name, version)
  const { flat } = layouts.get(name)!
  const present = formIn(connection.db, names.main)
  if (!flat || present) return JSON.stringify(flat) === JSON.stringify(present)
  connection.db.transaction(() => {
    connection.db.exec(createFlat(flat, names))
    noteForm(connection, flat, names)
  })()
  return true
}

/**
 * Forces a complete rebuild if an interrupted addition for an outdated mapping may have left fields partly filled, or
 * if the documents are in other columns than now.
 */
function asLeft(store: Store, name: string, shape: Shape, isOurs: boolean): Shape {
  const isAbandoned = buildingOf(store, name)?.purpose === 'add' && !isResumable(store, name, 'add')
  return isAbandoned || !isOurs ? { ...shape, rest: { ...shape.rest, layout: 0 } } : shape
}

export function layoutFor({ layouts }: Store, name: string): Layout {
  const layout = layouts.get(name)
  if (!layout) throw undeclaredIndex(name)
  return layout
}

/** @param isStaged  the tables being built */
export function tablesOf({ current, building }: Store, name: string, isStaged = false): Tables {
  const found = isStaged ? building.get(name) : current.get(name)
  if (!found) throw isStaged ? new Error(`Nothing is being built for "${name}"`) : undeclaredIndex(name)
  return found
}

export function openTables(store: Store, name: string, version: number): Tables {
  const { connection } = store
  const layout = layoutFor(store, name)
  const names = tableNames(name, version)
  const terms: Tables['terms'] = { vocabulary: openVocabulary(layout.stemmed.length > 0), state: 'unread' }
  const writer = openWriter(connection, layout, names, {
    form: formIn(connection.db, names.main),
    onTerm(term) {
      if (terms.state !== 'unread') terms.vocabulary.add(term)
    },
    onColumns() {
      if (store.inColumns.has(name)) return
      store.inColumns.add(name)
      store.afterCommit(() => store.inColumns.delete(name))
    },
  })
  const searcher = openSearcher(connection, layout, names, terms.vocabulary)
  return { layout, names, version, terms, writer, searcher }
}

/** Call after a rollback: cached knowledge about the tables may be wrong. */
export function forget({ current, building, inColumns }: Store): void {
  inColumns.clear()
  for (const { writer } of [...current.values(), ...building.values()]) writer.forget()
}

export const tableList = ({ connection }: Store): string[] =>
  connection.pluck<string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()

/** `map_v2_doc` → its collection, version and part; undefined for SQLite's internal tables. */
export function parseTable(table: string): { name: string; version: number; part: string } | undefined {
  const match = /^(.+)_v(\d+)(_doc|_flat|_kw|_list|_fts|_term)?$/.exec(table)
  return match ? { name: match[1]!, version: Number(match[2]), part: match[3] ?? '' } : undefined
}

/** Creates the empty tables of the next version. @returns the version */
export function makeTables(store: Store, name: string): number {
  const versions = tableList(store).flatMap((table) => {
    const parsed = parseTable(table)
    return parsed?.name === name ? [parsed.version] : []
  })
  const version = Math.max(0, ...versions) + 1
  const [layout, names] = [layoutFor(store, name), tableNames(name, version)]
  for (const statement of createTables(layout, names)) store.connection.db.exec(statement)
  if (layout.flat) noteForm(store.connection, layout.flat, names)
  return version
}

/** Stores this version as the current one. */
export function noteCurrent(store: Store, name: string, version: number): void {
  const { sql } = store.connection
  const { shape, data } = layoutFor(store, name)
  sql('INSERT OR REPLACE INTO index_collections(name, version, shape, form) VALUES (?, ?, ?, ?)').run(
    name,
    version,
    JSON.stringify(shape),
    data.form,
  )
  forgetBuilding(store, name)
}

export const buildingOf = ({ connection }: Store, name: string): Building | undefined =>
  connection.sql<Building>('SELECT version, shape, purpose, done FROM index_building WHERE name = ?').get(name)

export function noteBuilding(store: Store, name: string, purpose: Purpose, version: number): void {
  store.connection
    .sql('INSERT OR REPLACE INTO index_building(name, version, shape, purpose, done) VALUES (?, ?, ?, ?, -1)')
    .run(name, version, JSON.stringify(layoutFor(store, name).shape), purpose)
}

/** Whether the build was begun for the current mapping. */
export function isResumable(store: Store, name: string, purpose: Purpose): boolean {
  const row = buildingOf(store, name)
  return row?.purpose === purpose && row.shape === JSON.stringify(layoutFor(store, name).shape)
}

export function forgetBuilding({ connection }: Store, name: string): void {
  connection.sql('DELETE FROM index_building WHERE name = ?').run(name)
}

export function forgetCollection(store: Store, name: string): void {
  store.connection.sql('DELETE FROM index_collections WHERE name = ?').run(name)
  forgetBuilding(store, name)
}
