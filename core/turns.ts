/** Who works on a thing of this name: many together, or one alone; in the order in which they came. In memory: a job that is cut off asks for its turn again. */

interface Turn {
  /** The last that works alone. */
  last: Promise<unknown>
  /** What has come since. */
  works: Promise<unknown>[]
  open: number
}

export function openTurns() {
  const turns = new Map<string, Turn>()

  function enter<Result>(id: string, begin: (turn: Turn) => Promise<Result>): Promise<Result> {
    const turn = turns.get(id) ?? { last: Promise.resolve(), works: [], open: 0 }
    turns.set(id, turn)
    turn.open++
    return begin(turn).finally(() => --turn.open === 0 && turns.delete(id))
  }

  return {
    /** Nobody works alone meanwhile. Never one within another: who waits between the two to work alone would hold up both. */
    together: <Result>(id: string, work: () => Promise<Result>): Promise<Result> =>
      enter(id, (turn) => {
        const run = turn.last.then(work)
        turn.works.push(run.catch(() => undefined))
        return run
      }),

    alone: <Result>(id: string, work: () => Promise<Result>): Promise<Result> =>
      enter(id, (turn) => {
        const run = Promise.all([turn.last, ...turn.works]).then(work)
        turn.last = run.catch(() => undefined)
        turn.works = []
        return run
      }),
  }
}
