/** A value that all code called during some work can read, also after an await, without a parameter for it. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface HandedDown<Value> {
  /** undefined: called outside of `during`. */
  get(): Value | undefined
  during<Result>(value: Value, work: () => Promise<Result>): Promise<Result>
  /** Hides the value from `work`. */
  without<Result>(work: () => Result): Result
}

export function openHandedDown<Value>(): HandedDown<Value> {
  const storage = new AsyncLocalStorage<Value | undefined>()
  let running = 0
  return {
    get: () => storage.getStore(),
    async during(value, work) {
      running++
      try {
        return await storage.run(value, work)
      } finally {
        // While enabled, it makes Node track every promise of the process.
        if (--running === 0) storage.disable()
      }
    },
    without: (work) => (storage.getStore() === undefined ? work() : storage.run(undefined, work)),
  }
}
