/** Videos that were deleted in this document: none continues to play, and no position of them is sent. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { List, Rows } from './list.ts'
import { cachedUnder, forget, forgetBeside } from './load.ts'

const ids = signal<ReadonlySet<string>>(new Set())

export const deleted: ReadonlySignal<ReadonlySet<string>> = ids

/** Takes them out of all lists, which keep their position. @returns puts them back at their places */
export function noteDeleted(gone: readonly string[]): () => void {
  ids.value = new Set([...ids.peek(), ...gone])
  const backs = cachedUnder<Rows<{ id: string }>>('list /api/').flatMap((list) => gone.map((id) => list.drop(id)))
  for (const key of ['video/', 'channel/', 'playlist', 'list playlists', 'statistics']) forget(key)
  return () => {
    for (const id of gone) noteBack(id)
    for (const back of backs.toReversed()) back()
  }
}

/** Something was restored. @param since  lists that were read later lacked it: they are read again */
export function noteRestored(since: number): void {
  forgetBeside('list ')
  for (const list of cachedUnder<Partial<List<unknown>>>('list '))
    if ((list.askedAt?.() ?? -1) >= since) void list.reload?.()
}

/** The video is shown, so it exists again. */
export function noteBack(id: string): void {
  if (ids.peek().has(id)) ids.value = new Set([...ids.peek()].filter((one) => one !== id))
}
