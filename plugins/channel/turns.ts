/** Who works in a channel's folder: many together, or its removal alone; in the order in which they came. */

interface Turn {
  /** The last removal. */
  removal: Promise<unknown>
  /** What has come since. */
  works: Promise<unknown>[]
  open: number
}

export function openTurns() {
  const turns = new Map<string, Turn>()

  function enter<Result>(id: string, begin: (turn: Turn) => Promise<Result>): Promise<Result> {
    const turn = turns.get(id) ?? { removal: Promise.resolve(), works: [], open: 0 }
    turns.set(id, turn)
    turn.open++
    return begin(turn).finally(() => --turn.open === 0 && turns.delete(id))
  }

  return {
    /** The channel is not removed while this works. Never one within another: a removal that waits between the two would hold up both. */
    together: <Result>(id: string, work: () => Promise<Result>): Promise<Result> =>
      enter(id, (turn) => {
        const run = turn.removal.then(work)
        turn.works.push(run.catch(() => undefined))
        return run
      }),

    alone: <Result>(id: string, work: () => Promise<Result>): Promise<Result> =>
      enter(id, (turn) => {
        const run = Promise.all([turn.removal, ...turn.works]).then(work)
        turn.removal = run.catch(() => undefined)
        turn.works = []
        return run
      }),
  }
}
