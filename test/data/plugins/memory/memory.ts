/** All collections in memory: each document as its text, which every query scans from the first to the last. */
import { createHash } from 'node:crypto'
import { errors, STAMP, chunksOf, type Scalar } from 'archivolt'
import type { BulkResult, Change, Collection, Filter, FindQuery, Hit, IndexDefinition } from 'archivolt'
import { type AdapterParts, applyChange, checkCount, checkedDoc, checkId, definitionData, type IndexAdapter, type IndexPlan, isWordy, type JsonObject, LEAST_SCORE, MAX_WINDOW, type OpenedAdapter, openCollections, orderOf, partOf, planIndex, Refusal, rarest, similarScope, sortKey, type StoredTexts, storedTexts, tellingWords, undeclaredIndex, valuesOf, wholeDoc, windowOf } from 'archivolt/index'
import { aggregate } from './aggregate.ts'
import { matches } from './filter.ts'
import { matchText, type Words, wordsOf } from './search.ts'

const DOCS_AT_ONCE = 100
const NO_SNAPSHOTS = 'Documents in memory have no snapshots'

/** One document with its parsed values. */
export interface Entry extends StoredTexts {
  id: string
  doc: JsonObject
  words: Words
}
type Shelf = Map<string, Entry>

/**
 * Data folder → collection → id → document: an index that is closed and opened again in one process keeps its
 * documents.
 */
const places = new Map<string, Map<string, Map<string, StoredTexts>>>()

/** By data folder. */
const generations = new Map<string, number>()

export async function openMemory({ settings, definitions, version, holdings }: AdapterParts): Promise<OpenedAdapter> {
  const before = places.get(settings.dataDir)
  if (!before && holdings.opened) await holdings.noteLost('The documents were in memory only')
  const shelves = new Map<string, Shelf>()
  places.set(settings.dataDir, shelves)
  const plans = new Map(definitions.map((definition) => [definition.name, planIndex(definitionData(definition))]))
  const planOf = (name: string): IndexPlan => {
    const plan = plans.get(name)
    if (!plan) throw undeclaredIndex(name)
    return plan
  }
  for (const [name, plan] of plans) {
    const shelf: Shelf = new Map()
    for (const [id, { text, internal }] of before?.get(name) ?? [])
      shelf.set(id, entryOf(plan, id, wholeDoc(text, internal)))
    shelves.set(name, shelf)
  }
  const none = async () => {
    throw errors.conflict(NO_SNAPSHOTS)
  }

  const index: IndexAdapter = {
    kind: 'memory',
    version,
    definitions,
    collection: openCollections(definitions, (definition) =>
      openCollection(definition, planOf(definition.name), () => shelves.get(definition.name)!),
    ),
    refresh: async () => undefined,
    async replaceAll(load) {
      const fresh = new Map<string, Shelf>([...plans.keys()].map((name) => [name, new Map()]))
      await load(async (name, docs) => putAll(planOf(name), fresh.get(name)!, docs))
      for (const [name, shelf] of fresh) shelves.set(name, shelf)
    },
    snapshotTo: none,
    restoreFrom: none,
    generation: {
      read: async () => generations.get(settings.dataDir) ?? 0,
      keep: async (generation) => void generations.set(settings.dataDir, generation),
    },
    close: async () => undefined,
  }
  const snapshots = { off: NO_SNAPSHOTS, list: async () => [], get: async () => undefined }
  return { index, openSnapshots: async () => ({ ...snapshots, take: none, remove: none, restore: none }) }
}

/** @throws WrongType */
function entryOf(plan: IndexPlan, id: string, doc: JsonObject): Entry {
  checkId(id)
  for (const field of plan.plans) valuesOf(field, doc)
  const stored = storedTexts(plan.plans, plan.data.lastKey, doc)
  return { id, ...stored, doc: wholeDoc(stored.text, stored.internal), words: wordsOf(plan, doc) }
}

/** @returns the reason why it was not put */
function put({ data, ...plan }: IndexPlan, shelf: Shelf, id: string, doc: object): string | undefined {
  try {
    shelf.set(id, entryOf({ data, ...plan }, id, checkedDoc(data.name, id, doc)))
    return undefined
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `${data.name} ${id}: ${error.message}`
  }
}

function putAll(plan: IndexPlan, shelf: Shelf, docs: ReadonlyArray<{ id: string; doc: object }>): BulkResult {
  const failed = docs.flatMap(({ id, doc }) => {
    const reason = put(plan, shelf, id, doc)
    return reason === undefined ? [] : [{ id, reason }]
  })
  return { written: docs.length - failed.length, failed }
}

const byId = (a: Entry, b: Entry): number => Buffer.compare(Buffer.from(a.id), Buffer.from(b.id))

/** The first different field decides; documents without a value come last. */
function inOrder(plan: IndexPlan, sort: FindQuery['sort']): (a: Entry, b: Entry) => number {
  const orders = orderOf(plan, sort).map((each) => ({
    sign: each.order === 'asc' ? 1 : -1,
    key: ({ doc }: Entry): Scalar | undefined => {
      const [value] = valuesOf(each.plan, doc)
      return value !== undefined && isWordy(each.plan) ? sortKey(String(value)) : value
    },
  }))
  return (a, b) => {
    for (const { sign, key } of orders) {
      const [one, other] = [key(a), key(b)]
      if (one === other) continue
      if (one === undefined || other === undefined) return one === undefined ? 1 : -1
      return one < other ? -sign : sign
    }
    return byId(a, b)
  }
}

function openCollection(definition: IndexDefinition, plan: IndexPlan, shelf: () => Shelf): Collection {
  const matching = (filter: Filter | undefined): Entry[] =>
    [...shelf().values()].filter(({ doc }) => matches(plan, doc, filter))

  const change = (id: string, asked: Change<Record<string, unknown>>): boolean => {
    const before = shelf().get(id)
    if (!before) return false
    const doc = applyChange(plan.plans, plan.data.keys, structuredClone(before.doc), structuredClone(asked))
    const reason = put(plan, shelf(), id, doc)
    if (reason !== undefined) throw errors.unprocessable(reason)
    return true
  }

  const ranked = (entries: readonly Entry[], text: NonNullable<FindQuery['text']>): Array<[Entry, number]> =>
    matchText(plan, entries, text).sort(([a, one], [b, other]) => other - one || inOrder(plan, undefined)(a, b))

  const pageOf = (query: FindQuery, found: ReadonlyArray<[Entry, number]>) => {
    const { from, size } = windowOf(definition, query)
    const hits = found.slice(from, from + size).map(
      ([{ id, text }, score]): Hit => ({ id, text: query.withoutTexts ? '' : text, score }),
    )
    return { hits, total: query.withoutTotal ? hits.length : Math.min(found.length, MAX_WINDOW) }
  }

  return {
    definition,
    get: async (id) => structuredClone(shelf().get(id)?.doc),
    getText: async (id) => shelf().get(id)?.text,
    async getTexts(ids) {
      checkCount(definition, ids)
      return new Map(ids.flatMap((id) => (shelf().has(id) ? [[id, shelf().get(id)!.text]] : [])))
    },
    async getMany(ids) {
      checkCount(definition, ids)
      return new Map(ids.flatMap((id) => (shelf().has(id) ? [[id, structuredClone(shelf().get(id)!.doc)]] : [])))
    },
    known: async (ids) => new Set(ids.filter((id) => shelf().has(id))),
    async put(id, doc) {
      const reason = put(plan, shelf(), id, doc)
      if (reason !== undefined) throw errors.unprocessable(reason)
    },
    async create(id, doc) {
      if (shelf().has(id)) return false
      await this.put(id, doc)
      return true
    },
    async putMany(docs, { signal, progress, onlyNew = false } = {}) {
      const kept = onlyNew ? docs.flatMap(({ id }) => (shelf().has(id) ? [id] : [])) : []
      const result: BulkResult = { written: 0, failed: [], ...(onlyNew && { kept }) }
      let done = 0
      for (const some of chunksOf(docs, DOCS_AT_ONCE)) {
        signal?.throwIfAborted()
        const { written, failed } = putAll(
          plan,
          shelf(),
          some.filter(({ id }) => !kept.includes(id)),
        )
        result.written += written
        result.failed.push(...failed)
        progress?.((done += some.length))
      }
      return result
    },
    patch: async (id, asked) => change(id, asked),
    async patchWhere(filter, asked, { progress } = {}) {
      const found = matching(filter)
      for (const { id } of found) change(id, asked)
      progress?.(found.length)
      return found.length
    },
    remove: async (ids) => [ids].flat().filter((id) => shelf().delete(id)).length,
    async removeWhere(filter, { progress } = {}) {
      const found = matching(filter)
      for (const { id } of found) shelf().delete(id)
      progress?.(found.length)
      return found.length
    },
    async find(query) {
      const { ids, text } = query
      const found = matching(query.filter)
      const unranked = (entries: Entry[], score: number) => pageOf(query, entries.map((entry) => [entry, score]))
      if (text && text.words.trim() !== '') {
        if (!query.sort || query.sort.length === 0) return pageOf(query, ranked(found, text))
        const entries = matchText(plan, found, text).map(([entry]) => entry)
        return unranked(entries.sort(inOrder(plan, query.sort)), LEAST_SCORE)
      }
      if (!ids) return unranked(found.sort(inOrder(plan, query.sort)), 0)
      checkCount(definition, ids)
      const left = new Set(found)
      return unranked(
        ids.flatMap((id) => shelf().get(id) ?? []).filter((entry) => left.has(entry)),
        0,
      )
    },
    async similar(id, { size, filter, fields }) {
      const self = shelf().get(id)
      if (!self) return []
      const scope = similarScope(plan, fields)
      const asked = { fields: scope, match: 'any' } as const
      const all = [...shelf().values()]
      const words = rarest(
        tellingWords(plan, self.doc, scope).map((word) => ({
          word,
          count: matchText(plan, all, { ...asked, words: word }).length,
        })),
      )
      const found = ranked(matching(filter), { ...asked, words: words.join(' ') }).filter(([entry]) => entry !== self)
      return pageOf({ size }, found).hits
    },
    count: async (filter, cap = MAX_WINDOW) => Math.min(cap, matching(filter).length),
    aggregate: async (query) => aggregate(plan, matching(query.filter), query),
    async *parts({ filter, paths, batch = 1000 }) {
      for (const some of chunksOf(matching(filter).sort(byId), batch))
        yield some.map(({ id, doc, text }) => ({
          id,
          values: paths.map((path) => (path === STAMP ? createHash('sha1').update(text).digest('hex') : partOf(doc, path))),
        }))
    },
    async *scan({ filter, batch = 200, order = 'id' } = {}) {
      const { newest } = plan
      const age = (entry: Entry): number => Number((newest && valuesOf(newest, entry.doc)[0]) ?? -Infinity)
      const found = matching(filter).sort((a, b) => (order === 'id' ? 0 : age(a) - age(b)) || byId(a, b))
      for (const some of chunksOf(found, batch)) {
        const there = some.flatMap(({ id }) => shelf().get(id) ?? [])
        if (there.length > 0) yield there.map(({ id, doc }) => ({ id, doc: structuredClone(doc) }))
      }
    },
  }
}
