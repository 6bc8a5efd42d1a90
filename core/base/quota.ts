/** Limits how many slots each holder may take at once, so that nobody takes all of them. */

export class Quota {
  readonly #held = new Map<string, number>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** @returns a function that gives the slot back; undefined: the holder has reached its limit */
  take(who: string): (() => void) | undefined {
    const held = this.#held.get(who) ?? 0
    if (held >= this.#most) return undefined
    this.#held.set(who, held + 1)
    return () => {
      const left = this.#held.get(who)! - 1
      if (left > 0) this.#held.set(who, left)
      else this.#held.delete(who)
    }
  }
}
