/**
 * Ordered lists of the documents with, and without, a value of a multi-value field, so that neither query has to scan
 * the other documents.
 */
import type { Filter, FindQuery } from 'archivolt'
import { filterField } from 'archivolt/index'
import type { Bind, Connection } from './connection.ts'
import { countSql, orderColumns, type PageSql, pageSql, type Sql } from './filter.ts'
import type { Layout, TableNames, ValueList } from './layout.ts'

/** Each list has a row for every document. For further values, documents are tested one by one. */
const MOST_VALUES = 32

type Reader = Pick<Connection, 'pluck' | 'cached'>

/** A filter that only tests whether a document has a value. */
interface ValueTest {
  field: string
  value: Bind
  has: boolean
}

function valueTest(layout: Layout, filter: Filter | undefined): ValueTest | undefined {
  if (!filter) return undefined
  if ('and' in filter) return filter.and.length === 1 ? valueTest(layout, filter.and[0]) : undefined
  if ('not' in filter) {
    const test = valueTest(layout, filter.not)
    return test && { ...test, has: !test.has }
  }
  if (!('eq' in filter)) return undefined
  const [field, value] = filter.eq
  if (!filterField(layout, field).isMulti) return undefined
  return { field, value: typeof value === 'boolean' ? Number(value) : value, has: true }
}

/** Whether any document has the value; otherwise it needs no list. */
const isUsed = (reader: Reader, names: TableNames, { field, value }: ValueTest): boolean =>
  isThere(reader, `SELECT 1 FROM "${names.values}" WHERE field = ? AND value = ? LIMIT 1`, [field, value])

const isListed = (reader: Reader, names: TableNames, list: ValueList, value: Bind): boolean =>
  isThere(reader, `SELECT 1 FROM "${names.lists}" WHERE list = ? AND value = ? LIMIT 1`, [list.number, value])

const isThere = ({ pluck, cached }: Reader, text: string, values: Bind[]): boolean =>
  cached(`${text}\n${JSON.stringify(values)}`, () => pluck(text).get(...values) !== undefined)

/** The equivalent filter if no document has the value. */
const simpler = (test: ValueTest): { filter: Filter | undefined } => ({ filter: test.has ? { or: [] } : undefined })

/** A page from its list, with the parameters of `pageSql`. undefined: no such list. */
export function listedPage(
  reader: Reader,
  layout: Layout,
  names: TableNames,
  query: Pick<FindQuery, 'filter' | 'sort'>,
): PageSql | undefined {
  const test = valueTest(layout, query.filter)
  if (!test) return undefined
  if (!isUsed(reader, names, test)) return pageSql(layout, names, { ...query, ...simpler(test) })
  const [by, ...others] = orderColumns(layout, query.sort)
  const list = layout.valueLists.find(({ plan, sort }) => plan.name === test.field && sort === by?.name)
  if (!list || by?.order !== 'desc' || others.length > 0 || !isListed(reader, names, list, test.value)) return undefined
  return {
    text: `SELECT l.rid, l.id FROM "${names.lists}" l WHERE l.list = ? AND l.value = ? AND l.has = ? ORDER BY l.sort DESC, l.id LIMIT ? OFFSET ?`,
    values: [list.number, test.value, Number(test.has)],
    isLight: true,
  }
}

/** A count, with the parameters of `countSql`. undefined: no such list. */
export function listedCount(
  reader: Reader,
  layout: Layout,
  names: TableNames,
  filter: Filter | undefined,
  cap: number,
): Sql | undefined {
  const test = valueTest(layout, filter)
  if (!test) return undefined
  if (!isUsed(reader, names, test)) return countSql(layout, names, simpler(test).filter, cap)
  const list = layout.valueLists.find(({ plan }) => plan.name === test.field)
  if (!list || !isListed(reader, names, list, test.value)) return undefined
  return {
    text: `SELECT count(*) FROM (SELECT 1 FROM "${names.lists}" WHERE list = ? AND value = ? AND has = ? LIMIT ?)`,
    values: [list.number, test.value, Number(test.has), cap === Infinity ? -1 : cap],
  }
}

/** A document's data in the tables. */
export interface Listed {
  rid: number
  id: string
  /** The sort values by column. */
  sorts: ReadonlyMap<string, Bind>
  /** `[field, value]`, as JSON. */
  values: ReadonlySet<string>
}

export interface ValueLists {
  /** Call after writing or removing a document and its values; undefined: it did not exist, or it was removed. */
  change(before: Listed | undefined, after: Listed | undefined): void
  /** Removes lists of values that no document has any more, a few rows at a time; may stop after any step. */
  sweep(): Generator<void>
  /** Call after a rollback. */
  forget(): void
}

const ROWS_AT_ONCE = 200

export function openValueLists({ sql, pluck }: Connection, layout: Layout, names: TableNames): ValueLists {
  const { valueLists } = layout
  /** The values that have a list in the file. */
  const known = new Map<ValueList, Set<Bind>>()

  /**
   * @param changed  the row that has just been written: a value that it alone has may be new, and its list a remainder
   *        of an interrupted sweep
   */
  function valuesOf(list: ValueList, changed?: number): Set<Bind> {
    const found = known.get(list) ?? new Set([...allValues(list)].filter((value) => isInUse(list, value, changed)))
    known.set(list, found)
    return found
  }

  const isInUse = ({ plan }: ValueList, value: Bind, except = -1): boolean =>
    pluck(`SELECT 1 FROM "${names.values}" WHERE field = ? AND value = ? AND rid <> ? LIMIT 1`).get(
      plan.name,
      value,
      except,
    ) !== undefined

  /** Takes one step per value, not per row. */
  function* allValues({ number }: ValueList): Generator<Bind> {
    const next = pluck<Bind>(`SELECT value FROM "${names.lists}" WHERE list = ? AND value > ? ORDER BY value LIMIT 1`)
    const first = pluck<Bind>(`SELECT value FROM "${names.lists}" WHERE list = ? ORDER BY value LIMIT 1`).get(number)
    for (let value = first; value !== undefined; value = next.get(number, value)) yield value
  }

  const placeOf = (list: ValueList, value: Bind, one: Listed | undefined) => {
    const sort = one?.sorts.get(list.sort)
    if (!one || sort === undefined || sort === null) return undefined
    return { has: Number(one.values.has(JSON.stringify([list.plan.name, value]))), sort, ...one }
  }

  function move(list: ValueList, value: Bind, before: Listed | undefined, after: Listed | undefined): void {
    const [from, to] = [placeOf(list, value, before), placeOf(list, value, after)]
    if (from && to && from.has === to.has && from.sort === to.sort && from.rid === to.rid) return
    if (from)
      sql(`DELETE FROM "${names.lists}" WHERE list = ? AND value = ? AND has = ? AND sort = ? AND id = ?`).run(
        list.number,
        value,
        from.has,
        from.sort,
        from.id,
      )
    if (to)
      sql(`INSERT INTO "${names.lists}"(list, value, has, sort, id, rid) VALUES (?, ?, ?, ?, ?, ?)`).run(
        list.number,
        value,
        to.has,
        to.sort,
        to.id,
        to.rid,
      )
  }

  /** Creates the list of a value from the current tables, unless there are too many lists. */
  function begin(list: ValueList, value: Bind): void {
    // Rows left by an unfinished sweep.
    sql(`DELETE FROM "${names.lists}" WHERE list = ? AND value = ?`).run(list.number, value)
    if (valuesOf(list).size >= MOST_VALUES) return
    sql(
      `INSERT INTO "${names.lists}"(list, value, has, sort, id, rid)
       SELECT ?, ?, EXISTS (SELECT 1 FROM "${names.values}" v WHERE v.field = ? AND v.value = ? AND v.rid = m.rid), m."${list.sort}", m.id, m.rid
       FROM "${names.main}" m WHERE m."${list.sort}" IS NOT NULL ORDER BY 3, m."${list.sort}" DESC, m.id`,
    ).run(list.number, value, list.plan.name, value)
    valuesOf(list).add(value)
  }

  return {
    change(before, after) {
      for (const list of valueLists) {
        const values = valuesOf(list, after?.rid)
        for (const value of values) move(list, value, before, after)
        for (const pair of after?.values ?? []) {
          const [field, value] = JSON.parse(pair) as [string, Bind]
          if (field === list.plan.name && !values.has(value)) begin(list, value)
        }
      }
    },

    *sweep() {
      for (const list of valueLists) {
        for (const value of [...allValues(list)]) {
          if (isInUse(list, value)) continue
          // From now on, the next document with the value creates its list again.
          valuesOf(list).delete(value)
          const take = sql(`DELETE FROM "${names.lists}" WHERE list = ? AND value = ? LIMIT ${ROWS_AT_ONCE}`)
          while (!valuesOf(list).has(value) && take.run(list.number, value).changes > 0) yield
        }
      }
    },

    forget: () => known.clear(),
  }
}
