/**
 * Keyed locks: shared or exclusive, first come, first served. They live in memory: a resumed job takes its lock again.
 */

interface Lock {
  /** The last exclusive holder, or who waits to be it. */
  exclusive: Promise<unknown>
  /** Shared holders that came after it. */
  shared: Promise<unknown>[]
  users: number
}

export interface Locks {
  /**
   * Beside other shared holders of the key. Never take it twice in one flow: an exclusive lock asked for in between
   * would block both.
   */
  shared<Result>(key: string, work: () => Promise<Result>): Promise<Result>
  /** With no other holder of the key. */
  exclusive<Result>(key: string, work: () => Promise<Result>): Promise<Result>
}

export function openLocks(): Locks {
  const locks = new Map<string, Lock>()

  function hold<Result>(key: string, begin: (lock: Lock) => Promise<Result>): Promise<Result> {
    const lock = locks.get(key) ?? { exclusive: Promise.resolve(), shared: [], users: 0 }
    locks.set(key, lock)
    lock.users++
    return begin(lock).finally(() => --lock.users === 0 && locks.delete(key))
  }

  return {
    shared: (key, work) =>
      hold(key, (lock) => {
        const run = lock.exclusive.then(work)
        lock.shared.push(run.catch(() => undefined))
        return run
      }),

    exclusive: (key, work) =>
      hold(key, (lock) => {
        const run = Promise.all([lock.exclusive, ...lock.shared]).then(work)
        lock.exclusive = run.catch(() => undefined)
        lock.shared = []
        return run
      }),
  }
}
