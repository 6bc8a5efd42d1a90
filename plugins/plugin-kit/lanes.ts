/** Lanes with turns: several jobs may run, but only one item, or a few, is processed at a time; the jobs take turns. */
import { abortable } from '../../core/base/abortable.ts'
import type { Clock, Timer } from '../../core/base/clock.ts'
import { errors } from '../../core/base/error.ts'
import type { Plugin } from '../../core/plugin/define.ts'

interface TurnOptions {
  /** The requester of a turn: a job's id, or the name of a service. Requesters take turns. */
  asker: string
  signal?: AbortSignal | undefined
  /**
   * A request that a person waits for. It goes before the next item of any job, but takes at most every second turn
   * while jobs wait.
   */
  isUrgent?: boolean
  /** How long to wait for the turn before giving up. @throws unavailable */
  waitMs?: number
}

export interface Lanes {
  /**
   * Waits for a turn in a lane and processes one item in it. Never call it inside a turn of the same lane: it would
   * wait for itself.
   * @param work  may call `leave` to give up the turn early; the rest of the work then blocks nobody
   * @throws the signal's reason if aborted while waiting; unavailable: waited too long, or too many wait; any error of
   * the work
   */
  turn<Result>(lane: string, options: TurnOptions, work: (leave: () => void) => Promise<Result>): Promise<Result>
  /** Sets how many items of the lane are processed at once. */
  widen(lane: string, count: number): void
}

const MOST_WAITING = 1000

/** The lanes in which jobs take turns by item: those that declare it, and those given only by name. */
export const lanesOfTurns = (plugins: readonly Plugin[]): string[] =>
  plugins.flatMap(({ lanes = [] }) =>
    Array.isArray(lanes) ? lanes : Object.keys(lanes).filter((lane) => lanes[lane] === 'turns'),
  )

/** @param lanes  a turn in any other lane is a programming error */
export function openLanes({ clock, lanes }: { clock: Clock; lanes: readonly string[] }): Lanes {
  const queues = new Map(lanes.map((name) => [name, openQueue(clock)]))

  const queueOf = (lane: string) => {
    const queue = queues.get(lane)
    if (!queue) throw new Error(`No plugin declares the lane ${lane} as a lane of turns`)
    return queue
  }

  return {
    async turn(lane, options, work) {
      const queue = queueOf(lane)
      await queue.enter(options)
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
 * The queue of a lane: an urgent asker goes first every second time, waiting times out, a lane can be widened while
 * work runs, and work may leave before it ends.
 */
function openQueue(clock: Clock) {
  let most = 1
  let taken = 0
  let lastAsker: string | undefined
  let wasUrgent = false
  let count = 0
  const urgent: Waiting[] = []
  /** The askers, in the order of their next turn. */
  const askers = new Map<string, Waiting[]>()

  function fill(): void {
    while (taken < most) {
      const waiting = next()
      if (!waiting) return
      taken++
      waiting.begin()
    }
  }

  function next(): Waiting | undefined {
    const isTurnOfJobs = wasUrgent && askers.size > 0
    const first = isTurnOfJobs ? undefined : urgent.shift()
    wasUrgent = first !== undefined
    if (first) return first
    // The last requester goes behind all others, even if it requested again before they did.
    if (lastAsker !== undefined) putBehind(lastAsker, askers.get(lastAsker))
    for (const [asker, [waiting, ...rest]] of askers) {
      putBehind(asker, rest)
      lastAsker = asker
      return waiting
    }
    return undefined
  }

  function putBehind(asker: string, waiting: Waiting[] | undefined): void {
    askers.delete(asker)
    if (waiting?.length) askers.set(asker, waiting)
  }

  function remove(waiting: Waiting): void {
    const at = urgent.indexOf(waiting)
    if (at >= 0) urgent.splice(at, 1)
    const left = askers.get(waiting.asker)?.filter((other) => other !== waiting)
    if (left?.length) askers.set(waiting.asker, left)
    else askers.delete(waiting.asker)
  }

  return {
    enter({ asker, signal, isUrgent, waitMs }: TurnOptions): Promise<void> {
      return abortable<void>(signal, (resolve, reject) => {
        if (taken < most) {
          taken++
          wasUrgent = isUrgent === true
          if (!isUrgent) lastAsker = asker
          return resolve()
        }
        if (count >= MOST_WAITING)
          return reject(errors.unavailable('Too many tasks are waiting already; try again later'))

        let timer: Timer | undefined
        const settle = () => {
          timer?.cancel()
          count--
        }
        const withdraw = () => {
          settle()
          remove(waiting)
        }
        const waiting: Waiting = {
          asker,
          begin: () => {
            settle()
            resolve()
          },
        }

        count++
        if (waitMs !== undefined)
          timer = clock.after(waitMs, () => {
            withdraw()
            reject(errors.unavailable('The server is busy; try again in 30 seconds', { retryAfterSeconds: 30 }))
          })
        if (isUrgent) urgent.push(waiting)
        else askers.set(asker, [...(askers.get(asker) ?? []), waiting])
        return withdraw
      })
    },

    leave(): void {
      taken--
      fill()
    },

    widen(slots: number): void {
      most = slots
      fill()
    },
  }
}
