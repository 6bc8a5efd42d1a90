/** When a catalog counts as the place's own. */

/** Of a sample of the paths that it stores, so much has to lie in the place. */
export const ENOUGH = 0.5
