/** Refreshes damaged documents that are in no snapshot. The library imports a damaged video again from its film. */
import type { GarbledDocument } from 'archivolt'
import type { App } from './app.ts'
import { knownOf } from './item.ts'
import type { Kind } from './queue.ts'
import { checkReindex } from './run.ts'

/** What is refreshed to recreate a document of each collection: comments come with their video. */
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
