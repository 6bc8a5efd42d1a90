/** Work that is done one after the other, in the order in which it was ordered, whatever the connection is like. */

/** For each key, the end of its last work. */
const ends = new Map<string, Promise<void>>()

/** The end of all work of this key so far; undefined: none is under way. */
export const endOf = (key: string): Promise<void> | undefined => ends.get(key)

/** Begins when the earlier work of this key has ended, also if that has failed. */
export function inTurn<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
  const before = ends.get(key) ?? Promise.resolve()
  const done = before.then(work)
  const end = done
    .catch(() => undefined) // the caller reports the failure
    .then(() => void (ends.get(key) === end && ends.delete(key)))
  ends.set(key, end)
  return done
}
