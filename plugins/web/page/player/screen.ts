/** Fullscreen and picture-in-picture. */
import { signal } from '@preact/signals'
import type { Deck } from './deck.ts'

/**
 * The element that becomes fullscreen: the container of the player, which stays when the next video replaces the
 * player.
 */
export const FULL_FRAME = 'full-frame'

export function openScreen(deck: Deck) {
  const isFull = signal(false)
  const isPip = signal(false)
  let box: HTMLElement | undefined

  deck.handlers['enterpictureinpicture'] = () => void (isPip.value = true)
  deck.handlers['leavepictureinpicture'] = () => void (isPip.value = false)
  deck.holds.push((_, frame) => {
    box = frame
    const update = () => void (isFull.value = document.fullscreenElement?.contains(frame) ?? false)
    update()
    document.addEventListener('fullscreenchange', update)
    return () => document.removeEventListener('fullscreenchange', update)
  })

  return {
    isFull,
    isPip,
    toggleFull(): void {
      if (document.fullscreenElement) return void document.exitFullscreen()
      enterFullscreen(box?.closest(`.${FULL_FRAME}`) ?? box, deck.element)
    },
    togglePip(): void {
      if (document.pictureInPictureElement) void document.exitPictureInPicture()
      else void deck.element?.requestPictureInPicture?.().catch(() => undefined) // as with fullscreen
    },
  }
}

/** Some phones support fullscreen only for a video element. */
export function enterFullscreen(frame: Element | null | undefined, film: HTMLVideoElement | null | undefined): void {
  if (frame?.requestFullscreen)
    void frame.requestFullscreen().catch(() => undefined) // the browser may refuse
  else
    (film as (HTMLVideoElement & { webkitEnterFullscreen?: () => void }) | null | undefined)?.webkitEnterFullscreen?.()
}
