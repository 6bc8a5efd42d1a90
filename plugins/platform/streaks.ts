/**
 * Counts different items in a row with the same failure: after several (`failure-classes.ts`), the items are not the
 * cause.
 */

/** Maximum number of counted kinds, because there may be any number of different unknown messages. */
const MOST_KINDS = 20

export function openStreaks() {
  const items = new Map<string, Set<string>>()

  return {
    /** @returns how many different items in a row have had this failure, including this one */
    add(trouble: string, item: string): number {
      const known = items.get(trouble) ?? new Set<string>()
      known.add(item)
      if (items.size < MOST_KINDS) items.set(trouble, known)
      return known.size
    },

    end: (trouble: string): void => void items.delete(trouble),

    /** Ends all streaks: the platform has responded with something about the item. */
    endAll: (): void => items.clear(),
  }
}
