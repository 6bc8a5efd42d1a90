/** Work in pieces: lists in parts of bounded length, and the event loop given back before others wait for it. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** The parts of a list, in order, each of at most so many. */
export function* chunksOf<Item>(list: readonly Item[], size: number): Generator<Item[]> {
  for (let at = 0; at < list.length; at += size) yield list.slice(at, at + size)
}

/** Work on the event loop is cut here, so that one caller's list does not hold up all others. */
const SLICE_MS = 4

/** The time that a piece of work may take at a stretch: `if (slice.isOver) await slice.next()` between two items. */
export class Slice {
  #started = performance.now()

  get isOver(): boolean {
    return performance.now() - this.#started > SLICE_MS
  }

  /** Lets others have a turn of the loop. */
  async next(): Promise<void> {
    await nextTurn()
    this.#started = performance.now()
  }
}
