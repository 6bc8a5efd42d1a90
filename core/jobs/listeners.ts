/** Listeners that are called one after the other; an error in one does not keep the others from being called. */
import { asCaller } from '../error-origin.ts'
import type { Log } from '../log.ts'

export interface Listeners<Said> {
  tell(said: Said): void
  /** @returns ends it */
  add(listener: (said: Said) => void): () => void
}

export function openListeners<Said>(log: Log): Listeners<Said> {
  const listeners = new Set<(said: Said) => void>()
  return {
    tell(said) {
      for (const listener of listeners) {
        try {
          listener(said)
        } catch (error) {
          log.error({ err: error }, 'a listener to jobs failed')
        }
      }
    },
    add(given) {
      const listener = asCaller(given)
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
