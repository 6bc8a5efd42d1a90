/** The state that start, life and stop share: the runner's parts and everything mutable. */
import { errors } from '../base/error.ts'
import type { Ending, Job, JobRows } from '../ledger/jobs.ts'
import type { JobLog } from './job-log.ts'
import type { LaneSizes } from './lane-sizes.ts'
import type { Listeners } from './listeners.ts'
import type { Notifications } from './notifications.ts'
import type { Progress } from './progress.ts'
import type { AnyTask, JobParts } from './task-definition.ts'
import type { JobChange, TaskName } from './types.ts'
import type { Upkeep } from './upkeep.ts'
import type { Waiters } from './waiters.ts'

export const CLOSING_TEXT = 'The server is closing; work that was accepted is finished after its next start'

export interface Runner<App> extends JobParts<App> {
  readonly rows: JobRows
  /** The app that a task receives. Called when a job runs: jobs are opened before the app is complete. */
  readonly app: (task: AnyTask<App>) => App
  /** Runs code of a task's plugin. @throws unavailable  the plugin is stopped */
  readonly within: <Result>(task: AnyTask<App>, work: () => Result) => Result
  /** Whether failures store their traceback. */
  readonly debug: boolean
  /** Awaited before `run` begins a job: during a restore it refuses requests and makes jobs wait. */
  readonly writable: () => Promise<void>
  readonly changes: Listeners<JobChange>
  /** Runs that have ended and are not retried. */
  readonly ends: Listeners<Job>
  readonly notifications: Notifications
  readonly upkeep: Upkeep
  /** Starts waiting jobs of a lane, as many as it has free slots. */
  readonly claim: (lane: string) => void

  readonly laneSizes: LaneSizes
  readonly running: Map<string, Running<App>>
  /** Rows that this process has started: not orphans, even if started before recovery. */
  readonly own: Set<string>
  /** Callers of `run` that wait. */
  readonly forRun: Waiters<string | null>
  /** Callers of `ended` that wait. */
  readonly forEnd: Waiters<Job>
  /** From the end of `begin` to the beginning of `close`. */
  isClaiming: boolean
  isClosing: boolean
}

/** Why a job's signal was aborted. */
export type Interruption = 'kill' | 'close'

/** A job that runs in this process. */
export interface Running<App> {
  readonly job: Job
  readonly task: AnyTask<App>
  /** Includes what later starts have merged in. */
  payload: Record<string, unknown>
  readonly controller: AbortController
  readonly stopping: AbortController
  interruption: Interruption | undefined
  isStopping: boolean
  readonly isAwaited: boolean
  readonly hasSlot: boolean
  readonly log: JobLog
  readonly progress: Progress
  /** The row was requeued while the job still ran: its outcome is ignored. */
  isAbandoned: boolean
  done: Promise<void>
}

/** @throws not_found */
export function taskOf<App>({ tasks }: Pick<Runner<App>, 'tasks'>, asked: TaskName): AnyTask<App> {
  const name = typeof asked === 'string' ? asked : asked.name
  const task = tasks.get(name)
  if (!task) throw errors.notFound('task', name)
  return task
}

export const endingOf = ({ state, result, said, traceback }: Job): Ending => ({
  state: state as Ending['state'],
  result,
  said,
  traceback,
})
