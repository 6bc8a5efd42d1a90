/** The state that the parts of a player share: the media element, if there is one, and its last values. */
import { type Signal, signal } from '@preact/signals'
import type { Video } from '../server/records.ts'

/**
 * Runs with the element once it exists.
 * @returns a function that cancels it
 */
type Hold = (element: HTMLVideoElement, frame: HTMLElement) => (() => void) | void

export class Deck {
  readonly video: Video
  element: HTMLVideoElement | undefined
  /** Whether the start position is set. From then on, the current position counts. */
  hasBegun = false
  readonly isPlaying = signal(false)
  readonly isWaiting = signal(false)
  readonly hasEnded = signal(false)
  readonly position = signal(0)
  readonly duration: Signal<number>
  readonly buffered = signal(0)
  /** Handlers by the name of their media event. */
  readonly handlers: Record<string, () => void> = {
    waiting: () => void (this.isWaiting.value = true),
    playing: () => void (this.isWaiting.value = false),
    canplay: () => void (this.isWaiting.value = false),
    progress: () => this.#noteBuffer(this.element!),
  }
  readonly holds: Hold[] = []

  constructor(video: Video) {
    this.video = video
    this.duration = signal(video.player.duration)
  }

  async play(): Promise<void> {
    try {
      await this.element?.play()
    } catch {
      this.isPlaying.value = false // the browser requires a gesture: people can press the button
    }
  }

  /** @returns a function that detaches */
  attach(element: HTMLVideoElement, frame: HTMLElement): () => void {
    const handlers = Object.entries(this.handlers)
    this.element = element
    for (const [name, handler] of handlers) element.addEventListener(name, handler)
    const ends = this.holds.map((hold) => hold(element, frame))
    return () => {
      for (const [name, handler] of handlers) element.removeEventListener(name, handler)
      for (const end of ends) end?.()
      this.element = undefined
    }
  }

  #noteBuffer({ buffered: ranges, currentTime: now }: HTMLVideoElement): void {
    for (let index = 0; index < ranges.length; index++)
      if (ranges.start(index) <= now + 1 && ranges.end(index) >= now) this.buffered.value = ranges.end(index)
  }
}

/** The value that is this many steps away, within the allowed range. */
export function stepped(all: readonly number[], now: number, steps: number): number {
  const at = all.findIndex((one) => one >= now)
  return all[Math.max(0, Math.min(all.length - 1, at + steps))]!
}
