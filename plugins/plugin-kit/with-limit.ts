/** A time limit for work that a signal ends. */

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
