/** Prepares a definition for adapters: classifies its fields by their use, and checks queries. */

import type { IndexDefinition } from '../../core/index/mapping.ts'
import {
  type AggregateQuery,
  type AggregateRow,
  type Collection,
  type FindQuery,
  type IndexAdapter,
  MAX_WINDOW,
} from '../../core/index/port.ts'
import { type DefinitionData, type FieldPlan, fieldPlans, type JsonObject, valuesOf } from './document.ts'
import type { Shape } from './migrate.ts'
import { fold, STOP_WORDS, tokens } from './text.ts'

const LONGEST_SORT_KEY = 200
/** Weight of a stem relative to the word itself. */
export const STEM_WEIGHT = 0.8
/** The score of hits that are not ranked. */
export const LEAST_SCORE = 0.01
/** Default limit of groups in an aggregation. */
export const MOST_GROUPS = 10_000

const MOST_NEAR_TERMS = 50
/** Limit of near words for all words of a query together: each near word costs a lookup. */
const MOST_NEAR_TERMS_IN_ALL = 200
const SIMILAR_WORDS = 8
const SIMILAR_WORDS_COUNTED = 48

export interface IndexPlan {
  data: DefinitionData
  plans: FieldPlan[]
  byName: ReadonlyMap<string, FieldPlan>
  searched: FieldPlan[]
  stemmed: FieldPlan[]
  newest: FieldPlan | undefined
}

/** @param reserved  names that the adapter uses itself. @throws Error  the definition is invalid, and why */
export function planIndex(data: DefinitionData, reserved: readonly string[] = []): IndexPlan {
  if (!/^[a-z][a-z0-9_]{0,63}$/.test(data.name) || /_v\d+(_|$)/.test(data.name))
    throw new Error(`An index cannot be named "${data.name}"`)
  const plans = fieldPlans(data.fields, data.always)
  for (const { name, isMulti, isSort } of plans) {
    if (!/^[a-z][a-z0-9_]{0,63}$/i.test(name) || reserved.includes(name))
      throw new Error(`${data.name}: a field cannot be named "${name}"`)
    if (isMulti && isSort) throw new Error(`${data.name}.${name}: a field of several values cannot be sorted by`)
  }
  const byName = new Map(plans.map((plan) => [plan.name, plan]))
  const newest = data.newest === undefined ? undefined : byName.get(data.newest)
  if (data.newest !== undefined && newest?.type !== 'date' && newest?.type !== 'long')
    throw new Error(`${data.name}: newest must name a date or long field`)
  const searched = plans.filter((plan) => plan.weight > 0)
  return { data, plans, byName, searched, stemmed: searched.filter((plan) => plan.isStemmed), newest }
}

/** The part of a shape common to all adapters. @param layout  version number of the adapter's layout */
export const restOfShape = ({ data, searched, plans }: IndexPlan, layout: number): Shape['rest'] => ({
  layout,
  form: data.form,
  newest: data.newest ?? null,
  searched: searched.map((plan) => `${plan.name} ${plan.path.join('.')}${plan.isStemmed ? ' stemmed' : ''}`).sort(),
  internal: plans
    .filter((plan) => plan.isInternal)
    .map((plan) => plan.path.join('.'))
    .sort(),
})

/** Whether the values are texts, which sort by their folded form. */
export const isWordy = (plan: FieldPlan): boolean => plan.type === 'keyword' || plan.type === 'text'

/** The sort key of a text. */
export const sortKey = (text: string): string => fold(text.slice(0, LONGEST_SORT_KEY))

/** @throws Error  the field cannot be used in filters */
export function filterField({ data, byName }: IndexPlan, name: string): FieldPlan {
  const plan = byName.get(name)
  if (!plan?.isFilter) throw new Error(`${data.name}: "${name}" is not declared as a filter`)
  return plan
}

export interface Order {
  plan: FieldPlan
  order: 'asc' | 'desc'
}

/**
 * The order of a list; documents without a value come last in both directions, and the last tie-breaker is the id,
 * ascending. @throws Error  the field cannot be sorted by
 */
export function orderOf({ data, byName, newest }: IndexPlan, sort: FindQuery['sort']): Order[] {
  if (!sort || sort.length === 0) return newest?.isSort ? [{ plan: newest, order: 'desc' }] : []
  return sort.map(({ by, order }) => {
    const plan = byName.get(by)
    if (!plan?.isSort) throw new Error(`${data.name}: "${by}" is not declared as a sort`)
    return { plan, order }
  })
}

/** The fields that a text query searches, with their weights. @throws Error  a field is not searchable */
export function searchScope(
  { data, searched }: IndexPlan,
  fields: Partial<Record<string, number>> | undefined,
): Array<{ plan: FieldPlan; weight: number }> {
  for (const name of Object.keys(fields ?? {})) {
    if (!searched.some((plan) => plan.name === name))
      throw new Error(`${data.name}: "${name}" is not declared as searched`)
  }
  return searched
    .map((plan) => ({ plan, weight: fields ? (fields[plan.name] ?? 0) : plan.weight }))
    .filter(({ weight }) => weight > 0)
}

/** Sorts groups by one of their numbers. */
export function inOrderOf(
  rows: AggregateRow[],
  { metric, order }: NonNullable<AggregateQuery['orderBy']>,
): AggregateRow[] {
  const value = (row: AggregateRow) => (metric === 'count' ? row.count : (row.sums[metric] ?? 0))
  return rows.sort((a, b) => (order === 'asc' ? value(a) - value(b) : value(b) - value(a)))
}

/** @throws Error  the groups are ordered by a number that is not requested */
export function checkMetric({ data }: IndexPlan, { sums = [], orderBy }: AggregateQuery): void {
  if (orderBy && orderBy.metric !== 'count' && !sums.includes(orderBy.metric))
    throw new Error(`${data.name}: order by "${orderBy.metric}" needs it among the sums`)
}

/** How many near words are searched for each word of a query. */
export const mostNearTerms = (words: number): number =>
  Math.min(MOST_NEAR_TERMS, Math.ceil(MOST_NEAR_TERMS_IN_ALL / words))

/** The weights that `similar` searches with: of the given fields, or of all. */
export const similarScope = ({ searched }: IndexPlan, fields: readonly string[] | undefined): Record<string, number> =>
  Object.fromEntries(
    searched.filter(({ name }) => fields?.includes(name) ?? true).map(({ name, weight }) => [name, weight]),
  )

/** The words of a document that may characterize it. */
export function tellingWords({ searched }: IndexPlan, doc: JsonObject, scope: Record<string, number>): string[] {
  const plans = searched.filter(({ name }) => Object.hasOwn(scope, name))
  const own = new Set(plans.flatMap((plan) => valuesOf(plan, doc).flatMap((value) => tokens(String(value)))))
  return [...own].filter((word) => word.length > 1 && !STOP_WORDS.has(word)).slice(0, SIMILAR_WORDS_COUNTED)
}

/** The rarest words. A word that only this document contains is omitted, because it finds nothing else. */
export function rarest<Word>(words: ReadonlyArray<{ word: Word; count: number }>): Word[] {
  return words
    .filter(({ count }) => count > 1)
    .sort((a, b) => a.count - b.count)
    .slice(0, SIMILAR_WORDS)
    .map(({ word }) => word)
}

/** @throws Error  the window ends past MAX_WINDOW */
export function windowOf(
  { name }: { name: string },
  { from = 0, size = 10 }: FindQuery,
): { from: number; size: number } {
  if (from + size > MAX_WINDOW || from < 0 || size < 0)
    throw new Error(`${name}: a window ends at ${MAX_WINDOW}, not at ${from + size}`)
  return { from, size }
}

/** @throws Error  too many ids */
export function checkCount({ name }: { name: string }, ids: readonly string[]): void {
  if (ids.length > MAX_WINDOW) throw new Error(`${name}: at most ${MAX_WINDOW} ids at once, not ${ids.length}`)
}

export const undeclaredIndex = (name: string): Error => new Error(`The index "${name}" was not declared`)

/** All collections of an adapter, by their definitions. */
export function openCollections(
  definitions: readonly IndexDefinition[],
  open: (definition: IndexDefinition) => Collection,
): IndexAdapter['collection'] {
  const collections = new Map(definitions.map((definition) => [definition.name, open(definition)]))
  const find = ({ name }: IndexDefinition): Collection => {
    const found = collections.get(name)
    if (!found) throw undeclaredIndex(name)
    return found
  }
  // The document type follows from the definition, which the compiler cannot track through a map.
  return find as unknown as IndexAdapter['collection']
}
