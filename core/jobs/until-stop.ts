/** Work whose items may be cut off at any moment and lose nothing: a stop ends what it waits for, as a kill does. */
import type { JobContext } from './types.ts'

/** The same job, for all that it hands its signal on to. */
export const untilStop = <Job extends Pick<JobContext<object>, 'signal' | 'stopSignal'>>(job: Job): Job => ({
  ...job,
  signal: job.stopSignal,
})

/** Whether this was thrown because somebody has stopped the job: then it goes on to its end, with what is done. */
export const isStop = (
  thrown: unknown,
  { isStopping, stopSignal }: Pick<JobContext<object>, 'isStopping' | 'stopSignal'>,
): boolean => isStopping() && thrown === stopSignal.reason
