/** A film on a television and the like, which the browser can send it to. */
import { signal } from '@preact/signals'
import { post } from '../server/api.ts'
import { under } from '../server/base.ts'
import type { Deck } from './deck.ts'

/** @param address  where the film lies for this browser */
export function openCasting(deck: Deck, address: () => string) {
  /** Such are near. */
  const isCastable = signal(false)

  /** From another address, from where it is. */
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
    // Firefox has none, and a browser without such a thing refuses.
    void remote?.watchAvailability((isNear) => void (isCastable.value = isNear)).catch(() => undefined)
    remote?.addEventListener('disconnect', comeBack)
    return () => remote?.removeEventListener('disconnect', comeBack)
  })

  return {
    isCastable,
    /**
     * The browser asks which device. Such have no cookie: the film comes to them by an address that holds some hours.
     * @throws Failure  the server gives no such address
     */
    async cast(): Promise<void> {
      const { url } = await post<{ url: string }>(`/api/video/${deck.video.platform_id}/link/`)
      playFrom(under(url))
      await deck.element?.remote.prompt().catch(comeBack) // thought better of it
    },
  }
}
