/** Limits how often each one may do something within a span of time. What it remembers is bounded. */
import type { Clock } from '../clock.ts'

/** Past this the one that began first is forgotten. */
const MOST_REMEMBERED = 10_000

export class Rate {
  readonly #clock: Clock
  readonly #most: number
  readonly #withinMs: number
  /** In the order in which they began, so the first is the first to be over. */
  readonly #begun = new Map<string, { count: number; untilMs: number }>()

  constructor(clock: Clock, { most, withinMs }: { most: number; withinMs: number }) {
    this.#clock = clock
    this.#most = most
    this.#withinMs = withinMs
  }

  /** Whether this one may do it now; nothing is counted. */
  isOver(who: string): boolean {
    return this.#countOf(who) >= this.#most
  }

  /** Counts it. @returns whether it was still allowed */
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
