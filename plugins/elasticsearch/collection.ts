/**
 * One collection on Elasticsearch, always by its alias: point reads see every write at once, lists and searches what
 * was made visible.
 */
import type { estypes } from '@elastic/elasticsearch'
import { errors } from 'archivolt'
import {
  type Collection,
  checkCount,
  chunksOf,
  type FindQuery,
  type Found,
  type Hit,
  type IndexDefinition,
  type JsonObject,
  LEAST_SCORE,
  MAX_WINDOW,
  rarest,
  windowOf,
} from 'archivolt/index'
import { aggregate } from './aggregate.ts'
import { deleting, putAll, type Target, write } from './bulk.ts'
import { openDocumentChanges } from './change.ts'
import type { Stored } from './encode.ts'
import { BY_ID, filterQuery, newestFirst, type Query, type Sort, sortOf } from './filter.ts'
import { type Layout, sortField } from './layout.ts'
import { pages, parsed } from './scan.ts'
import { similarQueries, type TextPlan, textPlan } from './search.ts'

const BATCH = 200
const IDS_AT_ONCE = 500
const REMOVED_AT_ONCE = 1000
/** Searches known to match more than can be ranked. */
const WIDE_SEARCHES = 200

type Response = estypes.SearchResponse<Stored>
interface Kept {
  id: string
  text: string
  internal?: string
}

export function openCollection(
  target: Target,
  definition: IndexDefinition,
  layout: Layout,
): Collection<Record<string, unknown>, string> {
  const { connection, index } = target
  const changes = openDocumentChanges(target, layout)
  const wide = new Set<string>()

  const search = (body: estypes.SearchRequest): Promise<Response> =>
    connection.run((client) => client.search<Stored>({ index, ...body }))

  async function* kept(ids: readonly string[], isBare = false): AsyncGenerator<Kept> {
    checkCount(definition, ids)
    const unique = [...new Set(ids)].filter((id) => id !== '' && id.length <= 512)
    for (const some of chunksOf(unique, IDS_AT_ONCE)) {
      // Ids stand in the body, never in a path.
      const { docs } = await connection.run((client) =>
        client.mget<Stored>({ index, ids: some, ...(isBare && { _source: false }) }),
      )
      for (const doc of docs) if ('found' in doc && doc.found) yield { id: doc._id, text: '', ...doc._source }
    }
  }

  const one = async (id: string): Promise<Kept | undefined> => {
    for await (const found of kept([id])) return found
    return undefined
  }

  const capped = (response: Response): number =>
    Math.min(MAX_WINDOW, (response.hits.total as estypes.SearchTotalHits | undefined)?.value ?? 0)
  const toHits = (response: Response, score: (hit: estypes.SearchHit<Stored>) => number): Hit[] =>
    response.hits.hits.map((hit) => ({ id: hit._id!, text: hit._source?.text ?? '', score: score(hit) }))

  async function page(
    query: Query,
    sort: Sort,
    { from = 0, size = 10, withoutTotal, withoutTexts = false }: FindQuery,
    score: number,
  ): Promise<Found> {
    const track_total_hits = withoutTotal ? false : MAX_WINDOW
    const response = await search({ query, sort, from, size, track_total_hits, _source: !withoutTexts })
    const hits = toHits(response, () => score)
    return { hits, total: withoutTotal ? hits.length : capped(response) }
  }

  async function byIds(
    ids: readonly string[],
    { filter, from = 0, size = 10, withoutTotal, withoutTexts }: FindQuery,
  ): Promise<Found> {
    checkCount(definition, ids)
    if (ids.length === 0) return { hits: [], total: 0 }
    const present = new Set<string>()
    const query: Query = { bool: { filter: [filterQuery(layout, filter), { terms: { id: [...new Set(ids)] } }] } }
    for (const { _id } of (
      await search({ query, size: MAX_WINDOW, sort: ['_doc'], _source: false, track_total_hits: false })
    ).hits.hits)
      present.add(_id!)
    const matching = ids.filter((id) => present.has(id))
    const shown = matching.slice(from, from + size)
    const texts = withoutTexts ? undefined : await collection.getTexts(shown)
    const hits = shown.flatMap((id): Hit[] =>
      texts && !texts.has(id) ? [] : [{ id, text: texts?.get(id) ?? '', score: 0 }],
    )
    return { hits, total: withoutTotal ? hits.length : matching.length }
  }

  /** Ranked, unless so many match that ranking tells nothing: then the newest are the best of each class. */
  async function byText(plan: TextPlan, query: FindQuery): Promise<Found> {
    const { from = 0, size = 10, withoutTotal, withoutTexts = false } = query
    const _source = !withoutTexts
    const filter = query.filter ? [filterQuery(layout, query.filter)] : []
    const within = (text: Query): Query => ({ bool: { must: [text], filter } })
    if (query.sort && query.sort.length > 0)
      return page({ bool: { filter: [plan.unranked, ...filter] } }, sortOf(layout, query.sort), query, LEAST_SCORE)
    const order = newestFirst(layout)
    const key = JSON.stringify([query.text, query.filter])
    const unranked = async (): Promise<Found & { isWide: boolean }> => {
      const sort: Sort = plan.hasClasses ? [{ _score: { order: 'desc' } }, ...order] : order
      const response = await search({
        query: plan.hasClasses ? within(plan.unranked) : { bool: { filter: [plan.unranked, ...filter] } },
        sort,
        from,
        size,
        _source,
        track_total_hits: MAX_WINDOW,
      })
      const hits = toHits(response, () => LEAST_SCORE)
      return { hits, total: withoutTotal ? hits.length : capped(response), isWide: isMore(response) }
    }
    if (wide.has(key)) {
      const { isWide, ...found } = await unranked()
      if (isWide) return found
      wide.delete(key)
    }
    const response = await search({
      query: within(plan.ranked),
      sort: [{ _score: { order: 'desc' } }, ...order],
      from,
      size,
      _source,
      track_total_hits: MAX_WINDOW,
    })
    if (isMore(response)) {
      if (wide.size >= WIDE_SEARCHES) wide.clear()
      wide.add(key)
      const { isWide: _isWide, ...found } = await unranked()
      return found
    }
    const hits = toHits(response, (hit) => Math.max(LEAST_SCORE, Number(hit.sort?.[0])))
    return { hits, total: withoutTotal ? hits.length : capped(response) }
  }

  const collection: Collection<Record<string, unknown>, string> = {
    definition,

    async get(id) {
      const found = await one(id)
      return found && (await parsed([{ _id: id, _source: found }]))[0]!.doc
    },

    async getText(id) {
      return (await one(id))?.text
    },

    async getTexts(ids) {
      const found = new Map<string, string>()
      for await (const { id, text } of kept(ids)) found.set(id, text)
      return found
    },

    async getMany(ids) {
      const found: Array<{ _id: string; _source: Stored }> = []
      for await (const each of kept(ids)) found.push({ _id: each.id, _source: each })
      return new Map((await parsed(found)).map(({ id, doc }) => [id, doc]))
    },

    async known(ids) {
      const found = new Set<string>()
      for (const some of chunksOf(ids, MAX_WINDOW)) for await (const { id } of kept(some, true)) found.add(id)
      return found
    },

    async put(id, doc, options = {}) {
      const { failed } = await putAll(target, layout, [{ id, doc }], { visible: options.visible ?? false })
      if (failed[0]) throw errors.unprocessable(failed[0].reason)
    },

    putMany: (docs, options = {}) => putAll(target, layout, docs, options),

    patch: (id, change, options = {}) => changes.patch(id, change, options),

    patchWhere: (filter, change, options = {}) => changes.patchWhere(filter, change, options),

    async remove(ids, { visible } = {}) {
      const list = (typeof ids === 'string' ? [ids] : [...new Set(ids)]).filter((id) => id !== '')
      let removed = 0
      for (const some of chunksOf(list, REMOVED_AT_ONCE)) {
        const isVisible = visible && some.at(-1) === list.at(-1)
        const outcomes = await write(
          target,
          some.map((id) => deleting(id)),
          { isVisible },
        )
        removed += outcomes.filter(({ state }) => state === 'done').length
      }
      return removed
    },

    removeWhere: (filter, options = {}) => changes.removeWhere(filter, options),

    async find(query) {
      const { text } = query
      windowOf(definition, query)
      if (text && text.words.trim() !== '') {
        const plan = textPlan(layout, text)
        return plan ? byText(plan, query) : { hits: [], total: 0 }
      }
      if (query.ids) return byIds(query.ids, query)
      return page(filterQuery(layout, query.filter), sortOf(layout, query.sort), query, 0)
    },

    async similar(id, { size, filter, fields }) {
      const self = await collection.get(id)
      if (!self) return []
      const words = similarQueries(layout, self as JsonObject, fields)
      if (words.length === 0) return []
      const counted = await search({
        size: 0,
        track_total_hits: false,
        aggs: { words: { filters: { filters: words } } },
      })
      // The client's types know of no question that an answer is to.
      const { buckets } = counted.aggregations!['words'] as unknown as { buckets: Array<{ doc_count: number }> }
      const chosen = rarest(words.map((word, at) => ({ word, count: buckets[at]!.doc_count })))
      if (chosen.length === 0) return []
      const query: Query = {
        bool: {
          must: [{ bool: { should: chosen, minimum_should_match: 1 } }],
          must_not: [{ term: { id: { value: id } } }],
          ...(filter && { filter: [filterQuery(layout, filter)] }),
        },
      }
      const response = await search({
        query,
        size,
        sort: [{ _score: { order: 'desc' } }, ...newestFirst(layout)],
        track_total_hits: false,
      })
      return toHits(response, (hit) => Math.max(LEAST_SCORE, Number(hit.sort?.[0])))
    },

    async count(filter, cap = MAX_WINDOW) {
      if (cap < 1) return 0
      const response = await search({
        query: filterQuery(layout, filter),
        size: 0,
        track_total_hits: cap === Infinity ? true : Math.min(cap, 2 ** 31 - 1),
      })
      return Math.min(cap, (response.hits.total as estypes.SearchTotalHits).value)
    },

    aggregate: (query) => aggregate(connection, index, layout, query),

    async *scan({ filter, batch = BATCH, order = 'id' } = {}) {
      const { newest } = layout
      const sort: Sort =
        order === 'id' || !newest ? BY_ID : [{ [sortField(newest)]: { order: 'asc', missing: '_first' } }, ...BY_ID]
      for await (const hits of pages(connection, { index, query: filterQuery(layout, filter), batch, sort })) {
        yield (await parsed(hits)).map(({ id, doc }) => ({ id, doc }))
      }
    },
  }
  return collection
}

const isMore = (response: Response): boolean => (response.hits.total as estypes.SearchTotalHits).relation === 'gte'
