/**
 * Which videos the archive has. A video with a damaged document counts as missing, so that its film is imported again.
 */
import type { App } from './app.ts'

export async function readableAmong(ids: readonly string[], app: Pick<App, 'index' | 'videos'>): Promise<Set<string>> {
  const known = await app.videos.known(ids)
  for (const document of app.index.garbled.list()) {
    if (document.collection !== 'video' || !known.has(document.id)) continue
    if (await app.videos.get(document.id)) app.index.garbled.settle(document)
    else known.delete(document.id)
  }
  return known
}
