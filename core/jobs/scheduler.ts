/** croner; only ever adds a row. */
import { randomInt } from 'node:crypto'
import { Value } from 'typebox/value'
import type { Clock, Timer } from '../clock.ts'
import { errors } from '../error.ts'
import { type ScheduleRow, scheduleRows } from '../ledger/schedules.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { type CronTimes, readCron } from './cron.ts'
import type { AnyTask } from './task.ts'
import type { Jobs } from './types.ts'

/** Contract 5.11, with `next_run_at` of appendix B. */
export interface ScheduleRecord {
  name: string
  schedule: string
  schedule_human: string
  last_run_at: string | null
  next_run_at: string | null
  config: Record<string, unknown>
}

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
  outgoing(): Record<string, { urls: string[]; title: string }>
  /** @throws bad_request: the task takes none, or the URL cannot be one; conflict: it has as many as it may */
  addOutgoing(task: string, url: string): Promise<void>
  /** Without `url` all of the task's. @throws not_found */
  removeOutgoing(task: string, url?: string): Promise<void>
}

export interface Scheduler extends Schedules {
  /** Gives a new installation its schedules, makes up for what was missed by less than 24 h, and waits for the next. */
  begin(): Promise<void>
  close(): Promise<void>
}

export interface SchedulerOptions {
  ledger: Ledger
  clock: Clock
  log: Log
  tasks: ReadonlyMap<string, AnyTask>
  jobs: Pick<Jobs, 'start'>
  /** An IANA name; left out: the process's own. */
  timeZone?: string
}

type ScheduledTask = AnyTask & { schedule: NonNullable<AnyTask['schedule']> }

const DAY_MS = 24 * 60 * 60 * 1000
/** Looks at the clock this often at least: the system's may be set, or sleep. */
const LONGEST_WAIT_MS = 60_000
/**
 * A run so far ahead was made before the clock was corrected by a little: it counts. One further ahead was made on a
 * wrong day.
 */
const SMALL_CORRECTION_MS = 10 * 60_000
const LONGEST_URL = 2000
const MOST_URLS = 50
const OUTGOING_URL = /^(?:[a-z][a-z0-9+.-]*:\/\/|mailto:)[^\s\p{Cc}]+$/iu

export function openScheduler({ ledger, clock, log, tasks, jobs, timeZone }: SchedulerOptions): Scheduler {
  const rows = scheduleRows(ledger)
  let timer: Timer | undefined
  /** By how much the clock was ahead of the steady one when the next times were reckoned. */
  let reckonedAheadMs = Infinity
  let isBegun = false
  let isClosed = false

  const crons = new Map<string, CronTimes>()
  const cronOf = (row: ScheduleRow): CronTimes | undefined => {
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
  const schedulable = (name: string): ScheduledTask => {
    const task = tasks.get(name)
    if (!task?.schedule) throw errors.badRequest(`${name} cannot be scheduled`)
    return task as ScheduledTask
  }
  const toRecord = (row: ScheduleRow): ScheduleRecord => ({
    name: row.task,
    schedule: row.cron,
    schedule_human: cronOf(row)?.inWords() ?? '',
    last_run_at: isoOrNull(row.last_run_at),
    next_run_at: tasks.has(row.task) ? isoOrNull(row.next_run_at) : null,
    config: row.config,
  })

  const fire = async (row: ScheduleRow, task: AnyTask, next: number | undefined): Promise<void> => {
    const known = task.payload.properties
    const payload = Object.fromEntries(
      Object.entries({ ...row.config, scheduled: true }).filter(([key]) => Object.hasOwn(known, key)),
    )
    // Asked for together, so both are in one transaction; if not, it starts twice rather than never.
    await Promise.all([
      jobs.start(row.task, payload),
      ledger.write(() => rows.advance(row.task, clock.now(), next ?? null)),
    ])
    log.info({ task: row.task }, 'scheduled task started')
  }

  /**
   * Starts what is due, at most a day late. Where the clock was set, and at the start, when the time zone may be
   * another, the next times are reckoned anew.
   */
  const look = async (): Promise<void> => {
    const now = clock.now()
    const aheadMs = now - clock.steady()
    const isAnew = Math.abs(aheadMs - reckonedAheadMs) > 1000
    reckonedAheadMs = aheadMs
    for (const row of rows.list()) {
      const task = tasks.get(row.task)
      if (isClosed) return
      const cron = task?.schedule && (isAnew || (row.next_run_at ?? 0) <= now) && cronOf(row)
      if (!task || !cron) continue
      const next = nextOf(row, cron, now)
      try {
        if (isDue(row, cron, now)) await fire(row, task, next)
        else if (row.next_run_at !== (next ?? null))
          await ledger.write(() => rows.advance(row.task, null, next ?? null))
      } catch (error) {
        reckonedAheadMs = Infinity
        log.error({ err: error, task: row.task }, 'a scheduled task could not be started; it is tried again')
      }
    }
  }

  const waitForNext = (): void => {
    timer?.cancel()
    if (!isBegun || isClosed) return
    const now = clock.now()
    const next = Math.min(...rows.list().map((row) => (tasks.has(row.task) ? (row.next_run_at ?? Infinity) : Infinity)))
    // What could not be started is still due: not again at once.
    const wait = next <= now ? LONGEST_WAIT_MS : Math.min(next - now, LONGEST_WAIT_MS)
    timer = clock.after(wait, () => {
      look()
        .then(waitForNext)
        .catch((error: unknown) => {
          log.error({ err: error }, 'the schedules could not be read; it is tried again')
          timer = clock.after(LONGEST_WAIT_MS, waitForNext)
        })
    })
  }

  const initialCron = ({ auto, initially }: ScheduledTask['schedule']): string => {
    if (initially === undefined || initially === 'auto') return auto
    const weekday = auto.trim().split(/\s+/)[2] ?? '*'
    return `${randomInt(60)} ${initially === 'random' ? randomInt(24) : initially.hour} ${weekday}`
  }

  return {
    list: () => rows.list().map(toRecord),
    get(task) {
      const row = rows.get(task)
      return row && toRecord(row)
    },

    async set(name, schedule, config) {
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
    },

    async remove(name) {
      const isRemoved = await ledger.write(() => rows.remove(name))
      if (!isRemoved) throw errors.notFound('schedule', name)
      waitForNext()
    },

    outgoing() {
      const found: Record<string, { urls: string[]; title: string }> = {}
      for (const { task, url } of rows.urls()) {
        const title = tasks.get(task)?.title
        if (title !== undefined) (found[task] ??= { urls: [], title }).urls.push(url)
      }
      return found
    },

    async addOutgoing(name, url) {
      if (!tasks.get(name)?.outgoing) throw errors.badRequest(`No messages can be sent about ${name}`)
      if (url.length > LONGEST_URL || !OUTGOING_URL.test(url))
        throw errors.badRequest('The URL must begin with a scheme such as https:// or mailto: and have no spaces')
      await ledger.write(() => {
        rows.addUrl(name, url)
        if (rows.countUrls(name) > MOST_URLS)
          throw errors.conflict(`${name} has ${MOST_URLS} URLs already; remove one first`)
      })
    },

    async removeOutgoing(name, url) {
      const gone = await ledger.write(() => rows.removeUrls(name, url))
      if (gone === 0) throw errors.notFound('schedule notification', name)
    },

    async begin() {
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
          const cron = readCron(initialCron(schedule), timeZone)
          rows.put(name, cron.text, schedule.initialConfig ?? {}, cron.next(clock.now()) ?? null)
        }
      })
      await look()
      isBegun = true
      waitForNext()
    },

    async close() {
      isClosed = true
      timer?.cancel()
    },
  }
}

/** Whether a time that was noted has come, and neither has its run been made nor is it older than a day. */
function isDue({ next_run_at: noted, last_run_at: ran }: ScheduleRow, cron: CronTimes, now: number): boolean {
  if (noted === null || noted > now) return false
  const since = Math.max(now - DAY_MS, ran !== null && ran <= now ? ran : 0)
  return (noted >= since ? noted : (cron.next(since) ?? Infinity)) <= now
}

const nextOf = ({ last_run_at: ran }: ScheduleRow, cron: CronTimes, now: number): number | undefined =>
  cron.next(ran !== null && ran > now && ran - now <= SMALL_CORRECTION_MS ? ran : now)

const isoOrNull = (ms: number | null): string | null => (ms === null ? null : new Date(ms).toISOString())

/** Unknown keys are refused too, whatever the schema says of them. */
function checkConfig(task: AnyTask, config: Record<string, unknown>): void {
  const schema = task.schedule?.config
  for (const key of Object.keys(config)) {
    if (!schema || !Object.hasOwn(schema.properties, key))
      throw errors.badRequest(`The schedule of ${task.name} has no setting ${key}`, {
        fields: { [`config.${key}`]: 'There is no such setting' },
      })
  }
  if (!schema) return
  for (const fault of Value.Errors(schema, config)) {
    const place = `config${fault.instancePath.replaceAll('/', '.')}`
    throw errors.badRequest(`${place} ${fault.message}`, { fields: { [place]: fault.message } })
  }
}
