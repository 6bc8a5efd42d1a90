/** What long work here is given: a job, or a command that was typed. */
import type { JobContext } from 'archivolt'

export type Work = Pick<JobContext<object>, 'id' | 'signal' | 'log' | 'progress'>
