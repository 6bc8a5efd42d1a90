/** Whether two lengths belong to the same cut of a film. */

/** Tolerance: platform, file and services round differently, and streams of a film end at different times. */
const SAME_CUT_SECONDS = 3

/** True if one of the lengths is 0 (unknown). */
export const isSameCut = (one: number, other: number): boolean =>
  one === 0 || other === 0 || Math.abs(one - other) <= SAME_CUT_SECONDS
