/** A clock that stands still until a test moves it. */

import { atOn, type Clock, everyOn, sleepOn, type Timer } from '../../core/base/clock.ts'
import { runningPlugin } from '../../core/error-origin.ts'

export interface TestClock extends Clock {
  /**
   * Advances the clock and fires what becomes due on the way, in order, each at its own time. Of repeated callbacks
   * (`every`), only the last one before any other callback is fired.
   */
  advance(ms: number): Promise<void>
  /**
   * Sets the time as a user or a time server sets the system's clock: pending timers keep their remaining time.
   * @param to  epoch milliseconds, or a date as text
   */
  set(to: number | string): void
  /** The milliseconds until the next callback of this plugin is due. */
  nextOf(plugin: string): number | undefined
}

interface Waiting {
  /** By the monotonic clock. */
  atMs: number
  number: number
  callback: () => void
  /** The external plugin that waits. */
  plugin: string | undefined
  /** The interval of a repeated callback, by which it may be postponed again and again. */
  everyMs?: number
}

/**
 * Each write of the ledger takes a turn of the event loop. After this many turns, the effects of one timer are complete
 * before the next one fires.
 */
const TURNS_BETWEEN_TIMERS = 12

async function letRun(): Promise<void> {
  for (let turn = 0; turn < TURNS_BETWEEN_TIMERS; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

const toMs = (time: number | string): number => (typeof time === 'number' ? time : Date.parse(time))

/** @param start  epoch milliseconds, or a date as text */
export function testClock(start: number | string = '2026-01-15T10:00:00Z'): TestClock {
  let now = toMs(start)
  let setBy = 0
  let count = 0
  const waiting = new Set<Waiting>()

  const firstOf = (timers: Iterable<Waiting>): Waiting | undefined => {
    let first: Waiting | undefined
    for (const timer of timers)
      if (!first || timer.atMs < first.atMs || (timer.atMs === first.atMs && timer.number < first.number)) first = timer
    return first
  }

  const nextUntil = (end: number): Waiting | undefined => {
    const due = [...waiting].filter(({ atMs }) => atMs <= end)
    const until = firstOf(due.filter(({ everyMs }) => everyMs === undefined))?.atMs ?? end
    for (const look of due)
      if (look.everyMs) look.atMs += Math.max(0, Math.floor((until - look.atMs) / look.everyMs)) * look.everyMs
    return firstOf(due)
  }

  const wait = (timer: Omit<Waiting, 'number' | 'plugin'>): Timer => {
    const numbered = { ...timer, number: count++, plugin: runningPlugin() }
    waiting.add(numbered)
    return { cancel: () => void waiting.delete(numbered) }
  }
  const dueAfter = (ms: number): number => now + Math.max(0, ms)

  const clock: TestClock = {
    now: () => now + setBy,
    steady: () => now,
    set(to) {
      setBy = toMs(to) - now
    },
    nextOf(plugin) {
      const timer = firstOf([...waiting].filter((one) => one.plugin === plugin && one.everyMs === undefined))
      return timer && Math.max(0, timer.atMs - now)
    },
    after: (ms, callback) => wait({ atMs: dueAfter(ms), callback }),
    at: (wallMs, callback) => atOn(clock, wallMs, callback),
    every: (everyMs, look) =>
      everyOn({ after: (ms, callback) => wait({ atMs: dueAfter(ms), callback, everyMs }) }, everyMs, look),
    sleep: (ms, signal) => sleepOn(clock, ms, signal),
    async advance(ms) {
      const end = now + ms
      await letRun()
      for (let timer = nextUntil(end); timer; timer = nextUntil(end)) {
        waiting.delete(timer)
        now = Math.max(now, timer.atMs)
        timer.callback()
        await letRun()
      }
      now = end
      await letRun()
    },
  }
  return clock
}
