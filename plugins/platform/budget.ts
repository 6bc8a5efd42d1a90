/** How many videos per hour a network address or a cookie may request: the set limit, or less after refusals. */
import { type Clock, type Static, Type } from 'archivolt'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const MINUTES = 60
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

export class Budget {
  #clock: Clock
  /** Number of requests by minute of the steady clock, oldest minute first. */
  #used = new Map<number, number>()
  /** The halved limit, and the times of the halving and of the last refusal by the steady clock. */
  #learned: { limit: number; halvedMs: number; refusedMs: number } | undefined

  constructor(clock: Clock, record?: BudgetRecord) {
    this.#clock = clock
    if (!record) return
    // If the clock was set back meanwhile, times in the future count as now.
    const steadyOf = (seconds: number) => clock.steady() - Math.max(0, clock.now() - seconds * 1000)
    for (const [at, count] of record.used) this.#add(steadyOf(at), count)
    if (!record.learned) return
    const { limit, halved, refused } = record.learned
    this.#learned = { limit, halvedMs: steadyOf(halved), refusedMs: steadyOf(refused) }
  }

  /** @param set  limit per hour; Infinity: no limit */
  state(set: number): BudgetState {
    const limit = this.#limit(set)
    const known = (number: number) => (Number.isFinite(number) ? Math.floor(number) : null)
    return { used: this.#count(), limit: known(limit), per_hour: known(set), learned: limit < set }
  }

  take(): void {
    this.#add(this.#clock.steady(), 1)
  }

  /**
   * Halves the limit after a refusal of a request made at `askedAtMs` (steady clock); at most once an hour, because
   * until then the requests from before the halving still count. If there is no limit, the new limit is half of the
   * requests in the last hour, or of the usual limit if that is higher: a refusal in a quiet hour is not caused by too
   * many requests, and would leave a limit of almost nothing.
   * @returns whether the limit was halved
   */
  refuse(askedAtMs: number, set: number): boolean {
    const now = this.#clock.steady()
    const limit = this.#limit(set)
    const learned = this.#learned
    if (learned && askedAtMs <= learned.halvedMs) return false
    if (learned && now - learned.halvedMs < HOUR_MS) {
      learned.refusedMs = now
      return false
    }
    const before = Number.isFinite(limit) ? limit : Math.max(USUAL_PER_HOUR, this.#count())
    this.#learned = { limit: Math.max(LEAST, before / 2), halvedMs: now, refusedMs: now }
    return true
  }

  /** Drops the learned limit. */
  forget(): void {
    this.#learned = undefined
  }

  /** Milliseconds until one more request is allowed. */
  waitMs(set: number): number {
    const tooMany = this.#count() - Math.max(1, Math.floor(this.#limit(set))) + 1
    let freed = 0
    for (const [minute, count] of tooMany > 0 ? this.#used : []) {
      freed += count
      if (freed >= tooMany) return Math.max(0, (minute + MINUTES) * MINUTE_MS - this.#clock.steady())
    }
    return 0
  }

  toRecord(): BudgetRecord {
    const secondsOf = (steadyMs: number) => Math.round((this.#clock.now() + steadyMs - this.#clock.steady()) / 1000)
    this.#count()
    return {
      used: [...this.#used].map(([minute, count]) => [secondsOf(minute * MINUTE_MS), count]),
      learned: this.#learned
        ? {
            limit: this.#learned.limit,
            halved: secondsOf(this.#learned.halvedMs),
            refused: secondsOf(this.#learned.refusedMs),
          }
        : null,
    }
  }

  #limit(set: number): number {
    if (!this.#learned) return set
    const quietHours = Math.floor((this.#clock.steady() - this.#learned.refusedMs) / HOUR_MS)
    const grown = this.#learned.limit * GROWTH_OF_A_QUIET_HOUR ** quietHours
    if (grown < Math.min(set, BEYOND_LEARNING)) return grown
    this.#learned = undefined
    return set
  }

  #count(): number {
    const oldest = Math.floor(this.#clock.steady() / MINUTE_MS) - MINUTES
    let sum = 0
    for (const [minute, count] of this.#used) {
      if (minute <= oldest) this.#used.delete(minute)
      else sum += count
    }
    return sum
  }

  #add(steadyMs: number, count: number): void {
    const minute = Math.floor(steadyMs / MINUTE_MS)
    this.#used.set(minute, (this.#used.get(minute) ?? 0) + count)
  }
}
