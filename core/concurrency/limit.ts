/** Time limits for work and waits: later results and errors are ignored. */
import type { Clock, Timer } from '../clock.ts'

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

/**
 * Runs work with a signal that aborts after the limit or with the given signal. Replaces `AbortSignal.timeout`: Node
 * may garbage-collect one that only `AbortSignal.any` refers to, and it then never fires.
 */
export async function withLimit<Result>(
  limitMs: number,
  signal: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(new DOMException('It took too long', 'TimeoutError')), limitMs)
  try {
    return await work(signal ? AbortSignal.any([signal, limit.signal]) : limit.signal)
  } finally {
    clearTimeout(timer)
  }
}
