/** The service `schedules`: starts tasks at their times, and manages which addresses are notified. */
import { randomInt } from 'node:crypto'
import { DAY_MS, type Timer } from '../base/clock.ts'
import { type CronTimes, readCron } from '../base/cron.ts'
import { errors } from '../base/error.ts'
import { type Said, saidOf, say } from '../base/say.ts'
import { faultsIn, prefixed } from '../base/validation.ts'
import type { EndState, Job } from '../ledger/jobs.ts'
import { openScheduleRows, type ScheduleRow } from '../ledger/schedules.ts'
import { type Outgoing, openOutgoing } from './outgoing.ts'
import type { AnyTask, JobParts } from './task-definition.ts'
import type { JobsRunner } from './types.ts'

/** Contract 5.11, with `next_run_at` of appendix B. */
export interface ScheduleRecord {
  name: string
  schedule: string
  schedule_human: string
  last_run_at: string | null
  next_run_at: string | null
  /** State, time and message of the end of the task's last run, whoever started it. */
  last_status: EndState | null
  last_ended_at: string | null
  last_result: string | null
  said?: Said
  config: Record<string, unknown>
}

export interface Schedules extends Outgoing {
  list(): ScheduleRecord[]
  get(task: string): ScheduleRecord | undefined
  /**
   * @param schedule  three fields, or `auto`. @param config  default: unchanged
   * @throws bad_request: not schedulable, bad cron, unknown config key
   */
  set(task: string, schedule: string, config?: Record<string, unknown>): Promise<ScheduleRecord>
  /** @throws not_found */
  remove(task: string): Promise<void>
}

interface Scheduler extends Schedules {
  /** Creates the initial schedules, starts runs missed by less than 24 h, and waits for the next. */
  begin(): Promise<void>
  close(): Promise<void>
}

type ScheduledTask = AnyTask & { schedule: NonNullable<AnyTask['schedule']> }

interface SchedulerOptions extends JobParts {
  jobs: Pick<JobsRunner, 'start' | 'onEnded' | 'bringForward'>
  app: (task: AnyTask) => unknown
  within: <Result>(task: AnyTask, work: () => Result) => Result
  /** Whether the task's plugin is stopped or switched off: until it is on again, the schedule rests. */
  isOff: (task: AnyTask) => boolean
  /** An IANA name; default: the time zone of the process. */
  timeZone?: string
}

/** The clock is polled at least this often: the system clock may be set, and the system may sleep. */
const POLL_EVERY_MS = 60_000
/** A last run less far in the future counts: the clock was corrected. One further ahead was noted with a wrong date. */
const SMALL_CORRECTION_MS = 10 * 60_000
/** After a schedule was created with a random minute: people who have just installed the server need it themselves. */
const QUIET_AT_FIRST_MS = 30 * 60_000

export function openScheduler(parts: SchedulerOptions): Scheduler {
  const { ledger, clock, log, tasks, jobs, app, within, isOff, timeZone } = parts
  const rows = openScheduleRows(ledger)
  /** Task → its parsed cron text. */
  const crons = new Map<string, CronTimes>()
  let timer: Timer | undefined
  let pollTimer: Timer | undefined
  let unwatch: (() => void) | undefined
  /** Serialises starts: two at once could start the same task twice. */
  let starting = Promise.resolve()
  /** How far the clock was ahead of the steady clock when the next times were computed. */
  let reckonedAheadMs = Infinity
  let isBegun = false
  let isClosed = false

  function toRecord(row: ScheduleRow): ScheduleRecord {
    const { texts, said } = saidOf(row.last_words === null ? [] : [row.last_words])
    const task = tasks.get(row.task)
    return {
      name: row.task,
      schedule: row.cron,
      schedule_human: cronOf(row)?.inWords() ?? '',
      last_run_at: isoOrNull(row.last_run_at),
      next_run_at: task && !isOff(task) ? isoOrNull(row.next_run_at) : null,
      config: row.config,
      last_status: row.last_state,
      last_ended_at: isoOrNull(row.last_ended_at),
      last_result: texts[0] ?? null,
      ...(said && { said }),
    }
  }

  /** @throws bad_request */
  function schedulable(name: string): ScheduledTask {
    const task = tasks.get(name)
    if (!task?.schedule) throw errors.badRequest(say`${{ name }} cannot be scheduled`)
    return task as ScheduledTask
  }

  async function set(name: string, schedule: string, config?: Record<string, unknown>): Promise<ScheduleRecord> {
    const task = schedulable(name)
    const cron = readCron(schedule === 'auto' ? task.schedule.auto : schedule, timeZone)
    const wanted = config ?? rows.get(name)?.config ?? task.schedule.initialConfig ?? {}
    checkConfig(task, wanted)
    const row = await ledger.write(() => {
      rows.put(name, cron.text, wanted, cron.next(clock.now()) ?? null)
      return rows.get(name)!
    })
    waitForNext()
    return toRecord(row)
  }

  async function remove(name: string): Promise<void> {
    const isRemoved = await ledger.write(() => rows.remove(name))
    if (!isRemoved) throw errors.notFound('schedule', name)
    waitForNext()
  }

  async function begin(): Promise<void> {
    unwatch = jobs.onEnded(noteEnd)
    await startDue()
    // After the due ones: a new schedule cannot be due yet.
    await giveInitialSchedules()
    isBegun = true
    pollTimer = clock.every(POLL_EVERY_MS, poll)
    waitForNext()
  }

  function noteEnd({ task, state, endedAt, result, said }: Job): void {
    if (!rows.get(task) || endedAt === null) return
    ledger
      .write(() => rows.ended(task, state, endedAt, said ?? result))
      .catch((error: unknown) => log.error({ err: error, task }, 'the end of a scheduled task could not be recorded'))
  }

  /** Creates each task's initial schedule once. A removed schedule stays removed. */
  async function giveInitialSchedules(): Promise<void> {
    const fresh = [...tasks.values()].filter(
      (task) => task.schedule?.initially !== undefined && !rows.hadInitial(task.name),
    )
    const isFirstStart = !rows.hadAnyInitial()
    await ledger.write(() => {
      for (const { name } of fresh) {
        rows.markInitial(name)
        const { schedule } = schedulable(name)
        const isLate = typeof schedule.initially === 'object' && schedule.initially.isFirstStartOnly && !isFirstStart
        if (isLate || rows.get(name)) continue
        const cron = initialCron(schedule, timeZone, clock.now())
        rows.put(name, cron.text, schedule.initialConfig ?? {}, cron.next(clock.now()) ?? null)
      }
    })
  }

  /** Starts due schedules, at most a day late. Computes all times anew after the clock was set, and at the start. */
  async function startDue(): Promise<void> {
    const now = clock.now()
    const aheadMs = now - clock.steady()
    const setBackMs = reckonedAheadMs - aheadMs
    const isAnew = Math.abs(setBackMs) > 1000
    reckonedAheadMs = aheadMs
    // Clocks are often corrected by seconds.
    if (setBackMs > POLL_EVERY_MS && setBackMs < Infinity) await jobs.bringForward(setBackMs)
    for (const { task: name } of rows.list()) {
      if (isClosed) return
      const [row, task] = [rows.get(name), tasks.get(name)]
      const cron = row && task?.schedule && (isAnew || (row.next_run_at ?? 0) <= now) && cronOf(row)
      if (row && task && cron) await startOrNoteNext(row, task, cron, now)
    }
  }

  async function startOrNoteNext(row: ScheduleRow, task: AnyTask, cron: CronTimes, now: number): Promise<void> {
    const next = nextOf(row, cron, now) ?? null
    try {
      const isReady = isDue(row, cron, now)
      if (isReady && isOff(task)) return
      if (isReady && isNeeded(task)) await startScheduled(row, task, next)
      else if (row.next_run_at !== next) await ledger.write(() => rows.advance(row, null, next))
    } catch (error) {
      reckonedAheadMs = Infinity
      log.error({ err: error, task: row.task }, 'a scheduled task could not be started; trying again')
    }
  }

  // The scheduler does not know the app's type: it only passes the app on to tasks.
  const isNeeded = (task: AnyTask) => within(task, () => task.schedule?.isNeeded?.(app(task) as never) ?? true)

  async function startScheduled(row: ScheduleRow, task: AnyTask, next: number | null): Promise<void> {
    const known = task.payload.properties
    const payload = Object.fromEntries(
      Object.entries({ ...row.config, scheduled: true }).filter(([key]) => Object.hasOwn(known, key)),
    )
    // They usually share a transaction; after a crash between them, the task starts twice rather than never.
    await Promise.all([jobs.start(row.task, payload), ledger.write(() => rows.advance(row, clock.now(), next))])
    log.info({ task: row.task }, 'scheduled task started')
  }

  /** Waits for the next schedule; called again after each change. An overdue schedule waits for the next poll. */
  function waitForNext(): void {
    timer?.cancel()
    if (!isBegun || isClosed) return
    const now = clock.now()
    const times = rows.list().map((row) => row.next_run_at ?? 0)
    const next = Math.min(...times.filter((time) => time > now))
    if (next < Infinity) timer = clock.at(next, () => void poll())
  }

  function poll(): Promise<void> {
    return (starting = starting
      .then(startDue)
      .then(waitForNext)
      .catch((error: unknown) => log.error({ err: error }, 'the schedules could not be read; trying again')))
  }

  /** undefined: the stored text is invalid, which is logged. */
  function cronOf(row: ScheduleRow): CronTimes | undefined {
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

  return {
    ...openOutgoing(parts, rows),
    ...{ set, remove, begin },
    list: () => rows.list().map(toRecord),
    get(task) {
      const row = rows.get(task)
      return row && toRecord(row)
    },
    async close() {
      isClosed = true
      timer?.cancel()
      pollTimer?.cancel()
      unwatch?.()
    },
  }
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Refuses unknown keys too, even if the schema allows them. */
function checkConfig(task: AnyTask, config: Record<string, unknown>): void {
  const schema = task.schedule?.config
  for (const key of Object.keys(config)) {
    if (!schema || !Object.hasOwn(schema.properties, key))
      throw errors.badRequest(say`The schedule of ${{ name: task.name }} has no setting ${{ key }}`, {
        fields: { [`config.${key}`]: 'Unknown setting' },
      })
  }
  if (!schema) return
  const [fault] = Object.entries(prefixed('config', faultsIn(schema, config)))
  if (fault) throw errors.wrongField(...fault)
}

/** A random minute, from which the first run is at least `QUIET_AT_FIRST_MS` away. */
function initialCron(schedule: ScheduledTask['schedule'], timeZone: string | undefined, now: number): CronTimes {
  const { auto, initially } = schedule
  if (initially === undefined || initially === 'auto') return readCron(auto, timeZone)
  const weekday = auto.trim().split(/\s+/)[2] ?? '*'
  const hour = initially === 'random' ? randomInt(24) : initially.hour
  const minute = randomInt(60)
  const at = (shift: number) => readCron(`${(minute + shift) % 60} ${hour} ${weekday}`, timeZone)
  for (let shift = 0; shift < 60; shift++) {
    const cron = at(shift)
    if ((cron.next(now) ?? Infinity) - now > QUIET_AT_FIRST_MS) return cron
  }
  return at(0) // the clock is about to skip that hour
}

/** Whether the schedule had a time within the last day for which the task has not been started. */
function isDue({ next_run_at: noted, last_run_at: ran }: ScheduleRow, cron: CronTimes, now: number): boolean {
  if (noted === null || noted > now) return false
  const since = Math.max(now - DAY_MS, ran !== null && ran <= now ? ran : 0)
  return (noted >= since ? noted : (cron.next(since) ?? Infinity)) <= now
}

const nextOf = ({ last_run_at: ran }: ScheduleRow, cron: CronTimes, now: number): number | undefined =>
  cron.next(ran !== null && ran > now && ran - now <= SMALL_CORRECTION_MS ? ran : now)
