/**
 * Keyed locks, shared or exclusive, first come, first served. They are held in memory: a resumed job takes its lock
 * again.
 */

interface Lock {
  /** The last exclusive holder, or the last one waiting. */
  exclusive: Promise<unknown>
  /** Shared holders that came after that one. */
  shared: Promise<unknown>[]
  users: number
}

export interface Locks {
  /**
   * Runs alongside other shared holders of the key. Never take it twice in one flow: an exclusive request in between
   * would block both.
   */
  shared<Result>(key: string, work: () => Promise<Result>): Promise<Result>
  /** Runs without any other holder of the key. */
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
