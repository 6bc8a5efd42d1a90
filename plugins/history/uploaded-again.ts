/**
 * Finds lost videos that their channel has uploaded again under another id: with the same title and the same length.
 */
import { fold } from 'archivolt'
import type { ListEntry } from '../platform/types.ts'
import type { App } from './app.ts'

const SAME_SECONDS = 1

/** @param entries  the entries of the channel's tab */
export async function noteUploadedAgain(channel: string, entries: readonly ListEntry[], app: App): Promise<void> {
  const lost = app.history.losses.ofChannel(channel, 'video').filter((row) => row.lost_at !== null && !row.back_at)
  if (lost.length === 0) return
  const docs = await app.videos.collection.getMany(lost.map(({ subject }) => subject))
  for (const [id, doc] of docs) {
    if (!doc.lost || doc.lost.again !== undefined) continue
    const again = entries.find(
      (entry) =>
        entry.id !== id &&
        fold(entry.title) === fold(doc.title) &&
        Math.abs((entry.durationSeconds ?? 0) - doc.player.duration) <= SAME_SECONDS,
    )
    if (again) await app.videos.change(id, { set: { lost: { ...doc.lost, again: again.id } } })
  }
}
