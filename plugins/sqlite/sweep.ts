/** Background work in the worker: drops obsolete tables, merges segments of words, and reads the vocabulary. */
import { analyze } from './connection.ts'
import { parseTable, type Store, type Tables, tableList } from './store.ts'
import { forgetForm } from './stored-form.ts'
import type { Units } from './work-loop.ts'

const FREE_PAGES_KEPT = 1000
const ROWS_AT_ONCE = 20
const TERMS_AT_ONCE = 500
/** Number of pages of words (4 kB each) that one step merges. */
const MERGED_AT_ONCE = 16
/** Up to this many segments are merged automatically by later writes. */
const FEW_PIECES = 4

/** Drops obsolete tables, frees their space, and updates the planner statistics of the others, in small steps. */
export function* clean(store: Store): Units<null> {
  const { connection } = store
  const { db, sql } = connection
  const counted = new Set(
    sql<{ name: string; version: number }>(
      'SELECT name, version FROM index_collections UNION ALL SELECT name, version FROM index_building',
    )
      .all()
      .map(({ name, version }) => `${name}_v${version}`),
  )
  let steps = 0
  for (const table of tableList(store)) {
    const parsed = parseTable(table)
    if (!parsed || counted.has(`${parsed.name}_v${parsed.version}`)) continue
    // Dropping a large table at once would block everything, so its rows are deleted in pieces first.
    for (const _emptied of parsed.part === '_fts' ? emptyText(store, table) : empty(store, table)) yield ++steps
    db.exec(`DROP TABLE "${table}"`)
    if (parsed.part === '_flat') forgetForm(connection, `${parsed.name}_v${parsed.version}`)
    yield ++steps
  }
  for (const name of store.current.keys()) for (const _moved of pack(store, name)) yield ++steps
  for (const { writer } of [...store.current.values()]) for (const _swept of writer.sweep()) yield ++steps
  // Frees the space: the memory card of a small board may not have room for the archive twice.
  while ((db.pragma('freelist_count', { simple: true }) as number) > FREE_PAGES_KEPT) {
    db.pragma('incremental_vacuum(20)')
    yield ++steps
  }
  // Not for the full-text tables: their internal statements need no statistics, and with statistics of few rows each
  // merge would read all pages.
  for (const { names, layout } of [...store.current.values()]) {
    for (const table of layout.multi.length > 0 ? [names.main, names.values] : [names.main]) {
      analyze(connection, table)
      yield ++steps
    }
  }
  return yield* mergeWords(store)
}

/**
 * A full-text table stores its words in pages of an internal table that SQLite protects. The first rows of the internal
 * table describe it, so they stay until the full-text table is dropped.
 */
function* emptyText({ connection: { db } }: Store, table: string): Generator<void> {
  for (;;) {
    db.unsafeMode(true)
    const { changes } = db
      .prepare(
        `DELETE FROM "${table}_data" WHERE id IN (SELECT id FROM "${table}_data" WHERE id > 10 LIMIT ${ROWS_AT_ONCE})`,
      )
      .run()
    db.unsafeMode(false)
    if (changes === 0) return
    yield
  }
}

function* empty({ connection: { db, sql, pluck } }: Store, table: string): Generator<void> {
  for (const index of pluck<string>(
    `SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL`,
  ).all(table)) {
    db.exec(`DROP INDEX "${index}"`)
    yield
  }
  while (sql(`DELETE FROM "${table}" LIMIT ${ROWS_AT_ONCE}`).run().changes > 0) yield
}

/**
 * Moves documents that an earlier version of the program stored as texts into columns, the oldest first: their new
 * table only grows at its end, so its pages are full. Each row is readable at any time, in either table.
 */
function* pack({ connection: { pluck }, current }: Store, name: string): Generator<void> {
  const tables = current.get(name)!
  if (!tables.layout.flat) return
  const next = pluck<number>(`SELECT rid FROM "${tables.names.doc}" WHERE rid > ? ORDER BY rid LIMIT 1`)
  for (let rid = next.get(-1); rid !== undefined && current.get(name) === tables; rid = next.get(rid)) {
    tables.writer.flatten(rid)
    yield
  }
}

/**
 * Merges the segments of each full-text table into one if many words are in smaller ones: after many small writes there
 * are a dozen segments, and each search reads all of them. In the long run this writes only a few times the size of the
 * table.
 */
export function* mergeWords({ connection: { sql, pluck }, current }: Store): Units<null> {
  const changes = () => pluck<number>('SELECT total_changes()').get()!
  let steps = 0
  for (const [name, tables] of [...current]) {
    const table = tables.names.text
    if (tables.layout.searched.length === 0 || !isScattered(table)) continue
    const merge = `INSERT INTO "${table}"("${table}", rank) VALUES ('merge', ?)`
    // A negative number merges all segments into one. Further calls continue until one finds nothing to do.
    for (let pages = -MERGED_AT_ONCE; current.get(name) === tables; pages = MERGED_AT_ONCE) {
      const before = changes()
      sql(merge).run(pages)
      if (changes() - before < 2) break
      yield ++steps
    }
  }
  return null

  /** Whether there are many segments, with more than a fifth of all pages of words outside the largest. */
  function isScattered(table: string): boolean {
    const pages = pluck<number>(`SELECT count(*) FROM "${table}_idx" GROUP BY segid`).all()
    const all = pages.reduce((sum, count) => sum + count, 0)
    return pages.length > FEW_PIECES && all - Math.max(...pages) > all / 5
  }
}

/** Reads the vocabulary, which fuzzy searches need. */
export function* loadTerms({ connection }: Store, { names, terms }: Tables): Units<null> {
  if (terms.state !== 'unread') return null
  terms.state = 'reading'
  let after = ''
  for (;;) {
    const batch = connection
      .pluck<string>(`SELECT term FROM "${names.terms}" WHERE term > ? ORDER BY term LIMIT ${TERMS_AT_ONCE}`)
      .all(after)
    for (const term of batch) terms.vocabulary.add(term)
    const last = batch.at(-1)
    if (last === undefined) break
    after = last
    yield terms.vocabulary.words.size
  }
  terms.state = 'read'
  return null
}
