/** Decides whether a catalog belongs to a place. */

/** The share of sampled paths that must be in the place. */
export const ENOUGH = 0.5
