/** Runs work one after the other, in the order in which it was requested. */

/** Work begins when the previous one has ended; a failure is reported to its caller only. */
export function openTurns(): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const mine = last.then(work)
    last = mine.catch(() => undefined)
    return mine
  }
}
