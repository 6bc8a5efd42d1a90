/**
 * Writes documents into the tables of one version of a collection; what did not change is not written. Inside a
 * transaction of the caller.
 */
import {
  changedStems,
  checkId,
  indexTerms,
  type JsonObject,
  type OnWrong,
  readDoc,
  type Scalar,
  sortKey,
  storedTexts,
  valuesOf,
} from 'archivolt/index'
import type { Bind, Connection } from './connection.ts'
import { type Layout, type TableNames, textColumns } from './layout.ts'
import { type Listed, openValueLists, type ValueLists } from './value-lists.ts'

/** Row ids begin with the time of `newest`, so that row order is the order of age whatever order documents come in. */
const ROWS_PER_SECOND = 256
const LATEST_ROW_SECOND = 2 ** 40
const TERMS_KNOWN = 50_000
const BASES_KNOWN = 1000

export interface Writer {
  /** @throws WrongType unless `onWrong` takes it: then such a field is left without a value and the document kept */
  put(id: string, doc: JsonObject, onWrong?: OnWrong): void
  /** @returns false: no such document */
  remove(id: string): boolean
  /** Keeps texts that are no JSON any more as they are, so that nothing forgets that there is such a document. */
  keepGarbled(id: string, stored: StoredDoc): void
  /** The whole document. undefined: there is none, or it is damaged */
  read(id: string): JsonObject | undefined
  /** `doc` is left out where it is damaged. */
  readRow(rid: number): { id: string; stored: StoredDoc; doc: JsonObject | undefined } | undefined
  /** Takes out what no longer counts, in small steps. */
  sweep(): Generator<void>
  /** To be called when a transaction was undone: what this remembers of the tables may be wrong. */
  forget(): void
}

const ignore: OnWrong = () => undefined

/** Its row id, its id, and the layout's columns. */
type Row = [number, string, ...unknown[]]

interface Extracted {
  text: string
  internal: string | null
  /** In the order of the layout's columns. */
  columns: Array<string | number | null>
  /** field, value */
  values: Array<[string, string | number]>
  /** The values of each searched field. */
  searched: Scalar[][]
  newest: number
}

interface StoredDoc {
  text: string
  internal: string | null
}

class DocumentWriter implements Writer {
  readonly #layout: Layout
  readonly #names: TableNames
  readonly #onTerm: (term: string) => void
  readonly #sql: Connection['sql']
  readonly #pluck: Connection['pluck']
  readonly #knownTerms = new Set<string>()
  readonly #nextRow = new Map<number, number>()
  readonly #lists: ValueLists
  readonly #columnList: string
  readonly #textList: string
  readonly #insertText: string
  readonly #hasLists: boolean

  constructor(connection: Connection, layout: Layout, names: TableNames, onTerm: (term: string) => void) {
    this.#layout = layout
    this.#names = names
    this.#onTerm = onTerm
    const { sql, pluck } = connection
    this.#sql = sql
    this.#pluck = pluck
    this.#lists = openValueLists(connection, layout, names)
    this.#columnList = this.#layout.columns.map((column) => `, "${column.name}"`).join('')
    this.#textList = textColumns(layout)
      .map((name) => `"${name}"`)
      .join(', ')
    this.#insertText = `INSERT OR REPLACE INTO "${names.text}"(rowid, ${this.#textList}) VALUES (?${', ?'.repeat(this.#layout.searched.length + this.#layout.stemmed.length)})`
    this.#hasLists = layout.valueLists.length > 0
  }

  put(id: string, doc: JsonObject, onWrong?: OnWrong): void {
    checkId(id)
    const next = this.#extract(doc, onWrong)
    const before = this.#wholeRow(id)
    if (!before) return this.#insert(id, next)
    const old = this.#stored(before[0])
    // The row id says how old a document is: with another date it is another row.
    const oldDoc = old ? this.#parse(old) : undefined
    if (
      old &&
      oldDoc &&
      (!this.#layout.newest || Number(valuesOf(this.#layout.newest, oldDoc, ignore)[0] ?? 0) === next.newest)
    )
      return this.#update(before, old, oldDoc, next)
    this.#removeRow(before)
    this.#insert(id, next)
  }

  remove(id: string): boolean {
    const row = this.#wholeRow(id)
    if (row === undefined) return false
    this.#removeRow(row)
    return true
  }

  read(id: string): JsonObject | undefined {
    const rid = this.#rowOf(id)
    const doc = rid === undefined ? undefined : this.#stored(rid)
    return doc && this.#parse(doc)
  }

  readRow(rid: number): { id: string; stored: StoredDoc; doc: JsonObject | undefined } | undefined {
    const id = this.#pluck<string>(`SELECT id FROM "${this.#names.main}" WHERE rid = ?`).get(rid)
    const stored = this.#stored(rid)
    return id === undefined || !stored ? undefined : { id, stored, doc: this.#parse(stored) }
  }

  keepGarbled(id: string, stored: StoredDoc): void {
    if (this.#rowOf(id) !== undefined) return
    const rid = this.#allocate(0)
    this.#sql(`INSERT INTO "${this.#names.main}"(rid, id) VALUES (?, ?)`).run(rid, id)
    this.#insertTexts(rid, stored)
  }

  #insertTexts(rid: number, { text, internal }: StoredDoc): void {
    this.#sql(`INSERT INTO "${this.#names.doc}"(rid, text, internal) VALUES (?, ?, ?)`).run(rid, text, internal)
  }

  sweep(): Generator<void> {
    return this.#lists.sweep()
  }

  forget(): void {
    this.#knownTerms.clear()
    this.#nextRow.clear()
    this.#lists.forget()
  }

  #searchedOf(doc: JsonObject, onWrong: OnWrong | undefined): Scalar[][] {
    return this.#layout.searched.map((plan) => valuesOf(plan, doc, onWrong))
  }

  /** One text per column of the full-text table. */
  #wordsOf(values: readonly Scalar[][]): string[] {
    const found = values.map((each) => each.flatMap((value) => indexTerms(String(value))))
    const stems = this.#layout.stemmed.map((plan) => changedStems(found[this.#layout.searched.indexOf(plan)]!))
    return [...found, ...stems].map((terms) => terms.join(' '))
  }

  #extract(doc: JsonObject, onWrong: OnWrong | undefined): Extracted {
    const { text, internal = null } = storedTexts(this.#layout.plans, this.#layout.data.lastKey, doc, onWrong)
    for (const plan of this.#layout.plans)
      if (!plan.isFilter && !plan.isSort && plan.weight === 0) valuesOf(plan, doc, onWrong)
    return {
      text,
      internal,
      columns: this.#layout.columns.map(({ plan, isFolded }) => {
        const value = valuesOf(plan, doc, onWrong)[0]
        if (value === undefined) return null
        if (isFolded) return sortKey(String(value))
        return typeof value === 'boolean' ? Number(value) : value
      }),
      values: this.#layout.multi.flatMap((plan) => {
        const distinct = new Set(
          valuesOf(plan, doc, onWrong).map((value) => (typeof value === 'boolean' ? Number(value) : value)),
        )
        return [...distinct].map((value): [string, string | number] => [plan.name, value])
      }),
      searched: this.#searchedOf(doc, onWrong),
      newest: this.#layout.newest ? Number(valuesOf(this.#layout.newest, doc, onWrong)[0] ?? 0) : 0,
    }
  }

  #baseOf(seconds: number): number {
    return Math.max(1, Math.min(Math.max(0, seconds), LATEST_ROW_SECOND) * ROWS_PER_SECOND)
  }

  /** The next free row of that second, else of the first second after it that has one. */
  #allocate(seconds: number): number {
    if (!this.#layout.newest)
      return (this.#pluck<number | null>(`SELECT max(rid) FROM "${this.#names.main}"`).get() ?? 0) + 1
    const base = this.#baseOf(seconds)
    let from = this.#nextRow.get(base) ?? base
    let rid = from
    for (;;) {
      const end = from - (from % ROWS_PER_SECOND) + ROWS_PER_SECOND
      const last = this.#pluck<number | null>(
        `SELECT max(rid) FROM "${this.#names.main}" WHERE rid >= ? AND rid < ?`,
      ).get(from, end)
      rid = last === null || last === undefined ? from : last + 1
      if (rid < end) break
      from = end
    }
    if (this.#nextRow.size >= BASES_KNOWN) this.#nextRow.clear()
    this.#nextRow.set(base, rid + 1)
    return rid
  }

  #writeWords(rid: number, values: readonly Scalar[][]): void {
    const words = this.#wordsOf(values)
    this.#sql(this.#insertText).run(rid, ...words)
    for (const text of words.slice(0, this.#layout.searched.length)) {
      for (const term of text.split(' ')) {
        if (term === '' || this.#knownTerms.has(term)) continue
        if (this.#knownTerms.size >= TERMS_KNOWN) this.#knownTerms.clear()
        this.#knownTerms.add(term)
        const { changes } = this.#sql(`INSERT OR IGNORE INTO "${this.#names.terms}"(term) VALUES (?)`).run(term)
        if (changes > 0) this.#onTerm(term)
      }
    }
  }

  #keyed(values: Extracted['values']): Set<string> {
    return new Set(values.map((pair) => JSON.stringify(pair)))
  }

  #presentValues(rid: number): Extracted['values'] {
    return this.#layout.multi.length === 0
      ? []
      : (this.#sql(`SELECT field, value FROM "${this.#names.values}" WHERE rid = ?`)
          .raw()
          .all(rid) as Extracted['values'])
  }

  #writeValues(rid: number, present: Extracted['values'], values: Extracted['values']): void {
    const wanted = this.#keyed(values)
    for (const [field, value] of present) {
      if (!wanted.delete(JSON.stringify([field, value])))
        this.#sql(`DELETE FROM "${this.#names.values}" WHERE field = ? AND value = ? AND rid = ?`).run(
          field,
          value,
          rid,
        )
    }
    for (const [field, value] of values) {
      if (wanted.has(JSON.stringify([field, value])))
        this.#sql(`INSERT INTO "${this.#names.values}"(field, value, rid) VALUES (?, ?, ?)`).run(field, value, rid)
    }
  }

  #listed(rid: number, id: string, row: readonly unknown[], values: Extracted['values']): Listed {
    return {
      rid,
      id,
      sorts: new Map(this.#layout.columns.map(({ name }, at) => [name, row[at] as Bind])),
      values: this.#keyed(values),
    }
  }

  #insert(id: string, next: Extracted): void {
    const rid = this.#allocate(next.newest)
    this.#sql(
      `INSERT INTO "${this.#names.main}"(rid, id${this.#columnList}) VALUES (?, ?${', ?'.repeat(this.#layout.columns.length)})`,
    ).run(rid, id, ...next.columns)
    this.#insertTexts(rid, next)
    this.#writeValues(rid, [], next.values)
    if (this.#hasLists) this.#lists.change(undefined, this.#listed(rid, id, next.columns, next.values))
    if (this.#layout.searched.length > 0) this.#writeWords(rid, next.searched)
  }

  #update(before: Row, stored: StoredDoc, oldDoc: JsonObject, next: Extracted): void {
    const [rid, id, ...row] = before
    const changed = this.#layout.columns.map((_, at) => at).filter((at) => before[at + 2] !== next.columns[at])
    if (changed.length > 0) {
      const list = changed.map((at) => `"${this.#layout.columns[at]!.name}" = ?`).join(', ')
      this.#sql(`UPDATE "${this.#names.main}" SET ${list} WHERE rid = ?`).run(
        ...changed.map((at) => next.columns[at]),
        rid,
      )
    }
    if (stored.text !== next.text || stored.internal !== next.internal) {
      this.#sql(`UPDATE "${this.#names.doc}" SET text = ?, internal = ? WHERE rid = ?`).run(
        next.text,
        next.internal,
        rid,
      )
    }
    const present = this.#presentValues(rid)
    this.#writeValues(rid, present, next.values)
    if (this.#hasLists)
      this.#lists.change(this.#listed(rid, id, row, present), this.#listed(rid, id, next.columns, next.values))
    // Words cost more than all else, and a changed number or flag does not touch them.
    if (
      this.#layout.searched.length > 0 &&
      JSON.stringify(this.#searchedOf(oldDoc, ignore)) !== JSON.stringify(next.searched)
    )
      this.#writeWords(rid, next.searched)
  }

  #removeRow([rid, id, ...row]: Row): void {
    if (this.#hasLists) this.#lists.change(this.#listed(rid, id, row, this.#presentValues(rid)), undefined)
    if (this.#layout.multi.length > 0) this.#sql(`DELETE FROM "${this.#names.values}" WHERE rid = ?`).run(rid)
    if (this.#layout.searched.length > 0) this.#sql(`DELETE FROM "${this.#names.text}" WHERE rowid = ?`).run(rid)
    this.#sql(`DELETE FROM "${this.#names.doc}" WHERE rid = ?`).run(rid)
    this.#sql(`DELETE FROM "${this.#names.main}" WHERE rid = ?`).run(rid)
  }

  #parse({ text, internal }: StoredDoc): JsonObject | undefined {
    return readDoc(text, internal)
  }

  #stored(rid: number): StoredDoc | undefined {
    return this.#sql<StoredDoc>(`SELECT text, internal FROM "${this.#names.doc}" WHERE rid = ?`).get(rid)
  }

  #rowOf(id: string): number | undefined {
    return this.#pluck<number>(`SELECT rid FROM "${this.#names.main}" WHERE id = ?`).get(id)
  }

  #wholeRow(id: string): Row | undefined {
    return this.#sql(`SELECT rid, id${this.#columnList} FROM "${this.#names.main}" WHERE id = ?`).raw().get(id) as
      | Row
      | undefined
  }
}

export function openWriter(
  connection: Connection,
  layout: Layout,
  names: TableNames,
  onTerm: (term: string) => void,
): Writer {
  return new DocumentWriter(connection, layout, names, onTerm)
}
