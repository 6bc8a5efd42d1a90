/** Volume, speed, and repeat. */
import { batch, signal } from '@preact/signals'
import { type Deck, stepped } from './deck.ts'
import { storedOptions, storeOptions } from './player-options.ts'

export const SPEEDS = [0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2, 2.5, 3] as const

export function openDials(deck: Deck) {
  const volume = signal(storedOptions.volume())
  const isMuted = signal(storedOptions.isMuted())
  const speed = signal(storedOptions.speed())
  const isLooping = signal(false)

  deck.holds.push((element) => {
    element.volume = volume.value
    element.muted = isMuted.value
    element.defaultPlaybackRate = element.playbackRate = speed.value
  })
  deck.handlers['volumechange'] = () => {
    const { volume: loudness, muted } = deck.element!
    batch(() => ((volume.value = loudness), (isMuted.value = muted)))
    storeOptions({ volume: loudness, isMuted: muted })
  }
  deck.handlers['ratechange'] = () => storeOptions({ speed: (speed.value = deck.element!.playbackRate) })

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
    setVolume(value: number): void {
      if (!deck.element) return
      deck.element.muted = value === 0
      deck.element.volume = value
    },
    toggleMute: () => void (deck.element && (deck.element.muted = !deck.element.muted)),
    setSpeed: (value: number) => void (deck.element && (deck.element.playbackRate = value)),
    faster(steps: number): void {
      if (deck.element) deck.element.playbackRate = stepped(SPEEDS, speed.value, steps)
    },
    toggleLoop: () => void (deck.element && (deck.element.loop = isLooping.value = !isLooping.value)),
  }
}
