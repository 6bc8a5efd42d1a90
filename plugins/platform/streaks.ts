/** Counts different items in a row with the same failure: after several, the items are not the cause. */

/** Maximum number of counted kinds, because there may be any number of different unknown messages. */
const MOST_KINDS = 20

export class Streaks {
  #items = new Map<string, Set<string>>()

  /** @returns how many different items in a row have had this failure, including this one */
  add(trouble: string, item: string): number {
    const items = this.#items.get(trouble) ?? new Set<string>()
    items.add(item)
    if (this.#items.size < MOST_KINDS) this.#items.set(trouble, items)
    return items.size
  }

  end(trouble: string): void {
    this.#items.delete(trouble)
  }

  /** Ends all streaks: the platform has responded with something about the item. */
  endAll(): void {
    this.#items.clear()
  }
}
