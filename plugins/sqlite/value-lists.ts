/**
 * Lists of the documents that have a value of a field of several values, and of those that have it not, each in order:
 * so that neither is found by reading through the other.
 */
import type { Filter, FindQuery } from 'archivolt'
import { filterField } from 'archivolt/index'
import type { Bind, Connection } from './connection.ts'
import { countSql, orderColumns, type PageSql, pageSql, type Sql } from './filter.ts'
import type { Layout, TableNames, ValueList } from './layout.ts'

/** Each costs a row for every document. Documents of further values are looked at one by one. */
const MOST_VALUES = 32

type Reader = Pick<Connection, 'pluck' | 'kept'>

/** What a filter asks that says nothing but that a document has a value, or has it not. */
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

/** A value that no document has needs no list. */
const isUsed = (reader: Reader, names: TableNames, { field, value }: ValueTest): boolean =>
  isThere(reader, `SELECT 1 FROM "${names.values}" WHERE field = ? AND value = ? LIMIT 1`, [field, value])

const isListed = (reader: Reader, names: TableNames, list: ValueList, value: Bind): boolean =>
  isThere(reader, `SELECT 1 FROM "${names.lists}" WHERE list = ? AND value = ? LIMIT 1`, [list.number, value])

const isThere = ({ pluck, kept }: Reader, text: string, values: Bind[]): boolean =>
  kept(`${text}\n${JSON.stringify(values)}`, () => pluck(text).get(...values) !== undefined)

/** The same query where its filter says nothing, as no document has the value. */
const simpler = (test: ValueTest): { filter: Filter | undefined } => ({ filter: test.has ? { or: [] } : undefined })

/** A page as its list has it, bound like that of `pageSql`. undefined: there is no such list. */
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

/** A count, bound like that of `countSql`. undefined: there is no such list. */
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

/** A document as the tables have it. */
export interface Listed {
  rid: number
  id: string
  /** By column. */
  sorts: ReadonlyMap<string, Bind>
  /** As `[field, value]` in JSON. */
  values: ReadonlySet<string>
}

export interface ValueLists {
  /** Called when a document and its values have been written or removed; undefined: it was not there, it is gone. */
  change(before: Listed | undefined, after: Listed | undefined): void
  /** Takes out lists of values that no document has any more, a few rows at a time; each step may be the last one. */
  sweep(): Generator<void>
  /** To be called when a transaction was undone. */
  forget(): void
}

const ROWS_AT_ONCE = 200

export function openValueLists({ sql, pluck }: Connection, layout: Layout, names: TableNames): ValueLists {
  const { valueLists } = layout
  /** Values that have a list, as the file says. */
  const known = new Map<ValueList, Set<Bind>>()

  function valuesOf(list: ValueList): Set<Bind> {
    const found = known.get(list) ?? new Set([...allValues(list)].filter((value) => isInUse(list, value)))
    known.set(list, found)
    return found
  }

  const isInUse = ({ plan }: ValueList, value: Bind): boolean =>
    pluck(`SELECT 1 FROM "${names.values}" WHERE field = ? AND value = ? LIMIT 1`).get(plan.name, value) !== undefined

  /** One step for each value, not for each row. */
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

  /** From the tables as they are now: once in the life of a value, and no list where there are too many. */
  function begin(list: ValueList, value: Bind): void {
    // What an unfinished sweep has left.
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
        const values = valuesOf(list)
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
          // From here on a document with the value begins its list anew.
          valuesOf(list).delete(value)
          const take = sql(`DELETE FROM "${names.lists}" WHERE list = ? AND value = ? LIMIT ${ROWS_AT_ONCE}`)
          while (!valuesOf(list).has(value) && take.run(list.number, value).changes > 0) yield
        }
      }
    },

    forget: () => known.clear(),
  }
}
