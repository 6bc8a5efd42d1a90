/** What a task is: what it takes, where it waits, when it starts by itself, how often it is tried again. */
import type { Static, TObject } from 'typebox'
import type { Events } from '../events.ts'
import type { Log } from '../log.ts'
import type { Words } from '../say.ts'
import type { JobContext } from './types.ts'

/** What the runner itself needs of that which tasks are handed beside their job. */
export interface Handed {
  log: Log
  emit: (name: 'job.step', event: Events['job.step']) => Promise<void>
}

export interface TaskSpec<Payload extends TObject, App> {
  /** On the wire for tasks of the contract; inner ones are `noun.verb`. */
  name: string
  title: string
  /** One sentence on what it does, for those who may start or schedule it. */
  description?: string
  /** Group of its notification: `download:scan`. */
  group?: string
  payload: Payload
  /** `index` runs one job at a time, `light` several; others run as many as a manifest's `lanes` says. */
  lane: string
  /** May be started with POST /api/task-name/<name>/ (then every payload key must be optional). */
  apiStart?: boolean
  /** Takes stop and kill. */
  apiStop?: boolean
  /**
   * true: one at a time; a second start returns the first's id. A function: one at a time per key, such as a document's
   * id.
   */
  unique?: true | ((payload: Static<Payload>) => string)
  /** What a waiting or running unique job's payload becomes when a second start meets it. Default: the new one's. */
  merge?: (before: Static<Payload>, asked: Static<Payload>) => Static<Payload>
  /** After a crash it starts again by itself. */
  resumable?: boolean
  /** No name, notification or group on the wire; visible by id. */
  internal?: boolean
  /** It waits for all others (`jobs.quiet`), so no other waits for it. */
  givesWay?: true
  /** Sends no notification. */
  silent?: boolean
  /**
   * How often it is tried again after `unavailable` or an unknown error, and how long apart. Default: not.
   * `factor`: each pause is so many times the one before. `always`: whatever the error says.
   */
  retries?: { times: number; delaySeconds: number; factor?: number; always?: true }
  /** May be scheduled. Cron of three fields, contract 8.2. */
  schedule?: {
    /** What `auto` stands for. */
    auto: string
    /**
     * It is scheduled by itself, once: at the time of `auto`, at a random time of day, or at a random minute of these
     * hours (a cron field). `isFirstStartOnly`: in a new data folder alone, not where the task comes with an update.
     */
    initially?: 'auto' | 'random' | { hour: string; isFirstStartOnly?: boolean }
    /**
     * Keys of the schedule's config; a `title`, `description` and `x-unit` of a key are shown on the page. A scheduled
     * start is `jobs.start(task, { ...config, scheduled: true })`, less the keys that the task's payload schema does
     * not have: declare those that `run` wants to see there, as optional ones.
     */
    config?: TObject
    /** The config of a schedule that was made without one. */
    initialConfig?: Record<string, unknown>
    /** Asked when its time has come: false, and it does not start. Default: it does. */
    isNeeded?: (app: App) => boolean
  }
  /** Outgoing notifications may be set for it (contract 8.5). `news`: it is there to tell its result, which is bad. */
  outgoing?: boolean | 'news'
  /** @returns what is said of its end: null or nothing says nothing */
  run: (job: JobContext<Static<Payload>>, app: App) => Promise<Words | null | void>
}

/** Of any payload. */
export type AnyTask<App = never> = TaskSpec<TObject, App>
