/** One run of one job: what the task is handed, and how it came out. */
import { getSystemErrorMap } from 'node:util'
import type { Clock } from '../clock.ts'
import { isAppError, withoutPaths, wordsOf } from '../error.ts'
import { waitAtBarrier } from '../index/write-barrier.ts'
import { type Ending, type Job, withoutWords } from '../ledger/jobs.ts'
import type { Log } from '../log.ts'
import { maskCredentials } from '../mask.ts'
import { kept, say, type Words } from '../say.ts'
import type { AnyTask, Handed } from './task.ts'
import type { JobContext, Step } from './types.ts'
import { isStop } from './until-stop.ts'

const LONGEST_TEXT = 2000
const LONGEST_TRACEBACK = 20_000

/** Why a job's signal was aborted. */
export type Interruption = 'kill' | 'close'

export type Outcome =
  | { kind: 'ended'; ending: Ending; error?: unknown }
  /** `ending`: how it ends where somebody has stopped it meanwhile. */
  | { kind: 'retry'; retryAt: number; ending: Ending; error: unknown }
  /** Cut off by the server's end. */
  | { kind: 'requeued' }

/** What is said of a run. */
type Told = Pick<Job, 'result' | 'said'>

interface Attempt<App> {
  job: Job
  task: AnyTask<App>
  signal: AbortSignal
  stopSignal: AbortSignal
  interruption: () => Interruption | undefined
  isStopping: () => boolean
  /** The payload as second starts have left it. */
  payload: () => Record<string, unknown>
  log: Log
  progress: (fraction: number, messages: readonly Words[]) => void
  /** Puts a step's name on the row. */
  markStep: (name: string) => void
  /** Somebody waits for it, and hears the error: it is not tried again. */
  isAwaited: boolean
  /** It has begun to wait for an index server that is away. */
  waits: (reason: unknown) => void
}

/** Runs the task; never throws. */
export async function attempt<App extends Handed>(
  given: Attempt<App>,
  { app, clock, debug }: { app: App; clock: Clock; debug: boolean },
): Promise<Outcome> {
  const { job, task, signal, log } = given
  const step: Step = async (name, work) => {
    signal.throwIfAborted()
    given.markStep(name)
    await app.emit('job.step', { task: job.task, id: job.id, step: name, phase: 'before' })
    const result = await work()
    await app.emit('job.step', { task: job.task, id: job.id, step: name, phase: 'after' })
    return result
  }
  const context: JobContext<Record<string, unknown>> = {
    id: job.id,
    payload: job.payload,
    signal,
    stopSignal: given.stopSignal,
    isStopping: given.isStopping,
    log,
    progress: (fraction, ...messages) => given.progress(fraction, messages),
    step,
    current: given.payload,
  }
  try {
    signal.throwIfAborted()
    const told = await waitAtBarrier(signal, () => task.run(context, app), given.waits)
    const state = given.interruption() === 'kill' ? 'REVOKED' : 'SUCCESS'
    return { kind: 'ended', ending: { ...withoutWords(state), ...(told && toldOf(told)) } }
  } catch (error) {
    if (given.interruption() === 'close') return { kind: 'requeued' }
    const told = toldOf(failureOf(error))
    const traceback = debug ? tracebackOf(error) : null
    if (given.interruption() === 'kill') return { kind: 'ended', ending: withoutWords('REVOKED'), error }
    // The stop ended what it waited for: it did as it was told.
    if (isStop(error, given)) return { kind: 'ended', ending: withoutWords('SUCCESS') }
    const ending: Ending = { state: 'FAILURE', ...told, traceback }
    if (
      task.retries &&
      !given.isAwaited &&
      !given.isStopping() &&
      job.retries < task.retries.times &&
      (task.retries.always || isWorthRetrying(error))
    ) {
      const { delaySeconds, factor = 1 } = task.retries
      const pauseSeconds = delaySeconds * factor ** job.retries
      log.warn({ err: error }, `failed, and is tried again in ${pauseSeconds} s`)
      return { kind: 'retry', ending, error, retryAt: clock.now() + pauseSeconds * 1000 }
    }
    // An error of ours is a sentence for people; any other is a defect, and its stack belongs in the log.
    if (isAppError(error)) log.warn({ cause: error.cause }, `failed: ${told.result}`)
    else log.error({ err: error }, 'failed')
    return { kind: 'ended', ending, error }
  }
}

function isWorthRetrying(error: unknown): boolean {
  return !isAppError(error) || isAppError(error, 'unavailable')
}

/** A failure of the system names paths of this machine, which its code does not; the log has both. */
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

function toldOf(words: Words): Told {
  const { text, said } = kept(words, (one) => withoutPaths(shorten(one, LONGEST_TEXT)))
  return { result: text, said }
}

const shorten = (text: string, longest: number): string => maskCredentials(text.slice(0, longest))
