/** A value that all code called during some work can read, also after an await, without a parameter for it. */
import { AsyncLocalStorage } from 'node:async_hooks'

export function openAsyncContext<Value>() {
  const storage = new AsyncLocalStorage<Value | undefined>()
  let running = 0

  function end(): void {
    // While enabled, it makes Node track every promise of the process.
    if (--running === 0) storage.disable()
  }

  /** For work that goes on after `begin` has returned. @returns its result, and a function to be called at its end */
  function from<Result>(value: Value, begin: () => Result): [result: Result, end: () => void] {
    running++
    try {
      return [storage.run(value, begin), end]
    } catch (thrown) {
      end()
      throw thrown
    }
  }

  return {
    from,
    /** undefined: called outside of `during`. */
    get: (): Value | undefined => storage.getStore(),
    async during<Result>(value: Value, work: () => Promise<Result>): Promise<Result> {
      const [result, end] = from(value, work)
      return result.finally(end)
    },
    /** Hides the value from `work`. */
    without: <Result>(work: () => Result): Result =>
      storage.getStore() === undefined ? work() : storage.run(undefined, work),
  }
}
