/**
 * From a mapping to what Elasticsearch is told: names, fields, analyzers, settings, and the shape by which two mappings
 * are compared.
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
 * Raised when the same mapping comes to lie otherwise in the index, or text.ts makes other words: everything is
 * rebuilt.
 */
const LAYOUT = 3
/** Beginnings of words are kept up to this length; longer ones are few and looked up among the words. */
export const LONGEST_GRAM = 8
const REFRESH_INTERVAL = '500ms'

export interface Layout extends IndexPlan {
  /** Kept as `value.<name>`: filtered, grouped, summed, and numbers sorted. */
  values: FieldPlan[]
  /** Kept as `sort.<name>`, folded. */
  sorted: FieldPlan[]
  /** `searched` are kept as `words.<name>`, the stems that differ from their words as `stems.<name>`. */
  shape: Shape
  /** Told in each document: which of them were written under this very shape. */
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

/** What lists of all fields are ordered by. */
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
      // Seconds, as they are told; only what is counted by local days needs to be a date for the server.
      return { type: 'long', fields: { date: { type: 'date', format: 'epoch_second', index: false } } }
    default:
      return { type: 'keyword' }
  }
}

// Words come folded, split and stemmed from text.ts: for the server spaces separate, and nothing else is done to them.
const WORDS: Property = {
  type: 'text',
  analyzer: 'words',
  // Some words are found by terms in a row.
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
    // The reply's text, and what is internal as JSON: kept as they are, looked into by nobody.
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

/** What is known of an index in its mapping. */
interface Meta {
  shape: Shape
  /** False while it is being filled beside another. */
  isWhole: boolean
}

export function mappingOf(layout: Layout, isWhole: boolean): estypes.MappingTypeMapping {
  return {
    dynamic: 'strict',
    _meta: metaOf(layout, isWhole),
    // All else can be made from these two again.
    _source: { includes: ['text', 'internal'] },
    properties: propertiesOf(layout),
  }
}

export const metaOf = (layout: Layout, isWhole: boolean): Record<string, unknown> =>
  // The client's type for it is any JSON.
  ({ shape: layout.shape, isWhole }) satisfies Meta as unknown as Record<string, unknown>

/** undefined: an index of somebody else's, or of a form that this program does not know. */
export function metaIn(value: unknown): Meta | undefined {
  const { shape, isWhole } = (value ?? {}) as Partial<Meta>
  if (typeof shape !== 'object' || shape === null || typeof shape.fields !== 'object' || typeof shape.rest !== 'object')
    return undefined
  return { shape: shape as Shape, isWhole: isWhole === true }
}

/** @param isLoading  nothing is to be found before all is written */
export function settingsOf(isLoading: boolean): estypes.IndicesIndexSettings {
  return {
    // One archive is one shard's work: counts and orders are exact, and a cluster spreads it by copies.
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

/** Once all is written, what was loaded is searched like any other. */
export const SERVING: estypes.IndicesIndexSettings = { refresh_interval: REFRESH_INTERVAL }
