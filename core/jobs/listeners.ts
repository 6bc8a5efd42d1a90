/** Listeners that are called one after the other; an error in one does not keep the others from being called. */
import { asCaller } from '../error-origin.ts'
import type { Log } from '../log.ts'

export type Listeners<Said> = ReturnType<typeof openListeners<Said>>

export function openListeners<Said>(log: Log) {
  const listeners = new Set<(said: Said) => void>()
  return {
    tell(said: Said): void {
      for (const listener of listeners) {
        try {
          listener(said)
        } catch (error) {
          log.error({ err: error }, 'a listener to jobs failed')
        }
      }
    },
    /** @returns ends it */
    add(given: (said: Said) => void): () => void {
      const listener = asCaller(given)
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
