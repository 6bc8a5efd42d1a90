/**
 * Derives from a mapping what Elasticsearch needs: names, fields, analyzers, settings, and a hash for comparing
 * mappings.
 */
import { createHash } from 'node:crypto'
import type { estypes } from '@elastic/elasticsearch'
import {
  type DefinitionData,
  type FieldPlan,
  type IndexPlan,
  isWordy,
  MAX_WINDOW,
  planIndex,
  restOfShape,
  type Shape,
} from 'archivolt/index'

/**
 * Increment it when the layout of an unchanged mapping, or the tokens of text.ts, change: everything is then rebuilt.
 */
const LAYOUT = 3
/** Maximum length of indexed prefixes; longer ones are rare, and looked up among the words. */
export const LONGEST_GRAM = 8
const REFRESH_INTERVAL = '500ms'

export interface Layout extends IndexPlan {
  /** Stored as `value.<name>`: for filters, groups and sums; numbers are also sorted by it. */
  values: FieldPlan[]
  /** Stored as `sort.<name>`, folded. */
  sorted: FieldPlan[]
  /** The fields of the index. Those of `searched` are `words.<name>` and, for stems that differ from their words, `stems.<name>`. */
  shape: Shape
  /** The hash of the layout with which a document was written, stored in each document. */
  stamp: string
}

export function layoutOf(data: DefinitionData): Layout {
  const index = planIndex(data)
  const { plans, newest } = index
  const partial = {
    ...index,
    values: plans.filter((plan) => plan.isFilter || plan === newest || (plan.isSort && !isWordy(plan))),
    sorted: plans.filter((plan) => plan.isSort && isWordy(plan)),
  }
  const shape = shapeOf(partial)
  return {
    ...partial,
    shape,
    stamp: createHash('sha256').update(JSON.stringify(shape)).digest('base64url').slice(0, 12),
  }
}

/** The field by which a list is sorted, which all indexes have. */
export const sortField = (plan: FieldPlan): string => `${isWordy(plan) ? 'sort' : 'value'}.${plan.name}`

function shapeOf(layout: Omit<Layout, 'shape' | 'stamp'>): Shape {
  const fields: Record<string, string> = {}
  for (const plan of layout.values) fields[`value ${plan.name}`] = `${plan.type} ${plan.path.join('.')}`
  for (const plan of layout.sorted) fields[`sort ${plan.name}`] = `${plan.type} ${plan.path.join('.')}`
  return { fields, rest: restOfShape(layout, LAYOUT) }
}

type Property = estypes.MappingProperty

function valueProperty(plan: FieldPlan): Property {
  switch (plan.type) {
    case 'boolean':
      return { type: 'boolean' }
    case 'double':
      return { type: 'double' }
    case 'long':
      return { type: 'long' }
    case 'date':
      // Seconds are stored as numbers; only fields that are counted by local days are dates for the server.
      return { type: 'long', fields: { date: { type: 'date', format: 'epoch_second', index: false } } }
    default:
      return { type: 'keyword' }
  }
}

// index-kit/text.ts has folded, split and stemmed the words, so the server only splits at spaces.
const WORDS: Property = {
  type: 'text',
  analyzer: 'words',
  // Positions are needed to find consecutive terms, which some words consist of.
  index_options: 'positions',
  fields: {
    begin: { type: 'text', analyzer: 'beginnings', search_analyzer: 'words', index_options: 'docs', norms: false },
  },
}
const STEMS: Property = { type: 'text', analyzer: 'words', index_options: 'docs', norms: false }

const group = (plans: readonly FieldPlan[], property: (plan: FieldPlan) => Property): Property => ({
  type: 'object',
  dynamic: 'strict',
  properties: Object.fromEntries(plans.map((plan) => [plan.name, property(plan)])),
})

export function propertiesOf(layout: Layout): Record<string, Property> {
  return {
    // The reply's text, and internal fields as JSON: stored, but not indexed.
    text: { type: 'object', enabled: false },
    internal: { type: 'object', enabled: false },
    id: { type: 'keyword' },
    stamp: { type: 'keyword' },
    value: group(layout.values, valueProperty),
    sort: group(layout.sorted, () => ({ type: 'keyword', index: false })),
    words: group(layout.searched, () => WORDS),
    stems: group(layout.stemmed, () => STEMS),
  }
}

/** Our own data in the mapping of an index. */
interface Meta {
  shape: Shape
  /** False while the index is being filled. */
  isWhole: boolean
}

export function mappingOf(layout: Layout, isWhole: boolean): estypes.MappingTypeMapping {
  return {
    dynamic: 'strict',
    _meta: metaOf(layout, isWhole),
    // All other fields can be derived from these two.
    _source: { includes: ['text', 'internal'] },
    properties: propertiesOf(layout),
  }
}

export const metaOf = (layout: Layout, isWhole: boolean): Record<string, unknown> =>
  // The client declares it as any JSON.
  ({ shape: layout.shape, isWhole }) satisfies Meta as unknown as Record<string, unknown>

/** Our data in a mapping; undefined: not our index, or of an unknown version. */
export function metaIn(value: unknown): Meta | undefined {
  const { shape, isWhole } = (value ?? {}) as Partial<Meta>
  if (typeof shape !== 'object' || shape === null || typeof shape.fields !== 'object' || typeof shape.rest !== 'object')
    return undefined
  return { shape: shape as Shape, isWhole: isWhole === true }
}

/** @param isLoading  the index is not searchable until everything is written */
export function settingsOf(isLoading: boolean): estypes.IndicesIndexSettings {
  return {
    // An archive fits into one shard: counts and sorts are exact, and a cluster distributes the load by replicas.
    number_of_shards: 1,
    auto_expand_replicas: '0-1',
    refresh_interval: isLoading ? '-1' : REFRESH_INTERVAL,
    max_result_window: MAX_WINDOW,
    mapping: { total_fields: { limit: 2000 } },
    analysis: {
      filter: { beginnings: { type: 'edge_ngram', min_gram: 1, max_gram: LONGEST_GRAM } },
      analyzer: {
        words: { type: 'custom', tokenizer: 'whitespace' },
        beginnings: { type: 'custom', tokenizer: 'whitespace', filter: ['beginnings'] },
      },
    },
  }
}

/** Settings that make the index searchable, once everything is written. */
export const SERVING: estypes.IndicesIndexSettings = { refresh_interval: REFRESH_INTERVAL }
