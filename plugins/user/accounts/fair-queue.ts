/**
 * Work that waits for its turn, where turns go round by who asks: the many of one make nobody else wait longer. Beside
 * the turns of lanes (`core/jobs/lanes.ts`), which have urgent askers, a limit of time, and a width that changes; here
 * whoever asks for most gives way once too many wait.
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
  /** Who waits, in the order of their next turn. */
  readonly #waiting = new Map<string, Waiting[]>()
  #size = 0
  #running = 0

  /** @param tooMany  what one is refused with that may not even wait */
  constructor(atOnce: number, mostWaiting: number, tooMany: () => Error) {
    this.#atOnce = atOnce
    this.#mostWaiting = mostWaiting
    this.#tooMany = tooMany
  }

  get isIdle(): boolean {
    return this.#running === 0
  }

  /**
   * Runs the work when it is this one's turn. What has begun is not ended by the signal.
   * @param signal  of who asks: once it has gone, it waits no longer
   * @throws `tooMany`  too many wait; the signal's reason
   */
  async run<Result>(who: string, work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted()
    if (this.#running < this.#atOnce) this.#running++
    else await this.#turnOf(who, signal)
    try {
      return await work()
    } finally {
      // The place is handed on, so that nobody slips in between.
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
      if (others.length > 0) this.#waiting.set(who, others) // behind everybody else
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

  /** Whoever waits with most gives up its last place to one who waits with less. @throws `tooMany` */
  #makeRoomFor(who: string): void {
    let [largest, most] = [who, (this.#waiting.get(who)?.length ?? 0) + 1]
    for (const [other, { length }] of this.#waiting) if (length > most) [largest, most] = [other, length]
    if (largest === who) throw this.#tooMany()
    const last = this.#waiting.get(largest)!.at(-1)!
    this.#remove(largest, last)
    last.refuse(this.#tooMany())
  }
}
