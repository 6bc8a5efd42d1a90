/** Aggregations: groups, counts, sums and local days in one statement on the narrow table. */
import type { AggregateQuery, AggregateRow, Scalar } from 'archivolt'
import {
  checkMetric,
  filterField,
  inOrderOf,
  LATEST_SECOND,
  MOST_GROUPS,
  spanOf,
  type ZoneChange,
} from 'archivolt/index'
import type { Bind, Connection } from './connection.ts'
import { whereSql } from './filter.ts'
import type { Layout, TableNames } from './layout.ts'

/** Maximum number of days that are summed into weeks and months. */
const MOST_DAYS = 100_000
/** Offset that keeps times before 1970 positive, so that the division rounds down. */
const ERA_DAYS = 20_000_000

/** @param zone  changes of the UTC offset; needed for a histogram */
export function aggregate(
  connection: Connection,
  layout: Layout,
  names: TableNames,
  query: AggregateQuery,
  zone: readonly ZoneChange[],
): AggregateRow[] {
  const { groupBy = [], histogram, sums = [], orderBy, limit = MOST_GROUPS } = query
  checkMetric(layout, query)
  const most = Math.min(limit, MOST_GROUPS)
  const joins: string[] = []
  const joined: Bind[] = []
  const keys = groupBy.map((name, at) => {
    if (!filterField(layout, name).isMulti) return `m."${name}"`
    joins.push(` LEFT JOIN "${names.values}" k${at} ON k${at}.field = ? AND k${at}.rid = m.rid`)
    joined.push(name)
    return `k${at}.value`
  })
  const where = whereSql(layout, names, query.filter)
  if (histogram) {
    const column = numberColumn(layout, histogram.field)
    keys.push(`${localDay(column, changesWithin(column, zone))}`)
    // Documents without a time belong to no day. The unary plus keeps the planner from using these wide limits for an
    // index search.
    where.text += `${where.text === '' ? ' WHERE' : ' AND'} +${column} BETWEEN -${LATEST_SECOND} AND ${LATEST_SECOND}`
  }
  const totals = sums.map((name) => `coalesce(sum(${numberColumn(layout, name)}), 0)`)
  const aliases = [
    ...keys.map((key, at) => `${key} AS g${at}`),
    'count(*) AS n',
    ...totals.map((total, at) => `${total} AS s${at}`),
  ]
  const isGrouped = keys.length > 0
  const text =
    `SELECT ${aliases.join(', ')} FROM "${names.main}" m${joins.join('')}${where.text}` +
    (isGrouped
      ? ` GROUP BY ${keys.map((_, at) => `g${at}`).join(', ')} ORDER BY ${histogram ? byKey() : order()} LIMIT ?`
      : '')
  const found = connection
    .sql<Record<string, string | number | null>>(text)
    .all(...joined, ...where.values, ...(isGrouped ? [histogram ? MOST_DAYS : most] : []))
  const rows = found.map(
    (row): AggregateRow => ({
      key: keys.map((_, at) => asKey(row[`g${at}`] ?? null, layout.byName.get(groupBy[at] ?? '')?.type === 'boolean')),
      count: Number(row['n']),
      sums: Object.fromEntries(sums.map((name, at) => [name, Number(row[`s${at}`])])),
    }),
  )
  return histogram ? inSpans(rows, histogram.interval, orderBy).slice(0, most) : rows

  function byKey(): string {
    return keys.map((_, at) => `g${at}`).join(', ')
  }

  function order(): string {
    if (!orderBy) return byKey()
    return `${orderBy.metric === 'count' ? 'n' : `s${sums.indexOf(orderBy.metric)}`} ${orderBy.order === 'asc' ? 'ASC' : 'DESC'}, ${byKey()}`
  }

  /** The offset changes between the first and the last stored time, so that each row is compared with only a few. */
  function changesWithin(column: string, changes: readonly ZoneChange[]): ZoneChange[] {
    const end = (way: 'min' | 'max') =>
      connection.pluck<number | null>(`SELECT ${way}(${column}) FROM "${names.main}" m`).get() ?? 0
    const [first, last] = [end('min'), end('max')]
    return changes.filter(([from], at) => from <= last && (changes[at + 1]?.[0] ?? Infinity) > first)
  }
}

/** The local day since 1970 of a column of epoch seconds; SQLite's own local time costs ten times as much per row. */
function localDay(column: string, changes: readonly ZoneChange[]): string {
  const offset = (some: readonly ZoneChange[]): string => {
    if (some.length <= 1) return String(some[0]?.[1] ?? 0)
    const middle = some.length >> 1
    return `CASE WHEN ${column} < ${some[middle]![0]} THEN ${offset(some.slice(0, middle))} ELSE ${offset(some.slice(middle))} END`
  }
  return `(${column} + ${ERA_DAYS * 86_400} + ${offset(changes)}) / 86400 - ${ERA_DAYS}`
}

/**
 * Converts the day numbers in keys to dates, and sums them into longer spans. Oldest first unless ordered otherwise.
 */
function inSpans(
  days: readonly AggregateRow[],
  interval: 'day' | 'week' | 'month',
  orderBy: AggregateQuery['orderBy'],
): AggregateRow[] {
  const spans = new Map<string, AggregateRow>()
  for (const { key, count, sums } of days) {
    const full = [...key.slice(0, -1), spanOf(Number(key.at(-1)), interval)]
    const name = JSON.stringify(full)
    const span = spans.get(name)
    if (!span) {
      spans.set(name, { key: full, count, sums: { ...sums } })
      continue
    }
    span.count += count
    for (const [field, sum] of Object.entries(sums)) span.sums[field] = (span.sums[field] ?? 0) + sum
  }
  const found = [...spans.values()]
  return orderBy ? inOrderOf(found, orderBy) : found
}

function numberColumn(layout: Layout, name: string): string {
  const column = layout.columns.find((candidate) => candidate.name === name)
  if (!column || column.sql === 'TEXT')
    throw new Error(`${layout.data.name}: "${name}" is not a number field that is declared as a filter or sort`)
  return `m."${name}"`
}

function asKey(value: string | number | null, isBoolean: boolean): Scalar | null {
  return isBoolean && value !== null ? value === 1 : value
}
