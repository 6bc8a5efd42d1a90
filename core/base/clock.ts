/** The only source of time and timers, so that tests can control them. */
import { abortable } from './abortable.ts'

export interface Timer {
  cancel(): void
}

export interface Clock {
  /** Milliseconds since 1970 UTC, for times that are stored or shown. Jumps when the system clock is set. */
  now(): number
  /** Monotonic milliseconds, independent of the system clock. For durations and waits within this process. */
  steady(): number
  /** Calls back once after this many milliseconds (of any length; does not keep the process alive). */
  after(ms: number, callback: () => void): Timer
  /**
   * Calls back once at a wall-clock time (in terms of `now`), or when that time would have come if nobody had set the
   * clock, whichever is first. Timers stop while a machine sleeps, so the wall clock is checked each minute. A callback
   * that must not run too early checks `now` itself.
   */
  at(wallMs: number, callback: () => void): Timer
  /** Polls with this pause between polls, which never throw. A stopped clock skips polls while nothing else happens. */
  every(ms: number, work: () => Promise<void>): Timer
  /** Waits; rejects with the signal's reason when aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>
}

export const DAY_SECONDS = 86_400
export const DAY_MS = DAY_SECONDS * 1000
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1

export const sleepOn = (clock: Pick<Clock, 'after'>, ms: number, signal?: AbortSignal): Promise<void> =>
  abortable(signal, (resolve) => {
    const timer = clock.after(ms, () => resolve())
    return () => timer.cancel()
  })

export function everyOn(clock: Pick<Clock, 'after'>, ms: number, work: () => Promise<void>): Timer {
  let isOver = false
  const wait = () => clock.after(ms, () => void work().then(() => isOver || (timer = wait())))
  let timer = wait()
  return {
    cancel() {
      isOver = true
      timer.cancel()
    },
  }
}

const CHECK_WALL_MS = 60_000

export function atOn(clock: Pick<Clock, 'now' | 'after' | 'every'>, wallMs: number, callback: () => void): Timer {
  const timer = clock.after(Math.max(0, wallMs - clock.now()), () => fire())
  const checks = clock.every(CHECK_WALL_MS, async () => {
    if (clock.now() >= wallMs) fire()
  })
  const cancel = () => {
    timer.cancel()
    checks.cancel()
  }
  function fire() {
    cancel()
    callback()
  }
  return { cancel }
}

export const systemClock: Clock = {
  now: () => Date.now(),
  steady: () => Math.floor(performance.timeOrigin + performance.now()),
  after(ms, callback) {
    // Node fires at once if the delay exceeds 2^31 ms, so longer waits are split.
    let handle: NodeJS.Timeout
    const wait = (left: number) => {
      handle = setTimeout(
        () => (left > LONGEST_TIMEOUT_MS ? wait(left - LONGEST_TIMEOUT_MS) : callback()),
        Math.min(left, LONGEST_TIMEOUT_MS),
      )
      handle.unref()
    }
    // Node's timers may fire a millisecond early; the callback would then find that it is not yet time.
    wait(ms > 0 ? Math.ceil(ms) + 1 : 0)
    return { cancel: () => clearTimeout(handle) }
  },
  at: (wallMs, callback) => atOn(systemClock, wallMs, callback),
  every: (ms, work) => everyOn(systemClock, ms, work),
  sleep: (ms, signal) => sleepOn(systemClock, ms, signal),
}
