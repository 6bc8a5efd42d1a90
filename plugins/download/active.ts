/** Running downloads: their progress, and how they are stopped when their item is removed. */
import type { App } from './app.ts'

export interface ItemProgress {
  /** 0–1 */
  fraction: number
  /** Bytes per second. */
  speed?: number
  /** Remaining seconds. */
  eta?: number
}

export interface ActiveItem {
  /** Aborted if the item is removed or ignored meanwhile. */
  signal: AbortSignal
  report(progress: ItemProgress): void
  end(): void
}

/** Why a running download ends: its item was removed or ignored. */
export class ItemTakenAway extends Error {
  constructor() {
    super('The item was removed from the queue or ignored')
  }
}

const TOLD_EVERY_MS = 1000

/** @param changed  informs listeners of the queue */
export function openActiveItems(
  { clock, log, touch }: Pick<App, 'clock' | 'log' | 'touch'>,
  changed: (id: string) => Promise<void>,
) {
  const items = new Map<string, { controller: AbortController; progress: ItemProgress }>()

  /** Stops its download, if it is running. */
  function cancel(id: string): void {
    items.get(id)?.controller.abort(new ItemTakenAway())
  }

  function begin(id: string): ActiveItem {
    const tell = () => changed(id).catch((err) => log.warn({ err }, 'a listener to the queue failed'))
    // The item is active from the start, because asking the platform takes seconds before there is progress to report.
    const entry = { controller: new AbortController(), progress: { fraction: 0 } as ItemProgress }
    items.set(id, entry)
    touch()
    void tell()
    let lastTold = 0
    return {
      signal: entry.controller.signal,
      report: (progress) => {
        entry.progress = progress
        touch()
        if (clock.steady() - lastTold < TOLD_EVERY_MS) return
        lastTold = clock.steady()
        void tell()
      },
      end: () => {
        items.delete(id)
        touch()
        // Listeners saw the download running, so report its end, whatever the result.
        void tell()
      },
    }
  }

  return {
    ids: () => [...items.keys()],
    has: (id: string) => items.has(id),
    progressOf: (id: string) => items.get(id)?.progress,
    cancel,
    begin,
  }
}
