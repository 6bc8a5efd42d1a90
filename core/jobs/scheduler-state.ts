/** What the scheduler's verbs (look, wait, change) share: its parts, and all of it that changes. */
import type { Clock, Timer } from '../clock.ts'
import { type CronTimes, readCron } from '../cron.ts'
import { type ScheduleRow, ScheduleRows } from '../ledger/schedules.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { AnyTask } from './task.ts'
import type { Jobs } from './types.ts'

export interface SchedulerOptions {
  ledger: Ledger
  clock: Clock
  log: Log
  tasks: ReadonlyMap<string, AnyTask>
  jobs: Pick<Jobs, 'start' | 'onEnded'>
  /** What a task is handed. Asked for when the first schedule is due. */
  app: (task: AnyTask) => unknown
  /** An IANA name; left out: the process's own. */
  timeZone?: string
}

export interface SchedulerState extends Readonly<SchedulerOptions> {
  readonly rows: ScheduleRows
  /** By task, as read from the row's text. */
  readonly crons: Map<string, CronTimes>
  /** Until the next schedule is due. */
  timer: Timer | undefined
  /** Regular looks, whatever becomes of the clock. */
  looks: Timer | undefined
  /** Ends hearing of runs that have ended. */
  unwatch: (() => void) | undefined
  /** One at a time: two would start the same twice. */
  starting: Promise<void>
  /** By how much the clock was ahead of the steady one when the next times were reckoned. */
  reckonedAheadMs: number
  isBegun: boolean
  isClosed: boolean
}

export const newState = (options: SchedulerOptions): SchedulerState => ({
  ...options,
  rows: new ScheduleRows(options.ledger),
  crons: new Map(),
  timer: undefined,
  looks: undefined,
  unwatch: undefined,
  starting: Promise.resolve(),
  reckonedAheadMs: Infinity,
  isBegun: false,
  isClosed: false,
})

/** Undefined: the stored text cannot be read, which is logged. */
export function cronOf({ crons, timeZone, log }: SchedulerState, row: ScheduleRow): CronTimes | undefined {
  const known = crons.get(row.task)
  if (known?.text === row.cron) return known
  try {
    const cron = readCron(row.cron, timeZone)
    crons.set(row.task, cron)
    return cron
  } catch (error) {
    log.error({ err: error, task: row.task }, 'a stored schedule cannot be read and does not run')
    return undefined
  }
}
