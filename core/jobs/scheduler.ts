/** The service `schedules`: when tasks run by themselves, and which addresses hear of them. */
import { randomInt } from 'node:crypto'
import { type Clock, DAY_MS, type Timer } from '../clock.ts'
import { type CronTimes, readCron } from '../cron.ts'
import { errors } from '../error.ts'
import type { EndState } from '../ledger/jobs.ts'
import { type ScheduleRow, ScheduleRows } from '../ledger/schedules.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { type Said, saidOf, say } from '../say.ts'
import { faultsIn, placed } from '../validation.ts'
import { type Outgoing, openOutgoing } from './outgoing.ts'
import type { AnyTask } from './task.ts'
import type { Jobs } from './types.ts'

/** Contract 5.11, with `next_run_at` of appendix B. */
export interface ScheduleRecord {
  name: string
  schedule: string
  schedule_human: string
  last_run_at: string | null
  next_run_at: string | null
  /** How its task has ended last, whoever had started it, and what was said then. */
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
   * @param schedule  three fields, or `auto`
   * @param config    left out: as it was
   * @throws bad_request: not schedulable, bad cron, unknown config key
   */
  set(task: string, schedule: string, config?: Record<string, unknown>): Promise<ScheduleRecord>
  /** @throws not_found */
  remove(task: string): Promise<void>
}

interface Scheduler extends Schedules {
  /** Gives a new installation its schedules, makes up for what was missed by less than 24 h, and waits for the next. */
  begin(): Promise<void>
  close(): Promise<void>
}

type ScheduledTask = AnyTask & { schedule: NonNullable<AnyTask['schedule']> }

interface SchedulerOptions {
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

interface SchedulerState extends Readonly<SchedulerOptions> {
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

const newState = (options: SchedulerOptions): SchedulerState => ({
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

/** The clock is looked at this often at least: the system's may be set, or sleep. */
const LOOK_EVERY_MS = 60_000
/**
 * A run so far ahead was made before the clock was corrected by a little: it counts. One further ahead was made on a
 * wrong day.
 */
const SMALL_CORRECTION_MS = 10 * 60_000

export function openScheduler(options: SchedulerOptions): Scheduler {
  const state = newState(options)
  const { rows } = state
  return {
    list: () => rows.list().map((row) => toRecord(state, row)),
    get(task) {
      const row = rows.get(task)
      return row && toRecord(state, row)
    },
    set: (task, schedule, config) => set(state, task, schedule, config),
    remove: (task) => remove(state, task),
    ...openOutgoing(state),
    begin: () => begin(state),
    async close() {
      state.isClosed = true
      state.timer?.cancel()
      state.looks?.cancel()
      state.unwatch?.()
    },
  }
}

function toRecord(state: SchedulerState, row: ScheduleRow): ScheduleRecord {
  const { texts, said } = saidOf(row.last_words === null ? [] : [row.last_words])
  return {
    name: row.task,
    schedule: row.cron,
    schedule_human: cronOf(state, row)?.inWords() ?? '',
    last_run_at: isoOrNull(row.last_run_at),
    next_run_at: state.tasks.has(row.task) ? isoOrNull(row.next_run_at) : null,
    config: row.config,
    last_status: row.last_state,
    last_ended_at: isoOrNull(row.last_ended_at),
    last_result: texts[0] ?? null,
    ...(said && { said }),
  }
}

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** @throws bad_request */
function schedulable({ tasks }: SchedulerState, name: string): ScheduledTask {
  const task = tasks.get(name)
  if (!task?.schedule) throw errors.badRequest(say`${{ name }} cannot be scheduled`)
  return task as ScheduledTask
}

async function set(
  state: SchedulerState,
  name: string,
  schedule: string,
  config: Record<string, unknown> | undefined,
): Promise<ScheduleRecord> {
  const { ledger, clock, rows, timeZone } = state
  const task = schedulable(state, name)
  const cron = readCron(schedule === 'auto' ? task.schedule.auto : schedule, timeZone)
  const wanted = config ?? rows.get(name)?.config ?? task.schedule.initialConfig ?? {}
  checkConfig(task, wanted)
  const row = await ledger.write(() => {
    rows.put(name, cron.text, wanted, cron.next(clock.now()) ?? null)
    return rows.get(name)!
  })
  waitForNext(state)
  return toRecord(state, row)
}

async function remove(state: SchedulerState, name: string): Promise<void> {
  const isRemoved = await state.ledger.write(() => state.rows.remove(name))
  if (!isRemoved) throw errors.notFound('schedule', name)
  waitForNext(state)
}

/** Unknown keys are refused too, whatever the schema says of them. */
function checkConfig(task: AnyTask, config: Record<string, unknown>): void {
  const schema = task.schedule?.config
  for (const key of Object.keys(config)) {
    if (!schema || !Object.hasOwn(schema.properties, key))
      throw errors.badRequest(say`The schedule of ${{ name: task.name }} has no setting ${{ key }}`, {
        fields: { [`config.${key}`]: 'Unknown setting' },
      })
  }
  if (!schema) return
  const [fault] = Object.entries(placed('config', faultsIn(schema, config)))
  if (fault) throw errors.wrongField(...fault)
}

async function begin(state: SchedulerState): Promise<void> {
  state.unwatch = noteEnds(state)
  await startDue(state)
  // None of them is due yet.
  await giveInitialSchedules(state)
  beginLooking(state)
}

function noteEnds({ jobs, ledger, rows, log }: SchedulerState): () => void {
  return jobs.onEnded(({ task, state, endedAt, result, said }) => {
    if (!rows.get(task) || endedAt === null) return
    ledger
      .write(() => rows.ended(task, state, endedAt, said ?? result))
      .catch((error: unknown) => log.error({ err: error, task }, 'how a scheduled task has ended could not be noted'))
  })
}

/** Each task gets its first schedule once; whoever removes it has it removed for good. */
async function giveInitialSchedules(state: SchedulerState): Promise<void> {
  const { ledger, clock, rows, tasks, timeZone } = state
  const fresh = [...tasks.values()].filter(
    (task) => task.schedule?.initially !== undefined && !rows.hadInitial(task.name),
  )
  const isFirstStart = !rows.hadAnyInitial()
  await ledger.write(() => {
    for (const { name } of fresh) {
      rows.markInitial(name)
      const { schedule } = schedulable(state, name)
      const isLate = typeof schedule.initially === 'object' && schedule.initially.isFirstStartOnly && !isFirstStart
      if (isLate || rows.get(name)) continue
      const cron = readCron(initialCron(schedule), timeZone)
      rows.put(name, cron.text, schedule.initialConfig ?? {}, cron.next(clock.now()) ?? null)
    }
  })
}

function initialCron({ auto, initially }: ScheduledTask['schedule']): string {
  if (initially === undefined || initially === 'auto') return auto
  const weekday = auto.trim().split(/\s+/)[2] ?? '*'
  return `${randomInt(60)} ${initially === 'random' ? randomInt(24) : initially.hour} ${weekday}`
}

// ── Starting what is due; only ever adds rows of jobs ─────

/**
 * Starts what is due, at most a day late. Where the clock was set, and at the start, when the time zone may be
 * another, the next times are reckoned anew.
 */
async function startDue(state: SchedulerState): Promise<void> {
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
    if (isDue(row, cron, now) && isNeeded(state, task)) await startScheduled(state, row, task, next)
    else if (row.next_run_at !== next) await ledger.write(() => rows.advance(row.task, null, next))
  } catch (error) {
    state.reckonedAheadMs = Infinity
    log.error({ err: error, task: row.task }, 'a scheduled task could not be started; it is tried again')
  }
}

const isNeeded = ({ app }: SchedulerState, task: AnyTask): boolean =>
  // The scheduler hands its app on to tasks, and calls nothing of it.
  task.schedule?.isNeeded === undefined || task.schedule.isNeeded(app(task) as never)

async function startScheduled(
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
function beginLooking(state: SchedulerState): void {
  state.isBegun = true
  state.looks = state.clock.every(LOOK_EVERY_MS, () => look(state))
  waitForNext(state)
}

/** Waits for the next schedule; called again when one has changed. What is due already waits for the next look. */
function waitForNext(state: SchedulerState): void {
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

/** Undefined: the stored text cannot be read, which is logged. */
function cronOf({ crons, timeZone, log }: SchedulerState, row: ScheduleRow): CronTimes | undefined {
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
