/** Listeners to jobs: called for each change of a row or message, and for each run that has ended. */
import type { Job } from '../ledger/jobs.ts'
import type { Log } from '../log.ts'
import type { JobChange } from './types.ts'

export type Listeners = ReturnType<typeof openListeners>

export function openListeners(log: Log) {
  const toChanges = new Set<(change: JobChange) => void>()
  const toEnds = new Set<(run: Job) => void>()

  function changed(change: JobChange): void {
    call(toChanges, change)
  }

  function ended(run: Job): void {
    call(toEnds, run)
  }

  /** @returns ends it */
  function watch(listener: (change: JobChange) => void): () => void {
    toChanges.add(listener)
    return () => void toChanges.delete(listener)
  }

  /** @returns ends it */
  function onEnded(listener: (run: Job) => void): () => void {
    toEnds.add(listener)
    return () => void toEnds.delete(listener)
  }

  /** An error in one listener does not keep the others from being called. */
  function call<Said>(listeners: ReadonlySet<(said: Said) => void>, said: Said): void {
    for (const listener of listeners) {
      try {
        listener(said)
      } catch (error) {
        log.error({ err: error }, 'a listener to jobs failed')
      }
    }
  }

  return { changed, ended, watch, onEnded }
}
