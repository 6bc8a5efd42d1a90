/** Volume, speed, and repeat. */
import { batch, signal } from '@preact/signals'
import { type Deck, stepped } from './deck.ts'
import { storedOptions, storeOptions } from './player-options.ts'

export const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3] as const

/** @param onHeard  called when the sound is on after a change */
export function openDials(deck: Deck, onHeard: () => void) {
  const volume = signal(storedOptions.volume())
  const isMuted = signal(storedOptions.isMuted())
  const speed = signal(storedOptions.speed())
  const isLooping = signal(false)
  /** Whether a segment has muted the film, which is neither shown nor stored as the account's choice. */
  let isHushed = false

  deck.holds.push((element) => {
    element.volume = volume.value
    element.muted = isMuted.value
    element.defaultPlaybackRate = element.playbackRate = speed.value
  })
  deck.handlers['volumechange'] = () => {
    const { volume: loudness, muted } = deck.element!
    if (isHushed && muted) return
    isHushed = false
    if (!muted) onHeard()
    batch(() => ((volume.value = loudness), (isMuted.value = muted)))
    storeOptions({ volume: loudness, isMuted: muted })
  }
  deck.handlers['ratechange'] = () => storeOptions({ speed: (speed.value = deck.element!.playbackRate) })

  /** Also sets the default speed, so that the film keeps its speed when it is loaded again. */
  function setSpeed(value: number): void {
    if (deck.element) deck.element.defaultPlaybackRate = deck.element.playbackRate = speed.value = value
  }

  return {
    volume,
    isMuted,
    speed,
    isLooping,
    louder(by: number): void {
      if (!deck.element) return
      deck.element.muted = false
      deck.element.volume = Math.max(0, Math.min(1, Math.round((deck.element.volume + by) * 100) / 100))
    },
    /** @param value  0 mutes; the previous volume returns later */
    setVolume(value: number): void {
      if (!deck.element) return
      deck.element.muted = value === 0
      if (value > 0) deck.element.volume = value
    },
    /** Mutes the film for a segment, or ends the muting. */
    hush(isWanted: boolean): void {
      if (!deck.element || isWanted === (isHushed || deck.element.muted) || isWanted === isHushed) return
      isHushed = isWanted
      deck.element.muted = isWanted
    },
    toggleMute: () => void (deck.element && (deck.element.muted = !deck.element.muted)),
    setSpeed,
    faster: (steps: number) => setSpeed(stepped(SPEEDS, speed.value, steps)),
    toggleLoop: () => void (deck.element && (deck.element.loop = isLooping.value = !isLooping.value)),
  }
}
