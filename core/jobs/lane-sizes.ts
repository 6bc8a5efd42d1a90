/** Counts the slots of each lane: how many jobs may run at once, and how many do. */
import { type LaneRule, OWN_LANES } from '../lane-rules.ts'

/** How many jobs of a lane with turns run at once; their items take turns (lanes.ts). */
const STARTED_IN_A_LANE_OF_TURNS = 8

export const isOwnLane = (lane: string): boolean => lane in OWN_LANES

export class LaneSizes {
  readonly #most: ReadonlyMap<string, number>
  readonly #taken = new Map<string, number>()

  /** @param rules  of the lanes that plugins declare */
  constructor(rules: Readonly<Record<string, LaneRule>>) {
    const sizes = Object.entries(rules).map(
      ([lane, rule]) => [lane, rule === 'turns' ? STARTED_IN_A_LANE_OF_TURNS : rule] as const,
    )
    this.#most = new Map([...Object.entries(OWN_LANES), ...sizes])
  }

  get lanes(): string[] {
    return [...this.#most.keys()]
  }

  has(lane: string): boolean {
    return this.#most.has(lane)
  }

  /** Takes all free slots of a lane. @returns how many were free */
  takeFree(lane: string): number {
    const taken = this.#taken.get(lane) ?? 0
    const free = Math.max(0, (this.#most.get(lane) ?? 0) - taken)
    this.#taken.set(lane, taken + free)
    return free
  }

  giveBack(lane: string, count: number): void {
    this.#taken.set(lane, (this.#taken.get(lane) ?? 0) - count)
  }
}
