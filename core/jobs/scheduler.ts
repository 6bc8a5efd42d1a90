/** The service `schedules`: when tasks run by themselves, and which addresses hear of them. */
import { randomInt } from 'node:crypto'
import { readCron } from '../cron.ts'
import { errors } from '../error.ts'
import type { EndState } from '../ledger/jobs.ts'
import type { ScheduleRow } from '../ledger/schedules.ts'
import { type Said, saidOf, say } from '../say.ts'
import { faultsIn, placed } from '../validation.ts'
import { cronOf, newState, type SchedulerOptions, type SchedulerState } from './scheduler-state.ts'
import { beginLooking, startDue, waitForNext } from './start-due.ts'
import type { AnyTask } from './task.ts'

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

/** By task. */
type OutgoingUrls = Record<string, { urls: string[]; title: string }>

export interface Schedules {
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
  /** Outgoing notification URLs by task (contract 5.11, 8.5). */
  outgoing(): OutgoingUrls
  /** @throws bad_request: the task takes none, or the URL cannot be one; conflict: it has as many as it may */
  addOutgoing(task: string, url: string): Promise<void>
  /** Without `url` all of the task's. @throws not_found */
  removeOutgoing(task: string, url?: string): Promise<void>
}

interface Scheduler extends Schedules {
  /** Gives a new installation its schedules, makes up for what was missed by less than 24 h, and waits for the next. */
  begin(): Promise<void>
  close(): Promise<void>
}

type ScheduledTask = AnyTask & { schedule: NonNullable<AnyTask['schedule']> }

const LONGEST_URL = 2000
const MOST_URLS = 50
const OUTGOING_URL = /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:)[^\s\p{Cc}]+$/iu

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
    outgoing: () => outgoing(state),
    addOutgoing: (task, url) => addOutgoing(state, task, url),
    removeOutgoing: (task, url) => removeOutgoing(state, task, url),
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

function outgoing({ rows, tasks }: SchedulerState): OutgoingUrls {
  const found: OutgoingUrls = {}
  for (const { task, url } of rows.urls()) {
    const title = tasks.get(task)?.title
    if (title !== undefined) (found[task] ??= { urls: [], title }).urls.push(url)
  }
  return found
}

async function addOutgoing({ ledger, rows, tasks }: SchedulerState, name: string, url: string): Promise<void> {
  if (!tasks.get(name)?.outgoing) throw errors.badRequest(say`No messages can be sent about ${{ name }}`)
  if (url.length > LONGEST_URL || !OUTGOING_URL.test(url))
    throw errors.badRequest('The URL must begin with a scheme such as https:// or mailto: and have no spaces')
  await ledger.write(() => {
    rows.addUrl(name, url)
    if (rows.countUrls(name) > MOST_URLS)
      throw errors.conflict(say`${{ name }} has ${{ most: MOST_URLS }} URLs already; remove one first`)
  })
}

async function removeOutgoing({ ledger, rows }: SchedulerState, name: string, url: string | undefined): Promise<void> {
  const gone = await ledger.write(() => rows.removeUrls(name, url))
  if (gone === 0) throw errors.notFound('schedule notification', name)
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
