/** Lanes of jobs: core's own, and the rule that a lane of a plugin declares. */

/** For jobs that need no lane of their plugin: how many run at once in each. */
export const OWN_LANES: Readonly<Record<string, number>> = { index: 1, light: 4 }

/** Either the jobs of the lane take turns by item, or a fixed number of them runs at once. */
export type LaneRule = 'turns' | number
