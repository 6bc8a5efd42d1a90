/** For work whose items may be interrupted at any moment without loss: a stop ends its waits as a kill does. */
import type { JobContext } from './types.ts'

/** The same job with `stopSignal` as its signal. */
export const untilStop = <Job extends Pick<JobContext<object>, 'signal' | 'stopSignal'>>(job: Job): Job => ({
  ...job,
  signal: job.stopSignal,
})

/** Whether the error was thrown because the job was stopped: the task should then finish with what is done. */
export const isStop = (
  thrown: unknown,
  { isStopping, stopSignal }: Pick<JobContext<object>, 'isStopping' | 'stopSignal'>,
): boolean => isStopping() && thrown === stopSignal.reason
