/** Documents of the archive that a plugin keeps in tables of its own; backups carry them like those of the index. */
import type { TObject } from 'typebox'
import type { BulkResult, Collection } from './port.ts'

type Doc = Record<string, unknown>

export interface KeptDocuments extends Pick<Collection<Doc>, 'count' | 'getMany'> {
  /** As backups call the collection; no index has this name. */
  readonly name: string
  /** What each document must pass. */
  readonly doc: TObject
  /** All of them in batches, in the order in which they are to be restored. */
  scan(query: { batch: number }): AsyncIterable<Array<{ id: string; doc: Doc }>>
  /** Begins to put other documents in the place of all; what an earlier one has left unfinished goes. */
  replacement(): Promise<Replacement>
}

/** Nothing has changed until `commit` resolves: then everything has, at once. */
export interface Replacement {
  write(docs: ReadonlyArray<{ id: string; doc: object }>): Promise<BulkResult>
  commit(): Promise<void>
}
