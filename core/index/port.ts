/** What every index adapter offers. It knows no particular collection: plugins declare theirs in manifests. */
import type { Garbled } from './garbled.ts'
import type { Lost } from './in-use.ts'
import type { DocOf, IndexDefinition, NamesOf, Scalar } from './mapping.ts'

/** Counting stops here: `total` is never higher, and no window may end past it. */
export const MAX_WINDOW = 10_000

export type Filter<Names extends string = string> =
  | { and: Filter<Names>[] }
  | { or: Filter<Names>[] }
  | { not: Filter<Names> }
  | { eq: [Names, Scalar] }
  | { in: [Names, readonly Scalar[]] }
  | { range: [Names, { gt?: Scalar; gte?: Scalar; lt?: Scalar; lte?: Scalar }] }
  | { exists: Names }
  | { prefix: [Names, string] }

export interface TextQuery<Names extends string = string> {
  /** As the user typed them, never query syntax. Blank: no text query. Only punctuation or symbols: finds nothing. */
  words: string
  /** Searched fields with their weights; default: all searched fields with the weights of the mapping. */
  fields?: Partial<Record<Names, number>>
  /** `all` (default): every word must be in one of the fields. `any`: one word is enough; more words rank higher. */
  match?: 'all' | 'any'
  /** The last word also matches as a prefix. */
  prefixLast?: boolean
  /** Edits per word: a number, or by length (contract 7). Exact hits first, then those with fewer edits. Default 0. */
  fuzziness?: 0 | 1 | 2 | 'auto'
  /** Drop English stop words, unless the query has no other words. */
  dropStopWords?: boolean
}

export interface FindQuery<Names extends string = string> {
  filter?: Filter<Names> | undefined
  text?: TextQuery<Names> | undefined
  /**
   * Default with `text`: by rank (contract 7), newest first if ranks are equal. Default without: newest first by the
   * mapping's `newest`, or by id if it has none. Documents without a value come last. The last tie-breaker is the id,
   * ascending.
   */
  sort?: Array<{ by: Names; order: 'asc' | 'desc' }> | undefined
  /** Only these documents, in this order (at most MAX_WINDOW ids); `filter` narrows them, `sort` is ignored. */
  ids?: readonly string[] | undefined
  from?: number
  size?: number
  /** Skip the count: `total` is then the number of hits. */
  withoutTotal?: boolean
  /** Leave out the texts of the hits (they are then ''): for callers that show fewer hits than they find. */
  withoutTexts?: boolean
}

export interface Hit {
  id: string
  /** The document as JSON text in the form of the reply, without internal fields; '' with `withoutTexts`. */
  text: string
  /** Rank, 0 without a text query. */
  score: number
}

export interface Found {
  hits: Hit[]
  /** Number of matches, at most MAX_WINDOW. */
  total: number
}

export interface Change<Doc = object, Names extends string = string> {
  /** Merge patch (RFC 7396): merges objects, null removes a key. May set internal fields. */
  set?: MergePatch<Doc>
  /** Values to add to multi-value fields, without duplicates. */
  add?: Partial<Record<Names, string[]>>
  /** Values to remove from multi-value fields. */
  remove?: Partial<Record<Names, string[]>>
}
export type MergePatch<Doc> = {
  [Key in keyof Doc]?:
    | (NonNullable<Doc[Key]> extends object
        ? NonNullable<Doc[Key]> extends readonly unknown[]
          ? Doc[Key]
          : MergePatch<NonNullable<Doc[Key]>>
        : Doc[Key])
    | null
}

export interface WriteOptions {
  /** Return only when the next read finds the change. Costs time on an index server, none on the embedded index. */
  visible?: boolean
}

export interface BulkOptions extends WriteOptions {
  signal?: AbortSignal | undefined
  /** Documents done so far. */
  progress?: ((done: number) => void) | undefined
}

export interface PutManyOptions extends BulkOptions {
  /** Leave existing documents unchanged and list their ids in `kept`. */
  onlyNew?: boolean
}

export interface BulkResult {
  written: number
  /** With `onlyNew`: ids of documents that already existed. */
  kept?: string[]
  /** Documents that could not be written, each with the reason; all others were written. */
  failed: Array<{ id: string; reason: string }>
}

export interface AggregateQuery<Names extends string = string> {
  filter?: Filter<Names> | undefined
  /** Groups by the combined values of these fields. Omitted: one group of all documents. */
  groupBy?: Names[] | undefined
  /** By local day, week (from Monday) or month of epoch seconds, oldest first. The key: its first day, `YYYY-MM-DD`. */
  histogram?: { field: Names; interval: 'day' | 'week' | 'month' } | undefined
  sums?: Names[] | undefined
  orderBy?: { metric: 'count' | Names; order: 'asc' | 'desc' } | undefined
  /** Maximum number of groups; default 10,000. */
  limit?: number
}

export interface AggregateRow {
  /** One value per `groupBy` field, or the first day of the span. null: documents without a value. */
  key: Array<Scalar | null>
  count: number
  sums: Record<string, number>
}

/** Used as a path in `parts`: its value is a text that changes whenever the stored document changes. */
export const STAMP = '@stamp'

export interface PartsQuery<Names extends string = string> {
  filter?: Filter<Names> | undefined
  paths: readonly string[]
  batch?: number
}

export interface Part {
  id: string
  /** One per path. A list or an object is returned as JSON text; null: there is no such value. */
  values: Array<Scalar | null>
}

/** One collection of the index. Reads see whole documents: a write is never partly visible. */
export interface Collection<Doc extends object = Record<string, unknown>, Names extends string = string> {
  readonly definition: IndexDefinition
  /** The whole document, internal fields included. */
  get(id: string): Promise<Doc | undefined>
  /** The stored text, in the form of the reply. */
  getText(id: string): Promise<string | undefined>
  /** The stored texts of those that exist, by id. At most MAX_WINDOW ids. */
  getTexts(ids: readonly string[]): Promise<Map<string, string>>
  getMany(ids: readonly string[]): Promise<Map<string, Doc>>
  /** Which of these exist. */
  known(ids: readonly string[]): Promise<Set<string>>
  /** Creates or replaces: for documents with a single writer, as changes of others would be lost. */
  put(id: string, doc: Doc, options?: WriteOptions): Promise<void>
  putMany(docs: ReadonlyArray<{ id: string; doc: Doc }>, options?: PutManyOptions): Promise<BulkResult>
  /** @returns false: the document already exists and stays unchanged */
  create(id: string, doc: Doc, options?: WriteOptions): Promise<boolean>
  /** @returns false: no such document */
  patch(id: string, change: Change<Doc, Names>, options?: WriteOptions): Promise<boolean>
  /** Changes all matching documents, in chunks; repeating is harmless. @returns the number of matches */
  patchWhere(filter: Filter<Names>, change: Change<Doc, Names>, options?: BulkOptions): Promise<number>
  /** @returns the number of documents that existed */
  remove(ids: string | readonly string[], options?: WriteOptions): Promise<number>
  removeWhere(filter: Filter<Names>, options?: BulkOptions): Promise<number>
  find(query: FindQuery<Names>): Promise<Found>
  /** Similar documents by the rare words of the searched fields, best first, without the document itself. */
  similar(id: string, query: { size: number; filter?: Filter<Names>; fields?: Names[] }): Promise<Hit[]>
  /** The number of matches, at most `cap` (default MAX_WINDOW; Infinity counts all). */
  count(filter?: Filter<Names>, cap?: number): Promise<number>
  aggregate(query: AggregateQuery<Names>): Promise<AggregateRow[]>
  /** All matches in batches (default 200; of large documents fewer). Concurrent writes may or may not be seen. */
  scan(query?: {
    filter?: Filter<Names>
    batch?: number
    order?: 'id' | 'newest last'
  }): AsyncIterable<Array<{ id: string; doc: Doc }>>
  /**
   * Streams single values of all matches by id, in batches (default 1000). No document is parsed for fields that are
   * filtered, sorted by or declared with `parts`. Concurrent writes may or may not be seen.
   * @param query.paths  dotted, through lists by number: `size.width`, `notes.0.text`; or STAMP
   */
  parts(query: PartsQuery<Names>): AsyncIterable<Part[]>
}

/** Whether each operation of a collection reads or writes. */
const OPERATIONS = {
  ...{ get: 'read', getText: 'read', getTexts: 'read', getMany: 'read', known: 'read', find: 'read' },
  ...{ similar: 'read', count: 'read', aggregate: 'read', scan: 'read', parts: 'read' },
  ...{ put: 'write', putMany: 'write', create: 'write', patch: 'write', patchWhere: 'write' },
  ...{ remove: 'write', removeWhere: 'write' },
} as const satisfies Record<Exclude<keyof Collection, 'definition'>, 'read' | 'write'>

export type Operation = keyof typeof OPERATIONS
const operationsThat = (what: 'read' | 'write'): Operation[] =>
  (Object.keys(OPERATIONS) as Operation[]).filter((name) => OPERATIONS[name] === what)
export const READS = operationsThat('read')
export const WRITES = operationsThat('write')

export interface StepOptions {
  signal?: AbortSignal | undefined
  /** Done so far, and the total, in a unit of the adapter's choice. */
  progress?: ((done: number, total: number) => void) | undefined
}

export interface RestoreOptions extends StepOptions {
  /** Called for each document before it is written: returns it, changed or not, or undefined to leave it out. */
  accept?:
    | ((collection: string, id: string, doc: Record<string, unknown>) => Record<string, unknown> | undefined)
    | undefined
}

export interface RestoreResult {
  written: number
  /** The number of documents left out: their id is malformed, they fail the schema, or `accept` refused them. */
  skipped: number
  /** The first hundred of them, with the reasons. */
  failed: BulkResult['failed']
}

/** Writes into the replacement of a collection. */
export type ReplaceWrite = (
  collection: string,
  docs: ReadonlyArray<{ id: string; doc: object }>,
  options?: BulkOptions,
) => Promise<BulkResult>

export interface SnapshotRecord {
  id: string
  state: 'IN_PROGRESS' | 'SUCCESS' | 'PARTIAL' | 'FAILED'
  /** Version of the index that took the snapshot. */
  version: string
  /** Epoch milliseconds; `endedAt` is 0 while the snapshot is being taken. */
  startedAt: number
  endedAt: number
  /** Its own size on disk. Omitted: shared with other snapshots, or unknown. */
  bytes?: number
}

export interface Snapshots {
  /** Why no snapshot can be taken: a sentence for people. */
  readonly off?: string
  /** Newest first. */
  list(): Promise<SnapshotRecord[]>
  get(id: string): Promise<SnapshotRecord | undefined>
  /** Takes a snapshot during reads and writes; resolves when it is complete. @throws conflict: one is being taken */
  take(id: string, options?: StepOptions): Promise<void>
  /** @throws not_found, conflict (the snapshot is being taken) */
  remove(id: string): Promise<void>
  /** Reads single documents; damaged ones are left out. @throws not_found, conflict (not SUCCESS) */
  read?(id: string, collection: string, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>>
  /** All or nothing. @throws not_found, conflict (not SUCCESS, or a restore runs) */
  restore(id: string, options?: RestoreOptions): Promise<RestoreResult>
}

/** A collection from an earlier version that no plugin declares any more. */
export interface Leftover {
  /** All readable documents, by id. */
  scan(): AsyncIterable<Array<{ id: string; doc: Record<string, unknown> }>>
  /** May be repeated. */
  remove(): Promise<void>
}

/** What an adapter offers. */
export interface IndexAdapter {
  /** What stores the documents, as shown to people. */
  readonly kind: string
  readonly version: string
  collection<Definition extends IndexDefinition>(
    definition: Definition,
  ): Collection<DocOf<Definition>, NamesOf<Definition>>
  readonly definitions: readonly IndexDefinition[]
  /** Set if the index was damaged at the start: the old files have been moved to this path, and the index is empty. */
  readonly recovered?: string | undefined
  /** For an index on a server: resolves when the server answers. Jobs wait for it. @throws unavailable */
  available?(): Promise<void>
  /** Grows with every visible write to a collection. Cheap. Left out if only the index server knows it. */
  versionOf?(collection: string): number
  /** A number stored with the documents, lower in an older copy; 0: not yet. Snapshots do not contain it. */
  readonly generation?: { read(): Promise<number>; keep(generation: number): Promise<void> }
  /** Frees caches after a time without requests. */
  relax?(): Promise<void>
  /** Reports stored texts that are no longer JSON, in short steps. Left out if the server has checksums. */
  findGarbled?(signal: AbortSignal): Promise<void>
  /** Makes all earlier writes visible to all reads. */
  refresh(): Promise<void>
  /** Copies all collections, as they are when it ends. @param path  a new file, or a name in the server's repository */
  snapshotTo(path: string, options?: StepOptions): Promise<void>
  /**
   * Replaces the documents of all declared collections, all or nothing. `load` writes the new ones separately; they are
   * swapped in when it resolves. If it rejects, or the process ends, nothing changes. A collection that `load` does not
   * write becomes empty. Other writes would be lost, and a second call would interfere: the write barrier blocks both.
   * Reads continue.
   */
  replaceAll(load: (write: ReplaceWrite) => Promise<void>): Promise<void>
  /**
   * Replaces all documents by those of a snapshot; those with a malformed id or a fault are left out and counted.
   * @param path  the file, or the name in the server's repository. @throws unprocessable  not a snapshot
   */
  restoreFrom(path: string, options?: RestoreOptions): Promise<RestoreResult>
  /** For plugins that now store a former collection elsewhere. undefined: no such collection. */
  leftover?(name: string): Promise<Leftover | undefined>
  /** Reads single documents of a snapshot, by id. @param path  as in `restoreFrom` */
  readFrom?(path: string, collection: string, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>>
  close(): Promise<void>
}

/** The index as the server uses it: an adapter behind the write barrier. */
export interface Index extends Omit<IndexAdapter, 'replaceAll'> {
  /** Set when a start found documents missing that had been there, until a restore or `settle`. */
  readonly lost: Lost | undefined
  /** @param swapped  called after the swap, before other writes: for data about documents that lies elsewhere */
  replaceAll(load: (write: ReplaceWrite) => Promise<void>, swapped?: () => Promise<void>): Promise<void>
  /** Confirms that the missing documents are back, or that nothing is missing. */
  settle(): Promise<void>
  /** Resolves when writes are possible: await it before a change elsewhere that must come first. @throws unavailable */
  writable(): Promise<void>
  readonly snapshots: Snapshots
  readonly garbled: Garbled
}
