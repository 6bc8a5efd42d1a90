/** Limits how long something is waited for: what comes later is ignored, and brings nothing down. */
import type { Clock, Timer } from '../clock.ts'

/** @param late  what the wait ends with; called once it is too long */
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
