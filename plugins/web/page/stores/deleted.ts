/**
 * Videos that were deleted here: none plays on, and where one was in it is not told to a server that has it no more.
 */
import { type ReadonlySignal, signal } from '@preact/signals'

const ids = signal<ReadonlySet<string>>(new Set())

export const deleted: ReadonlySignal<ReadonlySet<string>> = ids

export const noteDeleted = (gone: readonly string[]): void => void (ids.value = new Set([...ids.peek(), ...gone]))

/** It is shown, so it is there, or there again. */
export function noteBack(id: string): void {
  if (ids.peek().has(id)) ids.value = new Set([...ids.peek()].filter((one) => one !== id))
}
