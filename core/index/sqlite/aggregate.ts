/** Groups, counts, sums and local days as one statement on the narrow table. */
import type { Scalar } from '../mapping.ts'
import type { AggregateQuery, AggregateRow } from '../port.ts'
import type { Connection } from './connection.ts'
import { whereSql, type Bind } from './filter.ts'
import type { Layout, TableNames } from './layout.ts'

const MOST_GROUPS = 10_000

/** SQLite's local time is the process's (`TZ`), with its changes of the clock. */
const SPANS = {
  day: `date(#, 'unixepoch', 'localtime')`,
  week: `date(#, 'unixepoch', 'localtime', 'weekday 0', '-6 days')`,
  month: `date(#, 'unixepoch', 'localtime', 'start of month')`,
}

export function aggregate(connection: Connection, layout: Layout, names: TableNames, query: AggregateQuery): AggregateRow[] {
  const { groupBy = [], histogram, sums = [], orderBy, limit = MOST_GROUPS } = query
  const joins: string[] = []
  const joined: Bind[] = []
  const keys = groupBy.map((name, at) => {
    const plan = layout.byName.get(name)
    if (!plan?.isFilter) throw new Error(`${layout.data.name}: "${name}" is not declared as a filter`)
    if (!plan.isMulti) return `m."${name}"`
    joins.push(` LEFT JOIN "${names.values}" k${at} ON k${at}.field = ? AND k${at}.rid = m.rid`)
    joined.push(name)
    return `k${at}.value`
  })
  const spanned = histogram && numberColumn(layout, histogram.field)
  if (histogram && spanned) keys.push(SPANS[histogram.interval].replace('#', spanned))
  const totals = sums.map((name) => `coalesce(sum(${numberColumn(layout, name)}), 0)`)
  const where = whereSql(layout, names, query.filter)
  // What has no time belongs to no day.
  if (spanned) where.text += `${where.text === '' ? ' WHERE' : ' AND'} ${spanned} IS NOT NULL`
  const aliases = [...keys.map((key, at) => `${key} AS g${at}`), 'count(*) AS n', ...totals.map((total, at) => `${total} AS s${at}`)]
  const isGrouped = keys.length > 0
  const text =
    `SELECT ${aliases.join(', ')} FROM "${names.main}" m${joins.join('')}${where.text}` +
    (isGrouped ? ` GROUP BY ${keys.map((_, at) => `g${at}`).join(', ')} ORDER BY ${order()} LIMIT ?` : '')
  const rows = connection.sql<Record<string, string | number | null>>(text)
    .all(...joined, ...where.values, ...(isGrouped ? [Math.min(limit, MOST_GROUPS)] : []))
  return rows.map((row) => ({
    key: keys.map((_, at) => asKey(row[`g${at}`] ?? null, layout.byName.get(groupBy[at] ?? '')?.type === 'boolean')),
    count: Number(row.n),
    sums: Object.fromEntries(sums.map((name, at) => [name, Number(row[`s${at}`])])),
  }))

  function order(): string {
    const byKey = keys.map((_, at) => `g${at}`)
    if (!orderBy) return byKey.join(', ')
    const at = sums.indexOf(orderBy.metric)
    if (orderBy.metric !== 'count' && at < 0) throw new Error(`${layout.data.name}: order by "${orderBy.metric}" needs it among the sums`)
    return [`${orderBy.metric === 'count' ? 'n' : `s${at}`} ${orderBy.order === 'asc' ? 'ASC' : 'DESC'}`, ...byKey].join(', ')
  }
}

function numberColumn(layout: Layout, name: string): string {
  const column = layout.columns.find((candidate) => candidate.name === name)
  if (!column || column.sql === 'TEXT') throw new Error(`${layout.data.name}: "${name}" is no number that is filtered or sorted`)
  return `m."${name}"`
}

function asKey(value: string | number | null, isBoolean: boolean): Scalar | null {
  return isBoolean && value !== null ? value === 1 : value
}
