/** The kinds of imported data, and the interface for importing and undoing each. */
import type { JobContext } from 'archivolt'
import type { App } from '../app.ts'
import type { Along } from '../catalogs/types.ts'

/** Data that is imported. `queue` is not in a catalog: people choose it here for missing files. */
export type Brought = Along | { kind: 'queue'; id: string }
export type Kind = Brought['kind']
export type One<Name extends Kind> = Extract<Brought, { kind: Name }>
export type Run = Pick<JobContext<object>, 'signal' | 'step' | 'log'>

/** The content of a row: the data from the catalog, the account, and the results of the import. */
export interface Stored<Name extends Kind> {
  number: number
  one: One<Name>
  userId: number
  /** Set if the channel or playlist existed before. */
  before?: string
  /** The job that subscribes to it. */
  job?: string
  /** The id of the new playlist. */
  made?: string
  /** The playlist was imported earlier. */
  isDone?: boolean
}

/**
 * How one kind of data is imported: selects rows that change something, imports them, and undoes them. Every step may
 * be repeated.
 */
export interface Way<Name extends Kind> {
  open(rows: Stored<Name>[], app: App): Promise<Stored<Name>[]>
  /** @returns the job that continues the work, if any */
  bring(rows: Stored<Name>[], app: App, job: Run): Promise<string | undefined>
  undo(rows: Stored<Name>[], app: App, job: Run): Promise<void>
}
