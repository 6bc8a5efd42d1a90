/** Tells a stop from a kill. */
import { errors } from '../base/error.ts'
import type { JobContext } from './types.ts'

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
