/** The types for code that starts, runs and watches jobs. The rows are in ledger/jobs.ts. */
import type { Said, Words } from '../base/say.ts'
import type { Job, JobCommand, LogLine } from '../ledger/jobs.ts'
import type { Log } from '../log.ts'

export type { Job, JobCommand, JobState } from '../ledger/jobs.ts'

/** Runs a named piece of a job. After an interruption it runs again: every step may be done twice. */
export type Step = <Result>(name: string, work: () => Promise<Result> | Result) => Promise<Result>

export interface JobContext<Payload> {
  readonly id: string
  readonly payload: Payload
  /** Aborted by kill, a timeout, or the server's shutdown. Pass it to everything the job waits for. */
  readonly signal: AbortSignal
  /** Aborted by stop, and with `signal`: for waits, and work that may be cut off. Throwing the reason is a SUCCESS. */
  readonly stopSignal: AbortSignal
  /** Whether a stop was requested: end after the current item and keep what is done. */
  readonly isStopping: () => boolean
  readonly log: Log
  /** Sets the notification's text and fraction (0–1). Written at most a few times a second, the last report always. */
  progress(fraction: number, ...messages: Words[]): void
  /** The row shows the name while it runs. No step begins once the signal is aborted. */
  readonly step: Step
  /** For unique tasks: the payload, including what later starts have merged in meanwhile. */
  readonly current: () => Payload
}

export interface NotificationMessage {
  id: string
  /** The name of the task; the page shows its title in the account's language. */
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

export type TaskName = string | { name: string }

export interface StartOptions {
  /** Does not shorten the pause before a retry. */
  isPatient?: boolean
  /**
   * Begins so many seconds later, at most 30 days; the row waits in the state RETRY. A unique job that waits already
   * keeps its time, unless `replace` is set; one that runs does so once more, so many seconds after this start.
   */
  afterSeconds?: number
  /** For unique tasks: payload and time of this start replace those of a waiting job, so only the last start counts. */
  replace?: boolean
}

export interface Jobs {
  /**
   * Adds a row, committed when the promise resolves. A unique task that waits or runs returns that job: a running one
   * runs once more after it ends, one that waits for a retry runs now. Stop and kill cancel all earlier starts.
   * @param payload  checked against the task's schema; defaults are filled in
   * @throws not_found (no such task), bad_request (the schema refuses the payload)
   */
  start(task: TaskName, payload?: Record<string, unknown>, options?: StartOptions): Promise<Job>
  /**
   * Runs a job and waits for its result. Its row is written first: the next start finishes a resumable or internal task
   * that was interrupted. A second call with the same key waits for the same result. In core's own lanes it begins at
   * once, in others it waits for a slot. It is never retried.
   * @throws what the task threw; unavailable if the server closes first
   */
  run(task: TaskName, payload?: Record<string, unknown>): Promise<string | null>
  get(id: string): Job | undefined
  /** Newest first, without internal jobs. */
  list(filter?: { task?: string; limit?: number }): Job[]
  /** The waiting and running jobs of a task, oldest first. */
  open(task: string): Job[]
  /** A waiting or running job of the task, if any. */
  active(task: string): Job | undefined
  /** Resolves with the final row when the job has ended. */
  ended(id: string): Promise<Job>
  /** @throws not_found, bad_request (the task accepts no commands), conflict (the job has ended) */
  command(id: string, command: JobCommand): Promise<void>
  /** The messages currently shown, oldest first. @param isAdmin  default: true */
  notifications(isAdmin?: boolean): NotificationMessage[]
  /** Shows a message that belongs to no job (contract 8.4), for 20 s by default; a restart removes it. */
  notify(message: {
    /** The task that the message is about; provides the default title and group. */
    of?: { name: string; title: string; group?: string }
    title?: string
    group?: string
    level: 'info' | 'error'
    messages: Words[]
    shownForSeconds?: number
    /** Called each time messages are listed: true hides the message, even before it expires. */
    isOver?: () => boolean
    isForAdmins?: true
  }): Promise<void>
  /** Warns every account of a problem with the installation, for an hour by default. @param isOver  as for `notify` */
  warn(title: string, message: Words, seconds?: number, isOver?: () => boolean): Promise<void>
  /**
   * Resolves when only tasks that give way are running, after a quarter of an hour, or when the job is stopped.
   * @param giveUp  releases what is not needed during the wait. @throws the signal's reason
   */
  quiet(job: Pick<JobContext<object>, 'signal' | 'isStopping'>, giveUp?: () => Promise<void>): Promise<void>
  /** The last 200 log lines of a job. */
  logOf(id: string): LogLine[]
  /** Calls back after each change of a row or message; for the event stream. @returns a function that unsubscribes */
  watch(listener: (change: JobChange) => void): () => void
  /** Calls back after each run that has ended and is not retried, with its own state. @returns unsubscribes */
  onEnded(listener: (run: Job) => void): () => void
}

export interface JobChange {
  job?: Job
  notifications?: true
}

/** Jobs, with what only the core calls. */
export interface JobsRunner extends Jobs {
  /** Repairs rows after a crash, clears the messages, and starts claiming. */
  begin(): Promise<void>
  /** Stops claiming, and requeues or ends running jobs within 10 s. Rows may still be added. */
  close(): Promise<void>
  /** Called after the clock was set back: makes waiting jobs due as much earlier. */
  bringForward(byMs: number): Promise<void>
}
