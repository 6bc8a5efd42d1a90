/**
 * Changes that the server has been told of and has not answered yet: shown on top of what it has, gone with its answer.
 */
import { type ReadonlySignal, signal } from '@preact/signals'

export interface Changes<Change> {
  now: ReadonlySignal<readonly Change[]>
  /** @param tell  asks the server and takes its answer over. @throws what it throws; the change is gone then too */
  during(change: Change, tell: () => Promise<void>): Promise<void>
}

export function openChanges<Change>(): Changes<Change> {
  const now = signal<readonly Change[]>([])
  return {
    now,
    async during(change, tell) {
      now.value = [...now.value, change]
      try {
        await tell()
      } finally {
        now.value = now.value.filter((one) => one !== change)
      }
    },
  }
}
