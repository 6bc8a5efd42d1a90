/** A time limit for work: a later result or error is ignored. */
import type { Clock, Timer } from './clock.ts'

/** @param late  makes the error of a wait that takes too long */
export async function withinTime<Result>(
  clock: Pick<Clock, 'after'>,
  limitMs: number,
  work: PromiseLike<Result>,
  late: () => Error,
): Promise<Result> {
  let timer: Timer | undefined
  const tooLong = new Promise<never>((_resolve, reject) => (timer = clock.after(limitMs, () => reject(late()))))
  try {
    return await Promise.race([work, tooLong])
  } finally {
    timer?.cancel()
  }
}
