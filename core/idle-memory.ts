/** Frees caches and collects garbage once no requests arrive any more. */
import type { Clock } from './base/clock.ts'
import type { Log } from './log.ts'

const CHECK_EVERY_MS = 60_000
/** A start leaves garbage, too. */
const AFTER_START_MS = 30_000
/** Fewer requests per minute are just health checks and open pages. */
const BUSY_REQUESTS = 30
const QUIET_CHECKS = 3

interface Parts {
  clock: Clock
  log: Log
  requests: () => number
  release: () => Promise<void>
}

/** Runs once in each quiet period after a start or a busy one. */
export function releaseWhenIdle({ clock, log, requests, release }: Parts): { close(): void } {
  let seen = requests()
  let quietChecks = QUIET_CHECKS - 1
  let isClosed = false
  const check = async (): Promise<void> => {
    const now = requests()
    const isBusy = now - seen >= BUSY_REQUESTS
    seen = now
    if (isBusy) quietChecks = 0
    else if (quietChecks < QUIET_CHECKS && ++quietChecks === QUIET_CHECKS) {
      await release().catch((error: unknown) => {
        if (!isClosed) log.warn({ err: error }, 'memory could not be released')
      })
      // Without allocations nothing else triggers a collection. Exists only if Node was started with `--expose-gc`.
      globalThis.gc?.()
    }
  }
  const timers = [clock.after(AFTER_START_MS, check), clock.every(CHECK_EVERY_MS, check)]
  return {
    close() {
      isClosed = true
      for (const timer of timers) timer.cancel()
    },
  }
}
