/** A job's life: claim, begin, attempt, retry (delays: `task-definition.ts`) or end, answer; rescue after a crash. */
import { getSystemErrorMap } from 'node:util'
import { errors, isAppError, withoutPaths, wordsOf } from '../base/error.ts'
import { maskCredentials } from '../base/mask.ts'
import { say, stored, type Words } from '../base/say.ts'
import { asPlugin } from '../error-origin.ts'
import { beyondView } from '../index/view.ts'
import { waitAtBarrier } from '../index/write-barrier.ts'
import { type Ending, hasEnded, type Job, withoutWords } from '../ledger/jobs.ts'
import { type JobLog, openJobLog } from './job-log.ts'
import { openProgress } from './progress.ts'
import { CLOSING_TEXT, endingOf, type Interruption, type Runner, type Running, taskOf } from './state.ts'
import { isStop, stopReason } from './stop-reason.ts'
import type { AnyTask, Handed } from './task-definition.ts'
import type { JobContext } from './types.ts'
import { TRY_LEDGER_AGAIN_MS } from './upkeep.ts'

/** Begins the jobs that have waited longest in a lane, one for each free slot. */
export function claim<App extends Handed>(runner: Runner<App>, lane: string): void {
  const { ledger, laneSizes, clock, log } = runner
  const free = runner.isClaiming ? laneSizes.takeFree(lane) : 0
  if (free === 0) return
  ledger
    .write(() => writeClaimed(runner, lane, free))
    .then(
      (claimed) => {
        laneSizes.giveBack(lane, free - claimed.length)
        for (const job of claimed) begin(runner, job, { isAwaited: false, hasSlot: true })
      },
      (error: unknown) => {
        laneSizes.giveBack(lane, free)
        log.error({ err: error, lane }, 'jobs could not be claimed; trying again')
        clock.after(TRY_LEDGER_AGAIN_MS, () => claim(runner, lane))
      },
    )
}

function writeClaimed<App>(runner: Runner<App>, lane: string, most: number): Job[] {
  const claimed: Job[] = []
  while (runner.isClaiming && claimed.length < most) {
    const job = runner.rows.claim(lane)
    if (!job) break
    writeBegun(runner, job)
    claimed.push(job)
  }
  return claimed
}

/** Records that a job has begun; call inside `ledger.write`. */
export function writeBegun<App>({ own, notifications }: Runner<App>, job: Job): void {
  own.add(job.id)
  notifications.writeBegun(job)
}

/** Runs a job whose row says that it has begun. */
export function begin<App extends Handed>(
  runner: Runner<App>,
  job: Job,
  { isAwaited, hasSlot }: Pick<Running<App>, 'isAwaited' | 'hasSlot'>,
): void {
  const { app, clock, rows, notifications } = runner
  const task = taskOf(runner, job.task)
  const entry: Running<App> = {
    job,
    task,
    payload: job.payload,
    controller: new AbortController(),
    stopping: new AbortController(),
    interruption: undefined,
    isStopping: false,
    isAwaited,
    hasSlot,
    log: openJobLog(app(task).log, { job: job.id, task: job.task }, clock, rows.logOf(job.id)),
    progress: openProgress(clock, (messages, fraction) => notifications.report(job, messages, fraction)),
    isAbandoned: false,
    done: Promise.resolve(),
  }
  runner.running.set(job.id, entry)
  runner.changes.tell({ job })
  notifications.changed()
  if (runner.isClosing) interrupt(entry, 'close')
  // No view limits a job, whoever started it; nor do its errors count as errors of the plugin that started it.
  entry.done = asPlugin(undefined, () =>
    beyondView(async () => {
      const outcome = await attempt(runner, entry)
      entry.progress.close()
      await end(runner, entry, outcome)
    }),
  )
}

export function interrupt<App>(entry: Running<App>, why: Interruption): void {
  // A killed job stays killed, even if the server closes meanwhile.
  entry.interruption ??= why
  const reason = why === 'kill' ? killed() : errors.unavailable(CLOSING_TEXT)
  entry.controller.abort(reason)
  entry.stopping.abort(reason)
}

/** The job ends after its current item, and its waits on `stopSignal` end at once. */
export function stop<App>(entry: Running<App>): void {
  entry.isStopping = true
  entry.stopping.abort(stopReason())
}

const killed = () => errors.conflict('The task was stopped')

type Outcome =
  | { kind: 'ended'; ending: Ending; error?: unknown }
  /** `ending`: used instead if somebody has stopped the job meanwhile. */
  | { kind: 'retry'; retryAt: number; ending: Ending; error: unknown }
  /** Interrupted because the server closes. */
  | { kind: 'requeued' }

/** Runs the task once; never throws. */
async function attempt<App extends Handed>(runner: Runner<App>, entry: Running<App>): Promise<Outcome> {
  const { job, task } = entry
  const app = runner.app(task)
  const { signal } = entry.controller
  try {
    signal.throwIfAborted()
    // The index may be unreachable for long: callers that wait for the job get an error, but the job goes on later.
    const told = await waitAtBarrier(
      signal,
      async () => runner.within(task, () => task.run(contextOf(runner, entry, app), app)),
      (reason) => runner.forRun.reject(job.id, reason),
    )
    const state = entry.interruption === 'kill' ? 'REVOKED' : 'SUCCESS'
    return { kind: 'ended', ending: { ...withoutWords(state), ...(told && toldOf(told)) } }
  } catch (error) {
    return outcomeOf(error, runner, entry)
  }
}

function contextOf<App extends Handed>(
  { ledger, rows, log }: Runner<App>,
  entry: Running<App>,
  app: App,
): JobContext<Record<string, unknown>> {
  const { job, task } = entry
  let marked: string | undefined
  /** Skips a step that is already noted: each commit waits for the disk, and a job may repeat a step for each item. */
  function markStep(name: string): void {
    if (name === marked) return
    marked = name
    ledger
      .write(() => rows.setStep(job.id, name))
      .catch((error: unknown) => log.warn({ err: error, job: job.id }, 'the step of a job could not be recorded'))
  }
  return {
    id: job.id,
    payload: job.payload,
    signal: entry.controller.signal,
    stopSignal: entry.stopping.signal,
    isStopping: () => entry.isStopping,
    log: entry.log.log,
    progress: (fraction, ...messages) => entry.progress.report(fraction, messages),
    async step(name, work) {
      entry.controller.signal.throwIfAborted()
      markStep(name)
      await app.emit('job.step', { task: task.name, id: job.id, step: name, phase: 'before' })
      const result = await work()
      await app.emit('job.step', { task: task.name, id: job.id, step: name, phase: 'after' })
      return result
    },
    current: () => entry.payload,
  }
}

function outcomeOf<App>(error: unknown, { clock, debug }: Runner<App>, entry: Running<App>): Outcome {
  const { job, task, isStopping, interruption, stopping } = entry
  const { log } = entry.log
  if (interruption === 'close') return { kind: 'requeued' }
  if (interruption === 'kill') return { kind: 'ended', ending: withoutWords('REVOKED'), error }
  // The stop has interrupted a wait of the task, which is a regular end.
  if (isStop(error, { stopSignal: stopping.signal })) return { kind: 'ended', ending: withoutWords('SUCCESS') }
  const told = toldOf(failureOf(error))
  const ending: Ending = { state: 'FAILURE', ...told, traceback: debug ? tracebackOf(error) : null }
  const { retries } = task
  // A caller that waits for the job gets the error at once, so the job is not retried.
  if (
    retries &&
    !entry.isAwaited &&
    !isStopping &&
    job.retries < retries.times &&
    (retries.always || isRetryable(error))
  ) {
    const { delaySeconds, factor = 1 } = retries
    const pauseSeconds = delaySeconds * factor ** job.retries
    log.warn({ err: error }, `failed, and will be tried again in ${pauseSeconds} s`)
    return { kind: 'retry', ending, error, retryAt: clock.now() + pauseSeconds * 1000 }
  }
  // An AppError is a sentence for people; any other error is a defect, and its stack belongs in the log.
  if (isAppError(error)) log.warn({ cause: error.cause }, `failed: ${told.result}`)
  else log.error({ err: error }, 'failed')
  return { kind: 'ended', ending, error }
}

const isRetryable = (error: unknown): boolean => !isAppError(error) || isAppError(error, 'unavailable')

const LONGEST_TEXT = 2000
const LONGEST_TRACEBACK = 20_000

/** The message of a system error contains paths of this machine, so only its code is shown; the log has the message. */
function failureOf(error: unknown): Words {
  const system =
    error instanceof Error && 'syscall' in error
      ? getSystemErrorMap().get((error as NodeJS.ErrnoException).errno ?? 0)
      : undefined
  return (system ? system.join(': ') : wordsOf(error)) || say`Failed without an error message`
}

function tracebackOf(error: unknown): string | null {
  if (!(error instanceof Error)) return null
  const cause = error.cause instanceof Error ? `\nCaused by: ${error.cause.stack ?? error.cause.message}` : ''
  return shorten((error.stack ?? error.message) + cause, LONGEST_TRACEBACK)
}

function toldOf(words: Words): Pick<Job, 'result' | 'said'> {
  const { text, said } = stored(words, (one) => withoutPaths(shorten(one, LONGEST_TEXT)))
  return { result: text, said }
}

const shorten = (text: string, longest: number): string => maskCredentials(text.slice(0, longest))

/** Writes the last state of a run, passes its slot in the lane to the next job, and answers callers that wait. */
async function end<App>(runner: Runner<App>, entry: Running<App>, outcome: Outcome): Promise<void> {
  const { job, task } = entry
  const written = entry.isAbandoned ? undefined : await save(runner, entry, outcome)
  runner.running.delete(job.id)
  runner.own.delete(job.id)
  if (entry.hasSlot) {
    runner.laneSizes.giveBack(task.lane, 1)
    runner.claim(task.lane)
  }
  if (!written) return
  const { row, ending } = written
  runner.changes.tell({ job: row })
  runner.notifications.changed()
  if (row.state === 'RETRY') runner.upkeep.wakeInTime()
  if (row.state === 'PENDING') runner.claim(task.lane)
  if (ending && outcome.kind !== 'requeued') {
    answer(runner, row, ending, outcome.error)
    runner.upkeep.noteEnded()
  } else if (outcome.kind === 'requeued') {
    runner.forRun.reject(job.id, errors.unavailable(CLOSING_TEXT))
    if (hasEnded(row)) answer(runner, row, endingOf(row))
  }
}

interface Written {
  row: Job
  /** Set if the job has ended: it is neither retried nor requeued. */
  ending?: Ending
}

/** Retries while the disk is full: otherwise the row would still say that the job runs. */
async function save<App>(runner: Runner<App>, entry: Running<App>, outcome: Outcome): Promise<Written | undefined> {
  const { ledger, clock, log } = runner
  for (;;) {
    try {
      return await ledger.write(() => writeOutcome(runner, entry, outcome))
    } catch (error) {
      log.error({ err: error, job: entry.job.id }, 'the end of a job could not be written; trying again')
      if (runner.isClosing) return undefined
      await clock.sleep(TRY_LEDGER_AGAIN_MS)
    }
  }
}

function writeOutcome<App>(runner: Runner<App>, { job, task, log }: Running<App>, outcome: Outcome): Written {
  const { rows, notifications } = runner
  if (outcome.kind === 'requeued') return { row: writeRescued(runner, job, task, log.lines) }
  // A command may have arrived at the last moment of the run: a stopped job is not tried again.
  const command = outcome.kind === 'retry' ? (rows.get(job.id)?.command ?? null) : null
  if (outcome.kind === 'retry' && command === null) {
    const row = rows.retry(job.id, outcome.ending, outcome.retryAt, log.lines)
    notifications.writeEnded({ ...row, state: 'RETRY' })
    return { row }
  }
  const ending = command === 'KILL' ? withoutWords('REVOKED') : outcome.ending
  const row = rows.end(job.id, ending, log.lines)
  notifications.writeEnded({ ...row, ...ending })
  return { row, ending }
}

/** Tells who waits for a job, or listens to all. @param error  what the task threw, for the caller */
export function answer<App>(
  { ends, clock, forRun, forEnd }: Runner<App>,
  row: Job,
  ending: Ending,
  error?: unknown,
): void {
  ends.tell({ ...row, ...ending, endedAt: row.endedAt ?? clock.now() })
  if (ending.state === 'SUCCESS') forRun.resolve(row.id, ending.result)
  else forRun.reject(row.id, refusal(ending, error))
  if (hasEnded(row)) forEnd.resolve(row.id, row)
}

const refusal = ({ state, result, said }: Ending, error: unknown): unknown =>
  state === 'REVOKED' ? killed() : (error ?? errors.unavailable(said ?? result ?? 'The task failed'))

const DAMAGED: Ending = {
  ...withoutWords('FAILED'),
  result: say`The record of this task is damaged: start the task again`,
}
const WENT_DOWN: Ending = { ...withoutWords('FAILED'), result: say`Interrupted when the server stopped` }

/** Requeues or ends a row that says it runs but does not: after a crash, or at a close. Call inside `ledger.write`. */
export function writeRescued<App>(
  { rows, notifications }: Runner<App>,
  row: Job,
  task: AnyTask | undefined,
  lines?: JobLog['lines'],
): Job {
  const { command, again } = rows.get(row.id) ?? row
  notifications.writeEnded({ ...row, state: 'FAILED' })
  const log = lines ?? rows.logOf(row.id)
  if (command === 'KILL') return rows.end(row.id, withoutWords('REVOKED'), log)
  if (command === 'STOP') return rows.end(row.id, withoutWords('SUCCESS'), log)
  if (task?.resumable || task?.internal || again) return rows.requeue(row.id, lines)
  return rows.end(row.id, WENT_DOWN, log)
}

/** Repairs the rows after a crash and adapts them after an update. Nothing is claimed before it ends. */
export async function recover<App>(runner: Runner<App>): Promise<void> {
  const { ledger, rows, notifications, log, tasks, own, changes } = runner
  const { rescued, aside } = await ledger.write(() => {
    notifications.writeCleared()
    const damaged = rows.endDamaged(DAMAGED)
    for (const task of tasks.values()) rows.moveToLane(task.name, task.lane)
    // A stopped job ends even if its plugin is gone; the other jobs of a missing plugin wait until it is back.
    const orphans = rows.started().filter((row) => !own.has(row.id) && (tasks.has(row.task) || row.command !== null))
    const rescued = orphans.map((row) => writeRescued(runner, row, tasks.get(row.task)))
    return { rescued: [...damaged, ...rescued], aside: rows.setAside([...tasks.keys()]) }
  })
  if (Object.keys(aside).length > 0)
    log.warn({ jobs: aside }, 'jobs of missing plugins wait until the plugin is installed again')
  for (const row of rescued) {
    log.info({ job: row.id, task: row.task, state: row.state }, 'an unfinished job was found')
    changes.tell({ job: row })
    if (hasEnded(row)) answer(runner, row, endingOf(row))
  }
}
