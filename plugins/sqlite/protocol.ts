/** What goes between the main thread and the index worker: texts and numbers, no object graphs of documents. */
import type {
  AggregateQuery,
  AggregateRow,
  BulkResult,
  DefinitionData,
  Filter,
  FindQuery,
  Shape,
  ZoneChange,
} from 'archivolt/index'
/** `[id, the whole document as JSON text]` */
export type IdText = [string, string]

/** `[id, reply, internal values]`, both as JSON text. */
export type SnapshotDoc = [string, string, string | null]

export interface FoundRows {
  ids: string[]
  scores: number[]
  /** Texts of the hits; left out where there are so many that they are read in pieces. */
  texts: string[] | undefined
  total: number
}

export interface CollectionState {
  version: number
  shape: Shape
}

/** Every request: its arguments and its answer. */
export interface Operations {
  open: [
    { file: string; definitions: DefinitionData[] },
    { version: string; collections: Record<string, CollectionState> },
  ]
  find: [{ name: string; query: FindQuery }, FoundRows]
  count: [{ name: string; filter: Filter | undefined; cap: number }, number]
  /** The time zone is this thread's: another's does not hear when `TZ` is set. */
  aggregate: [{ name: string; query: AggregateQuery; zone: ZoneChange[] }, AggregateRow[]]
  similar: [{ name: string; id: string; query: { size: number; filter?: Filter; fields?: string[] } }, FoundRows]
  /** Row ids after a place, by id or by row; `at` is the place to go on from, undefined: that was all. */
  page: [
    { name: string; filter: Filter | undefined; order: 'id' | 'row'; after: string | number | undefined; size: number },
    { rids: number[]; at: string | number | undefined },
  ]
  put: [{ name: string; docs: IdText[]; isStaged?: boolean; isBulk?: boolean }, BulkResult['failed']]
  patch: [{ name: string; id: string; change: string }, boolean]
  remove: [{ name: string; ids: string[] }, number]
  patchWhere: [{ name: string; filter: Filter; change: string }, number]
  removeWhere: [{ name: string; filter: Filter }, number]
  /** Makes the collection's first tables; gives its version. */
  create: [{ name: string }, number]
  /** Makes and drops indexes of its table until they are those of the definition. */
  arrange: [{ name: string }, null]
  addFields: [{ name: string }, null]
  fill: [{ name: string }, number]
  rebuildBegin: [{ name: string }, { done: number; total: number }]
  /** Copies all that is left; gives how many fields had a value of another type. */
  rebuild: [{ name: string }, number]
  /** The same in pieces that pass through the main thread. */
  rebuildRead: [{ name: string }, { docs: IdText[]; last: number } | null]
  rebuildWrite: [{ name: string; docs: IdText[]; last: number }, number]
  /** Swaps; gives the version that now counts. */
  rebuildEnd: [{ name: string }, number]
  discard: [{ name: string }, null]
  replaceBegin: [null, null]
  replaceEnd: [null, Record<string, number>]
  replaceAbort: [null, null]
  /** Drops tables that no longer count, in small steps. */
  clean: [null, null]
  snapshot: [{ path: string }, null]
  snapshotOpen: [{ path: string }, Record<string, { form: string; count: number }>]
  snapshotRead: [{ name: string; after: number }, { docs: SnapshotDoc[]; last: number } | null]
  snapshotClose: [null, null]
  close: [null, null]
}
export type Operation = keyof Operations
export type Arguments<Op extends Operation> = Operations[Op][0]
export type Result<Op extends Operation> = Operations[Op][1]

export type Request = { [Op in Operation]: { id: number; op: Op; args: Arguments<Op> } }[Operation] | { abort: number }

export interface Failure {
  /** Code of an AppError, or of SQLite. */
  code: string | undefined
  message: string
  stack: string | undefined
}
export type Response =
  | { id: number; result: unknown }
  | { id: number; failure: Failure }
  | { id: number; done: number; total: number }
