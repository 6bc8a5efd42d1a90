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

export class FairQueue {
  readonly #atOnce: number
  readonly #mostWaiting: number
  readonly #tooMany: () => Error
  /** The askers, in the order of their next turn. */
  readonly #waiting = new Map<string, Waiting[]>()
  #size = 0
  #running = 0

  /** @param tooMany  makes the error for a request that is refused */
  constructor(atOnce: number, mostWaiting: number, tooMany: () => Error) {
    this.#atOnce = atOnce
    this.#mostWaiting = mostWaiting
    this.#tooMany = tooMany
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  /**
   * Runs the work when it is this asker's turn. The signal does not abort work that has begun.
   * @param signal  ends the wait when the client disconnects
   * @throws `tooMany`  too many requests wait; the signal's reason
   */
  async run<Result>(who: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#running < this.#atOnce) this.#running++
    else await this.#turnOf(who, signal)
    try {
      return await work()
    } finally {
      // The slot is handed over directly, so that no later asker takes it.
      const next = this.#takeNext()
      if (next) next.begin()
      else this.#running--
    }
  }

  #turnOf(who: string, signal: AbortSignal | undefined): Promise<void> {
    if (this.#size >= this.#mostWaiting) this.#makeRoomFor(who)
    return abortable<void>(signal, (resolve, reject) => {
      const waiting: Waiting = { begin: resolve, refuse: reject }
      const own = this.#waiting.get(who)
      if (own) own.push(waiting)
      else this.#waiting.set(who, [waiting])
      this.#size++
      return () => this.#remove(who, waiting)
    })
  }

  #takeNext(): Waiting | undefined {
    for (const [who, [next, ...others]] of this.#waiting) {
      this.#waiting.delete(who)
      if (others.length > 0) this.#waiting.set(who, others) // moves the asker to the end of the queue
      this.#size--
      return next
    }
    return undefined
  }

  #remove(who: string, waiting: Waiting): void {
    const others = this.#waiting.get(who)!.filter((one) => one !== waiting)
    if (others.length > 0) this.#waiting.set(who, others)
    else this.#waiting.delete(who)
    this.#size--
  }

  /** Refuses the last waiting request of the asker with the most, if another asker needs the slot. @throws `tooMany` */
  #makeRoomFor(who: string): void {
    let [largest, most] = [who, (this.#waiting.get(who)?.length ?? 0) + 1]
    for (const [other, { length }] of this.#waiting) if (length > most) [largest, most] = [other, length]
    if (largest === who) throw this.#tooMany()
    const last = this.#waiting.get(largest)!.at(-1)!
    this.#remove(largest, last)
    last.refuse(this.#tooMany())
  }
}
