/** Memory that goes back when nobody asks any more: what was kept for the next request, and what has become garbage. */
import type { Clock } from './clock.ts'
import type { Log } from './log.ts'

const LOOK_MS = 60_000
/** Fewer requests a minute are a health check and a page that lies open. */
const BUSY_REQUESTS = 30
const QUIET_LOOKS = 3

interface Parts {
  clock: Clock
  log: Log
  /** Requests since the start. */
  requests: () => number
  release: () => Promise<void>
}

/** Once in each quiet time that follows a busy one. */
export function giveBackWhenIdle({ clock, log, requests, release }: Parts): { close(): void } {
  let seen = requests()
  let quietLooks = QUIET_LOOKS
  const look = async (): Promise<void> => {
    const now = requests()
    const isBusy = now - seen >= BUSY_REQUESTS
    seen = now
    if (isBusy) quietLooks = 0
    else if (quietLooks < QUIET_LOOKS && ++quietLooks === QUIET_LOOKS) {
      await release().catch((error: unknown) => log.warn({ err: error }, 'memory could not be given back'))
      // Without allocations nothing else would start it. There is one where Node was started with `--expose-gc`.
      globalThis.gc?.()
    }
  }
  const timer = clock.every(LOOK_MS, look)
  return { close: () => timer.cancel() }
}
