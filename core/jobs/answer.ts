/** Tells those who wait for a job, and those who listen to all jobs, how a run has ended. */
import { errors } from '../error.ts'
import { type Ending, hasEnded, type Job } from '../ledger/jobs.ts'
import type { Runner } from './state.ts'

/** @param error  what the task threw: its caller hears it as it is */
export function answer<App>(
  { listeners, clock, forRun, forEnd }: Runner<App>,
  row: Job,
  ending: Ending,
  error?: unknown,
): void {
  listeners.ended({ ...row, ...ending, endedAt: row.endedAt ?? clock.now() })
  if (ending.state === 'SUCCESS') forRun.resolve(row.id, ending.result)
  else forRun.reject(row.id, refusal(ending, error))
  if (hasEnded(row)) forEnd.resolve(row.id, row)
}

const refusal = ({ state, result, said }: Ending, error: unknown): unknown =>
  state === 'REVOKED'
    ? errors.conflict('The task was stopped')
    : (error ?? errors.unavailable(said ?? result ?? 'The task failed'))
