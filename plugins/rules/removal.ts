/** How a rule removes a video, and how that is undone: the one place that knows where removed videos go. */
import { errors } from 'archivolt'
import type { App } from './app.ts'

/** @returns the removal that the bin can restore; undefined: the bin is switched off */
export async function removeByRule(app: App, id: string): Promise<string | undefined> {
  const outline = await app.videos.outline(id)
  if (!outline) throw errors.notFound('video', id)
  // First: no scan may fetch what a rule has removed.
  await app.queue.add([outline], 'ignore', { force: true })
  return (await app.bin.put([id], { why: 'rule' })).removal
}

/** @param removal  null: the bin was switched off, so it is downloaded again. @throws conflict: it cannot be brought back */
export async function bringBack(app: App, id: string, removal: string | null): Promise<void> {
  if (removal === null) {
    if (!app.queue.known([id]).has(id)) throw errors.conflict('It is in the queue no more')
    await app.queue.setStatus(id, 'pending')
    return
  }
  const { restored, refused } = await app.bin.restore({ removal })
  if (restored === 0) throw errors.conflict(refused[0]?.reason ?? 'It is no longer in the bin')
  await app.queue.remove(id)
}
