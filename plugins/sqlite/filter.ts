/**
 * Converts filters, orders and pages to SQL on the narrow table, and decides which queries are cheap enough for the
 * main thread.
 */
import type { Filter, FindQuery, Scalar } from 'archivolt'
import { filterField, orderOf } from 'archivolt/index'
import type { Bind } from './connection.ts'
import { indexName, type Layout, sortColumn, type TableIndex, type TableNames } from './layout.ts'

/** Collects the values of a statement while its text is built. */
export interface Sql {
  text: string
  values: Bind[]
}

const CONDITIONS_IN_A_ROW = 100

const asBind = (value: Scalar): Bind => (typeof value === 'boolean' ? Number(value) : value)

/** Joins conditions as a balanced tree: SQLite limits the depth of an expression, and each further OR adds a level. */
function combined(conditions: readonly string[], operator: 'AND' | 'OR'): string {
  if (conditions.length <= CONDITIONS_IN_A_ROW) return `(${conditions.join(` ${operator} `)})`
  const middle = conditions.length >> 1
  const halves = [conditions.slice(0, middle), conditions.slice(middle)]
  return `(${halves.map((half) => combined(half, operator)).join(` ${operator} `)})`
}

/** A condition on the narrow table, for use with `FROM <main> m`. */
export function filterSql(layout: Layout, names: TableNames, filter: Filter): Sql {
  const values: Bind[] = []
  const condition = (name: string, test: string): string => {
    const plan = filterField(layout, name)
    if (!plan.isMulti) return test.replaceAll('$', `m."${name}"`)
    values.splice(values.length - (test.split('?').length - 1), 0, name)
    return `m.rid IN (SELECT rid FROM "${names.values}" WHERE field = ? AND ${test.replaceAll('$', 'value')})`
  }
  const build = (node: Filter): string => {
    if ('and' in node) return node.and.length === 0 ? '1' : combined(node.and.map(build), 'AND')
    if ('or' in node) return node.or.length === 0 ? '0' : combined(node.or.map(build), 'OR')
    if ('not' in node && 'eq' in node.not && filterField(layout, node.not.eq[0]).isMulti) {
      // One lookup per visited row: the alternative builds a list of all rows with the value for each page.
      values.push(node.not.eq[0], asBind(node.not.eq[1]))
      return `NOT EXISTS (SELECT 1 FROM "${names.values}" WHERE field = ? AND value = ? AND rid = m.rid)`
    }
    // A document without a value equals none: NULL must count as false before the negation.
    if ('not' in node) return `(${build(node.not)}) IS NOT TRUE`
    if ('eq' in node) {
      values.push(asBind(node.eq[1]))
      return condition(node.eq[0], '$ = ?')
    }
    if ('in' in node) {
      values.push(JSON.stringify(node.in[1].map(asBind)))
      return condition(node.in[0], '$ IN (SELECT value FROM json_each(?))')
    }
    if ('exists' in node) return condition(node.exists, '$ IS NOT NULL')
    if ('prefix' in node) {
      values.push(node.prefix[1], `${node.prefix[1]}\u{10ffff}`)
      return condition(node.prefix[0], '$ >= ? AND $ < ?')
    }
    const [name, limits] = node.range
    const tests: string[] = []
    for (const [key, operator] of [
      ['gt', '>'],
      ['gte', '>='],
      ['lt', '<'],
      ['lte', '<='],
    ] as const) {
      const limit = limits[key]
      if (limit === undefined) continue
      values.push(asBind(limit))
      tests.push(`$ ${operator} ?`)
    }
    return condition(name, tests.length > 0 ? `(${tests.join(' AND ')})` : '$ IS NOT NULL')
  }
  const text = build(filter)
  return { text, values }
}

export const whereSql = (layout: Layout, names: TableNames, filter: Filter | undefined): Sql => {
  if (!filter) return { text: '', values: [] }
  const { text, values } = filterSql(layout, names, filter)
  return { text: ` WHERE (${text})`, values }
}

/**
 * Filters a list of ids; yields `m.rid` in the order of `j.key`. Bind the ids as JSON, then the values. The list is
 * forced to be the outer loop: as the inner loop it would be scanned for each row.
 */
export function givenSql(layout: Layout, names: TableNames, filter: Filter | undefined): Sql {
  const where = whereSql(layout, names, filter)
  return {
    text: `FROM json_each(?) j CROSS JOIN "${names.main}" m ON m.id = j.value${where.text}`,
    values: where.values,
  }
}

interface OrderColumn {
  name: string
  order: 'asc' | 'desc'
  isAlways: boolean
}

/** The columns a list is ordered by, without the id, which always comes last. */
export const orderColumns = (layout: Layout, sort: FindQuery['sort']): OrderColumn[] =>
  orderOf(layout, sort).map(({ plan, order }) => ({ name: sortColumn(plan), order, isAlways: plan.isAlways }))

/**
 * Documents without a value come last in both directions. No index has this order for ascending sorts, so all rows are
 * sorted then.
 */
function orderSql(order: readonly OrderColumn[]): string {
  const direction = (column: OrderColumn) =>
    column.order === 'desc' ? 'DESC' : column.isAlways ? 'ASC' : 'ASC NULLS LAST'
  return ` ORDER BY ${[...order.map((column) => `m."${column.name}" ${direction(column)}`), 'm.id ASC'].join(', ')}`
}

/** ` ORDER BY …` of a list. */
export const sortSql = (layout: Layout, sort: FindQuery['sort']): string => orderSql(orderColumns(layout, sort))

export interface PageSql extends Sql {
  /**
   * An index yields exactly these rows in this order: the cost depends only on the page, so it may run on the event
   * loop.
   */
  isLight: boolean
}

/**
 * Rows of a page: `rid, id`. Bind the values, then the size, then the offset.
 * @param isWide  the filter matches most rows: they are visited in order and tested one by one instead of found and
 * sorted
 */
export function pageSql(
  layout: Layout,
  names: TableNames,
  query: Pick<FindQuery, 'filter' | 'sort'>,
  isWide = false,
): PageSql {
  const order = orderColumns(layout, query.sort)
  const where = whereSql(layout, names, query.filter)
  const equal = equalColumns(layout, query.filter)
  const index =
    (equal && orderedIndex(layout, equal, order)) ?? (isWide ? orderedIndex(layout, new Set(), order) : undefined)
  const by = index ? ` INDEXED BY "${indexName(names, index)}"` : ''
  return {
    text: `SELECT m.rid, m.id FROM "${names.main}" m${by}${where.text}${orderSql(order)} LIMIT ? OFFSET ?`,
    values: where.values,
    isLight: index !== undefined || (equal?.size === 0 && order.length === 0),
  }
}

/** The index that begins with the fixed columns and continues in the requested order. */
function orderedIndex(
  layout: Layout,
  equal: ReadonlySet<string>,
  sorted: readonly OrderColumn[],
): TableIndex | undefined {
  // A column with the same value in all rows does not affect the order.
  const order = sorted.filter(({ name }) => !equal.has(name))
  return layout.indexes.find(({ columns, isOrdered }) => {
    const head = columns.slice(0, equal.size)
    const tail = columns.slice(equal.size)
    if (!isOrdered || tail.length !== order.length || !head.every((column) => equal.has(column.name))) return false
    return tail.every((column, at) => {
      const { name, order: wanted, isAlways } = order[at]!
      return column.name === name && column.order === wanted && (wanted === 'desc' || isAlways)
    })
  })
}

/** The columns of a filter of the form `a = x and b = y`; undefined: any other form. */
export function equalColumns(layout: Layout, filter: Filter | undefined): Set<string> | undefined {
  if (!filter) return new Set()
  if ('eq' in filter) return filterField(layout, filter.eq[0]).isMulti ? undefined : new Set([filter.eq[0]])
  if (!('and' in filter)) return undefined
  const found = new Set<string>()
  for (const part of filter.and) {
    const columns = equalColumns(layout, part)
    if (!columns) return undefined
    for (const column of columns) {
      if (found.has(column)) return undefined
      found.add(column)
    }
  }
  return found
}

/** Whether a filter tests single-value fields alone, all of which the narrow table has. */
export function isOfColumns(layout: Layout, filter: Filter | undefined): boolean {
  if (!filter) return true
  if ('and' in filter) return filter.and.every((part) => isOfColumns(layout, part))
  if ('or' in filter) return filter.or.every((part) => isOfColumns(layout, part))
  if ('not' in filter) return isOfColumns(layout, filter.not)
  const [test] = Object.values(filter) as [string | [string, ...unknown[]]]
  return !filterField(layout, typeof test === 'string' ? test : test[0]).isMulti
}

/** Counts matches, up to `cap`: bind the values. */
export function countSql(layout: Layout, names: TableNames, filter: Filter | undefined, cap: number): Sql {
  const where = whereSql(layout, names, filter)
  const all = `FROM "${names.main}" m${where.text}`
  if (cap === Infinity) return { text: `SELECT count(*) ${all}`, values: where.values }
  if (where.text !== '')
    return { text: `SELECT count(*) FROM (SELECT 1 ${all} LIMIT ?)`, values: [...where.values, cap] }
  // With more rows than `cap`, this takes a third of the time.
  return {
    text: `SELECT CASE WHEN EXISTS (SELECT 1 ${all} LIMIT 1 OFFSET ?) THEN ? ELSE (SELECT count(*) ${all}) END`,
    values: [cap - 1, cap],
  }
}
