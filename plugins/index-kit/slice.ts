/** Splits long loops into slices that yield the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** Length of a slice on the event loop, so that one caller's list does not block all others. */
const SLICE_MS = 4

/** Limits uninterrupted work: call `if (slice.isOver) await slice.next()` between two items. */
export class Slice {
  #started = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#started > SLICE_MS
  }

  /** Yields the event loop. */
  async next(): Promise<void> {
    await nextTurn()
    this.#started = performance.now()
  }
}
