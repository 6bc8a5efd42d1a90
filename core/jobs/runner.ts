/** Claims rows by lane; runs, retries, cancels; rescues orphans at start. */
import { randomUUID } from 'node:crypto'
import type { Clock, Timer } from '../clock.ts'
import { errors } from '../error.ts'
import { type Ending, hasEnded, type Job, jobRows } from '../ledger/jobs.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import { attempt, type Interruption, type Outcome } from './attempt.ts'
import { type JobLog, openJobLog } from './job-log.ts'
import { Listeners } from './listeners.ts'
import { openNotices } from './notify.ts'
import { checkPayload, keyOf, mergedPayload } from './payload.ts'
import { isOwnLane, Places } from './places.ts'
import { openProgress, type Progress } from './progress.ts'
import type { AnyTask, Handed } from './task.ts'
import type { JobChange, JobsRunner, TaskName } from './types.ts'
import { Upkeep } from './upkeep.ts'
import { Waiters } from './waiters.ts'

export interface JobsOptions<App> {
  ledger: Ledger
  clock: Clock
  log: Log
  tasks: ReadonlyMap<string, AnyTask<App>>
  /** Item lanes, as the manifests declare them. */
  lanes: readonly string[]
  /** Lanes that run one job at a time, beside core's own. */
  queues?: readonly string[]
  /** What a task is handed. Asked for when the first job runs: jobs are opened before the app is whole. */
  app: (task: AnyTask<App>) => App
  /** Failures keep their traceback. */
  debug: boolean
  /** Awaited before what a caller waits for is begun: while a restore runs it refuses requests and makes jobs wait. */
  writable?: () => Promise<void>
}

const CLOSE_WITHIN_MS = 10_000
const TRY_LEDGER_AGAIN_MS = 5_000
const LISTED = 1000
const WENT_DOWN: Ending = { state: 'FAILED', result: 'It was running when the server went down', traceback: null }
const CLOSING_TEXT = 'The server is closing; work that was accepted is finished after its next start'

interface Running<App> {
  job: Job
  task: AnyTask<App>
  payload: Record<string, unknown>
  controller: AbortController
  interruption: Interruption | undefined
  isStopping: boolean
  isAwaited: boolean
  /** Whether it fills a place in its lane. */
  hasPlace: boolean
  log: JobLog
  progress: Progress
  /** Its row has been handed back while it still ran: what it says now counts no more. */
  isAbandoned: boolean
  done: Promise<void>
}

/** @throws a sentence: a task names a lane that nobody declares */
export function openJobs<App extends Handed>({
  ledger,
  clock,
  log,
  tasks,
  lanes,
  queues = [],
  app,
  debug,
  writable = () => Promise.resolve(),
}: JobsOptions<App>): JobsRunner {
  const places = new Places(lanes, queues)
  for (const task of tasks.values()) {
    if (!places.has(task.lane))
      throw new Error(`The task ${task.name} is in the lane ${task.lane}, which no plugin declares`)
  }

  const rows = jobRows(ledger, () => clock.now())
  const listeners = new Listeners(log)
  const tell = (change: JobChange) => listeners.changed(change)
  const notices = openNotices({ ledger, clock, log, tasks, onChange: () => tell({ notifications: true }) })
  const upkeep = new Upkeep({
    ...{ ledger, rows, clock, log, tasks: tasks.values() },
    onWoken(woken) {
      for (const job of woken) tell({ job })
      for (const lane of new Set(woken.map((job) => taskOf(job.task).lane))) claim(lane)
    },
  })

  const running = new Map<string, Running<App>>()
  /** Rows that this process has started itself: not orphans, however early they came. */
  const own = new Set<string>()
  const forRun = new Waiters<string | null>()
  const forEnd = new Waiters<Job>()
  let isClaiming = false
  let isClosing = false

  // --- adding

  const taskOf = (asked: TaskName): AnyTask<App> => {
    const name = typeof asked === 'string' ? asked : asked.name
    const task = tasks.get(name)
    if (!task) throw errors.notFound('task', name)
    return task
  }

  const newRow = (task: AnyTask<App>, payload: Record<string, unknown>, uniqueKey: string | null) => ({
    id: randomUUID(),
    task: task.name,
    lane: task.lane,
    uniqueKey,
    internal: task.internal ?? false,
    payload,
  })

  const start = async (asked: TaskName, payload: Record<string, unknown> = {}): Promise<Job> => {
    const task = taskOf(asked)
    const checked = checkPayload(task, payload)
    const key = keyOf(task, checked)
    const job = await ledger.write(() => {
      const open = key === null ? undefined : rows.openSingle(task.name, key)
      if (!open) return rows.add(newRow(task, checked, key), false)
      // What a stopped run was to do is not asked for any more: only what comes after the stop is.
      const isTakenBack = open.state === 'STARTED' && open.command !== null && !open.again
      return rows.meet(open.id, isTakenBack ? checked : mergedPayload(task, open.payload, checked))
    })
    const met = running.get(job.id)
    if (met) met.payload = job.payload
    tell({ job })
    claim(task.lane)
    return job
  }

  const run = async (asked: TaskName, payload: Record<string, unknown> = {}): Promise<string | null> => {
    const task = taskOf(asked)
    const checked = checkPayload(task, payload)
    await writable()
    const key = keyOf(task, checked)
    const isAtOnce = isOwnLane(task.lane)
    const { job, isMine } = await ledger.write(() => {
      if (isClosing) throw errors.unavailable(CLOSING_TEXT)
      const open = key === null ? undefined : rows.openSingle(task.name, key)
      if (open && (open.state === 'STARTED' || !isAtOnce)) return { job: open, isMine: false }
      const job = open
        ? rows.take(open.id, mergedPayload(task, open.payload, checked))
        : rows.add(newRow(task, checked, key), isAtOnce)
      if (isAtOnce) writeBegun(job)
      return { job, isMine: isAtOnce }
    })
    const result = forRun.wait(job.id)
    tell({ job })
    if (isMine) execute(job, { isAwaited: true, hasPlace: false })
    else claim(task.lane)
    return result
  }

  // --- running

  const writeBegun = (job: Job) => {
    own.add(job.id)
    notices.writeBegun(job)
  }

  /** Fills the free places of a lane with those who wait longest. */
  const claim = (lane: string): void => {
    const free = isClaiming ? places.takeFree(lane) : 0
    if (free === 0) return
    ledger
      .write(() => {
        const claimed: Job[] = []
        while (isClaiming && claimed.length < free) {
          const job = rows.claim(lane)
          if (!job) break
          writeBegun(job)
          claimed.push(job)
        }
        return claimed
      })
      .then(
        (claimed) => {
          places.giveBack(lane, free - claimed.length)
          for (const job of claimed) execute(job, { isAwaited: false, hasPlace: true })
        },
        (error: unknown) => {
          places.giveBack(lane, free)
          log.error({ err: error, lane }, 'jobs could not be claimed; it is tried again')
          clock.after(TRY_LEDGER_AGAIN_MS, () => claim(lane))
        },
      )
  }

  const execute = (job: Job, { isAwaited, hasPlace }: { isAwaited: boolean; hasPlace: boolean }): void => {
    const task = taskOf(job.task)
    const jobLog = openJobLog(app(task).log, { job: job.id, task: job.task }, clock, rows.logOf(job.id))
    const entry: Running<App> = {
      job,
      task,
      payload: job.payload,
      controller: new AbortController(),
      interruption: undefined,
      isStopping: false,
      isAwaited,
      hasPlace,
      log: jobLog,
      progress: openProgress(clock, (messages, fraction) => notices.report(job, messages, fraction)),
      isAbandoned: false,
      done: Promise.resolve(),
    }
    running.set(job.id, entry)
    tell({ job })
    notices.changed()
    if (isClosing) interrupt(entry, 'close')
    entry.done = runToEnd(entry)
  }

  const runToEnd = async (entry: Running<App>): Promise<void> => {
    const { job, task } = entry
    const outcome = await attempt(
      {
        job,
        task,
        signal: entry.controller.signal,
        interruption: () => entry.interruption,
        isStopping: () => entry.isStopping,
        payload: () => entry.payload,
        log: entry.log.log,
        progress: entry.progress.report,
        markStep: (name) => {
          ledger
            .write(() => rows.setStep(job.id, name))
            .catch((error: unknown) => log.warn({ err: error, job: job.id }, 'the step of a job could not be noted'))
        },
        isAwaited: entry.isAwaited,
        // Nobody knows how long: who waits for the job hears of it, and the job goes on.
        waits: (reason) => forRun.reject(job.id, reason),
      },
      { app: app(task), clock, debug },
    )
    entry.progress.close()
    const saved = entry.isAbandoned ? undefined : await save(entry, outcome)
    running.delete(job.id)
    own.delete(job.id)
    if (entry.hasPlace) {
      places.giveBack(task.lane, 1)
      claim(task.lane)
    }
    if (!saved) return
    tell({ job: saved })
    notices.changed()
    if (outcome.kind === 'retry') upkeep.wakeInTime()
    if (saved.state === 'PENDING') claim(task.lane)
    if (outcome.kind === 'ended') {
      answer(saved, outcome.ending, outcome.error)
      upkeep.noteEnded()
    } else if (outcome.kind === 'handed back') {
      forRun.reject(job.id, errors.unavailable(CLOSING_TEXT))
      if (hasEnded(saved))
        answer(saved, { state: saved.state as Ending['state'], result: saved.result, traceback: saved.traceback })
    }
  }

  /** The last move of a run. A full disk makes it wait, not fail: the row must not say less than has happened. */
  const save = async (entry: Running<App>, outcome: Outcome): Promise<Job | undefined> => {
    const { job } = entry
    for (;;) {
      try {
        return await ledger.write(() => {
          if (outcome.kind === 'handed back') return writeRescued(job, entry.task, entry.log.lines)
          const ended =
            outcome.kind === 'retry'
              ? rows.retry(job.id, outcome, entry.log.lines)
              : rows.end(job.id, outcome.ending, entry.log.lines)
          notices.writeEnded(outcome.kind === 'retry' ? ended : { ...ended, ...outcome.ending })
          return ended
        })
      } catch (error) {
        log.error({ err: error, job: job.id }, 'the end of a job could not be written; it is tried again')
        if (isClosing) return undefined
        await clock.sleep(TRY_LEDGER_AGAIN_MS)
      }
    }
  }

  /** Tells those who wait, and those who listen, how a run has ended. */
  const answer = (row: Job, ending: Ending, error?: unknown): void => {
    listeners.ended({ ...row, ...ending, endedAt: row.endedAt ?? clock.now() })
    if (ending.state === 'SUCCESS') forRun.resolve(row.id, ending.result)
    else
      forRun.reject(
        row.id,
        ending.state === 'REVOKED'
          ? errors.conflict('The job was ended by kill')
          : (error ?? errors.unavailable(ending.result ?? 'The job failed')),
      )
    if (hasEnded(row)) forEnd.resolve(row.id, row)
  }

  const interrupt = (entry: Running<App>, why: Interruption): void => {
    // Who was told to end by kill stays killed, even if the server closes meanwhile.
    entry.interruption ??= why
    entry.controller.abort(
      why === 'kill' ? errors.conflict('The job was ended by kill') : errors.unavailable(CLOSING_TEXT),
    )
  }

  // --- after a crash, before a close

  /** What becomes of a row that says it runs, but does no more. */
  const writeRescued = (row: Job, task: AnyTask<App>, lines?: Running<App>['log']['lines']): Job => {
    const { command, again } = rows.get(row.id) ?? row
    notices.writeEnded({ ...row, state: 'FAILED' })
    const kept = lines ?? rows.logOf(row.id)
    if (command === 'KILL') return rows.end(row.id, { state: 'REVOKED', result: null, traceback: null }, kept)
    if (command === 'STOP') return rows.end(row.id, { state: 'SUCCESS', result: null, traceback: null }, kept)
    if (task.resumable || task.internal || again) return rows.requeue(row.id, lines)
    return rows.end(row.id, WENT_DOWN, kept)
  }

  const begin = async (): Promise<void> => {
    const { rescued, aside } = await ledger.write(() => {
      notices.writeNothing()
      for (const task of tasks.values()) rows.moveToLane(task.name, task.lane)
      const aside = rows.setAside([...tasks.keys()])
      const orphans = rows.started().filter((row) => !own.has(row.id))
      return { aside, rescued: orphans.map((row) => writeRescued(row, taskOf(row.task))) }
    })
    if (Object.keys(aside).length > 0)
      log.warn({ jobs: aside }, 'jobs of tasks that no plugin offers now wait until it is there again')
    for (const row of rescued) {
      log.info({ job: row.id, task: row.task, state: row.state }, 'job found unfinished')
      tell({ job: row })
      if (hasEnded(row))
        answer(row, { state: row.state as Ending['state'], result: row.result, traceback: row.traceback })
    }
    isClaiming = !isClosing
    if (isClaiming) upkeep.begin()
    for (const lane of places.lanes) claim(lane)
  }

  const close = async (): Promise<void> => {
    if (isClosing) return
    isClosing = true
    isClaiming = false
    upkeep.close()
    for (const entry of running.values()) interrupt(entry, 'close')
    let timer: Timer | undefined
    const tooLong = new Promise<void>((resolve) => (timer = clock.after(CLOSE_WITHIN_MS, resolve)))
    while (running.size > 0) {
      const isOver = await Promise.race([
        Promise.all([...running.values()].map((entry) => entry.done)).then(() => false),
        tooLong.then(() => true),
      ])
      if (isOver) break
    }
    timer?.cancel()
    const late = [...running.values()]
    for (const entry of late) entry.isAbandoned = true
    await ledger.write(() => {
      for (const {
        job,
        task,
        log: { lines },
      } of late) {
        if (rows.get(job.id)?.state === 'STARTED') writeRescued(job, task, lines)
      }
    })
    for (const { job } of late) log.warn({ job: job.id, task: job.task }, 'job did not end in time and was handed back')
    notices.close()
    forRun.rejectAll(errors.unavailable(CLOSING_TEXT))
    forEnd.rejectAll(errors.unavailable(CLOSING_TEXT))
  }

  // --- commands

  const command: JobsRunner['command'] = async (id, asked) => {
    const found = rows.get(id)
    if (!found) throw errors.notFound('task', id)
    // What waits for a plugin that does not come back can be ended.
    if (tasks.has(found.task) && !tasks.get(found.task)?.apiStop)
      throw errors.badRequest(`${found.task} takes no commands`)
    const job = await ledger.write(() => {
      const row = rows.get(id)
      if (!row || hasEnded(row)) throw errors.conflict('The task has already finished')
      if (row.state === 'STARTED') return rows.command(id, asked) ?? row
      const state = asked === 'KILL' ? 'REVOKED' : 'SUCCESS'
      notices.writeEnded({ ...row, state: 'REVOKED' })
      return rows.endWaiting(id, { state, result: null, traceback: null }, asked)
    })
    const entry = running.get(id)
    if (entry) {
      entry.isStopping = true
      if (job.command === 'KILL') interrupt(entry, 'kill')
    }
    tell({ job })
    notices.changed()
    if (hasEnded(job)) answer(job, { state: job.state as Ending['state'], result: null, traceback: null })
  }

  return {
    start,
    run,
    get: rows.get,
    list: ({ task, limit = LISTED } = {}) => rows.list(task, limit),
    active: rows.active,
    async ended(id) {
      const row = rows.get(id)
      if (!row) throw errors.notFound('task', id)
      return hasEnded(row) ? row : forEnd.wait(id)
    },
    command,
    notifications: notices.shown,
    notify: notices.notify,
    warn: notices.warn,
    logOf: (id) => [...(running.get(id)?.log.lines ?? rows.logOf(id))],
    watch: (listener) => listeners.watch(listener),
    onEnded: (listener) => listeners.onEnded(listener),
    begin,
    close,
  }
}
