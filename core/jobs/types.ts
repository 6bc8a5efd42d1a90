/** What a job looks like to those who start, run and watch it. The rows are in ledger/jobs.ts. */
import type { Job, JobCommand, LogLine } from '../ledger/jobs.ts'
import type { Log } from '../log.ts'
import type { Said, Words } from '../say.ts'

export type { Job, JobCommand, JobState } from '../ledger/jobs.ts'

/** Runs a named piece of a job once more after an interruption: every step may be done twice. */
export type Step = <Result>(name: string, work: () => Promise<Result> | Result) => Promise<Result>

/** What a task's `run` is handed. */
export interface JobContext<Payload> {
  readonly id: string
  readonly payload: Payload
  /** Aborted by kill, a timeout, or the server's end. Everything the job waits for is given it. */
  readonly signal: AbortSignal
  /**
   * Aborted by stop too, beside all that aborts `signal`. For waits, and for work whose interruption loses nothing
   * (`untilStop`); a task that throws its reason after a stop ends as SUCCESS.
   */
  readonly stopSignal: AbortSignal
  /** Stop was asked for: end after the current item, with what is done. */
  readonly isStopping: () => boolean
  readonly log: Log
  /** The notification's text and fraction (0–1); written at most a few times a second, the last one always. */
  progress(fraction: number, ...messages: Words[]): void
  /**
   * A named piece of work whose effects may be done twice. Its name is on the row while it runs; none begins once the
   * signal is aborted.
   */
  readonly step: Step
  /** For unique tasks: the payload as second starts have merged into it meanwhile. */
  readonly current: () => Payload
}

export interface NotificationMessage {
  id: string
  /** Of the task that it is of, which people call by another name in another language. */
  task_name: string | null
  title: string
  group: string
  'api-start': boolean
  'api-stop': boolean
  api_start: boolean
  api_stop: boolean
  level: 'info' | 'error'
  command: false | JobCommand
  messages: string[]
  said?: Said
  progress: number
}

/** A task, or its name. */
export type TaskName = string | { name: string }

export interface StartOptions {
  isPatient?: boolean
}

export interface Jobs {
  /**
   * Adds a row, committed when it resolves; the runner takes it from there. A unique task that waits or runs already:
   * that job (one that runs is run once more when it ends; stop and kill take back what was asked before them; one
   * that waits to be tried again is tried now, with all its retries before it).
   * @param payload  checked against the task's schema, whose defaults are filled in
   * @param options  `isPatient`: a wake-up that does not shorten the pause before the next try
   * @throws not_found (no such task), bad_request (its schema refuses the payload)
   */
  start(task: TaskName, payload?: Record<string, unknown>, options?: StartOptions): Promise<Job>
  /**
   * Work that the caller waits for: the row is written first, so what is interrupted is finished by the next start
   * (of a task that is resumable or internal).
   * A second call with the same key waits for the first one's result. A task of an item lane waits for its place there;
   * all others begin at once, whatever their lane is busy with. Never tried again by itself: the caller hears the
   * error.
   * @throws what the task threw; unavailable when the server closes first
   */
  run(task: TaskName, payload?: Record<string, unknown>): Promise<string | null>
  get(id: string): Job | undefined
  /** Newest first, without internal ones. */
  list(filter?: { task?: string; limit?: number }): Job[]
  /** Those of a task that wait or run, oldest first. */
  open(task: string): Job[]
  /** Whether a job of this task waits or runs. */
  active(task: string): Job | undefined
  /** Resolves when the job has ended, with its last state. */
  ended(id: string): Promise<Job>
  /** @throws not_found, bad_request (the task takes no commands), conflict (it has ended) */
  command(id: string, command: JobCommand): Promise<void>
  /** Messages that are shown now, oldest first. */
  notifications(): NotificationMessage[]
  /** A message that belongs to no job (contract 8.4), shown for 20 s unless told otherwise; a restart ends it. */
  notify(message: {
    /** The task that it is about: title and group are those of it, where they are left out. */
    of?: { name: string; title: string; group?: string }
    title?: string
    group?: string
    level: 'info' | 'error'
    messages: Words[]
    shownForSeconds?: number
    /** Asked each time messages are shown: once what it tells of is over, it is not shown, whatever its time. */
    isOver?: () => boolean
  }): Promise<void>
  /** Tells every account what is wrong with the installation. @param seconds  default: an hour */
  warn(title: string, message: Words, seconds?: number): Promise<void>
  /**
   * For a job that nobody waits for: resolves when no task runs but those that give way as it does, some have run for
   * a quarter of an hour, or the job is to stop.
   * @param giveUp  what takes room, and is not needed while it waits
   * @throws the signal's reason
   */
  quiet(job: Pick<JobContext<object>, 'signal' | 'isStopping'>, giveUp?: () => Promise<void>): Promise<void>
  /** The last 200 log lines of a job. */
  logOf(id: string): LogLine[]
  /** Calls back after each change of a row or message; for the event stream. @returns ends it */
  watch(listener: (change: JobChange) => void): () => void
  /**
   * Calls back after each run that has ended for good, with that run's state and result: also when a wake-up
   * meanwhile has put the row back to PENDING. For outgoing messages. @returns ends it
   */
  onEnded(listener: (run: Job) => void): () => void
}

export interface JobChange {
  job?: Job
  notifications?: true
}

/** Jobs, and what only the server's start and end call. */
export interface JobsRunner extends Jobs {
  /** Puts right what a crash has left, clears the messages, and starts claiming. */
  begin(): Promise<void>
  /** Ends claiming and hands running jobs back to the ledger, within 10 s. Rows may still be added. */
  close(): Promise<void>
}
