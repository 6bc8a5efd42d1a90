/** A wait that a signal can abort. */

/** @param begin  may return a function that ends the wait. @throws the signal's reason; what `reject` gets */
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
