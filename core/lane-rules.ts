/** Lanes: core's own, and how those of a plugin go. */

/** For jobs that need no lane of their plugin: how many run at once in each. */
export const OWN_LANES: Readonly<Record<string, number>> = { index: 1, light: 4 }

/** How a lane of a manifest goes: its jobs take turns by item, or so many of them run at once. */
export type LaneRule = 'turns' | number
