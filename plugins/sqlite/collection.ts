/**
 * One collection on the embedded index: point reads and indexed pages here, on a read-only connection; all else in the
 * worker.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { errors } from 'archivolt'
import {
  type BulkResult,
  type Collection,
  checkCount,
  checkedDoc,
  chunksOf,
  type Filter,
  type FindQuery,
  type Found,
  type Hit,
  type IndexDefinition,
  MAX_WINDOW,
  Slice,
  wholeDoc,
  windowOf,
  zoneChanges,
} from 'archivolt/index'
import { type Connection, isDamage } from './connection.ts'
import { countSql, equalColumns, pageSql } from './filter.ts'
import type { Layout, TableNames } from './layout.ts'
import type { CallOptions, Link } from './link.ts'
import type { FoundRows, IdText } from './protocol.ts'
import { listedCount, listedPage } from './value-lists.ts'

const IDS_AT_ONCE = 200
const KNOWN_AT_ONCE = 1000
const DOCS_A_MESSAGE = 100
const CHARACTERS_A_MESSAGE = 2_000_000
const BATCH = 200

interface Place {
  definition: IndexDefinition
  layout: Layout
  /** Of the version that counts now: asked for anew after every await. */
  names(): TableNames
  reader(): Connection
  link(): Link
  /** Told when a read meets a malformed page. */
  noteDamage(error: unknown): void
}

interface Row {
  id: string
  text: string
  internal: string | null
}

export function openCollection(place: Place): Collection<Record<string, unknown>, string> {
  const { definition, layout } = place
  const { name } = definition
  const names = () => place.names()

  const reading = <Value>(read: (reader: Connection) => Value): Value => {
    try {
      return read(place.reader())
    } catch (error) {
      if (isDamage(error)) place.noteDamage(error)
      throw error
    }
  }
  const row = (key: 'id' | 'rid', value: string | number): Row | undefined => {
    const { main, doc } = names()
    return reading(({ sql }) =>
      sql<Row>(
        `SELECT m.id, d.text, d.internal FROM "${main}" m JOIN "${doc}" d ON d.rid = m.rid WHERE m.${key} = ?`,
      ).get(value),
    )
  }
  const one = (id: string) => row('id', id)
  const textOf = (id: string): string | undefined => {
    const { main, doc } = names()
    return reading(({ pluck }) =>
      pluck<string>(`SELECT d.text FROM "${main}" m JOIN "${doc}" d ON d.rid = m.rid WHERE m.id = ?`).get(id),
    )
  }

  const pages = (query: FindQuery): Found | undefined => {
    const { from = 0, size = 10 } = query
    return reading((reader) => {
      const { pluck, together } = reader
      return together(() => {
        const page = listedPage(reader, layout, names(), query) ?? pageSql(layout, names(), query)
        if (!page.isLight) return undefined
        // One value a row: an object with two would cost as much as finding it. No id has a line feed.
        const rows = query.withoutTexts
          ? `SELECT m.id || char(10) FROM (${page.text}) m`
          : `SELECT m.id || char(10) || d.text FROM (${page.text}) m CROSS JOIN "${names().doc}" d ON d.rid = m.rid`
        const hits = pluck<string>(rows)
          .all(...page.values, size, from)
          .map((row): Hit => {
            const at = row.indexOf('\n')
            return { id: row.slice(0, at), text: row.slice(at + 1), score: 0 }
          })
        return { hits, total: query.withoutTotal ? hits.length : countNow(query.filter, MAX_WINDOW) }
      })
    })
  }

  const countNow = (filter: Filter | undefined, cap: number): number =>
    reading((reader) => {
      const { text, values } =
        listedCount(reader, layout, names(), filter, cap) ?? countSql(layout, names(), filter, cap)
      return reader.count(text, values)
    })

  const toHits = async ({ ids, scores }: FoundRows, withoutTexts = false): Promise<Hit[]> => {
    if (withoutTexts) return ids.map((id, at) => ({ id, text: '', score: scores[at]! }))
    const found = await collection.getTexts(ids)
    return ids.flatMap((id, at) => {
      const text = found.get(id)
      return text === undefined ? [] : [{ id, text, score: scores[at]! }]
    })
  }

  const collection: Collection<Record<string, unknown>, string> = {
    definition,

    async get(id) {
      const found = one(id)
      return found && wholeDoc(found.text, found.internal)
    },

    async getText(id) {
      return textOf(id)
    },

    async getTexts(ids) {
      const found = new Map<string, string>()
      checkCount(definition, ids)
      const take = (id: string) => {
        const text = textOf(id)
        if (text !== undefined) found.set(id, text)
      }
      await inTurns(ids, IDS_AT_ONCE, (some) => reading(({ together }) => together(() => some.forEach(take))))
      return found
    },

    async getMany(ids) {
      const found = new Map<string, Record<string, unknown>>()
      checkCount(definition, ids)
      await inTurns(ids, IDS_AT_ONCE, async (some) => {
        const rows = reading(({ together }) => together(() => some.flatMap((id) => one(id) ?? [])))
        for await (const { id, doc } of parsed(rows)) found.set(id, doc)
      })
      return found
    },

    async known(ids) {
      const found = new Set<string>()
      await inTurns(ids, KNOWN_AT_ONCE, (some) => {
        const present = reading(({ pluck }) =>
          pluck<string>(`SELECT id FROM "${names().main}" WHERE id IN (SELECT value FROM json_each(?))`).all(
            JSON.stringify(some),
          ),
        )
        for (const id of present) found.add(id)
      })
      return found
    },

    async put(id, doc) {
      const failed = await place.link().call('put', { name, docs: [[id, JSON.stringify(checkedDoc(name, id, doc))]] })
      if (failed[0]) throw errors.unprocessable(failed[0].reason)
    },

    putMany: (docs, options = {}) => putAll(place.link(), name, docs, options),

    patch: (id, change) => place.link().call('patch', { name, id, change: JSON.stringify(change) }),

    patchWhere: (filter, change, options = {}) =>
      place.link().call('patchWhere', { name, filter, change: JSON.stringify(change) }, callOptions(options)),

    remove: (ids) => place.link().call('remove', { name, ids: typeof ids === 'string' ? [ids] : [...ids] }),

    removeWhere: (filter, options = {}) => place.link().call('removeWhere', { name, filter }, callOptions(options)),

    async find(query) {
      windowOf(definition, query)
      const hasWords = query.text !== undefined && query.text.words.trim() !== ''
      if (query.ids) checkCount(definition, query.ids)
      const here = hasWords || query.ids ? undefined : pages(query)
      if (here) return here
      const found = await place.link().call('find', { name, query })
      return { hits: await toHits(found, query.withoutTexts), total: found.total }
    },

    async similar(id, query) {
      return toHits(await place.link().call('similar', { name, id, query }))
    },

    async count(filter, cap = MAX_WINDOW) {
      const equal = equalColumns(layout, filter)
      const isIndexed =
        equal !== undefined &&
        (equal.size === 0 ||
          layout.indexes.some(({ columns }) => columns.slice(0, equal.size).every((column) => equal.has(column.name))))
      const isLight =
        cap <= MAX_WINDOW &&
        (isIndexed || reading((reader) => listedCount(reader, layout, names(), filter, cap)) !== undefined)
      return isLight ? countNow(filter, cap) : place.link().call('count', { name, filter, cap })
    },

    aggregate: (query) => place.link().call('aggregate', { name, query, zone: query.histogram ? zoneChanges() : [] }),

    async *scan({ filter, batch = BATCH, order = 'id' } = {}) {
      let at: string | number | undefined
      do {
        const page = await place
          .link()
          .call('page', { name, filter, order: order === 'id' ? 'id' : 'row', after: at, size: batch })
        at = page.at
        const docs: Array<{ id: string; doc: Record<string, unknown> }> = []
        for await (const each of parsed(rowsAt(page.rids))) docs.push(each)
        if (docs.length > 0) yield docs
      } while (at !== undefined)
    },
  }

  function* rowsAt(rids: readonly number[]): Generator<Row> {
    for (const rid of rids) {
      const found = row('rid', rid)
      if (found) yield found
    }
  }

  return collection
}

/** A few ids in a turn of the loop. */
async function inTurns(
  ids: readonly string[],
  size: number,
  read: (some: readonly string[]) => Promise<void> | void,
): Promise<void> {
  let isFirst = true
  for (const some of chunksOf(ids, size)) {
    if (!isFirst) await nextTurn()
    isFirst = false
    await read(some)
  }
}

/** Parses in slices: a batch of documents can be megabytes. */
async function* parsed(rows: Iterable<Row>): AsyncGenerator<{ id: string; doc: Record<string, unknown> }> {
  const slice = new Slice()
  for (const { id, text, internal } of rows) {
    yield { id, doc: wholeDoc(text, internal) }
    if (slice.isOver) await slice.next()
  }
}

const callOptions = ({
  signal,
  progress,
}: {
  signal?: AbortSignal | undefined
  progress?: ((done: number) => void) | undefined
}): CallOptions => ({ signal, progress })

/**
 * Sends documents in messages of bounded size, one at a time: the worker's queue does not grow, and the loop is free
 * between two.
 */
export async function putAll(
  link: Link,
  name: string,
  docs: ReadonlyArray<{ id: string; doc: object }>,
  { signal, progress }: { signal?: AbortSignal | undefined; progress?: ((done: number) => void) | undefined },
  isStaged = false,
): Promise<BulkResult> {
  const failed: BulkResult['failed'] = []
  let at = 0
  while (at < docs.length) {
    signal?.throwIfAborted()
    const texts: IdText[] = []
    const slice = new Slice()
    for (
      let size = 0;
      at < docs.length && texts.length < DOCS_A_MESSAGE && size < CHARACTERS_A_MESSAGE && !slice.isOver;
      at++
    ) {
      const { id, doc } = docs[at]!
      const text = JSON.stringify(checkedDoc(name, id, doc))
      texts.push([id, text])
      size += text.length
    }
    // The last message syncs the log, and with it all before.
    failed.push(
      ...(await link.call('put', { name, docs: texts, isStaged, durable: at < docs.length ? 'later' : undefined })),
    )
    progress?.(at)
  }
  return { written: docs.length - failed.length, failed }
}
