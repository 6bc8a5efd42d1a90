/**
 * The contract every index adapter keeps, in our words. It knows no names: an index is declared by the manifest that
 * owns it.
 */
import type { Garbled } from './garbled.ts'
import type { Lost } from './in-use.ts'
import type { DocOf, IndexDefinition, NamesOf, Scalar } from './mapping.ts'

/** Counting ends here: `total` is never more. A window may not end past it. */
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
  /**
   * The words as the user typed them: never syntax. Folded, split and segmented by text.ts.
   * Blank: as if there were no text query. Signs only: finds nothing.
   */
  words: string
  /** Searched fields with their weights; default: all searched fields with the weights of the mapping. */
  fields?: Partial<Record<Names, number>>
  /** `all` (default): each word in any of the fields. `any`: one is enough; documents with more of them come first. */
  match?: 'all' | 'any'
  /** The last word also matches as a prefix. */
  prefixLast?: boolean
  /** Edits per word: a number, or by length (contract 7). Exact hits always rank first. Default 0. */
  fuzziness?: 0 | 1 | 2 | 'auto'
  /** Leave English stop words out of the query, unless it has no other words. */
  dropStopWords?: boolean
}

export interface FindQuery<Names extends string = string> {
  filter?: Filter<Names> | undefined
  text?: TextQuery<Names> | undefined
  /**
   * Default with `text`: by rank, newest first where ranks are equal or more than MAX_WINDOW match. Else by the
   * mapping's `newest`, newest first (none: by id). Documents without a value come last. The id is the last tie-breaker
   * (ascending).
   */
  sort?: Array<{ by: Names; order: 'asc' | 'desc' }> | undefined
  /** Only these, in this order (at most MAX_WINDOW); `filter` narrows them, `sort` is not looked at. */
  ids?: readonly string[] | undefined
  from?: number
  size?: number
  /** Leave the total out (it is then the number of hits): saves a count. */
  withoutTotal?: boolean
  /** Leave the texts of the hits out (they are then ''): for who shows fewer than are found. */
  withoutTexts?: boolean
}

export interface Hit {
  id: string
  /** The document as JSON text in the form of the reply, without internal fields. '': left out. */
  text: string
  /** Rank, 0 without a text query. */
  score: number
}

/** A rank as replies show it. */
export const roundScore = (score: number): number => Math.round(score * 100) / 100

export interface Found {
  hits: Hit[]
  /** How many match, at most MAX_WINDOW. */
  total: number
}

export interface Change<Doc = object, Names extends string = string> {
  /**
   * Merge patch (RFC 7396): objects are merged, null removes a key, anything else replaces. May set internal fields.
   */
  set?: MergePatch<Doc>
  /** Values to add to multi-value fields, without repeating one. */
  add?: Partial<Record<Names, string[]>>
  /** Values to take out of multi-value fields. */
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
  /**
   * The caller's next read depends on it: return when it can be found. Costs time on a server; nothing on the embedded
   * index.
   */
  visible?: boolean
}

export interface BulkOptions extends WriteOptions {
  signal?: AbortSignal | undefined
  /** Documents done so far. */
  progress?: ((done: number) => void) | undefined
}

export interface PutManyOptions extends BulkOptions {
  /** Documents that are there already stay as they are, and are named in `kept`. */
  onlyNew?: boolean
}

export interface BulkResult {
  written: number
  /** With `onlyNew`. */
  kept?: string[]
  /** Documents that could not be written, each with its reason; the others are in. */
  failed: Array<{ id: string; reason: string }>
}

export interface AggregateQuery<Names extends string = string> {
  filter?: Filter<Names> | undefined
  /** Groups by these fields' values together; one group of all when left out. */
  groupBy?: Names[] | undefined
  /**
   * Groups by the local day, week (Monday) or month of an epoch-seconds field, oldest first; the key is that span's
   * first day, `YYYY-MM-DD`.
   */
  histogram?: { field: Names; interval: 'day' | 'week' | 'month' } | undefined
  /** Fields that are summed in each group. */
  sums?: Names[] | undefined
  orderBy?: { metric: 'count' | Names; order: 'asc' | 'desc' } | undefined
  /** At most so many groups; default 10,000. */
  limit?: number
}

export interface AggregateRow {
  /** One value per `groupBy` field, or the span's first day. null: documents without a value. */
  key: Array<Scalar | null>
  count: number
  sums: Record<string, number>
}

/** One index. All reads see whole documents: a write is never half visible. */
export interface Collection<Doc extends object = Record<string, unknown>, Names extends string = string> {
  readonly definition: IndexDefinition
  /** The whole document, internal fields included. */
  get(id: string): Promise<Doc | undefined>
  /** As stored: the text of the reply. */
  getText(id: string): Promise<string | undefined>
  /** Texts of those that exist, by id. At most MAX_WINDOW ids. */
  getTexts(ids: readonly string[]): Promise<Map<string, string>>
  getMany(ids: readonly string[]): Promise<Map<string, Doc>>
  /** Which of these exist. */
  known(ids: readonly string[]): Promise<Set<string>>
  /**
   * In the place of whatever is there. For documents that one writer owns as a whole: where others change fields of
   * them, what they wrote since a read before would be lost; that is what `create` and `patch` are for.
   */
  put(id: string, doc: Doc, options?: WriteOptions): Promise<void>
  putMany(docs: ReadonlyArray<{ id: string; doc: Doc }>, options?: PutManyOptions): Promise<BulkResult>
  /** @returns false: there is one already, which stays as it is */
  create(id: string, doc: Doc, options?: WriteOptions): Promise<boolean>
  /** @returns false: no such document */
  patch(id: string, change: Change<Doc, Names>, options?: WriteOptions): Promise<boolean>
  /** Changes whatever matches, in chunks; repeating it is harmless. @returns how many matched */
  patchWhere(filter: Filter<Names>, change: Change<Doc, Names>, options?: BulkOptions): Promise<number>
  /** @returns how many were there */
  remove(ids: string | readonly string[], options?: WriteOptions): Promise<number>
  removeWhere(filter: Filter<Names>, options?: BulkOptions): Promise<number>
  find(query: FindQuery<Names>): Promise<Found>
  /** More like this one, by the rare words of the searched fields; itself left out. Best first. */
  similar(id: string, query: { size: number; filter?: Filter<Names>; fields?: Names[] }): Promise<Hit[]>
  /** At most `cap` (default MAX_WINDOW; Infinity counts all). */
  count(filter?: Filter<Names>, cap?: number): Promise<number>
  aggregate(query: AggregateQuery<Names>): Promise<AggregateRow[]>
  /** Streams all that match in batches (default 200), by id or newest last; writes meanwhile may or may not be seen. */
  scan(query?: {
    filter?: Filter<Names>
    batch?: number
    order?: 'id' | 'newest last'
  }): AsyncIterable<Array<{ id: string; doc: Doc }>>
}

export interface StepOptions {
  signal?: AbortSignal | undefined
  /** So far, and of how many; the unit is the adapter's own. */
  progress?: ((done: number, total: number) => void) | undefined
}

export interface RestoreOptions extends StepOptions {
  /** Looks at each document before it is taken: returns it, changed or not, or undefined to leave it out. */
  accept?:
    | ((collection: string, id: string, doc: Record<string, unknown>) => Record<string, unknown> | undefined)
    | undefined
}

export interface RestoreResult {
  written: number
  /** Left out: ids or documents that do not pass the definition, or that `accept` refused. */
  skipped: number
  /** Why, for the first hundred. */
  failed: BulkResult['failed']
}

/** Writes into what will replace a collection. */
export type ReplaceWrite = (
  collection: string,
  docs: ReadonlyArray<{ id: string; doc: object }>,
  options?: BulkOptions,
) => Promise<BulkResult>

export interface SnapshotRecord {
  id: string
  state: 'IN_PROGRESS' | 'SUCCESS' | 'PARTIAL' | 'FAILED'
  /** Of the index that took it. */
  version: string
  /** Epoch milliseconds; `endedAt` 0 while it is taken. */
  startedAt: number
  endedAt: number
  /** What it takes on the disk by itself. Left out: it shares that with others, or nobody knows. */
  bytes?: number
}

export interface Snapshots {
  /** Why none can be taken: a sentence for people. */
  readonly off?: string
  /** Newest first. */
  list(): Promise<SnapshotRecord[]>
  get(id: string): Promise<SnapshotRecord | undefined>
  /** Takes one while reads and writes go on; resolves when it is complete. @throws conflict: one is being taken */
  take(id: string, options?: StepOptions): Promise<void>
  /** @throws not_found, conflict (it is being taken) */
  remove(id: string): Promise<void>
  /**
   * Documents of a snapshot as they are in it, by id; nothing changes. What is damaged there too is left out.
   * @throws not_found, conflict (not SUCCESS)
   */
  read?(id: string, collection: string, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>>
  /** All or nothing. @throws not_found, conflict (not SUCCESS, or a restore runs) */
  restore(id: string, options?: RestoreOptions): Promise<RestoreResult>
}

/** A collection that no plugin declares any more, as an earlier version has left it. */
export interface Leftover {
  /** All of its documents that can be read, by id. */
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
  /** All declared collections. */
  readonly definitions: readonly IndexDefinition[]
  /** Set if the index was damaged at the start: the old files have been moved to this path, and the index is empty. */
  readonly recovered?: string | undefined
  /** For an index on a server: resolves when the server answers. Jobs wait for it. @throws unavailable */
  available?(): Promise<void>
  /** Opaque version; changes after every visible write. Cheap. Left out if only the index server knows it. */
  stamp?(): string
  /**
   * A number that grows and is stored with the documents, so that an older copy of the index has a lower one; 0: not
   * stored yet. Snapshots do not contain it, and a restore does not change it. Left out: not supported.
   */
  readonly generation?: { read(): Promise<number>; keep(generation: number): Promise<void> }
  /** Frees caches after a time without requests. */
  relax?(): Promise<void>
  /**
   * Scans all documents, in short steps, for stored text that is no longer JSON, and reports them as reads do. Left out
   * if the index server has checksums.
   */
  findGarbled?(signal: AbortSignal): Promise<void>
  /** Makes what was written visible to all reads. */
  refresh(): Promise<void>
  /**
   * Writes a copy of all collections as they are at the end of the copying, while reads and writes go on.
   * @param path  of the new file, or the name in the server's repository; it appears complete or not at all
   */
  snapshotTo(path: string, options?: StepOptions): Promise<void>
  /**
   * Puts other documents in the place of all declared collections, all or nothing: `load` writes them beside, the swap
   * comes when it resolves. When it rejects, or the process ends, everything stays as it was. A collection that is not
   * written to becomes empty. Writes by others during it are lost with what they wrote to, and a second one would meet
   * the first: the write barrier holds both off. Reads go on.
   */
  replaceAll(load: (write: ReplaceWrite) => Promise<void>): Promise<void>
  /**
   * Puts the documents of a snapshot in the place of all collections, by `replaceAll`. Each must have an id of the
   * usual form and pass its definition's schema; what does not is left out and counted.
   * @param path  of the file, or the name in the server's repository
   * @throws unprocessable  it is no snapshot
   */
  restoreFrom(path: string, options?: RestoreOptions): Promise<RestoreResult>
  /** For whoever keeps elsewhere what used to be a collection. undefined: there is none of this name. */
  leftover?(name: string): Promise<Leftover | undefined>
  /** Single documents of a snapshot, by id. @param path  as above */
  readFrom?(path: string, collection: string, ids: readonly string[]): Promise<Map<string, Record<string, unknown>>>
  close(): Promise<void>
}

/** The index as the server hands it on: an adapter behind the write barrier. */
export interface Index extends Omit<IndexAdapter, 'replaceAll'> {
  /**
   * Set from a start that found the index blank, or collections missing, though it had held documents, until a restore
   * or `settle`; also over restarts.
   */
  readonly lost: Lost | undefined
  /**
   * As the adapter does it. @param swapped  called after the swap while others' writes still wait, for what belongs to
   * the documents and is kept elsewhere
   */
  replaceAll(load: (write: ReplaceWrite) => Promise<void>, swapped?: () => Promise<void>): Promise<void>
  /** The documents that were missing are back, or what is there is all that there shall be. */
  settle(): Promise<void>
  /**
   * To be awaited by what changes something else before its first write here: resolves when writes may be made.
   * While a restore runs a job waits, anybody else is refused. @throws unavailable
   */
  writable(): Promise<void>
  readonly snapshots: Snapshots
  readonly garbled: Garbled
}
