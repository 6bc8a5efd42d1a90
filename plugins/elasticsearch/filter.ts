/** Converts filters and sorts to Elasticsearch queries, in which a value can never become syntax. */
import type { estypes } from '@elastic/elasticsearch'
import { chunksOf, type Filter, type FindQuery, type Scalar } from 'archivolt'
import { type FieldPlan, filterField, isWordy, orderOf } from 'archivolt/index'
import { storedValue } from './encode.ts'
import { type Layout, sortField } from './layout.ts'

export type Query = estypes.QueryDslQueryContainer
export type Sort = estypes.SortCombinations[]

export const EVERYTHING: Query = { match_all: {} }
const NOTHING: Query = { match_none: {} }
/** The maximum number of values in one condition. */
const MOST_VALUES = 60_000

/** The value as the server stores it; undefined: no document can have this value in this field. */
function asked(plan: FieldPlan, value: Scalar): Scalar | undefined {
  if (isWordy(plan)) return storedValue(String(value))
  if (plan.type === 'boolean')
    return typeof value === 'boolean' ? value : value === 0 || value === 1 ? value === 1 : undefined
  const number = typeof value === 'boolean' ? Number(value) : value
  if (typeof number !== 'number' || !Number.isFinite(number)) return undefined
  return plan.type === 'double' || Number.isSafeInteger(number) ? number : undefined
}

/** A bound of a range, limited to values that the server accepts, because it may exceed all values of a field. */
function limit(plan: FieldPlan, value: Scalar): Scalar {
  if (isWordy(plan)) return storedValue(String(value))
  if (plan.type === 'boolean') return Boolean(value)
  const number = Number(value)
  const most = plan.type === 'double' ? Number.MAX_VALUE : Number.MAX_SAFE_INTEGER
  return Math.max(-most, Math.min(most, number))
}

export function filterQuery(layout: Layout, filter: Filter | undefined): Query {
  return filter ? build(filter) : EVERYTHING

  function build(node: Filter): Query {
    if ('and' in node) return node.and.length === 0 ? EVERYTHING : { bool: { filter: node.and.map(build) } }
    if ('or' in node)
      return node.or.length === 0 ? NOTHING : { bool: { should: node.or.map(build), minimum_should_match: 1 } }
    if ('not' in node) return { bool: { must_not: [build(node.not)] } }
    if ('eq' in node) return oneOf(filterField(layout, node.eq[0]), [node.eq[1]])
    if ('in' in node) return oneOf(filterField(layout, node.in[0]), node.in[1])
    if ('exists' in node) return { exists: { field: `value.${filterField(layout, node.exists).name}` } }
    if ('prefix' in node) {
      const plan = filterField(layout, node.prefix[0])
      return isWordy(plan) ? { prefix: { [`value.${plan.name}`]: { value: storedValue(node.prefix[1]) } } } : NOTHING
    }
    const plan = filterField(layout, node.range[0])
    const limits = Object.entries(node.range[1]).flatMap(([key, value]) =>
      value === undefined ? [] : [[key, limit(plan, value)] as const],
    )
    if (limits.length === 0) return { exists: { field: `value.${plan.name}` } }
    return { range: { [`value.${plan.name}`]: Object.fromEntries(limits) } }
  }
}

function oneOf(plan: FieldPlan, values: readonly Scalar[]): Query {
  const wanted = values.map((value) => asked(plan, value)).filter((value) => value !== undefined)
  const field = `value.${plan.name}`
  if (wanted.length === 0) return NOTHING
  if (wanted.length === 1) return { term: { [field]: { value: wanted[0]! } } }
  if (wanted.length <= MOST_VALUES) return { terms: { [field]: wanted } }
  const parts = [...chunksOf(wanted, MOST_VALUES)]
  return { bool: { should: parts.map((part): Query => ({ terms: { [field]: part } })), minimum_should_match: 1 } }
}

export const BY_ID: Sort = [{ id: { order: 'asc' } }]

/** Newest first; documents without a date come last. */
export function newestFirst({ newest }: Layout): Sort {
  return newest ? [{ [sortField(newest)]: { order: 'desc', missing: '_last' } }, ...BY_ID] : BY_ID
}

/** The sort of a list; the id is the last tie-breaker. */
export function sortOf(layout: Layout, sort: FindQuery['sort']): Sort {
  const order = orderOf(layout, sort).map(
    ({ plan, order }): estypes.SortCombinations => ({ [sortField(plan)]: { order, missing: '_last' } }),
  )
  return [...order, ...BY_ID]
}
