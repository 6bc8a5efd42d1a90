/**
 * Writes documents to the tables of one version of a collection, skipping unchanged parts, inside the caller's
 * transaction.
 */
import type { Scalar } from 'archivolt'
import {
  checkId,
  indexTerms,
  type JsonObject,
  type OnWrong,
  readDoc,
  sortKey,
  splitInternal,
  stem,
  storedTexts,
  valuesOf,
} from 'archivolt/index'
import type { Bind, Connection } from './connection.ts'
import { type Layout, type TableNames, textColumns } from './layout.ts'
import { docSql, type FlatForm, flatValues, openDocs, type StoredDoc } from './stored-form.ts'
import { type Listed, openValueLists } from './value-lists.ts'

/** Row ids begin with the time of `newest`, so that row order is order of age, whatever the order of arrival. */
const ROWS_PER_SECOND = 256
const LATEST_ROW_SECOND = 2 ** 40
const TERMS_KNOWN = 50_000
const BASES_KNOWN = 1000

const ignore: OnWrong = () => undefined

/** Row id, document id, and the values of the layout's columns. */
type Row = [number, string, ...unknown[]]

interface Extracted extends StoredDoc {
  flat: Bind[] | undefined
  /** In the order of the layout's columns. */
  columns: Array<string | number | null>
  /** field, value */
  values: Array<[string, string | number]>
  /** The values of each searched field. */
  searched: Scalar[][]
  newest: number
}

export type Writer = ReturnType<typeof openWriter>

interface Writing {
  /** How these tables store documents: those of an earlier layout may have another one. */
  form: FlatForm | undefined
  /** Called with each new word. */
  onTerm(term: string): void
  /** Called when the narrow table changes. */
  onColumns(): void
}

export function openWriter(
  connection: Connection,
  layout: Layout,
  names: TableNames,
  { form, onTerm, onColumns }: Writing,
) {
  const { sql, pluck } = connection
  const docs = openDocs(connection, form, names)
  const reading = docSql(form, names)
  const lists = openValueLists(connection, layout, names)
  const columnList = layout.columns.map((column) => `, "${column.name}"`).join('')
  const textList = textColumns(layout)
    .map((name) => `"${name}"`)
    .join(', ')
  const insertText = `INSERT OR REPLACE INTO "${names.text}"(rowid, ${textList}) VALUES (?${', ?'.repeat(layout.searched.length + layout.stemmed.length)})`
  const hasLists = layout.valueLists.length > 0
  /** The stem of each word that is in the table of words; '' if that is the word itself. */
  const knownTerms = new Map<string, string>()
  const nextRow = new Map<number, number>()

  function flatOf(id: string, doc: JsonObject): Bind[] | undefined {
    if (!form) return undefined
    const { reply, internal } = splitInternal(layout.plans, doc)
    return flatValues(form, id, reply, internal)
  }

  function searchedOf(doc: JsonObject, onWrong: OnWrong | undefined): Scalar[][] {
    return layout.searched.map((plan) => valuesOf(plan, doc, onWrong))
  }

  /** One text per column of the full-text table. Adds new words to the table of words. */
  function wordsOf(values: readonly Scalar[][]): string[] {
    const found = values.map((each) => each.flatMap((value) => indexTerms(String(value))))
    const stems = found.map((terms) => new Set(terms.map(changedStem)))
    for (const each of stems) each.delete('')
    return [...found, ...layout.stemmed.map((plan) => [...stems[layout.searched.indexOf(plan)]!])].map((terms) =>
      terms.join(' '),
    )
  }

  /** Cached lookup of both, because a document has hundreds of words. */
  function changedStem(term: string): string {
    const known = knownTerms.get(term)
    if (known !== undefined) return known
    if (knownTerms.size >= TERMS_KNOWN) knownTerms.clear()
    const root = stem(term)
    const changed = root === term ? '' : root
    knownTerms.set(term, changed)
    for (const word of term.split(' ')) {
      if (word === '') continue
      const { changes } = sql(`INSERT OR IGNORE INTO "${names.terms}"(term) VALUES (?)`).run(word)
      if (changes > 0) onTerm(word)
    }
    return changed
  }

  function extract(id: string, doc: JsonObject, onWrong: OnWrong | undefined): Extracted {
    const { text, internal = null } = storedTexts(layout.plans, layout.data.lastKey, doc, onWrong)
    for (const plan of layout.plans)
      if (!plan.isFilter && !plan.isSort && plan.weight === 0) valuesOf(plan, doc, onWrong)
    return {
      text,
      internal,
      flat: flatOf(id, doc),
      columns: layout.columns.map(({ plan, isFolded }) => {
        const value = valuesOf(plan, doc, onWrong)[0]
        if (value === undefined) return null
        if (isFolded) return sortKey(String(value))
        return typeof value === 'boolean' ? Number(value) : value
      }),
      values: layout.multi.flatMap((plan) => {
        const distinct = new Set(
          valuesOf(plan, doc, onWrong).map((value) => (typeof value === 'boolean' ? Number(value) : value)),
        )
        return [...distinct].map((value): [string, string | number] => [plan.name, value])
      }),
      searched: searchedOf(doc, onWrong),
      newest: layout.newest ? Number(valuesOf(layout.newest, doc, onWrong)[0] ?? 0) : 0,
    }
  }

  function baseOf(seconds: number): number {
    return Math.max(1, Math.min(Math.max(0, seconds), LATEST_ROW_SECOND) * ROWS_PER_SECOND)
  }

  /** The next free row id of that second, or of the first later second with a free one. */
  function allocate(seconds: number): number {
    if (!layout.newest) return (pluck<number | null>(`SELECT max(rid) FROM "${names.main}"`).get() ?? 0) + 1
    const base = baseOf(seconds)
    let from = nextRow.get(base) ?? base
    let rid = from
    for (;;) {
      const end = from - (from % ROWS_PER_SECOND) + ROWS_PER_SECOND
      const last = pluck<number | null>(`SELECT max(rid) FROM "${names.main}" WHERE rid >= ? AND rid < ?`).get(
        from,
        end,
      )
      rid = last === null || last === undefined ? from : last + 1
      if (rid < end) break
      from = end
    }
    if (nextRow.size >= BASES_KNOWN) nextRow.clear()
    nextRow.set(base, rid + 1)
    return rid
  }

  function writeWords(rid: number, values: readonly Scalar[][]): void {
    sql(insertText).run(rid, ...wordsOf(values))
  }

  function keyed(values: Extracted['values']): Set<string> {
    return new Set(values.map((pair) => JSON.stringify(pair)))
  }

  function presentValues(rid: number): Extracted['values'] {
    return layout.multi.length === 0
      ? []
      : (sql(`SELECT field, value FROM "${names.values}" WHERE rid = ?`).raw().all(rid) as Extracted['values'])
  }

  function writeValues(rid: number, present: Extracted['values'], values: Extracted['values']): void {
    const wanted = keyed(values)
    for (const [field, value] of present) {
      if (!wanted.delete(JSON.stringify([field, value])))
        sql(`DELETE FROM "${names.values}" WHERE field = ? AND value = ? AND rid = ?`).run(field, value, rid)
    }
    for (const [field, value] of values) {
      if (wanted.has(JSON.stringify([field, value])))
        sql(`INSERT INTO "${names.values}"(field, value, rid) VALUES (?, ?, ?)`).run(field, value, rid)
    }
  }

  function listed(rid: number, id: string, row: readonly unknown[], values: Extracted['values']): Listed {
    return {
      rid,
      id,
      sorts: new Map(layout.columns.map(({ name }, at) => [name, row[at] as Bind])),
      values: keyed(values),
    }
  }

  function insert(id: string, next: Extracted): void {
    onColumns()
    const rid = allocate(next.newest)
    sql(`INSERT INTO "${names.main}"(rid, id${columnList}) VALUES (?, ?${', ?'.repeat(layout.columns.length)})`).run(
      rid,
      id,
      ...next.columns,
    )
    docs.put(rid, next, next.flat, true)
    writeValues(rid, [], next.values)
    if (hasLists) lists.change(undefined, listed(rid, id, next.columns, next.values))
    if (layout.searched.length > 0) writeWords(rid, next.searched)
  }

  function update(before: Row, stored: StoredDoc, oldDoc: JsonObject, next: Extracted): void {
    const [rid, id, ...row] = before
    const changed = layout.columns.map((_, at) => at).filter((at) => before[at + 2] !== next.columns[at])
    if (changed.length > 0) {
      onColumns()
      const list = changed.map((at) => `"${layout.columns[at]!.name}" = ?`).join(', ')
      sql(`UPDATE "${names.main}" SET ${list} WHERE rid = ?`).run(...changed.map((at) => next.columns[at]), rid)
    }
    if (stored.text !== next.text || stored.internal !== next.internal) docs.put(rid, next, next.flat)
    const present = presentValues(rid)
    writeValues(rid, present, next.values)
    if (hasLists) lists.change(listed(rid, id, row, present), listed(rid, id, next.columns, next.values))
    // Words are the most expensive part, and changes of numbers or flags do not affect them.
    if (layout.searched.length > 0 && JSON.stringify(searchedOf(oldDoc, ignore)) !== JSON.stringify(next.searched))
      writeWords(rid, next.searched)
  }

  function removeRow([rid, id, ...row]: Row): void {
    onColumns()
    if (hasLists) lists.change(listed(rid, id, row, presentValues(rid)), undefined)
    if (layout.multi.length > 0) sql(`DELETE FROM "${names.values}" WHERE rid = ?`).run(rid)
    if (layout.searched.length > 0) sql(`DELETE FROM "${names.text}" WHERE rowid = ?`).run(rid)
    docs.remove(rid)
    sql(`DELETE FROM "${names.main}" WHERE rid = ?`).run(rid)
  }

  function parse({ text, internal }: StoredDoc): JsonObject | undefined {
    return readDoc(text, internal)
  }

  function stored(rid: number): StoredDoc | undefined {
    return sql<StoredDoc>(
      `SELECT ${reading.text} AS text, ${reading.internal} AS internal FROM "${names.main}" m${reading.join} WHERE m.rid = ?`,
    ).get(rid)
  }

  function rowOf(id: string): number | undefined {
    return pluck<number>(`SELECT rid FROM "${names.main}" WHERE id = ?`).get(id)
  }

  function wholeRow(id: string): Row | undefined {
    return sql(`SELECT rid, id${columnList} FROM "${names.main}" WHERE id = ?`).raw().get(id) as Row | undefined
  }

  /** `doc` is undefined if it is damaged. */
  function readRow(rid: number) {
    const id = pluck<string>(`SELECT id FROM "${names.main}" WHERE rid = ?`).get(rid)
    const found = stored(rid)
    return id === undefined || !found ? undefined : { id, stored: found, doc: parse(found) }
  }

  return {
    readRow,

    /** @throws WrongType, unless `onWrong` is given: then the field gets no value and the document is stored */
    put(id: string, doc: JsonObject, onWrong?: OnWrong): void {
      checkId(id)
      const next = extract(id, doc, onWrong)
      const before = wholeRow(id)
      if (!before) return insert(id, next)
      const old = stored(before[0])
      // The row id encodes the date: with another date the document needs another row.
      const oldDoc = old ? parse(old) : undefined
      if (old && oldDoc && (!layout.newest || Number(valuesOf(layout.newest, oldDoc, ignore)[0] ?? 0) === next.newest))
        return update(before, old, oldDoc, next)
      removeRow(before)
      insert(id, next)
    },

    /** @returns false: no such document */
    remove(id: string): boolean {
      const row = wholeRow(id)
      if (row === undefined) return false
      removeRow(row)
      return true
    },

    /** The whole document. undefined: missing or damaged */
    read(id: string): JsonObject | undefined {
      const rid = rowOf(id)
      const doc = rid === undefined ? undefined : stored(rid)
      return doc && parse(doc)
    },

    /** Stores garbled texts unchanged, so that the document stays known. */
    putGarbled(id: string, stored: StoredDoc): void {
      if (rowOf(id) !== undefined) return
      onColumns()
      const rid = allocate(0)
      sql(`INSERT INTO "${names.main}"(rid, id) VALUES (?, ?)`).run(rid, id)
      docs.put(rid, stored)
    },

    /** Stores a document that is stored as text in columns, if it can be. */
    flatten(rid: number): void {
      const row = readRow(rid)
      const values = row?.doc && flatOf(row.id, row.doc)
      if (row && values) docs.put(rid, row.stored, values)
    },

    /** Removes obsolete rows, in small steps. */
    sweep: () => lists.sweep(),

    /** Call after a rollback: cached knowledge about the tables may be wrong. */
    forget(): void {
      knownTerms.clear()
      nextRow.clear()
      lists.forget()
    },
  }
}
