/** Views limit an account to a part of the archive. Only this file decides what is visible, in any plugin. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { openAsyncContext } from '../base/async-context.ts'
import { chunksOf } from '../base/chunk.ts'
import type { IndexDefinition, SeenBy, SeenWith } from './mapping.ts'
import { partsOf } from './parts.ts'
import { type Filter, type FindQuery, type Hit, type IndexAdapter, MAX_WINDOW, READS } from './port.ts'
import { type AnyCollection, withOperations, wrapCollections } from './wrap.ts'

/**
 * Chosen ids by kind, which is the name of an index. With `not_` before the kinds, the view hides these and shows the
 * rest; kinds without it are then exceptions, shown although something hides them.
 */
export type View = Readonly<Record<string, readonly string[]>>

/** The prefix of kinds in a view that hides. */
export const NOT = 'not_'

export const isHiding = (view: View | undefined): boolean =>
  view !== undefined && Object.keys(view).some((kind) => kind.startsWith(NOT))

/** The name of a kind in this view: a view that hides has `not_` before it. */
export const kindIn = (view: View, kind: string): string => (isHiding(view) ? NOT + kind : kind)

/** What is shown, or hidden apart from the exceptions. */
function chosenOf(view: View, kind: string): readonly string[] {
  const chosen = view[kindIn(view, kind)] ?? []
  const exceptions = exceptionsOf(view, kind)
  return exceptions.length > 0 ? chosen.filter((id) => !exceptions.includes(id)) : chosen
}

const exceptionsOf = (view: View, kind: string): readonly string[] => (isHiding(view) && view[kind]) || []

/** Whether the view shows this document. Only for kinds that are visible by their own id alone. */
export const showsId = (view: View, kind: string, id: string): boolean =>
  chosenOf(view, kind).includes(id) !== isHiding(view)

/** Limit of chosen ids per kind: all of them are part of each filter. */
export const MOST_CHOSEN = 500

const asking = openAsyncContext<View>()

/** Limits the reads of `work` to this view. undefined: no limit. */
export const withinView = <Result>(view: View | undefined, work: () => Promise<Result>): Promise<Result> =>
  view ? asking.during(view, work) : work()

/** The same for work that goes on after `begin` has returned, until the returned function is called. */
export const withinViewFrom = <Result>(view: View | undefined, begin: () => Result): [Result, end: () => void] =>
  view ? asking.from(view, begin) : [begin(), () => undefined]

/** Lifts the view for work after the request, and for details of hidden documents that visible ones show. Say why. */
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
    if ('by' in seen) {
      const knownIn = async (name: string, ids: readonly string[]) => {
        const other = named(name)
        return other ? readsOf(other, view).known(ids) : new Set<string>()
      }
      return readsBy(collection, seen, { view, knownIn })
    }
    const other = named(seen.with)
    const by = other?.definition.seen
    if (!other || !by || !('by' in by)) return NOTHING
    return readsWith(collection, seen, { reads: readsOf(other, view), by, view })
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

interface Limits {
  view: View
  /** Which of these documents of another index the view shows. */
  knownIn(index: string, ids: readonly string[]): Promise<Set<string>>
}

/** Characters of texts that are parsed in one turn of the event loop; a single text may be longer. */
const PARSED_AT_ONCE = 500_000

function* parsedTogether(hits: readonly Hit[]): Generator<Hit[]> {
  let [some, length]: [Hit[], number] = [[], 0]
  for (const hit of hits) {
    if (some.length > 0 && length + hit.text.length > PARSED_AT_ONCE) {
      yield some
      ;[some, length] = [[], 0]
    }
    some.push(hit)
    length += hit.text.length
  }
  if (some.length > 0) yield some
}

/** Reads of documents that have a chosen id in one of their fields: the filter is added to every query. */
function readsBy(collection: AnyCollection, seen: SeenBy, limits: Limits): Reads {
  const { view } = limits
  const filter = seenFilter(seen, view)
  const trimmed = trimmedFields(collection.definition, seen, limits)

  /** @returns those that were changed */
  async function trim(docs: readonly Doc[]): Promise<Set<Doc>> {
    const changed = new Set<Doc>()
    for (const { path, seenAmong } of trimmed) {
      const isSeen = await seenAmong(docs.flatMap((doc) => idsIn(doc, path)))
      for (const doc of docs) if (keepIn(doc, path, isSeen)) changed.add(doc)
    }
    return changed
  }

  async function trimHits(hits: readonly Hit[]): Promise<Hit[]> {
    if (trimmed.length === 0) return [...hits]
    const shown: Hit[] = []
    for (const some of parsedTogether(hits)) {
      // Parsing takes a while.
      if (shown.length > 0) await nextTurn()
      const docs = some.map(({ text }) => (text === '' ? {} : (JSON.parse(text) as Doc)))
      const changed = await trim(docs)
      for (const [at, hit] of some.entries())
        shown.push(changed.has(docs[at]!) ? { ...hit, text: JSON.stringify(docs[at]) } : hit)
    }
    return shown
  }

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
    new Map((await trimHits(await hitsOf(ids))).map(({ id, text }) => [id, text]))
  async function getMany(ids: readonly string[]) {
    const docs = await collection.getMany([...(await known(ids))])
    await trim([...docs.values()])
    return docs
  }

  async function* scan(query: Parameters<AnyCollection['scan']>[0]) {
    for await (const batch of collection.scan({ ...query, filter: both(filter, query?.filter) })) {
      await trim(batch.map(({ doc }) => doc))
      yield batch
    }
  }

  return {
    ...one({ getMany, getTexts }),
    getTexts,
    getMany,
    known,
    async find(query) {
      const { hits, total } = await collection.find({ ...query, filter: both(filter, query.filter) })
      return { hits: await trimHits(hits), total }
    },
    similar: async (id, query) =>
      trimHits(await collection.similar(id, { ...query, filter: both(filter, query.filter) })),
    count: (more, cap) => collection.count(both(filter, more), cap),
    async aggregate(query) {
      let rows = await collection.aggregate({ ...query, filter: both(filter, query.filter) })
      for (const { name, seenAmong } of trimmed) {
        const at = query.groupBy?.indexOf(name) ?? -1
        if (at < 0) continue
        const isSeen = await seenAmong(rows.map(({ key }) => key[at]))
        rows = rows.filter(({ key }) => key[at] === null || isSeen(key[at]))
      }
      return rows
    },
    scan,
    parts: partsOf(scan),
  }
}

interface TrimmedField {
  name: string
  path: string[]
  seenAmong(ids: readonly unknown[]): Promise<(id: unknown) => boolean>
}

/** Multi-value fields that refer to other documents, and lists of such references: hidden ones are removed. */
function trimmedFields(
  { fields }: IndexDefinition,
  { by, lists = {} }: SeenBy,
  { view, knownIn }: Limits,
): TrimmedField[] {
  const pathOf = (name: string) => (fields[name]?.path ?? name).split('.')
  const references = Object.entries(by).filter(([, name]) => fields[name]?.multi)
  // A view that shows names all that it shows, and has chosen each list with all that it names.
  if (!isHiding(view))
    return references.map(([kind, name]) => {
      const chosen = new Set<unknown>(chosenOf(view, kind))
      return { name, path: pathOf(name), seenAmong: async () => (id: unknown) => chosen.has(id) }
    })
  // A view that hides may hide a document by another field than its own id.
  const named = [...references.map(([kind, name]): [string, string] => [name, kind]), ...Object.entries(lists)]
  return named.map(([name, index]) => ({
    name,
    path: pathOf(name),
    async seenAmong(ids) {
      const known: ReadonlySet<unknown> = await knownIn(
        index!,
        ids.filter((id) => typeof id === 'string'),
      )
      return (id) => known.has(id)
    },
  }))
}

/** The list at a path, which leads through objects, with what is left of the path in its items. */
function listIn(
  doc: Doc,
  [key = '', ...rest]: readonly string[],
): { of: Doc; key: string; rest: string[] } | undefined {
  const value = doc[key]
  if (Array.isArray(value)) return { of: doc, key, rest }
  return typeof value === 'object' && value !== null ? listIn(value as Doc, rest) : undefined
}

const idOf = (item: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>((value, key) => (value as Doc | null | undefined)?.[key], item)

function idsIn(doc: Doc, path: readonly string[]): unknown[] {
  const list = listIn(doc, path)
  return list ? (list.of[list.key] as unknown[]).map((item) => idOf(item, list.rest)) : []
}

/** Filters the list at a path. @returns whether anything was removed */
function keepIn(doc: Doc, path: readonly string[], isKept: (id: unknown) => boolean): boolean {
  const list = listIn(doc, path)
  if (!list) return false
  const items = list.of[list.key] as unknown[]
  const kept = items.filter((item) => isKept(idOf(item, list.rest)))
  list.of[list.key] = kept
  return kept.length < items.length
}

/** How many hits a search scans for visible ones: those beyond rank lowest. */
const MOST_SCANNED = 1000
const SCANNED_AT_ONCE = 200

interface Host {
  reads: Reads
  by: SeenBy
  view: View
}

/** Documents that are visible if their host is. No filter can say so: hits are checked one by one, up to a limit. */
function readsWith(collection: AnyCollection, { id: field, near = {} }: SeenWith, host: Host): Reads {
  const path = (collection.definition.fields[field]?.path ?? field).split('.')
  const hostOf = (doc: Doc): string => String(path.reduce<unknown>((value, key) => (value as Doc)?.[key], doc))
  const hosts = host.reads

  /** The items whose host is visible. */
  async function seenOf<Item>(items: readonly Item[], docOf: (item: Item) => Doc): Promise<Item[]> {
    const ids = items.map((item) => hostOf(docOf(item)))
    const known = await hosts.known(ids)
    return items.filter((_, at) => known.has(ids[at]!))
  }
  const textDoc = ({ text }: Pick<Hit, 'text'>): Doc => JSON.parse(text) as Doc

  /** Filters by what visible hosts have in each `near` field: as close to the view as a bounded list gets. */
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
