/** How a rule removes a video, and how that is taken back: the one place that knows where removed videos go. */
import { errors } from 'archivolt'
import type { App } from './app.ts'

/** @returns what brings it back, where something does */
export async function removeByRule(app: App, id: string): Promise<string | undefined> {
  const outline = await app.videos.outline(id)
  if (!outline) throw errors.notFound('video', id)
  // First: no scan may fetch what a rule has removed.
  await app.queue.add([outline], 'ignore', { force: true })
  await app.videos.remove(id)
  return undefined
}

/** @throws conflict: it cannot be brought back */
export async function bringBack(app: App, id: string, _bin: string | null): Promise<void> {
  // Without a bin it is fetched from the platform again.
  if (!app.queue.known([id]).has(id)) throw errors.conflict('It is in the queue no more')
  await app.queue.setStatus(id, 'pending')
}
