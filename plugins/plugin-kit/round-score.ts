/** Rounds ranks of hits for replies. */

/** A rank rounded for replies. */
export const roundScore = (score: number): number => Math.round(score * 100) / 100
