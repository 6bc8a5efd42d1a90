/** The queue used to be a collection of the index: its items come into the ledger, once. */
import type { App } from './app.ts'
import type { QueueTable } from './queue-rows.ts'
import type { DownloadDoc } from './schema.ts'

const COLLECTION = 'download'
const MOST_NAMED = 50

/**
 * @returns begins it when it is first called, and resolves when it is done. A start that was cut off before the items
 *   were all here begins anew; one that was cut off afterwards only removes the collection
 */
export function openTakeover(app: Pick<App, 'index' | 'log'>, items: QueueTable): () => Promise<void> {
  let taken: Promise<void> | undefined

  async function takeOver(): Promise<void> {
    const left = await app.index.leftover?.(COLLECTION)
    if (!left) return
    // What is in the ledger is newer, such as where somebody has put an old index back.
    if (items.isEmpty()) {
      let count = 0
      const { write, commit } = await items.replacement()
      for await (const batch of left.scan()) {
        const { written, failed } = await write(batch.map(({ doc }) => doc as DownloadDoc))
        count += written
        for (const { id, reason } of failed.slice(0, MOST_NAMED))
          app.log.warn({ id, reason }, 'an item of the queue cannot be used and was left out')
      }
      await commit()
      app.log.info({ count }, 'the queue has moved from the index to the ledger')
    }
    await left.remove()
  }

  return () => (taken ??= takeOver())
}
