/** How many videos per hour a network address or a cookie may request: the set limit, or less after refusals. */
import { type Clock, type Static, Type } from 'archivolt'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** The budget counts the requests of this many minutes. */
const WINDOW_MINUTES = 60
const GROWTH_OF_A_QUIET_HOUR = 1.05
/** Videos per hour that the platform usually allows without a cookie: the default of the set limit. */
export const USUAL_PER_HOUR = 300
/** Lowest limit: with no requests at all, we would never learn whether the platform allows more. */
const LEAST = 10
/** Without a set limit, a learned limit above this is dropped. */
const BEYOND_LEARNING = 10_000

/** The stored state, which survives a restart; times in epoch seconds. */
export interface BudgetRecord {
  /** Minutes with requests, and the number of requests in each. */
  used: Array<[at: number, count: number]>
  learned: { limit: number; halved: number; refused: number } | null
}

const orNoLimit = Type.Union([Type.Integer({ minimum: 0 }), Type.Null()])

/**
 * The state for display. `used`: requests in the last hour; `limit`: current limit; `per_hour`: set limit; `learned`:
 * whether the current limit is lower than the set one, after refusals.
 */
export const BudgetState = Type.Object({
  used: Type.Integer({ minimum: 0 }),
  limit: orNoLimit,
  per_hour: orNoLimit,
  learned: Type.Boolean(),
})
export type BudgetState = Static<typeof BudgetState>

export type Budget = ReturnType<typeof openBudget>

/** @param record  the stored state, if there is one */
export function openBudget(clock: Clock, record?: BudgetRecord) {
  /** Number of requests by minute of the steady clock, oldest minute first. */
  const used = new Map<number, number>()
  /** The halved limit, and the times of the halving and of the last refusal by the steady clock. */
  let learned: { limit: number; halvedMs: number; refusedMs: number } | undefined

  if (record) {
    // If the clock was set back meanwhile, times in the future count as now.
    const steadyOf = (seconds: number) => clock.steady() - Math.max(0, clock.now() - seconds * 1000)
    for (const [at, requests] of record.used) add(steadyOf(at), requests)
    if (record.learned) {
      const { limit, halved, refused } = record.learned
      learned = { limit, halvedMs: steadyOf(halved), refusedMs: steadyOf(refused) }
    }
  }

  /** @param set  limit per hour; Infinity: no limit */
  function state(set: number): BudgetState {
    const limit = limitOf(set)
    const orNull = (number: number) => (Number.isFinite(number) ? Math.floor(number) : null)
    return { used: count(), limit: orNull(limit), per_hour: orNull(set), learned: limit < set }
  }

  /** Counts a request. */
  function take(): void {
    add(clock.steady(), 1)
  }

  /**
   * Halves the limit after a refusal of a request made at `askedAtMs` (steady clock); at most once an hour, because
   * until then the requests from before the halving still count. If there is no limit, the new limit is half of the
   * requests in the last hour, or of the usual limit if that is higher: a refusal in a quiet hour is not caused by too
   * many requests, and would leave a limit of almost nothing.
   * @returns whether the limit was halved
   */
  function onRefusal(askedAtMs: number, set: number): boolean {
    const now = clock.steady()
    const limit = limitOf(set)
    if (learned && askedAtMs <= learned.halvedMs) return false
    if (learned && now - learned.halvedMs < HOUR_MS) {
      learned.refusedMs = now
      return false
    }
    const before = Number.isFinite(limit) ? limit : Math.max(USUAL_PER_HOUR, count())
    learned = { limit: Math.max(LEAST, before / 2), halvedMs: now, refusedMs: now }
    return true
  }

  /** Drops the learned limit. */
  function forget(): void {
    learned = undefined
  }

  /** Milliseconds until one more request is allowed. */
  function waitMs(set: number): number {
    const tooMany = count() - Math.max(1, Math.floor(limitOf(set))) + 1
    let freed = 0
    for (const [minute, requests] of tooMany > 0 ? used : []) {
      freed += requests
      if (freed >= tooMany) return Math.max(0, (minute + WINDOW_MINUTES) * MINUTE_MS - clock.steady())
    }
    return 0
  }

  function toRecord(): BudgetRecord {
    const secondsOf = (steadyMs: number) => Math.round((clock.now() + steadyMs - clock.steady()) / 1000)
    count()
    return {
      used: [...used].map(([minute, requests]) => [secondsOf(minute * MINUTE_MS), requests]),
      learned: learned
        ? { limit: learned.limit, halved: secondsOf(learned.halvedMs), refused: secondsOf(learned.refusedMs) }
        : null,
    }
  }

  function limitOf(set: number): number {
    if (!learned) return set
    const quietHours = Math.floor((clock.steady() - learned.refusedMs) / HOUR_MS)
    const grown = learned.limit * GROWTH_OF_A_QUIET_HOUR ** quietHours
    if (grown < Math.min(set, BEYOND_LEARNING)) return grown
    learned = undefined
    return set
  }

  function count(): number {
    const oldest = Math.floor(clock.steady() / MINUTE_MS) - WINDOW_MINUTES
    let sum = 0
    for (const [minute, requests] of used) {
      if (minute <= oldest) used.delete(minute)
      else sum += requests
    }
    return sum
  }

  function add(steadyMs: number, requests: number): void {
    const minute = Math.floor(steadyMs / MINUTE_MS)
    used.set(minute, (used.get(minute) ?? 0) + requests)
  }

  return { state, take, onRefusal, forget, waitMs, toRecord }
}
