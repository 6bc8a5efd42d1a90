/** Converts groups, counts, sums and local days to Elasticsearch aggregations. */
import type { estypes } from '@elastic/elasticsearch'
import type { AggregateQuery, AggregateRow, Scalar } from 'archivolt'
import { timeZone } from 'archivolt'
import {
  checkMetric,
  type FieldPlan,
  filterField,
  inOrderOf,
  isWordy,
  LATEST_SECOND,
  MOST_GROUPS,
} from 'archivolt/index'
import type { ElasticConnection } from './connection.ts'
import { filterQuery, type Query } from './filter.ts'
import type { Layout } from './layout.ts'

type Container = estypes.AggregationsAggregationContainer
interface Sum {
  value: number | null
}
type Sums = { [name: `s${number}`]: Sum }
interface Bucket extends Sums {
  key: unknown
  doc_count: number
}
interface Page {
  buckets: Bucket[]
  after_key?: Record<string, estypes.FieldValue>
}

/** @throws a mistake of the plugin: a field that is not declared for grouping, sums or counts */
export async function aggregate(
  connection: ElasticConnection,
  index: string,
  layout: Layout,
  query: AggregateQuery,
): Promise<AggregateRow[]> {
  const { groupBy = [], sums = [], limit = MOST_GROUPS, histogram, orderBy } = query
  const groups = groupBy.map((name) => filterField(layout, name))
  /** The sums as aggregations. */
  const totals = Object.fromEntries(
    sums.map((name, at): [string, Container] => [
      `s${at}`,
      { sum: { field: `value.${numberField(layout, name).name}` } },
    ]),
  )
  const most = Math.min(limit, MOST_GROUPS)
  checkMetric(layout, query)

  /** All documents as one row. */
  async function whole(): Promise<AggregateRow> {
    const { found, count } = await ask<Sums>(filterQuery(layout, query.filter), totals, true)
    return rowOf([], count, found)
  }

  /** @returns the server's result, in the requested form */
  async function ask<Found>(
    where: Query,
    aggs: Record<string, Container>,
    isCounted = false,
  ): Promise<{ found: Found; count: number }> {
    const { aggregations, hits } = await connection.run((client) =>
      client.search({
        index,
        size: 0,
        query: where,
        track_total_hits: isCounted,
        ...(Object.keys(aggs).length > 0 && { aggs }),
      }),
    )
    // The client's types do not relate a reply to its request.
    return {
      found: aggregations as unknown as Found,
      count: isCounted ? (hits.total as estypes.SearchTotalHits).value : 0,
    }
  }

  function rowOf(key: AggregateRow['key'], count: number, found: Sums | undefined): AggregateRow {
    return {
      key,
      count,
      sums: Object.fromEntries(sums.map((name, at) => [name, found?.[`s${at}`]?.value ?? 0])),
    }
  }

  /**
   * The groups of one field, ordered by a number: the server returns as many as requested. Documents without a value
   * form one more group.
   */
  async function ordered(
    plan: FieldPlan,
    { metric, order }: NonNullable<AggregateQuery['orderBy']>,
  ): Promise<AggregateRow[]> {
    const field = `value.${plan.name}`
    const { found } = await ask<{ groups: { buckets: Bucket[] }; none: Bucket }>(filterQuery(layout, query.filter), {
      groups: {
        terms: {
          field,
          size: most,
          order: [{ [metric === 'count' ? '_count' : `s${sums.indexOf(metric)}`]: order }, { _key: 'asc' }],
        },
        aggs: totals,
      },
      none: { missing: { field }, aggs: totals },
    })
    const { groups, none } = found
    const rows = groups.buckets.map((bucket) => rowOf([keyOf(plan, bucket.key)], bucket.doc_count, bucket))
    if (none.doc_count > 0) {
      const row = rowOf([null], none.doc_count, none)
      const value = (each: AggregateRow) => (metric === 'count' ? each.count : each.sums[metric]!)
      const at = rows.findIndex((each) => (order === 'asc' ? value(each) >= value(row) : value(each) <= value(row)))
      rows.splice(at < 0 ? rows.length : at, 0, row)
    }
    return rows.slice(0, most)
  }

  /** All groups in the order of their keys, page by page; documents without a value first. */
  async function all(): Promise<AggregateRow[]> {
    const { histogram, orderBy } = query
    const sources: Array<Record<string, estypes.AggregationsCompositeAggregationSource>> = groups.map((plan, at) => ({
      [`g${at}`]: { terms: { field: `value.${plan.name}`, missing_bucket: true } },
    }))
    let where = filterQuery(layout, query.filter)
    if (histogram) {
      const plan = numberField(layout, histogram.field)
      if (plan.type !== 'date') throw new Error(`${layout.data.name}: "${plan.name}" is not a date field`)
      const span = {
        field: `value.${plan.name}.date`,
        calendar_interval: histogram.interval,
        time_zone: timeZone(),
        format: 'uuuu-MM-dd',
      }
      sources.push({ day: { date_histogram: span } })
      where = {
        bool: { filter: [where, { range: { [`value.${plan.name}`]: { gte: -LATEST_SECOND, lte: LATEST_SECOND } } }] },
      }
    }
    const rows: AggregateRow[] = []
    let after: Record<string, estypes.FieldValue> | undefined
    do {
      const { found } = await ask<{ groups: Page }>(where, {
        groups: {
          composite: { sources, size: orderBy ? MOST_GROUPS : most, ...(after && { after }) },
          aggs: totals,
        },
      })
      const { buckets, after_key: next } = found.groups
      for (const bucket of buckets) {
        const key = bucket.key as Record<string, unknown>
        const values = groups.map((plan, at) => keyOf(plan, key[`g${at}`]))
        rows.push(rowOf(histogram ? [...values, key['day'] as string] : values, bucket.doc_count, bucket))
      }
      after = next
    } while (after && orderBy)
    return rows
  }

  const [group] = groups
  if (!group && !histogram) return [await whole()]
  if (most < 1) return []
  if (group && groups.length === 1 && !histogram && orderBy) return ordered(group, orderBy)
  const rows = await all()
  if (orderBy) inOrderOf(rows, orderBy)
  return rows.slice(0, most)
}

function keyOf(plan: FieldPlan, key: unknown): Scalar | null {
  if (key === null || key === undefined) return null
  return plan.type === 'boolean' ? key === true || key === 1 || key === 'true' : (key as Scalar)
}

function numberField(layout: Layout, name: string): FieldPlan {
  const plan = layout.byName.get(name)
  if (!plan || plan.isMulti || isWordy(plan) || !layout.values.includes(plan))
    throw new Error(`${layout.data.name}: "${name}" is not a number field that is declared as a filter or sort`)
  return plan
}
