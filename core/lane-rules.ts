/** Lanes of jobs: core's own, and the rule of a lane that a plugin declares. */

/** Core's lanes, for tasks that need no lane of their own plugin, and their number of slots. */
export const OWN_LANES: Readonly<Record<string, number>> = { index: 1, light: 4 }

/** Either the lane's jobs take turns by item, or it has a fixed number of slots. */
export type LaneRule = 'turns' | number
