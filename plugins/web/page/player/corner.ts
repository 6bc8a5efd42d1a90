/** What plays in the corner while one looks around; what shows it there is loaded with the page, the player is not. */
import { type ReadonlySignal, signal } from '@preact/signals'
import { deleted } from '../stores/deleted.ts'

export interface InCorner {
  id: string
  title: string
  /** Of its view. */
  path: string
  isPlaying: ReadonlySignal<boolean>
  toggle: () => void
  close: () => void
}

export const corner = signal<InCorner | undefined>(undefined)
/** What follows there, once the video is over. */
export interface Coming {
  title: string
  /** Seconds; undefined: it waits to be asked. */
  left: number | undefined
  go: () => void
}

export const coming = signal<Coming | undefined>(undefined)
/** The box that the player moves into; the frame has it. */
export const dock: { current: HTMLDivElement | null } = { current: null }

deleted.subscribe((ids) => {
  const playing = corner.peek()
  if (playing && ids.has(playing.id)) playing.close()
})
