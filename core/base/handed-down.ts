/** A value that all code called during some work can read, also after an await, without a parameter for it. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface HandedDown<Value> {
  /** undefined: called outside of `during`. */
  get(): Value | undefined
  during<Result>(value: Value, work: () => Promise<Result>): Promise<Result>
  /** For work that goes on after `begin` has returned. @returns what `begin` has returned, and a function for its end */
  from<Result>(value: Value, begin: () => Result): [result: Result, end: () => void]
  /** Hides the value from `work`. */
  without<Result>(work: () => Result): Result
}

export function openHandedDown<Value>(): HandedDown<Value> {
  const storage = new AsyncLocalStorage<Value | undefined>()
  let running = 0

  function end(): void {
    // While enabled, it makes Node track every promise of the process.
    if (--running === 0) storage.disable()
  }

  return {
    get: () => storage.getStore(),
    async during(value, work) {
      running++
      try {
        return await storage.run(value, work)
      } finally {
        end()
      }
    },
    from(value, begin) {
      running++
      try {
        return [storage.run(value, begin), end]
      } catch (thrown) {
        end()
        throw thrown
      }
    },
    without: (work) => (storage.getStore() === undefined ? work() : storage.run(undefined, work)),
  }
}
