/** Maintains job rows over time: wakes jobs that are due for a retry, and removes old ones. */
import { DAY_MS, type Timer } from '../base/clock.ts'
import type { Job, JobRows } from '../ledger/jobs.ts'
import type { AnyTask, JobParts } from './task-definition.ts'

export const TRY_LEDGER_AGAIN_MS = 5_000
/** The longest `afterSeconds` of a start. */
export const LONGEST_DELAY_SECONDS = (30 * DAY_MS) / 1000
const KEPT_MS = DAY_MS
const KEPT_ENDED = 2000
const PRUNE_EVERY_MS = 60 * 60 * 1000
const PRUNE_EVERY_ENDED = 500
const PRUNED_AT_ONCE = 500

interface UpkeepOptions extends JobParts {
  rows: JobRows
  /** Called with jobs in the state RETRY whose time has come: retries, and starts with `afterSeconds`. */
  onWoken: (jobs: readonly Job[]) => void
}

export type Upkeep = ReturnType<typeof openUpkeep>

/** Does nothing until `begin`, and nothing after `close`. */
export function openUpkeep({ ledger, rows, clock, log, tasks, onWoken }: UpkeepOptions) {
  const longest = {
    retryMs: Math.max(0, ...[...tasks.values()].map(longestPauseMs)),
    firstMs: LONGEST_DELAY_SECONDS * 1000,
  }
  let retryTimer: Timer | undefined
  let pruneTimer: Timer | undefined
  let isOn = false
  let endedSincePrune = 0

  function begin(): void {
    isOn = true
    wakeInTime()
    prune()
  }

  function close(): void {
    isOn = false
    retryTimer?.cancel()
    pruneTimer?.cancel()
  }

  /** Counts ended runs: many of them trigger a prune. */
  function noteEnded(): void {
    if (++endedSincePrune >= PRUNE_EVERY_ENDED) prune()
  }

  function wakeInTime(): void {
    retryTimer?.cancel()
    const next = rows.nextRetryAt(longest)
    if (next === undefined || !isOn) return
    retryTimer = clock.at(next, () => {
      ledger
        .write(() => rows.wake(longest))
        .then((woken) => {
          onWoken(woken)
          wakeInTime()
        })
        .catch((error: unknown) => {
          log.error({ err: error }, 'jobs to be tried again could not be woken')
          retryTimer = clock.after(TRY_LEDGER_AGAIN_MS, wakeInTime)
        })
    })
  }

  async function bringForward(byMs: number): Promise<void> {
    await ledger.write(() => rows.bringForward(byMs))
    wakeInTime()
  }

  function prune(): void {
    endedSincePrune = 0
    pruneTimer?.cancel()
    if (!isOn) return
    pruneTimer = clock.after(PRUNE_EVERY_MS, prune)
    ledger
      .write(() => rows.prune(KEPT_MS, KEPT_ENDED, PRUNED_AT_ONCE))
      .then((gone) => {
        if (gone >= PRUNED_AT_ONCE) prune()
      })
      .catch((error: unknown) => log.error({ err: error }, 'old jobs could not be removed'))
  }

  return { begin, close, noteEnded, wakeInTime, bringForward }
}

const longestPauseMs = ({ retries }: AnyTask): number =>
  retries ? 1000 * retries.delaySeconds * (retries.factor ?? 1) ** (retries.times - 1) : 0
