/** Groups, counts, sums and local days. */
import type { AggregateQuery, AggregateRow, Scalar } from 'archivolt'
import { checkMetric, filterField, type IndexPlan, inOrderOf, MOST_GROUPS, spanOf, valuesOf, zoneChanges } from 'archivolt/index'
import type { Entry } from './memory.ts'

type Key = AggregateRow['key']

export function aggregate(plan: IndexPlan, entries: readonly Entry[], query: AggregateQuery): AggregateRow[] {
  const { groupBy = [], histogram, sums = [], orderBy, limit = MOST_GROUPS } = query
  checkMetric(plan, query)
  const parts: Array<(entry: Entry) => Key> = groupBy.map((name) => (entry) => {
    const values = valuesOf(filterField(plan, name), entry.doc)
    return values.length > 0 ? values : [null]
  })
  if (histogram)
    parts.push(({ doc }) =>
      valuesOf(plan.byName.get(histogram.field)!, doc).map((time) => spanOf(localDay(Number(time)), histogram.interval)),
    )
  const rows = new Map<string, AggregateRow>()
  const rowOf = (key: Key): AggregateRow => {
    const name = JSON.stringify(key)
    const row = rows.get(name) ?? { key, count: 0, sums: Object.fromEntries(sums.map((sum) => [sum, 0])) }
    rows.set(name, row)
    return row
  }
  if (parts.length === 0) rowOf([])
  for (const entry of entries) {
    for (const key of parts.reduce<Key[]>(
      (keys, part) => keys.flatMap((key) => part(entry).map((value) => [...key, value])),
      [[]],
    )) {
      const row = rowOf(key)
      row.count++
      for (const name of sums) row.sums[name]! += Number(valuesOf(plan.byName.get(name)!, entry.doc)[0] ?? 0)
    }
  }
  const found = [...rows.values()].sort((a, b) => compare(a.key, b.key))
  return (orderBy ? inOrderOf(found, orderBy) : found).slice(0, limit)
}

/** Sorts absent values first. */
function compare(a: readonly (Scalar | null)[], b: readonly (Scalar | null)[]): number {
  for (const [at, one] of a.entries()) {
    const other = b[at]!
    if (one === other) continue
    return one === null || (other !== null && one < other) ? -1 : 1
  }
  return 0
}

function localDay(seconds: number): number {
  const offset = zoneChanges().findLast(([from]) => from <= seconds)?.[1] ?? zoneChanges()[0]![1]
  return Math.floor((seconds + offset) / 86_400)
}
