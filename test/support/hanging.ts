/**
 * Sets how long a test may take before it counts as hanging, and what is reported about it then (`stands-still.mjs`).
 */

interface Running {
  limitMs: number
  endsAt: number
  tell: Set<(name: string) => Promise<string>>
}

/** Undefined if the file runs by itself, without a group. */
const running = (): Running | undefined => Reflect.get(globalThis, Symbol.for('archivolt.running'))

/** Applies to the current test. */
export function mayTake(seconds: number): void {
  const its = running()
  if (its) its.endsAt = performance.now() + seconds * 1000
}

/** Applies to each test of the process, except those that call `mayTake`. */
export function eachMayTake(seconds: number): void {
  const its = running()
  if (!its) return
  its.limitMs = seconds * 1000
  its.endsAt = Math.max(its.endsAt, performance.now() + its.limitMs)
}

/**
 * @param tell  called with the name of the test that hangs.
 * @returns removes the callback
 */
export function whenHanging(tell: (name: string) => Promise<string>): () => void {
  running()?.tell.add(tell)
  return () => void running()?.tell.delete(tell)
}
