/** For work whose items may be interrupted at any moment without loss: a stop ends its waits as a kill does. */
import { errors } from '../error.ts'
import type { JobContext } from './types.ts'

/** The same job with `stopSignal` as its signal. */
export const untilStop = <Job extends Pick<JobContext<object>, 'signal' | 'stopSignal'>>(job: Job): Job => ({
  ...job,
  signal: job.stopSignal,
})

const stops = new WeakSet<object>()

/** The reason of a stop. A kill has another one: it ends the task, which must not finish with what is done. */
export function stopReason(): Error {
  const reason = errors.conflict('The task was stopped')
  stops.add(reason)
  return reason
}

/** Whether the error was thrown because the job was stopped: the task should then finish with what is done. */
export const isStop = (thrown: unknown, { stopSignal }: Pick<JobContext<object>, 'stopSignal'>): boolean =>
  thrown === stopSignal.reason && stops.has(thrown as object)
