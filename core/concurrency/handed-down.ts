/** A value that is known during some work, wherever that work leads, without being passed on. */
import { AsyncLocalStorage } from 'node:async_hooks'

export interface HandedDown<Value> {
  /** undefined: no such work. */
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
