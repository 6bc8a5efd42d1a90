/** Videos that were deleted in this document: none continues to play, and no position of them is sent. */
import { type ReadonlySignal, signal } from '@preact/signals'

const ids = signal<ReadonlySet<string>>(new Set())

export const deleted: ReadonlySignal<ReadonlySet<string>> = ids

export const noteDeleted = (gone: readonly string[]): void => void (ids.value = new Set([...ids.peek(), ...gone]))

/** The video is shown, so it exists again. */
export function noteBack(id: string): void {
  if (ids.peek().has(id)) ids.value = new Set([...ids.peek()].filter((one) => one !== id))
}
