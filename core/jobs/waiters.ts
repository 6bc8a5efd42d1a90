/** The promises of callers that wait for a job, by its id: all are settled when the job has ended. */

interface Waiter<Value> {
  resolve: (value: Value) => void
  reject: (reason: unknown) => void
}

export type Waiters<Value> = ReturnType<typeof openWaiters<Value>>

export function openWaiters<Value>() {
  const byId = new Map<string, Array<Waiter<Value>>>()

  function take(id: string): Array<Waiter<Value>> {
    const waiters = byId.get(id) ?? []
    byId.delete(id)
    return waiters
  }

  function reject(id: string, reason: unknown): void {
    for (const waiter of take(id)) waiter.reject(reason)
  }

  return {
    reject,
    wait(id: string): Promise<Value> {
      const promise = new Promise<Value>((resolve, reject) => {
        byId.set(id, [...(byId.get(id) ?? []), { resolve, reject }])
      })
      // Callers get a rejection through the returned promise; one that nobody awaits must not crash the process.
      promise.catch(() => undefined)
      return promise
    },
    resolve(id: string, value: Value): void {
      for (const waiter of take(id)) waiter.resolve(value)
    },
    rejectAll(reason: unknown): void {
      for (const id of [...byId.keys()]) reject(id, reason)
    },
  }
}
