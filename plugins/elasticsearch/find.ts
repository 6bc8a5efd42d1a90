/** Lists and searches of one collection, which see only refreshed documents. */
import type { estypes } from '@elastic/elasticsearch'
import type { Collection, FindQuery, Found, Hit, IndexDefinition } from 'archivolt'
import { checkCount, type JsonObject, LEAST_SCORE, MAX_WINDOW, rarest, windowOf } from 'archivolt/index'
import type { Target } from './bulk.ts'
import { decode, type Stored } from './encode.ts'
import { filterQuery, newestFirst, type Query, type Sort, sortOf } from './filter.ts'
import type { Layout } from './layout.ts'
import type { openPoints } from './points.ts'
import { similarQueries, type TextPlan, textPlan } from './search.ts'

/** Number of remembered searches that match more documents than can be ranked. */
const WIDE_SEARCHES = 200
const BEST_FIRST: Sort = [{ _score: { order: 'desc' } }]

type Response = estypes.SearchResponse<Stored>

export function openSearches(
  target: Target,
  definition: IndexDefinition,
  layout: Layout,
  points: ReturnType<typeof openPoints>,
): Pick<Collection, 'find' | 'similar' | 'count'> {
  const wide = new Set<string>()

  async function search(body: estypes.SearchRequest): Promise<Response> {
    const { connection, index } = target
    const response = await connection.run((client) => client.search<Stored>({ index, ...body }))
    response.hits.hits = response.hits.hits.filter((hit) => isSound(hit))
    return response
  }

  /** Whether a document is usable: a page is built from texts, without parsing them. */
  function isSound({ _id: id, _source: source }: estypes.SearchHit<Stored>): boolean {
    if (!source || decode(source)) return true
    target.onGarbled?.(id!)
    return false
  }

  async function page(
    query: Query,
    sort: Sort,
    { from = 0, size = 10, withoutTotal, withoutTexts = false }: FindQuery,
    score: number,
  ): Promise<Found> {
    const track_total_hits = withoutTotal ? false : MAX_WINDOW
    const response = await search({ query, sort, from, size, track_total_hits, _source: !withoutTexts })
    return foundIn(response, scored(response, score), withoutTotal)
  }

  async function byIds(
    ids: readonly string[],
    { filter, from = 0, size = 10, withoutTotal, withoutTexts }: FindQuery,
  ): Promise<Found> {
    checkCount(definition, ids)
    if (ids.length === 0) return { hits: [], total: 0 }
    const query: Query = {
      bool: { filter: [filterQuery(layout, filter), { terms: { id: [...new Set(ids)] } }] },
    }
    const response = await search({
      query,
      size: MAX_WINDOW,
      sort: ['_doc'],
      _source: false,
      track_total_hits: false,
    })
    const present = new Set(response.hits.hits.map(({ _id }) => _id!))
    const matching = ids.filter((id) => present.has(id))
    const shown = matching.slice(from, from + size)
    const texts = withoutTexts ? undefined : await points.getTexts(shown)
    const hits = shown.flatMap((id): Hit[] =>
      texts && !texts.has(id) ? [] : [{ id, text: texts?.get(id) ?? '', score: 0 }],
    )
    return { hits, total: withoutTotal ? hits.length : matching.length }
  }

  /** Ranks the matches. If there are too many, ranking has no meaning, so the newest of each class come first. */
  async function byText(plan: TextPlan, query: FindQuery): Promise<Found> {
    const { sort, withoutTotal } = query
    const filter = query.filter ? [filterQuery(layout, query.filter)] : []
    if (sort && sort.length > 0) {
      const matching = { bool: { filter: [plan.unranked, ...filter] } }
      return page(matching, sortOf(layout, sort), query, LEAST_SCORE)
    }
    const key = JSON.stringify([query.text, query.filter])
    if (wide.has(key)) {
      const response = await unranked(plan, query, filter)
      if (isMore(response)) return foundIn(response, scored(response, LEAST_SCORE), withoutTotal)
      wide.delete(key)
    }
    const response = await words(query, { bool: { must: [plan.ranked], filter } }, true)
    if (!isMore(response)) return foundIn(response, ranked(response), withoutTotal)
    if (wide.size >= WIDE_SEARCHES) wide.clear()
    wide.add(key)
    const newest = await unranked(plan, query, filter)
    return foundIn(newest, scored(newest, LEAST_SCORE), withoutTotal)
  }

  function unranked({ unranked, hasClasses }: TextPlan, query: FindQuery, filter: Query[]): Promise<Response> {
    const matching = hasClasses ? { must: [unranked], filter } : { filter: [unranked, ...filter] }
    return words(query, { bool: matching }, hasClasses)
  }

  function words(
    { from = 0, size = 10, withoutTexts = false }: FindQuery,
    query: Query,
    isScored: boolean,
  ): Promise<Response> {
    const sort = [...(isScored ? BEST_FIRST : []), ...newestFirst(layout)]
    return search({ query, sort, from, size, _source: !withoutTexts, track_total_hits: MAX_WINDOW })
  }

  return {
    async find(query) {
      const { text, ids } = query
      windowOf(definition, query)
      if (text && text.words.trim() !== '') {
        const plan = textPlan(layout, text)
        return plan ? byText(plan, query) : { hits: [], total: 0 }
      }
      if (ids) return byIds(ids, query)
      return page(filterQuery(layout, query.filter), sortOf(layout, query.sort), query, 0)
    },

    async similar(id, { size, filter, fields }) {
      const self = await points.get(id)
      const words = self ? similarQueries(layout, self as JsonObject, fields) : []
      if (words.length === 0) return []
      const counted = await search({
        size: 0,
        track_total_hits: false,
        aggs: { words: { filters: { filters: words } } },
      })
      // The client's types do not relate a reply to its request.
      const { buckets } = counted.aggregations!['words'] as unknown as { buckets: Array<{ doc_count: number }> }
      const chosen = rarest(words.map((word, at) => ({ word, count: buckets[at]!.doc_count })))
      if (chosen.length === 0) return []
      const query: Query = {
        bool: {
          must: [{ bool: { should: chosen, minimum_should_match: 1 } }],
          must_not: [{ term: { id: { value: id } } }],
          filter: filter ? [filterQuery(layout, filter)] : [],
        },
      }
      const sort = [...BEST_FIRST, ...newestFirst(layout)]
      return ranked(await search({ query, size, sort, track_total_hits: false }))
    },

    async count(filter, cap = MAX_WINDOW) {
      if (cap < 1) return 0
      const response = await search({
        query: filterQuery(layout, filter),
        size: 0,
        track_total_hits: cap === Infinity ? true : Math.min(cap, 2 ** 31 - 1),
      })
      return Math.min(cap, totalOf(response).value)
    },
  }
}

const totalOf = (response: Response) => response.hits.total as estypes.SearchTotalHits
const isMore = (response: Response): boolean => totalOf(response).relation === 'gte'

const foundIn = (response: Response, hits: Hit[], withoutTotal = false): Found => ({
  hits,
  total: withoutTotal ? hits.length : Math.min(MAX_WINDOW, totalOf(response).value),
})

const toHits = (response: Response, score: (hit: estypes.SearchHit<Stored>) => number): Hit[] =>
  response.hits.hits.map((hit) => ({ id: hit._id!, text: hit._source?.text ?? '', score: score(hit) }))
const scored = (response: Response, score: number): Hit[] => toHits(response, () => score)
const ranked = (response: Response): Hit[] => toHits(response, (hit) => Math.max(LEAST_SCORE, Number(hit.sort?.[0])))
