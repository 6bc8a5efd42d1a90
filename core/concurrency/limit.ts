/** Limits how long something takes, or is waited for: what comes later is ignored, and brings nothing down. */
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

/**
 * Work that is aborted after so long, or with the signal that is given. In place of `AbortSignal.timeout`: Node may
 * collect one that only `AbortSignal.any` knows, and it never fires.
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
