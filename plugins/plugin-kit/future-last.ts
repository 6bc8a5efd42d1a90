/** Orders what a clock has dated: a date in the future comes from a wrong clock, and counts as the oldest. */
export const futureLast = <Item>(newestFirst: readonly Item[], isAhead: (item: Item) => boolean): Item[] =>
  newestFirst.toSorted((one, other) => Number(isAhead(one)) - Number(isAhead(other)))
