/** A wait that a signal can end. */

/**
 * @param begin  starts to wait, and returns how the wait is withdrawn once the signal has ended it
 * @throws the signal's reason, also where it was aborted before; what `reject` is given
 */
export function abortable<Value>(
  signal: AbortSignal | undefined,
  begin: (resolve: (value: Value) => void, reject: (reason: unknown) => void) => (() => void) | void,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    let withdraw: (() => void) | void
    const onAbort = () => {
      withdraw?.()
      reject(signal?.reason)
    }
    const settled = () => signal?.removeEventListener('abort', onAbort)
    signal?.addEventListener('abort', onAbort, { once: true })
    withdraw = begin(
      (value) => {
        settled()
        resolve(value)
      },
      (reason) => {
        settled()
        reject(reason)
      },
    )
  })
}
