/** Different items in a row with the same trouble: from some on it is not about the items. */

/** Texts that are not understood may differ without end. */
const MOST_KINDS = 20

export class Streaks {
  #items = new Map<string, Set<string>>()

  /** @returns how many different items have had this trouble in a row, with this one */
  add(trouble: string, item: string): number {
    const items = this.#items.get(trouble) ?? new Set<string>()
    items.add(item)
    if (this.#items.size < MOST_KINDS) this.#items.set(trouble, items)
    return items.size
  }

  end(trouble: string): void {
    this.#items.delete(trouble)
  }

  /** The platform has answered with something about the item. */
  endAll(): void {
    this.#items.clear()
  }
}
