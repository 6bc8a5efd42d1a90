/** Work that is done one after the other, in the order in which it was ordered, whatever the connection is like. */

/** For each key, the end of its last work. */
const ends = new Map<string, Promise<void>>()

/** The end of all work of this key so far; undefined: none is under way. */
export const endOf = (key: string): Promise<void> | undefined => ends.get(key)

/** Separates a key from its part. No key contains it. */
const PART = '\n'

/**
 * Begins when the earlier work of this key has ended, also if that has failed.
 * @param part  what the work concerns, if not all of the key: it does not wait for other parts
 */
export function inTurn<Result>(key: string, work: () => Promise<Result>, part?: string): Promise<Result> {
  const own = part === undefined ? key : key + PART + part
  const isBefore = (one: string) => one === key || one === own || (part === undefined && one.startsWith(key + PART))
  const before = Promise.all([...ends].map(([one, end]) => isBefore(one) && end))
  const done = before.then(work)
  const end = done
    .catch(() => undefined) // the caller reports the failure
    .then(() => void (ends.get(own) === end && ends.delete(own)))
  ends.set(own, end)
  return done
}
