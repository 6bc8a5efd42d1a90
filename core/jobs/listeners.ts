/** Listeners to jobs: to each change of a row or message, and to each run that has ended. */
import type { Job } from '../ledger/jobs.ts'
import type { Log } from '../log.ts'
import type { JobChange } from './types.ts'

export class Listeners {
  readonly #toChanges = new Set<(change: JobChange) => void>()
  readonly #toEnds = new Set<(run: Job) => void>()
  readonly #log: Log

  constructor(log: Log) {
    this.#log = log
  }

  changed(change: JobChange): void {
    this.#call(this.#toChanges, change)
  }

  ended(run: Job): void {
    this.#call(this.#toEnds, run)
  }

  /** @returns ends it */
  watch(listener: (change: JobChange) => void): () => void {
    this.#toChanges.add(listener)
    return () => void this.#toChanges.delete(listener)
  }

  /** @returns ends it */
  onEnded(listener: (run: Job) => void): () => void {
    this.#toEnds.add(listener)
    return () => void this.#toEnds.delete(listener)
  }

  /** A listener's fault is its own: the others hear all the same. */
  #call<Said>(listeners: ReadonlySet<(said: Said) => void>, said: Said): void {
    for (const listener of listeners) {
      try {
        listener(said)
      } catch (error) {
        this.#log.error({ err: error }, 'a listener to jobs failed')
      }
    }
  }
}
