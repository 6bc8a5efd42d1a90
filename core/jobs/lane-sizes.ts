/** How many jobs may run at once in each lane, and how many do. */

/** Core's own lanes: what waits for these may also be begun past them, by who waits for it. */
const OWN_LANES: Record<string, number> = { index: 1, light: 4 }
/** Jobs of an item lane that are started together; their items take turns (lanes.ts). */
const STARTED_IN_AN_ITEM_LANE = 8

export const isOwnLane = (lane: string): boolean => lane in OWN_LANES

export class LaneSizes {
  readonly #most: ReadonlyMap<string, number>
  readonly #taken = new Map<string, number>()

  /** @param queues  lanes that run one job at a time, beside core's own */
  constructor(itemLanes: readonly string[], queues: readonly string[]) {
    this.#most = new Map([
      ...Object.entries(OWN_LANES),
      ...itemLanes.map((lane) => [lane, STARTED_IN_AN_ITEM_LANE] as const),
      ...queues.map((lane) => [lane, 1] as const),
    ])
  }

  get lanes(): string[] {
    return [...this.#most.keys()]
  }

  has(lane: string): boolean {
    return this.#most.has(lane)
  }

  /** @returns how many were free */
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
