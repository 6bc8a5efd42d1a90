/** Limits how often each caller may do something within a period. Its memory is bounded. */
import type { Clock } from './clock.ts'

/** Beyond this, the oldest entry is dropped. */
const MOST_REMEMBERED = 10_000

export class Rate {
  readonly #clock: Clock
  readonly #most: number
  readonly #withinMs: number
  /** Ordered by begin, so the first entry expires first. */
  readonly #begun = new Map<string, { count: number; untilMs: number }>()

  constructor(clock: Clock, { most, withinMs }: { most: number; withinMs: number }) {
    this.#clock = clock
    this.#most = most
    this.#withinMs = withinMs
  }

  /** Whether the limit is reached; counts nothing. */
  isOver(who: string): boolean {
    return this.#countOf(who) >= this.#most
  }

  /** Counts one use. @returns whether it was allowed */
  take(who: string): boolean {
    const count = this.#countOf(who)
    if (count >= this.#most) return false
    if (count > 0) this.#begun.get(who)!.count++
    else this.#begin(who)
    return true
  }

  #countOf(who: string): number {
    const known = this.#begun.get(who)
    return known && known.untilMs > this.#clock.steady() ? known.count : 0
  }

  #begin(who: string): void {
    this.#begun.delete(who)
    const now = this.#clock.steady()
    for (const [other, { untilMs }] of this.#begun) {
      if (untilMs > now && this.#begun.size < MOST_REMEMBERED) break
      this.#begun.delete(other)
    }
    this.#begun.set(who, { count: 1, untilMs: now + this.#withinMs })
  }
}
