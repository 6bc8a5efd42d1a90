/**
 * Sorts items with a date in the future last: such a date comes from a wrong clock, so the item counts as the oldest.
 */
export const futureLast = <Item>(newestFirst: readonly Item[], isAhead: (item: Item) => boolean): Item[] =>
  newestFirst.toSorted((one, other) => Number(isAhead(one)) - Number(isAhead(other)))
