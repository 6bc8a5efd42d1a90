/**
 * Views: an account may be limited to a part of the archive, chosen by ids. Only this file decides what is visible: all
 * index reads during a request of such an account, in any plugin, find nothing else.
 */
import { chunksOf } from '../base/chunk.ts'
import { openHandedDown } from '../base/handed-down.ts'
import type { IndexDefinition, SeenBy, SeenWith } from './mapping.ts'
import { partsOf } from './parts.ts'
import { type Filter, type FindQuery, type Hit, type IndexAdapter, MAX_WINDOW, READS } from './port.ts'
import { type AnyCollection, withOperations, wrapCollections } from './wrap.ts'

/**
 * The chosen ids by kind: names of indexes whose documents can be chosen. With `not_` before the kinds, the view hides
 * these, and shows everything else; kinds without it are then exceptions, which are shown although something hides them.
 */
export type View = Readonly<Record<string, readonly string[]>>

/** The prefix of kinds in a view that hides. */
export const NOT = 'not_'

export const isHiding = (view: View): boolean => Object.keys(view).some((kind) => kind.startsWith(NOT))

/** The name of a kind in this view: a view that hides has `not_` before it. */
export const kindIn = (view: View, kind: string): string => (isHiding(view) ? NOT + kind : kind)

/** What is shown, or hidden apart from the exceptions. */
function chosenOf(view: View, kind: string): readonly string[] {
  const chosen = view[kindIn(view, kind)] ?? []
  const exceptions = exceptionsOf(view, kind)
  return exceptions.length > 0 ? chosen.filter((id) => !exceptions.includes(id)) : chosen
}

const exceptionsOf = (view: View, kind: string): readonly string[] => (isHiding(view) && view[kind]) || []

/** Limit of chosen ids per kind: all of them are part of each filter. */
export const MOST_CHOSEN = 500

const asking = openHandedDown<View>()

/** Limits the reads of `work` to this view. undefined: no limit. */
export const withinView = <Result>(view: View | undefined, work: () => Promise<Result>): Promise<Result> =>
  view ? asking.during(view, work) : work()

/**
 * Lifts the view from the reads of `work`: for work that outlives the request, and for details of hidden documents that
 * a visible document shows. Each call says why.
 */
export const beyondView = <Result>(work: () => Result): Result => asking.without(work)

type Doc = Record<string, unknown>
/** The reads that replace a collection's own while a view applies. */
type Reads = Pick<
  AnyCollection,
  'get' | 'getText' | 'getTexts' | 'getMany' | 'known' | 'find' | 'similar' | 'count' | 'aggregate' | 'scan' | 'parts'
>

/** Wraps an index so that its reads respect the view of the current request. */
export function limitReads(index: IndexAdapter): IndexAdapter {
  const named = (name: string): AnyCollection | undefined => {
    const definition = index.definitions.find((one) => one.name === name)
    return definition && (index.collection(definition) as unknown as AnyCollection)
  }

  function readsOf(collection: AnyCollection, view: View): Reads {
    const { seen } = collection.definition
    if (!seen) return NOTHING
    if ('by' in seen) return readsBy(collection, seen, view)
    const other = named(seen.with)
    const by = other?.definition.seen
    if (!other || !by || !('by' in by)) return NOTHING
    return readsWith(collection, seen, { collection: other, by, view })
  }

  return wrapCollections(index, (collection) => {
    /** Cached for the last view: a page reads several things in a row. */
    let last: { view: View; reads: Reads } | undefined
    return withOperations(collection, READS, (read, name) => (...given) => {
      const view = asking.get()
      if (!view) return read(...given)
      if (last?.view !== view) last = { view, reads: readsOf(collection, view) }
      return (last.reads[name as keyof Reads] as typeof read)(...given)
    })
  })
}

/** For an index that does not declare `seen`. */
const NOTHING: Reads = {
  get: async () => undefined,
  getText: async () => undefined,
  getTexts: async () => new Map(),
  getMany: async () => new Map(),
  known: async () => new Set(),
  find: async () => ({ hits: [], total: 0 }),
  similar: async () => [],
  count: async () => 0,
  aggregate: async () => [],
  async *scan() {},
  async *parts() {},
}

/** Single reads, based on the reads of many. */
const one = ({ getMany, getTexts }: Pick<Reads, 'getMany' | 'getTexts'>): Pick<Reads, 'get' | 'getText'> => ({
  get: async (id) => (await getMany([id])).get(id),
  getText: async (id) => (await getTexts([id])).get(id),
})

const both = (first: Filter, second: Filter | undefined): Filter => (second ? { and: [first, second] } : first)

/** The filter for what a view shows of an index with `by`. */
export function seenFilter<Name extends string>(
  { by, hiddenBy = {} }: { by: Readonly<Record<string, Name>>; hiddenBy?: Readonly<Record<string, Name>> },
  view: View,
): Filter<Name> {
  const isExcept = isHiding(view)
  const among = (kinds: Readonly<Record<string, Name>>, idsOf: typeof chosenOf) =>
    Object.entries(kinds).flatMap(([kind, field]): Array<Filter<Name>> => {
      const ids = idsOf(view, kind)
      return ids.length > 0 ? [{ in: [field, ids] }] : []
    })
  if (!isExcept) return { or: among(by, chosenOf) }
  const hidden = among(by, chosenOf).concat(among(hiddenBy, chosenOf))
  return hidden.length > 0 ? { or: [{ not: { or: hidden } }, ...among(by, exceptionsOf)] } : { and: [] }
}

/** Reads of documents that have a chosen id in one of their fields: the filter is added to every query. */
function readsBy(collection: AnyCollection, seen: SeenBy, view: View): Reads {
  const filter = seenFilter(seen, view)
  const trimmed = trimmedFields(collection.definition, seen, view)
  const trim = (doc: Doc): Doc => {
    for (const { path, isSeen } of trimmed) keepIn(doc, path, isSeen)
    return doc
  }
  const trimText = (text: string): string =>
    trimmed.length === 0 || text === '' ? text : JSON.stringify(trim(JSON.parse(text) as Doc))
  const trimHits = (hits: readonly Hit[]): Hit[] => hits.map((hit) => ({ ...hit, text: trimText(hit.text) }))

  async function hitsOf(ids: readonly string[], { withoutTexts = false } = {}): Promise<Hit[]> {
    const hits: Hit[] = []
    for (const some of chunksOf([...new Set(ids)], MAX_WINDOW)) {
      const query = { ids: some, filter, size: some.length, withoutTotal: true, withoutTexts }
      hits.push(...(await collection.find(query)).hits)
    }
    return hits
  }
  const known = async (ids: readonly string[]) =>
    new Set((await hitsOf(ids, { withoutTexts: true })).map(({ id }) => id))
  const getTexts = async (ids: readonly string[]) =>
    new Map((await hitsOf(ids)).map(({ id, text }) => [id, trimText(text)]))
  async function getMany(ids: readonly string[]) {
    const docs = await collection.getMany([...(await known(ids))])
    for (const doc of docs.values()) trim(doc)
    return docs
  }

  async function* scan(query: Parameters<AnyCollection['scan']>[0]) {
    for await (const batch of collection.scan({ ...query, filter: both(filter, query?.filter) }))
      yield batch.map(({ id, doc }) => ({ id, doc: trim(doc) }))
  }

  return {
    ...one({ getMany, getTexts }),
    getTexts,
    getMany,
    known,
    async find(query) {
      const { hits, total } = await collection.find({ ...query, filter: both(filter, query.filter) })
      return { hits: trimHits(hits), total }
    },
    similar: async (id, query) =>
      trimHits(await collection.similar(id, { ...query, filter: both(filter, query.filter) })),
    count: (more, cap) => collection.count(both(filter, more), cap),
    async aggregate(query) {
      const rows = await collection.aggregate({ ...query, filter: both(filter, query.filter) })
      const hidden = trimmed.map(({ name, isSeen }) => ({ at: query.groupBy?.indexOf(name) ?? -1, isSeen }))
      return rows.filter(({ key }) => hidden.every(({ at, isSeen }) => at < 0 || key[at] === null || isSeen(key[at])))
    },
    scan,
    parts: partsOf(scan),
  }
}

interface TrimmedField {
  name: string
  path: string[]
  isSeen: (value: unknown) => boolean
}

/** Multi-value fields that refer to other documents: references to hidden ones are removed. */
const trimmedFields = ({ fields }: IndexDefinition, { by }: SeenBy, view: View): TrimmedField[] =>
  Object.entries(by).flatMap(([kind, name]) => {
    const { multi, path = name } = fields[name] ?? {}
    const chosen = new Set<unknown>(chosenOf(view, kind))
    const isExcept = isHiding(view)
    return multi ? [{ name, path: path.split('.'), isSeen: (value: unknown) => chosen.has(value) !== isExcept }] : []
  })

/** Filters the list at a path. The path leads through objects only. */
function keepIn(doc: Doc, path: readonly string[], isKept: (value: unknown) => boolean): void {
  const [key = '', ...rest] = path
  const value = doc[key]
  if (rest.length === 0) {
    if (Array.isArray(value)) doc[key] = value.filter(isKept)
  } else if (typeof value === 'object' && value !== null) keepIn(value as Doc, rest, isKept)
}

/** How many hits a search scans for visible ones: those beyond rank lowest. */
const MOST_SCANNED = 1000
const SCANNED_AT_ONCE = 200

interface Host {
  collection: AnyCollection
  by: SeenBy
  view: View
}

/**
 * Reads of documents that are visible if their host document is. No filter can express that: hits are checked one by
 * one, best first, up to a limit, after `near` has narrowed them. Aggregations return nothing.
 */
function readsWith(collection: AnyCollection, { id: field, near = {} }: SeenWith, host: Host): Reads {
  const path = (collection.definition.fields[field]?.path ?? field).split('.')
  const hostOf = (doc: Doc): string => String(path.reduce<unknown>((value, key) => (value as Doc)?.[key], doc))
  const hosts = readsBy(host.collection, host.by, host.view)

  /** The items whose host is visible. */
  async function seenOf<Item>(items: readonly Item[], docOf: (item: Item) => Doc): Promise<Item[]> {
    const ids = items.map((item) => hostOf(docOf(item)))
    const known = await hosts.known(ids)
    return items.filter((_, at) => known.has(ids[at]!))
  }
  const textDoc = ({ text }: Pick<Hit, 'text'>): Doc => JSON.parse(text) as Doc

  /**
   * Filters by the values that visible hosts have in each `near` field. Wider than the view, but as close as a bounded
   * list can get.
   */
  async function nearFilter(): Promise<Filter | undefined> {
    const filters: Filter[] = []
    for (const [kind, own] of Object.entries(near)) {
      const theirs = host.by.by[kind]
      if (theirs === undefined) continue
      const isExcept = isHiding(host.view)
      const hidden = isExcept ? chosenOf(host.view, kind) : []
      if (isExcept && hidden.length === 0) continue
      // Of a hidden kind, exceptions of another kind may be seen.
      const filter: Filter | undefined = isExcept ? { in: [theirs, hidden] } : undefined
      const orderBy = { metric: 'count', order: 'desc' } as const
      const rows = await hosts.aggregate({ groupBy: [theirs], orderBy, limit: MOST_CHOSEN, ...(filter && { filter }) })
      const seen: Filter = { in: [own, rows.map(({ key }) => String(key[0]))] }
      filters.push(isExcept ? { or: [{ not: { in: [own, hidden] } }, seen] } : seen)
    }
    return filters.length > 0 ? { and: filters } : undefined
  }

  async function find(query: FindQuery): Promise<{ hits: Hit[]; total: number }> {
    const { from = 0, size = 10, filter, ...rest } = query
    const narrow = await nearFilter()
    const seen: Hit[] = []
    for (let at = 0; at < MOST_SCANNED; at += SCANNED_AT_ONCE) {
      const { hits } = await collection.find({
        ...rest,
        filter: narrow ? both(narrow, filter) : filter,
        from: at,
        size: SCANNED_AT_ONCE,
        withoutTotal: true,
        withoutTexts: false, // the texts name the hosts of the hits
      })
      seen.push(...(await seenOf(hits, textDoc)))
      if (hits.length < SCANNED_AT_ONCE || (query.withoutTotal && seen.length >= from + size)) break
    }
    const hits = seen.slice(from, from + size).map((hit) => (query.withoutTexts ? { ...hit, text: '' } : hit))
    return { hits, total: query.withoutTotal ? hits.length : seen.length }
  }

  async function getMany(ids: readonly string[]) {
    const docs = [...(await collection.getMany(ids))]
    return new Map(await seenOf(docs, ([, doc]) => doc))
  }
  async function getTexts(ids: readonly string[]) {
    const texts = [...(await collection.getTexts(ids))]
    return new Map(await seenOf(texts, ([, text]) => textDoc({ text })))
  }
  async function* scan(query: Parameters<AnyCollection['scan']>[0]) {
    for await (const batch of collection.scan(query)) yield await seenOf(batch, ({ doc }) => doc)
  }
  return {
    ...one({ getMany, getTexts }),
    getMany,
    getTexts,
    known: async (ids) => new Set((await getTexts(ids)).keys()),
    find,
    similar: async (id, query) => seenOf(await collection.similar(id, query), textDoc),
    count: async (filter, cap = MAX_WINDOW) => Math.min(cap, (await find({ filter, size: 0 })).total),
    aggregate: async () => [],
    scan,
    parts: partsOf(scan),
  }
}
