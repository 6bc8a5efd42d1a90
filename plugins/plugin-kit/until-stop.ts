/** For work whose items may be interrupted at any moment without loss: a stop aborts its waits immediately. */
import type { JobContext } from '../../core/jobs/types.ts'

/** The same job with `stopSignal` as its signal. */
export const untilStop = <Job extends Pick<JobContext<object>, 'signal' | 'stopSignal'>>(job: Job): Job => ({
  ...job,
  signal: job.stopSignal,
})
