/** Moves the queue from the index of an earlier version into the ledger, once. */
import type { App } from './app.ts'
import type { QueueTable } from './queue-rows.ts'
import type { DownloadDoc } from './schema.ts'

const COLLECTION = 'download'
const MOST_NAMED = 50

/**
 * @returns a function that begins the move when it is first called, and resolves when it is done. If a start is
 * interrupted before all items are in the ledger, the next one begins again; afterwards it only removes the collection
 */
export function openTakeover(app: Pick<App, 'index' | 'log'>, items: QueueTable): () => Promise<void> {
  let taken: Promise<void> | undefined

  async function takeOver(): Promise<void> {
    const left = await app.index.leftover?.(COLLECTION)
    if (!left) return
    // The ledger's items are newer, for example if somebody has restored an old index.
    if (items.isEmpty()) {
      let count = 0
      const { write, commit } = await items.replacement()
      for await (const batch of left.scan()) {
        const { written, failed } = await write(batch.map(({ doc }) => doc as DownloadDoc))
        count += written
        for (const { id, reason } of failed.slice(0, MOST_NAMED))
          app.log.warn({ id, reason }, 'an invalid queue item was skipped')
      }
      await commit()
      app.log.info({ count }, 'the queue has moved from the index to the ledger')
    }
    await left.remove()
  }

  return () => (taken ??= takeOver())
}
