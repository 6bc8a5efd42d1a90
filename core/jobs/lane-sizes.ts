/** Counts the slots of each lane: how many jobs may run at once, and how many do. */
import { type LaneRule, OWN_LANES } from '../lane-rules.ts'

/** How many jobs of a lane with turns run at once; their items take turns (lanes.ts). */
const STARTED_IN_A_LANE_OF_TURNS = 8

export type LaneSizes = ReturnType<typeof openLaneSizes>

/** @param rules  of the lanes that plugins declare */
export function openLaneSizes(rules: Readonly<Record<string, LaneRule>>) {
  const all = new Map<string, LaneRule>(Object.entries({ ...OWN_LANES, ...rules }))
  const taken = new Map<string, number>()
  const sizeOf = (lane: string): number => {
    const rule = all.get(lane) ?? 0
    return rule === 'turns' ? STARTED_IN_A_LANE_OF_TURNS : rule
  }
  return {
    lanes: [...all.keys()],
    /** Takes all free slots of a lane. @returns how many were free */
    takeFree(lane: string): number {
      const before = taken.get(lane) ?? 0
      const free = Math.max(0, sizeOf(lane) - before)
      taken.set(lane, before + free)
      return free
    },
    giveBack: (lane: string, count: number): void => void taken.set(lane, (taken.get(lane) ?? 0) - count),
  }
}
