/** Whether two lengths are of the same cut of a film. */

/** Platform, file and services round differently, and streams of a film end at different times. */
const SAME_CUT_SECONDS = 3

/** 0: not known, which says nothing. */
export const isSameCut = (one: number, other: number): boolean =>
  one === 0 || other === 0 || Math.abs(one - other) <= SAME_CUT_SECONDS
