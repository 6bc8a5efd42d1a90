/** Lanes where several jobs may be started, but one item at a time, or a few, are worked on, the jobs taking turns. */
import type { Clock, Timer } from '../clock.ts'
import { abortable } from '../concurrency/abortable.ts'
import { errors } from '../error.ts'

interface TurnOptions {
  /** Who asks: turns go round between the askers. A job's id, or the name of a service. */
  asker: string
  signal?: AbortSignal | undefined
  /**
   * A request that someone waits for: enters before the next item of any job, but takes at most every second turn while
   * jobs wait.
   */
  isUrgent?: boolean
  /** Gives up waiting for its turn after so long. @throws unavailable */
  waitMs?: number
}

export interface Lanes {
  /**
   * Waits for the turn in a lane and does one item's work in it. Not from inside a turn of the same lane: it would wait
   * for itself.
   * @param work  may call `leave` before it ends: what is left of it holds up nobody
   * @throws the signal's reason while waiting; unavailable: waited too long, or too many wait; what the work throws
   */
  turn<Result>(lane: string, options: TurnOptions, work: (leave: () => void) => Promise<Result>): Promise<Result>
  /** From now on so many items of the lane are worked on at once. */
  widen(lane: string, count: number): void
}

const MOST_WAITING = 1000

/** @param lanes  those that the manifests declare; a turn in another is a mistake of the code */
export function openLanes({ clock, lanes }: { clock: Clock; lanes: readonly string[] }): Lanes {
  const queues = new Map(lanes.map((name) => [name, new TurnQueue()]))

  const queueOf = (lane: string): TurnQueue => {
    const queue = queues.get(lane)
    if (!queue) throw new Error(`No plugin declares the lane ${lane} as one of turns`)
    return queue
  }

  return {
    async turn(lane, options, work) {
      const queue = queueOf(lane)
      await queue.enter(options, clock)
      let isIn = true
      const leave = () => {
        if (isIn) queue.leave()
        isIn = false
      }
      try {
        return await work(leave)
      } finally {
        leave()
      }
    },
    widen: (lane, count) => queueOf(lane).widen(count),
  }
}

interface Waiting {
  asker: string
  begin: () => void
}

/**
 * No `FairQueue`: an urgent asker goes first every second time, whoever waits gives up after a time, a lane is widened
 * while work runs, and work leaves before it ends.
 */
class TurnQueue {
  #most = 1
  #taken = 0
  #lastAsker: string | undefined
  #wasUrgent = false
  #count = 0
  readonly #urgent: Waiting[] = []
  /** In the order of their next turns. */
  readonly #askers = new Map<string, Waiting[]>()

  enter({ asker, signal, isUrgent, waitMs }: TurnOptions, clock: Clock): Promise<void> {
    return abortable<void>(signal, (resolve, reject) => {
      if (this.#taken < this.#most) {
        this.#taken++
        this.#wasUrgent = isUrgent === true
        if (!isUrgent) this.#lastAsker = asker
        return resolve()
      }
      if (this.#count >= MOST_WAITING)
        return reject(errors.unavailable('Too many tasks are waiting already; try again later'))

      let timer: Timer | undefined
      const settle = () => {
        timer?.cancel()
        this.#count--
      }
      const withdraw = () => {
        settle()
        this.#remove(waiting)
      }
      const waiting: Waiting = {
        asker,
        begin: () => {
          settle()
          resolve()
        },
      }

      this.#count++
      if (waitMs !== undefined)
        timer = clock.after(waitMs, () => {
          withdraw()
          reject(errors.unavailable('The server is busy; try again in 30 seconds', { retryAfterSeconds: 30 }))
        })
      if (isUrgent) this.#urgent.push(waiting)
      else this.#askers.set(asker, [...(this.#askers.get(asker) ?? []), waiting])
      return withdraw
    })
  }

  leave(): void {
    this.#taken--
    this.#fill()
  }

  widen(count: number): void {
    this.#most = count
    this.#fill()
  }

  #fill(): void {
    while (this.#taken < this.#most) {
      const next = this.#next()
      if (!next) return
      this.#taken++
      next.begin()
    }
  }

  #next(): Waiting | undefined {
    const isTurnOfJobs = this.#wasUrgent && this.#askers.size > 0
    const urgent = isTurnOfJobs ? undefined : this.#urgent.shift()
    this.#wasUrgent = urgent !== undefined
    if (urgent) return urgent
    // Whoever has had the last turn goes behind all others, also if it asked for more before they came.
    if (this.#lastAsker !== undefined) this.#putBehind(this.#lastAsker, this.#askers.get(this.#lastAsker))
    for (const [asker, [first, ...rest]] of this.#askers) {
      this.#putBehind(asker, rest)
      this.#lastAsker = asker
      return first
    }
    return undefined
  }

  #putBehind(asker: string, waiting: Waiting[] | undefined): void {
    this.#askers.delete(asker)
    if (waiting?.length) this.#askers.set(asker, waiting)
  }

  #remove(waiting: Waiting): void {
    const at = this.#urgent.indexOf(waiting)
    if (at >= 0) this.#urgent.splice(at, 1)
    const left = this.#askers.get(waiting.asker)?.filter((other) => other !== waiting)
    if (left?.length) this.#askers.set(waiting.asker, left)
    else this.#askers.delete(waiting.asker)
  }
}
