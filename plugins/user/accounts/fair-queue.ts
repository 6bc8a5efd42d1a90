/**
 * A fair queue: the askers take turns, so that the many requests of one do not delay the others. Unlike the turns of
 * lanes (`plugins/plugin-kit/lanes.ts`), it has no urgent askers, time limit or changing width; if too many requests
 * wait, one of the asker with the most is refused.
 */
import { abortable } from 'archivolt'

interface Waiting {
  begin(): void
  refuse(reason: unknown): void
}

/** @param tooMany  makes the error for a request that is refused */
export function openFairQueue(atOnce: number, mostWaiting: number, tooMany: () => Error) {
  /** The askers, in the order of their next turn. */
  const waiting = new Map<string, Waiting[]>()
  let size = 0
  let running = 0

  function turnOf(who: string, signal: AbortSignal | undefined): Promise<void> {
    if (size >= mostWaiting) makeRoomFor(who)
    return abortable<void>(signal, (resolve, reject) => {
      const one: Waiting = { begin: resolve, refuse: reject }
      const own = waiting.get(who)
      if (own) own.push(one)
      else waiting.set(who, [one])
      size++
      return () => remove(who, one)
    })
  }

  function takeNext(): Waiting | undefined {
    for (const [who, [next, ...others]] of waiting) {
      waiting.delete(who)
      if (others.length > 0) waiting.set(who, others) // moves the asker to the end of the queue
      size--
      return next
    }
    return undefined
  }

  function remove(who: string, waitingOne: Waiting): void {
    const others = waiting.get(who)!.filter((one) => one !== waitingOne)
    if (others.length > 0) waiting.set(who, others)
    else waiting.delete(who)
    size--
  }

  /** Refuses the last waiting request of the asker with the most, if another asker needs the slot. @throws `tooMany` */
  function makeRoomFor(who: string): void {
    let [largest, most] = [who, (waiting.get(who)?.length ?? 0) + 1]
    for (const [other, { length }] of waiting) if (length > most) [largest, most] = [other, length]
    if (largest === who) throw tooMany()
    const last = waiting.get(largest)!.at(-1)!
    remove(largest, last)
    last.refuse(tooMany())
  }

  return {
    isIdle: (): boolean => running === 0,

    /**
     * Runs the work when it is this asker's turn. The signal does not abort work that has begun.
     * @param signal  ends the wait when the client disconnects
     * @throws `tooMany`  too many requests wait; the signal's reason
     */
    async run<Result>(who: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
      signal?.throwIfAborted()
      if (running < atOnce) running++
      else await turnOf(who, signal)
      try {
        return await work()
      } finally {
        // The slot is handed over directly, so that no later asker takes it.
        const next = takeNext()
        if (next) next.begin()
        else running--
      }
    },
  }
}
