/** Limits how much each one may hold at once, so that nobody holds all of it. */

export class Quota {
  readonly #held = new Map<string, number>()
  readonly #most: number

  constructor(most: number) {
    this.#most = most
  }

  /** @returns gives it back; undefined: this one holds as much as it may */
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
