/** The messages between the main thread and the index worker. Documents are sent as texts, never as objects. */
import type { AggregateQuery, AggregateRow, BulkResult, Filter, FindQuery, PartsQuery } from 'archivolt'
import type { DefinitionData, Shape, ZoneChange } from 'archivolt/index'
/** How many numbers each definition has in the array of changes. */
export const CHANGES_OF_ONE = 2

/** Its id, and its values. */
export type PartRow = [id: string, ...values: Array<string | number | null>]

/** `[id, the whole document as JSON text]` */
export type IdText = [string, string]

/** `[id, reply, internal values]`, both as JSON text. */
export type SnapshotDoc = [string, string, string | null]

/** Has no texts: the main thread reads them itself, because between threads each would be copied twice. */
export interface FoundRows {
  ids: string[]
  scores: number[]
  total: number
}

export interface CollectionState {
  version: number
  shape: Shape
}

/** Operation → its arguments and its result. */
interface Operations {
  open: [
    /**
     * @param changes  shared array with two numbers for each definition: one changes with each write to it, the other
     * with each write to its narrow table
     */
    { file: string; definitions: DefinitionData[]; changes: Uint32Array },
    { version: string; collections: Record<string, CollectionState> },
  ]
  find: [{ name: string; query: FindQuery }, FoundRows]
  count: [{ name: string; filter: Filter | undefined; cap: number }, number]
  /** The time zone comes from the main thread: a worker does not notice changes of `TZ`. */
  aggregate: [{ name: string; query: AggregateQuery; zone: ZoneChange[] }, AggregateRow[]]
  similar: [{ name: string; id: string; query: { size: number; filter?: Filter; fields?: string[] } }, FoundRows]
  /** Row ids after a position, by id or by row; `at` is the position to continue from, undefined: the end. */
  page: [
    { name: string; filter: Filter | undefined; order: 'id' | 'row'; after: string | number | undefined; size: number },
    { rids: number[]; at: string | number | undefined },
  ]
  /** Rows after an id, as `Collection.parts` returns them. */
  parts: [{ name: string; after: string; size: number } & Pick<PartsQuery, 'filter' | 'paths'>, PartRow[]]
  /** Ids of garbled documents among a few rows after a position; `at` as in `page`. */
  garbled: [{ name: string; after: number }, { ids: string[]; at: number | undefined }]
  /** `later`: more documents follow. */
  put: [
    { name: string; docs: IdText[]; isStaged?: boolean; onlyNew?: boolean; durable?: 'later' | undefined },
    { failed: BulkResult['failed']; kept: string[] },
  ]
  patch: [{ name: string; id: string; change: string }, boolean]
  remove: [{ name: string; ids: string[] }, number]
  patchWhere: [{ name: string; filter: Filter; change: string }, number]
  removeWhere: [{ name: string; filter: Filter }, number]
  /** Creates the collection's first tables; returns its version. */
  create: [{ name: string }, number]
  /** Creates and drops indexes to match the definition. */
  arrange: [{ name: string }, null]
  addFields: [{ name: string }, null]
  fill: [{ name: string }, number]
  rebuildBegin: [{ name: string }, { done: number; total: number }]
  /** Copies all remaining documents; returns how many fields had a value of another type. */
  rebuild: [{ name: string }, number]
  /** The same in batches that pass through the main thread. */
  rebuildRead: [{ name: string }, { docs: IdText[]; last: number } | null]
  rebuildWrite: [{ name: string; docs: IdText[]; last: number }, number]
  /** Makes the new tables current; returns their version. */
  rebuildEnd: [{ name: string }, number]
  discard: [{ name: string }, null]
  /** Makes the collection obsolete: `clean` removes its tables. */
  forget: [{ name: string }, null]
  replaceBegin: [null, null]
  replaceEnd: [null, Record<string, number>]
  replaceAbort: [null, null]
  keepGeneration: [{ generation: number }, null]
  /** Drops obsolete tables, in small steps. */
  clean: [null, null]
  /** Merges scattered segments of the full-text tables. */
  merge: [null, null]
  snapshot: [{ path: string }, null]
  snapshotOpen: [{ path: string }, Record<string, { form: string; count: number }>]
  snapshotRead: [{ name: string; after: number }, { docs: SnapshotDoc[]; last: number } | null]
  snapshotClose: [null, null]
  snapshotPick: [{ path: string; name: string; ids: readonly string[] }, SnapshotDoc[]]
  relax: [null, null]
  close: [null, null]
}
export type Operation = keyof Operations

/** When writes are synced to disk: after each step, at the end, or with the next write. */
export type Durability = 'each step' | 'when done' | 'later'

/**
 * How the worker schedules an operation. `control`: at once. `read`: between two steps of any other. `write`: in order
 * of arrival. `long`: every other kind may run in between.
 */
interface Rule {
  kind: 'control' | 'read' | 'write' | 'long'
  durable?: Durability
  /**
   * Idempotent: repeated when the reserve has freed space on a full disk. Not for snapshots and rebuilds, which need
   * more than the reserve.
   */
  isRepeatable?: true
}

export const RULES = {
  open: { kind: 'control', isRepeatable: true },
  find: { kind: 'read' },
  count: { kind: 'read' },
  aggregate: { kind: 'read' },
  similar: { kind: 'read' },
  page: { kind: 'read' },
  parts: { kind: 'read' },
  garbled: { kind: 'read' },
  put: { kind: 'write', durable: 'each step', isRepeatable: true },
  patch: { kind: 'write', durable: 'each step', isRepeatable: true },
  remove: { kind: 'long', durable: 'when done', isRepeatable: true },
  patchWhere: { kind: 'long', durable: 'when done', isRepeatable: true },
  removeWhere: { kind: 'long', durable: 'when done', isRepeatable: true },
  create: { kind: 'write', durable: 'each step' },
  arrange: { kind: 'write', durable: 'each step' },
  addFields: { kind: 'write', durable: 'each step' },
  fill: { kind: 'write', durable: 'when done' },
  rebuildBegin: { kind: 'write', durable: 'each step' },
  rebuild: { kind: 'write', durable: 'when done' },
  rebuildRead: { kind: 'write', durable: 'each step' },
  rebuildWrite: { kind: 'write', durable: 'later' },
  rebuildEnd: { kind: 'write', durable: 'when done' },
  discard: { kind: 'write', durable: 'each step' },
  forget: { kind: 'write', durable: 'each step', isRepeatable: true },
  replaceBegin: { kind: 'write', durable: 'each step' },
  replaceEnd: { kind: 'write', durable: 'when done' },
  replaceAbort: { kind: 'write', durable: 'each step' },
  keepGeneration: { kind: 'write', durable: 'each step', isRepeatable: true },
  clean: { kind: 'long', durable: 'when done' },
  merge: { kind: 'long', durable: 'later' },
  snapshot: { kind: 'control' },
  snapshotOpen: { kind: 'read' },
  snapshotRead: { kind: 'read' },
  snapshotClose: { kind: 'read' },
  snapshotPick: { kind: 'read' },
  relax: { kind: 'read' },
  close: { kind: 'control' },
} as const satisfies { [Op in Operation]: Rule }

type OfKind<Kind extends Rule['kind']> = {
  [Op in Operation]: (typeof RULES)[Op]['kind'] extends Kind ? Op : never
}[Operation]
export type Control = OfKind<'control'>
export type Read = OfKind<'read'>
export type Write = OfKind<'write' | 'long'>

export type Arguments<Op extends Operation> = Operations[Op][0]
export type Result<Op extends Operation> = Operations[Op][1]

export type Request = { [Op in Operation]: { id: number; op: Op; args: Arguments<Op> } }[Operation] | { abort: number }

export interface Failure {
  /** The error code of an AppError or of SQLite. */
  code: string | undefined
  message: string
  stack: string | undefined
}
export type Response =
  | { id: number; result: unknown }
  | { id: number; failure: Failure }
  | { id: number; done: number; total: number }
