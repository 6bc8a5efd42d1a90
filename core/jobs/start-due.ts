/** Starts what is due, and waits for what comes next; only ever adds rows of jobs. */

import { DAY_MS } from '../clock.ts'
import type { CronTimes } from '../cron.ts'
import type { ScheduleRow } from '../ledger/schedules.ts'
import { cronOf, type SchedulerState } from './scheduler-state.ts'
import type { AnyTask } from './task.ts'

/** The clock is looked at this often at least: the system's may be set, or sleep. */
const LOOK_EVERY_MS = 60_000
/**
 * A run so far ahead was made before the clock was corrected by a little: it counts. One further ahead was made on a
 * wrong day.
 */
const SMALL_CORRECTION_MS = 10 * 60_000

/**
 * Starts what is due, at most a day late. Where the clock was set, and at the start, when the time zone may be
 * another, the next times are reckoned anew.
 */
export async function startDue(state: SchedulerState): Promise<void> {
  const { clock, rows, tasks } = state
  const now = clock.now()
  const aheadMs = now - clock.steady()
  const isAnew = Math.abs(aheadMs - state.reckonedAheadMs) > 1000
  state.reckonedAheadMs = aheadMs
  for (const row of rows.list()) {
    if (state.isClosed) return
    const task = tasks.get(row.task)
    const cron = task?.schedule && (isAnew || (row.next_run_at ?? 0) <= now) && cronOf(state, row)
    if (task && cron) await startOrNoteNext(state, row, task, cron, now)
  }
}

async function startOrNoteNext(
  state: SchedulerState,
  row: ScheduleRow,
  task: AnyTask,
  cron: CronTimes,
  now: number,
): Promise<void> {
  const { ledger, rows, log } = state
  const next = nextOf(row, cron, now) ?? null
  try {
    if (isDue(row, cron, now) && isNeeded(state, task)) await start(state, row, task, next)
    else if (row.next_run_at !== next) await ledger.write(() => rows.advance(row.task, null, next))
  } catch (error) {
    state.reckonedAheadMs = Infinity
    log.error({ err: error, task: row.task }, 'a scheduled task could not be started; it is tried again')
  }
}

const isNeeded = ({ app }: SchedulerState, task: AnyTask): boolean =>
  // The scheduler hands its app on to tasks, and calls nothing of it.
  task.schedule?.isNeeded === undefined || task.schedule.isNeeded(app(task) as never)

async function start(
  { ledger, clock, rows, jobs, log }: SchedulerState,
  row: ScheduleRow,
  task: AnyTask,
  next: number | null,
): Promise<void> {
  const known = task.payload.properties
  const payload = Object.fromEntries(
    Object.entries({ ...row.config, scheduled: true }).filter(([key]) => Object.hasOwn(known, key)),
  )
  // Asked for together, so both are in one transaction; if not, it starts twice rather than never.
  await Promise.all([jobs.start(row.task, payload), ledger.write(() => rows.advance(row.task, clock.now(), next))])
  log.info({ task: row.task }, 'scheduled task started')
}

/** From the end of the start on. */
export function beginLooking(state: SchedulerState): void {
  state.isBegun = true
  state.looks = state.clock.every(LOOK_EVERY_MS, () => look(state))
  waitForNext(state)
}

/** Waits for the next schedule; called again when one has changed. What is due already waits for the next look. */
export function waitForNext(state: SchedulerState): void {
  const { clock, rows, tasks } = state
  state.timer?.cancel()
  if (!state.isBegun || state.isClosed) return
  const now = clock.now()
  const next = Math.min(...rows.list().map((row) => (tasks.has(row.task) ? (row.next_run_at ?? Infinity) : Infinity)))
  if (next > now && next < Infinity) state.timer = clock.at(next, () => void look(state))
}

function look(state: SchedulerState): Promise<void> {
  return (state.starting = state.starting
    .then(() => startDue(state))
    .then(() => waitForNext(state))
    .catch((error: unknown) => state.log.error({ err: error }, 'the schedules could not be read; it is tried again')))
}

/** Whether a time that was noted has come, and neither has its run been made nor is it older than a day. */
function isDue({ next_run_at: noted, last_run_at: ran }: ScheduleRow, cron: CronTimes, now: number): boolean {
  if (noted === null || noted > now) return false
  const since = Math.max(now - DAY_MS, ran !== null && ran <= now ? ran : 0)
  return (noted >= since ? noted : (cron.next(since) ?? Infinity)) <= now
}

const nextOf = ({ last_run_at: ran }: ScheduleRow, cron: CronTimes, now: number): number | undefined =>
  cron.next(ran !== null && ran > now && ran - now <= SMALL_CORRECTION_MS ? ran : now)
