/** Looks after job rows as time passes: wakes jobs that are to be tried again, and removes old ones. */
import { type Clock, DAY_MS, type Timer } from '../clock.ts'
import type { Job, JobRows } from '../ledger/jobs.ts'
import type { Ledger } from '../ledger/sqlite.ts'
import type { Log } from '../log.ts'
import type { AnyTask } from './task.ts'

export const TRY_LEDGER_AGAIN_MS = 5_000
const KEPT_MS = DAY_MS
const KEPT_ENDED = 2000
const PRUNE_EVERY_MS = 60 * 60 * 1000
const PRUNE_EVERY_ENDED = 500
const PRUNED_AT_ONCE = 500

interface UpkeepOptions {
  ledger: Ledger
  rows: JobRows
  clock: Clock
  log: Log
  tasks: Iterable<AnyTask>
  /** Their time to be tried again has come. */
  onWoken: (jobs: readonly Job[]) => void
}

/** Does nothing until `begin`, and nothing after `close`. */
export class Upkeep {
  readonly #of: UpkeepOptions
  readonly #longestRetryMs: number
  #isOn = false
  #endedSincePrune = 0
  #retryTimer: Timer | undefined
  #pruneTimer: Timer | undefined

  constructor(options: UpkeepOptions) {
    this.#of = options
    this.#longestRetryMs = Math.max(0, ...[...options.tasks].map(longestPauseMs))
  }

  begin(): void {
    this.#isOn = true
    this.wakeInTime()
    this.#prune()
  }

  close(): void {
    this.#isOn = false
    this.#retryTimer?.cancel()
    this.#pruneTimer?.cancel()
  }

  /** Counts a run that has ended: many of them are a reason to prune. */
  noteEnded(): void {
    if (++this.#endedSincePrune >= PRUNE_EVERY_ENDED) this.#prune()
  }

  /** Waits for the next job that is to be tried again. */
  wakeInTime(): void {
    const { ledger, rows, clock, log, onWoken } = this.#of
    this.#retryTimer?.cancel()
    const next = rows.nextRetryAt()
    if (next === undefined || !this.#isOn) return
    this.#retryTimer = clock.at(Math.min(next, clock.now() + this.#longestRetryMs), () => {
      ledger
        .write(() => rows.wake(this.#longestRetryMs))
        .then((woken) => {
          onWoken(woken)
          this.wakeInTime()
        })
        .catch((error: unknown) => {
          log.error({ err: error }, 'jobs to be tried again could not be woken')
          this.#retryTimer = clock.after(TRY_LEDGER_AGAIN_MS, () => this.wakeInTime())
        })
    })
  }

  #prune(): void {
    const { ledger, rows, clock, log } = this.#of
    this.#endedSincePrune = 0
    this.#pruneTimer?.cancel()
    if (!this.#isOn) return
    this.#pruneTimer = clock.after(PRUNE_EVERY_MS, () => this.#prune())
    ledger
      .write(() => rows.prune(clock.now() - KEPT_MS, KEPT_ENDED, PRUNED_AT_ONCE))
      .then((gone) => {
        if (gone >= PRUNED_AT_ONCE) this.#prune()
      })
      .catch((error: unknown) => log.error({ err: error }, 'old jobs could not be removed'))
  }
}

const longestPauseMs = ({ retries }: AnyTask): number =>
  retries ? 1000 * retries.delaySeconds * (retries.factor ?? 1) ** (retries.times - 1) : 0
