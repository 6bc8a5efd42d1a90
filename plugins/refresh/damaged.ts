/**
 * Refreshes damaged documents that are in no snapshot. A damaged video is imported again from its film by the plugin
 * `library`.
 */
import type { GarbledDocument } from 'archivolt'
import type { App } from './app.ts'
import { knownOf } from './item.ts'
import type { Kind } from './queue.ts'
import { checkReindex } from './run.ts'

/** The kind to refresh in order to recreate a document, by collection: comments are recreated with their video. */
const KIND_OF: Record<string, Kind> = { channel: 'channel', playlist: 'playlist', comment: 'video' }

export async function readAgain({ documents }: { documents: readonly GarbledDocument[] }, app: App): Promise<void> {
  let isAny = false
  for (const { collection, id } of documents) {
    const kind = KIND_OF[collection]
    if (kind === undefined || !(await knownOf(kind, [id], app)).has(id)) continue
    await app.refreshQueue.add(kind, [id])
    isAny = true
  }
  if (isAny) await app.jobs.start(checkReindex, {})
}
