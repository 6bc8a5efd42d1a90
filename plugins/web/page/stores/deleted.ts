/** Videos that were deleted in this document: none continues to play, and no position of them is sent. */
import { type ReadonlySignal, signal } from '@preact/signals'
import type { Rows } from './list.ts'
import { cachedUnder, forget } from './load.ts'

const ids = signal<ReadonlySet<string>>(new Set())

export const deleted: ReadonlySignal<ReadonlySet<string>> = ids

/** Takes them out of all lists, which keep their position. */
export function noteDeleted(gone: readonly string[]): void {
  ids.value = new Set([...ids.peek(), ...gone])
  for (const list of cachedUnder<Rows<{ id: string }>>('list /api/')) for (const id of gone) list.drop(id)
  for (const key of ['video/', 'channel/', 'playlist', 'list playlists', 'statistics']) forget(key)
}

/** The video is shown, so it exists again. */
export function noteBack(id: string): void {
  if (ids.peek().has(id)) ids.value = new Set([...ids.peek()].filter((one) => one !== id))
}
