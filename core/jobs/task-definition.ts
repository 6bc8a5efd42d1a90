/** The type of a task's definition: payload, lane, schedule, retries. The tasks themselves lie in their plugins. */
import type { Static, TObject } from 'typebox'
import type { Clock } from '../base/clock.ts'
import type { Words } from '../base/say.ts'
import type { Events } from '../events.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { JobContext } from './types.ts'

/** The part of the app that the runner itself uses. */
export interface Handed {
  log: Log
  emit: (name: 'job.step', event: Events['job.step']) => Promise<void>
}

export interface TaskSpec<Payload extends TObject, App> {
  /** On the wire for tasks of the contract; internal ones are named `noun.verb`. */
  name: string
  title: string
  /** One sentence on what the task does, for people who may start or schedule it. */
  description?: string
  /** Group of its notification: `download:scan`. */
  group?: string
  payload: Payload
  /** `index` runs one job at a time, `light` several; other lanes as many as a manifest's `lanes` says. */
  lane: string
  /** Can be started with POST /api/task-name/<name>/ (every payload key must then be optional). */
  apiStart?: boolean
  /** Accepts stop and kill. */
  apiStop?: boolean
  /** true: one job at a time, which a second start gets. A function: one per key, such as a document's id. */
  unique?: true | ((payload: Static<Payload>) => string)
  /** Merges the payload of a waiting or running unique job with that of a second start. Default: the new payload. */
  merge?: (before: Static<Payload>, asked: Static<Payload>) => Static<Payload>
  /** Restarted automatically after a crash. */
  resumable?: boolean
  /** No name, notification or group on the wire; visible by id. */
  internal?: boolean
  /** Waits for all other tasks (`jobs.quiet`), so no other task waits for it. */
  givesWay?: true
  /** Sends no notification. */
  silent?: boolean
  /** Retries after `unavailable` or an unknown error (`always`: any); `factor` multiplies each pause. Default: not. */
  retries?: { times: number; delaySeconds: number; factor?: number; always?: true }
  /** Can be scheduled. A cron text of three fields, contract 8.2. */
  schedule?: {
    /** What `auto` stands for. */
    auto: string
    /**
     * Creates a schedule once: as `auto`, at a random time, or at a random minute of these hours (a cron field).
     * `isFirstStartOnly`: only in a new data folder, not when the task arrives with an update.
     */
    initially?: 'auto' | 'random' | { hour: string; isFirstStartOnly?: boolean }
    /**
     * Keys of the schedule's config; their `title`, `description` and `x-unit` are shown on the page. A scheduled start
     * is `jobs.start(task, { ...config, scheduled: true })` without the keys that the payload schema does not have:
     * declare the keys that `run` needs there as optional.
     */
    config?: TObject
    /** The config of a schedule that was created without one. */
    initialConfig?: Record<string, unknown>
    /** Called when the schedule is due; the task starts only if it returns true. Default: always. */
    isNeeded?: (app: App) => boolean
  }
  /** Outgoing notifications can be set (contract 8.5). `news`: the task exists to report bad news. */
  outgoing?: boolean | 'news'
  /** @returns the result message; null or nothing: no message */
  run: (job: JobContext<Static<Payload>>, app: App) => Promise<Words | null | void>
}

export type AnyTask<App = never> = TaskSpec<TObject, App>

/** What the modules of jobs are opened with. */
export interface JobParts<App = never> {
  readonly ledger: Ledger
  readonly clock: Clock
  readonly log: Log
  readonly tasks: ReadonlyMap<string, AnyTask<App>>
}
