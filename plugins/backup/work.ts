/** The context of long work: that of a job, or of a command on the command line. */
import type { JobContext } from 'archivolt'

export type Work = Pick<JobContext<object>, 'id' | 'signal' | 'log' | 'progress'>
