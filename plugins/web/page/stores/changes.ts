/** Optimistic changes: shown on top of the server's data until its reply arrives. */
import { type ReadonlySignal, signal } from '@preact/signals'

export interface Changes<Change> {
  now: ReadonlySignal<readonly Change[]>
  /**
   * @param tell  sends the request and applies the reply
   * @throws what `tell` throws; the change is then undone
   */
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
