/** What comes along, by kind: which rows there are, and what each kind does with them. */
import type { JobContext } from 'archivolt'
import type { App } from '../app.ts'
import type { Along } from '../catalogs/types.ts'

/** Of what is gone there: chosen here, and told by no catalog. */
export type Brought = Along | { kind: 'queue'; id: string }
export type Kind = Brought['kind']
export type One<Name extends Kind> = Extract<Brought, { kind: Name }>
export type Run = Pick<JobContext<object>, 'signal' | 'step' | 'log'>

/** What the row keeps: with the account here, and what only the doing tells. */
export interface Kept<Name extends Kind> {
  number: number
  one: One<Name>
  userId: number
  /** Of a channel or playlist: it was here before. */
  before?: string
  /** The job that subscribes to it. */
  job?: string
  /** The playlist that it becomes. */
  made?: string
  /** It has been brought before. */
  isDone?: boolean
}

/** One kind: which rows would change something, how that is done, and how it is taken back. Each may be done twice. */
export interface Way<Name extends Kind> {
  open(rows: Kept<Name>[], app: App): Promise<Kept<Name>[]>
  /** @returns the job that goes on with it, where there is one */
  bring(rows: Kept<Name>[], app: App, job: Run): Promise<string | undefined>
  undo(rows: Kept<Name>[], app: App, job: Run): Promise<void>
}
