/** Runs one job: takes its row from begun to ended, and gives its room in the lane back. */
import { errors } from '../error.ts'
import { beyondView } from '../index/view.ts'
import type { Job } from '../ledger/jobs.ts'
import { attempt, type Interruption, type Outcome } from './attempt.ts'
import { finish } from './finish.ts'
import { openJobLog } from './job-log.ts'
import { openProgress } from './progress.ts'
import { CLOSING_TEXT, type Runner, type Running, taskOf } from './state.ts'
import type { Handed } from './task.ts'

/** Notes a job that is begun; inside `ledger.write`. */
export function writeBegun<App>({ own, notifications }: Runner<App>, job: Job): void {
  own.add(job.id)
  notifications.writeBegun(job)
}

/** Runs a job whose row has been begun. */
export function execute<App extends Handed>(
  runner: Runner<App>,
  job: Job,
  { isAwaited, hasPlace }: { isAwaited: boolean; hasPlace: boolean },
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
    hasPlace,
    log: openJobLog(app(task).log, { job: job.id, task: job.task }, clock, rows.logOf(job.id)),
    progress: openProgress(clock, (messages, fraction) => notifications.report(job, messages, fraction)),
    isAbandoned: false,
    done: Promise.resolve(),
  }
  runner.running.set(job.id, entry)
  runner.listeners.changed({ job })
  notifications.changed()
  if (runner.isClosing) interrupt(entry, 'close')
  // Whoever began it may see a part only: a job is the archive's own work.
  entry.done = beyondView(() => runToEnd(runner, entry))
}

async function runToEnd<App extends Handed>(runner: Runner<App>, entry: Running<App>): Promise<void> {
  const outcome = await attemptOf(runner, entry)
  entry.progress.close()
  await finish(runner, entry, outcome)
}

function attemptOf<App extends Handed>(runner: Runner<App>, entry: Running<App>): Promise<Outcome> {
  const { ledger, rows, clock, log, debug } = runner
  const { job, task } = entry
  return attempt(
    {
      job,
      task,
      signal: entry.controller.signal,
      stopSignal: entry.stopping.signal,
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
      waits: (reason) => runner.forRun.reject(job.id, reason),
    },
    { app: runner.app(task), clock, debug },
  )
}

export function interrupt<App>(entry: Running<App>, why: Interruption): void {
  // Who was told to end by kill stays killed, even if the server closes meanwhile.
  entry.interruption ??= why
  const reason = why === 'kill' ? stopped() : errors.unavailable(CLOSING_TEXT)
  entry.controller.abort(reason)
  entry.stopping.abort(reason)
}

/** It ends after its current item, and waits for nothing more. */
export function stop<App>(entry: Running<App>): void {
  entry.isStopping = true
  entry.stopping.abort(stopped())
}

const stopped = () => errors.conflict('The task was stopped')
