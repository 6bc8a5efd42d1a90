/** Plays a film on another device, such as a television, if the browser supports that. */
import { signal } from '@preact/signals'
import { post } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Deck } from './deck.ts'

/** @param address  the film's URL in this browser */
export function openCasting(deck: Deck, address: () => string) {
  /** Whether such devices are available. */
  const isCastable = signal(false)

  /** Continues at the current position with another URL. */
  function playFrom(url: string): void {
    const { element } = deck
    if (!element) return
    const at = element.currentTime
    const isOn = !element.paused
    element.src = url
    element.currentTime = at
    if (isOn) void deck.play()
  }
  const comeBack = () => playFrom(address())

  deck.holds.push(({ remote }) => {
    // Firefox does not support this, and other browsers may refuse.
    void remote?.watchAvailability((isNear) => void (isCastable.value = isNear)).catch(() => undefined)
    remote?.addEventListener('disconnect', comeBack)
    return () => remote?.removeEventListener('disconnect', comeBack)
  })

  return {
    isCastable,
    /**
     * The browser lets the user choose a device. Such devices have no cookie, so they get a signed URL that is valid
     * for some hours.
     * @throws Failure  the server provides no such URL
     */
    async cast(): Promise<void> {
      const { url } = await post<{ url: string }>(`/api/video/${deck.video.platform_id}/link/`)
      playFrom(under(url))
      await deck.element?.remote.prompt().catch(comeBack) // the user has canceled
    },
  }
}
