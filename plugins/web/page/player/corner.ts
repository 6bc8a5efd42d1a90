/** The state of the player in the corner. This module is loaded with the page; the player itself is not. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { deleted } from '../stores/deleted.ts'

export interface InCorner {
  id: string
  title: string
  /** The path of its view. */
  path: string
  isPlaying: ReadonlySignal<boolean>
  toggle: () => void
  close: () => void
}

export const corner = signal<InCorner | undefined>(undefined)
/** The video that follows when the current one has ended. */
export interface Coming {
  title: string
  /** Seconds until it starts; undefined: it waits for a click. */
  left: number | undefined
  go: () => void
}

export const coming = signal<Coming | undefined>(undefined)
/** The element that receives the player; rendered by the frame. */
export const dock: { current: HTMLDivElement | null } = { current: null }

deleted.subscribe((ids) => {
  const playing = corner.peek()
  if (playing && ids.has(playing.id)) playing.close()
})
