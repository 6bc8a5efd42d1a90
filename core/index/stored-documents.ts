/** Archive documents that a plugin stores in its own tables; backups contain them like documents of the index. */
import type { TObject } from 'typebox'
import type { BulkResult, Collection } from './port.ts'

type Doc = Record<string, unknown>

export interface StoredDocuments extends Pick<Collection<Doc>, 'count' | 'getMany'> {
  /** The name of the collection in backups; no index may have it. */
  readonly name: string
  /** The schema of each document. */
  readonly doc: TObject
  /** All documents in batches, in the order in which they must be restored. */
  scan(query: { batch: number }): AsyncIterable<Array<{ id: string; doc: Doc }>>
  /** Begins to replace all documents; discards an earlier unfinished replacement. */
  replacement(): Promise<Replacement>
}

/** Changes nothing until `commit`, which changes everything at once. */
export interface Replacement {
  write(docs: ReadonlyArray<{ id: string; doc: object }>): Promise<BulkResult>
  commit(): Promise<void>
}
