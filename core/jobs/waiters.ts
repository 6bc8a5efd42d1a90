/** The promises of callers that wait for a job, by its id: all are settled when the job has ended. */

interface Waiter<Value> {
  resolve: (value: Value) => void
  reject: (reason: unknown) => void
}

export class Waiters<Value> {
  readonly #byId = new Map<string, Array<Waiter<Value>>>()

  wait(id: string): Promise<Value> {
    const promise = new Promise<Value>((resolve, reject) => {
      this.#byId.set(id, [...(this.#byId.get(id) ?? []), { resolve, reject }])
    })
    // Callers get a rejection through the returned promise; one that nobody awaits must not crash the process.
    promise.catch(() => undefined)
    return promise
  }

  resolve(id: string, value: Value): void {
    for (const waiter of this.#take(id)) waiter.resolve(value)
  }

  reject(id: string, reason: unknown): void {
    for (const waiter of this.#take(id)) waiter.reject(reason)
  }

  rejectAll(reason: unknown): void {
    for (const id of [...this.#byId.keys()]) this.reject(id, reason)
  }

  #take(id: string): Array<Waiter<Value>> {
    const waiters = this.#byId.get(id) ?? []
    this.#byId.delete(id)
    return waiters
  }
}
