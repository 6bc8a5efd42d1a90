/**
 * The collections in the file: which version of each counts, building others beside, swapping, sweeping up. Runs in the
 * worker.
 */
import type { DefinitionData, JsonObject, Shape } from 'archivolt/index'
import { analyze, type Connection } from './connection.ts'
import { openTermList, type TermList } from './fuzzy.ts'
import { createIndex, createTables, indexName, type Layout, layoutOf, type TableNames, tableNames } from './layout.ts'
import type { CollectionState, IdText } from './protocol.ts'
import { openSearcher, type Searcher } from './search.ts'
import type { Units } from './work-loop.ts'
import { openWriter, type Writer } from './writer.ts'

const READ_AT_ONCE = 100
const FREE_PAGES_KEPT = 1000

/** The tables of one version of a collection, and what works on them. */
export interface Tables {
  layout: Layout
  names: TableNames
  version: number
  writer: Writer
  searcher: Searcher
  terms: { list: TermList; state: 'unread' | 'reading' | 'read' }
}

export interface Store {
  readonly states: Record<string, CollectionState>
  tables(name: string, isStaged?: boolean): Tables
  forget(): void
  create(name: string): number
  /** Makes and drops indexes until they are those of the definition. */
  arrange(name: string, isStaged?: boolean): Units<null>
  addFields(name: string): void
  fill(name: string): Units<number>
  rebuildBegin(name: string): { done: number; total: number }
  rebuild(name: string): Units<number>
  rebuildRead(name: string): { docs: IdText[]; last: number } | null
  rebuildWrite(name: string, docs: readonly IdText[], last: number): Units<number>
  rebuildEnd(name: string): Units<number>
  discard(name: string): void
  replaceBegin(): void
  replaceEnd(): Units<Record<string, number>>
  replaceAbort(): void
  clean(): Units<null>
  loadTerms(tables: Tables): Units<null>
}

interface Building {
  version: number
  shape: string
  purpose: string
  done: number
}

/** @param afterCommit  what a unit changes in memory must wait until its transaction is committed */
export function openStore(
  connection: Connection,
  definitions: readonly DefinitionData[],
  afterCommit: (callback: () => void) => void,
): Store {
  const { db, sql, pluck } = connection
  db.exec(`
    CREATE TABLE IF NOT EXISTS index_collections(name TEXT PRIMARY KEY, version INTEGER NOT NULL, shape TEXT NOT NULL, form TEXT NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS index_building(name TEXT PRIMARY KEY, version INTEGER NOT NULL, shape TEXT NOT NULL, purpose TEXT NOT NULL, done INTEGER NOT NULL) STRICT;
    CREATE TABLE IF NOT EXISTS index_sync(times INTEGER NOT NULL) STRICT;
    INSERT INTO index_sync SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM index_sync);
    DELETE FROM index_building WHERE purpose = 'replace';
  `)
  const layouts = new Map(definitions.map((data) => [data.name, layoutOf(data)]))
  const current = new Map<string, Tables>()
  let building = new Map<string, Tables>()

  const layoutFor = (name: string): Layout => {
    const layout = layouts.get(name)
    if (!layout) throw new Error(`There is no index "${name}"`)
    return layout
  }
  const open = (name: string, version: number): Tables => {
    const layout = layoutFor(name)
    const names = tableNames(name, version)
    const terms: Tables['terms'] = { list: openTermList(), state: 'unread' }
    const writer = openWriter(connection, layout, names, (term) => {
      if (terms.state !== 'unread') terms.list.add(term)
    })
    return {
      layout,
      names,
      version,
      terms,
      writer,
      searcher: openSearcher(connection, layout, names, () => terms.list),
    }
  }
  /**
   * Fields that an interrupted addition has begun, for a mapping that is no longer wanted, may be half filled: then all
   * is built anew.
   */
  const asLeft = (name: string, shape: Shape): Shape => {
    const row = sql<Building>('SELECT version, shape, purpose, done FROM index_building WHERE name = ?').get(name)
    const isAbandoned = row?.purpose === 'add' && row.shape !== JSON.stringify(layoutFor(name).shape)
    return isAbandoned ? { ...shape, rest: { ...shape.rest, layout: 0 } } : shape
  }
  const states: Record<string, CollectionState> = {}
  for (const { name, version, shape } of sql<{ name: string; version: number; shape: string }>(
    'SELECT name, version, shape FROM index_collections',
  ).all()) {
    if (!layouts.has(name)) continue
    states[name] = { version, shape: asLeft(name, JSON.parse(shape) as Shape) }
    current.set(name, open(name, version))
    // Reading the ends of both tables finds most damage that would otherwise show up in the middle of the day.
    const names = tableNames(name, version)
    for (const table of [names.main, names.doc]) sql(`SELECT * FROM "${table}" ORDER BY rid DESC LIMIT 1`).get()
  }

  const tables = (name: string, isStaged = false): Tables => {
    const found = isStaged ? building.get(name) : current.get(name)
    if (!found) throw new Error(isStaged ? `Nothing is being built for "${name}"` : `There is no index "${name}"`)
    return found
  }
  const tableList = () => pluck<string>(`SELECT name FROM sqlite_schema WHERE type = 'table'`).all()
  const nextVersion = (name: string): number => {
    const versions = tableList()
      .map((table) => parseTable(table))
      .filter((parsed) => parsed?.name === name)
    return Math.max(0, ...versions.map((parsed) => parsed!.version)) + 1
  }
  const buildingOf = (name: string) =>
    sql<Building>('SELECT version, shape, purpose, done FROM index_building WHERE name = ?').get(name)
  const startBuilding = (name: string, purpose: string, version: number) =>
    sql('INSERT OR REPLACE INTO index_building(name, version, shape, purpose, done) VALUES (?, ?, ?, ?, -1)').run(
      name,
      version,
      JSON.stringify(layoutFor(name).shape),
      purpose,
    )
  const setDone = (name: string, rid: number) => sql('UPDATE index_building SET done = ? WHERE name = ?').run(rid, name)
  const isResumable = (name: string, purpose: string): boolean => {
    const row = buildingOf(name)
    return row?.purpose === purpose && row.shape === JSON.stringify(layoutFor(name).shape)
  }
  const makeTables = (name: string, version: number): void => {
    const layout = layoutFor(name)
    for (const statement of createTables(layout, tableNames(name, version))) db.exec(statement)
  }
  function* arrange(name: string, isStaged = false): Units<null> {
    const { layout, names } = tables(name, isStaged)
    const wanted = new Map(layout.indexes.map((index) => [indexName(names, index), index]))
    // SQLite's own index of the ids has no text.
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
  const setCurrent = (name: string, version: number): void => {
    const { shape, data } = layoutFor(name)
    sql('INSERT OR REPLACE INTO index_collections(name, version, shape, form) VALUES (?, ?, ?, ?)').run(
      name,
      version,
      JSON.stringify(shape),
      data.form,
    )
    sql('DELETE FROM index_building WHERE name = ?').run(name)
  }
  const countRows = (table: string, upTo = Number.MAX_SAFE_INTEGER) =>
    pluck<number>(`SELECT count(*) FROM "${table}" WHERE rid <= ?`).get(upTo)!
  const ridsAfter = (name: string, rid: number) =>
    pluck<number>(`SELECT rid FROM "${tables(name).names.main}" WHERE rid > ? ORDER BY rid LIMIT ?`).all(
      rid,
      READ_AT_ONCE,
    )
  const done = (name: string) => buildingOf(name)?.done ?? -1

  return {
    states,
    tables,
    forget: () => [...current.values(), ...building.values()].forEach((each) => each.writer.forget()),

    create(name) {
      const version = nextVersion(name)
      makeTables(name, version)
      for (const index of layoutFor(name).indexes) db.exec(createIndex(tableNames(name, version), index))
      setCurrent(name, version)
      afterCommit(() => current.set(name, open(name, version)))
      return version
    },

    arrange,

    addFields(name) {
      if (isResumable(name, 'add')) return
      const { layout, names, version } = tables(name)
      const present = new Set(pluck<string>(`SELECT name FROM pragma_table_info(?)`).all(names.main))
      for (const column of layout.columns)
        if (!present.has(column.name)) db.exec(`ALTER TABLE "${names.main}" ADD COLUMN "${column.name}" ${column.sql}`)
      if (layout.multi.length > 0 && !tableList().includes(names.values)) {
        for (const statement of createTables(layout, names))
          if (statement.includes(`"${names.values}`)) db.exec(statement)
      }
      startBuilding(name, 'add', version)
    },

    *fill(name) {
      const { writer, names } = tables(name)
      let wrong = 0
      let count = countRows(names.main, done(name))
      for (let rids = ridsAfter(name, done(name)); rids.length > 0; rids = ridsAfter(name, rids.at(-1)!)) {
        for (const rid of rids) {
          const row = writer.readRow(rid)
          if (row) writer.put(row.id, row.doc, () => wrong++)
          setDone(name, rid)
          yield ++count
        }
      }
      setCurrent(name, tables(name).version)
      return wrong
    },

    rebuildBegin(name) {
      if (!isResumable(name, 'rebuild')) {
        const version = nextVersion(name)
        makeTables(name, version)
        startBuilding(name, 'rebuild', version)
      }
      const { version } = buildingOf(name)!
      afterCommit(() => building.set(name, open(name, version)))
      const { main } = tables(name).names
      return { done: countRows(main, done(name)), total: countRows(main) }
    },

    *rebuild(name) {
      const from = tables(name)
      const to = tables(name, true)
      let wrong = 0
      let count = countRows(from.names.main, done(name))
      for (let rids = ridsAfter(name, done(name)); rids.length > 0; rids = ridsAfter(name, rids.at(-1)!)) {
        for (const rid of rids) {
          const row = from.writer.readRow(rid)
          if (row) to.writer.put(row.id, row.doc, () => wrong++)
          setDone(name, rid)
          yield ++count
        }
      }
      return wrong
    },

    rebuildRead(name) {
      const rids = ridsAfter(name, done(name))
      const last = rids.at(-1)
      if (last === undefined) return null
      const docs = rids.flatMap((rid): IdText[] => {
        const row = tables(name).writer.readRow(rid)
        return row ? [[row.id, JSON.stringify(row.doc)]] : []
      })
      return { docs, last }
    },

    *rebuildWrite(name, docs, last) {
      let wrong = 0
      // In one piece: the place to go on from must not be ahead of the documents.
      for (const [id, text] of docs) tables(name, true).writer.put(id, JSON.parse(text) as JsonObject, () => wrong++)
      setDone(name, last)
      return wrong
    },

    *rebuildEnd(name) {
      yield* arrange(name, true)
      const { version } = tables(name, true)
      setCurrent(name, version)
      afterCommit(() => {
        current.set(name, building.get(name)!)
        building.delete(name)
      })
      return version
    },

    discard(name) {
      sql('DELETE FROM index_building WHERE name = ?').run(name)
    },

    replaceBegin() {
      const staged = [...layouts.keys()].map((name): [string, number] => [name, nextVersion(name)])
      for (const [name, version] of staged) {
        makeTables(name, version)
        startBuilding(name, 'replace', version)
      }
      afterCommit(() => (building = new Map(staged.map(([name, version]) => [name, open(name, version)]))))
    },

    *replaceEnd() {
      for (const name of building.keys()) yield* arrange(name, true)
      const versions: Record<string, number> = {}
      for (const [name, { version }] of building) {
        setCurrent(name, version)
        versions[name] = version
      }
      afterCommit(() => {
        for (const [name, staged] of building) current.set(name, staged)
        building = new Map()
      })
      return versions
    },

    replaceAbort() {
      sql(`DELETE FROM index_building WHERE purpose = 'replace'`).run()
      afterCommit(() => (building = new Map()))
    },

    *clean() {
      const counted = new Set(
        sql<{ name: string; version: number }>(
          'SELECT name, version FROM index_collections UNION ALL SELECT name, version FROM index_building',
        )
          .all()
          .map(({ name, version }) => `${name}_v${version}`),
      )
      let steps = 0
      for (const table of tableList()) {
        const parsed = parseTable(table)
        if (!parsed || counted.has(`${parsed.name}_v${parsed.version}`)) continue
        // Dropping a big table at once would hold everything up; so rows go in pieces first.
        if (parsed.part === '_fts') {
          // A full-text table keeps its words in pages, in a table of its own that SQLite guards; the first rows
          // describe it and stay to the end.
          for (;;) {
            db.unsafeMode(true)
            const { changes } = db
              .prepare(
                `DELETE FROM "${table}_data" WHERE id IN (SELECT id FROM "${table}_data" WHERE id > 10 LIMIT 20)`,
              )
              .run()
            db.unsafeMode(false)
            if (changes === 0) break
            yield ++steps
          }
        } else {
          for (const index of pluck<string>(
            `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`,
          ).all(table)) {
            db.exec(`DROP INDEX "${index}"`)
            yield ++steps
          }
          while (sql(`DELETE FROM "${table}" LIMIT 20`).run().changes > 0) yield ++steps
        }
        db.exec(`DROP TABLE "${table}"`)
        yield ++steps
      }
      // Gives the space back: a board's card may not hold the archive twice.
      while ((db.pragma('freelist_count', { simple: true }) as number) > FREE_PAGES_KEPT) {
        db.pragma('incremental_vacuum(20)')
        yield ++steps
      }
      // Not the full-text tables: their own statements are right by themselves, and told of few rows each merge would
      // read all pages.
      for (const { names, layout } of [...current.values()]) {
        for (const table of layout.multi.length > 0 ? [names.main, names.values] : [names.main]) {
          analyze(connection, table)
          yield ++steps
        }
      }
      return null
    },

    *loadTerms({ names, terms }) {
      if (terms.state !== 'unread') return null
      terms.state = 'reading'
      let after = ''
      for (;;) {
        const batch = pluck<string>(`SELECT term FROM "${names.terms}" WHERE term > ? ORDER BY term LIMIT 500`).all(
          after,
        )
        for (const term of batch) terms.list.add(term)
        const last = batch.at(-1)
        if (last === undefined) break
        after = last
        yield terms.list.size
      }
      terms.state = 'read'
      return null
    },
  }
}

/** `map_v2_doc` → its collection, version and part; tables that SQLite itself keeps are no part. */
function parseTable(table: string): { name: string; version: number; part: string } | undefined {
  const match = /^(.+)_v(\d+)(_doc|_kw|_fts|_term)?$/.exec(table)
  return match ? { name: match[1]!, version: Number(match[2]), part: match[3] ?? '' } : undefined
}
