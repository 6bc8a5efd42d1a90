/** Videos that were deleted in this document: they no longer play, and their positions are not sent. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { List, Rows } from './list.ts'
import { cachedUnder, forget, forgetOthers } from './load.ts'

const ids = signal<ReadonlySet<string>>(new Set())

export const deleted: ReadonlySignal<ReadonlySet<string>> = ids

/**
 * Removes the videos from all lists, which keep their scroll position.
 * @returns a function that puts the videos back at their positions
 */
export function noteDeleted(gone: readonly string[]): () => void {
  ids.value = new Set([...ids.peek(), ...gone])
  const backs = cachedUnder<Rows<{ id: string }>>('list /api/').flatMap((list) => gone.map((id) => list.drop(id)))
  for (const key of ['video/', 'channel/', 'playlist', 'list playlists', 'statistics']) forget(key)
  return () => {
    for (const id of gone) noteBack(id)
    for (const back of backs.toReversed()) back()
  }
}

/**
 * Called when something was restored.
 * @param since  lists that were read after this time are read again, because they lack what was restored
 */
export function noteRestored(since: number): void {
  forgetOthers('list ')
  for (const list of cachedUnder<Partial<List<unknown>>>('list '))
    if ((list.askedAt?.() ?? -1) >= since) void list.reload?.()
}

/** Called when the video is shown, because then it exists again. */
export function noteBack(id: string): void {
  if (ids.peek().has(id)) ids.value = new Set([...ids.peek()].filter((one) => one !== id))
}
