/** What is being downloaded now: how far it is, and how it is stopped when somebody takes its item away. */
import type { App } from './app.ts'

interface ItemProgress {
  /** 0–1 */
  fraction: number
  /** Bytes a second. */
  speed?: number
  /** Seconds left. */
  eta?: number
}

export interface ActiveItem {
  /** Aborted when the item is removed or ignored meanwhile. */
  signal: AbortSignal
  report(progress: ItemProgress): void
  end(): void
}

/** Why a running download ends: its item was removed or ignored. */
export class ItemTakenAway extends Error {
  constructor() {
    super('The item was taken out of the queue')
  }
}

const TOLD_EVERY_MS = 1000

export type ActiveItems = ReturnType<typeof openActiveItems>

/** @param changed  tells who listens to the queue */
export function openActiveItems(
  { clock, log, touch }: Pick<App, 'clock' | 'log' | 'touch'>,
  changed: (id: string) => Promise<void>,
) {
  const items = new Map<string, { controller: AbortController; progress: ItemProgress }>()

  /** Stops its download, if it is worked on. */
  function cancel(id: string): void {
    items.get(id)?.controller.abort(new ItemTakenAway())
  }

  function begin(id: string): ActiveItem {
    const tell = () => changed(id).catch((err) => log.warn({ err }, 'a listener to the queue failed'))
    // From the first moment on: asking the platform takes seconds before there is more to report.
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
        // Who watches saw it run: it does so no longer, whatever came of it.
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
