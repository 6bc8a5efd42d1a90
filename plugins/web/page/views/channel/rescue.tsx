/** Finds out whether a rescue of channels is offered; the offers themselves are loaded only then. */
import { useEffect, useState } from 'preact/hooks'
import { sayFailure } from '../../parts/toast.ts'
import { isAdmin, shelves } from '../../stores/session.ts'
import { moreTexts } from '../../texts/lookup.ts'
import type Offers from './rescue-offers.tsx'

/** @param channel  shows only the offer for this channel */
export function Rescues({ channel }: { channel?: string }) {
  const [Shown, setShown] = useState<typeof Offers>()
  const isAny = isAdmin.value && shelves.value.includes('rescue')
  useEffect(() => {
    if (!isAny) return
    Promise.all([import('./rescue-offers.tsx'), moreTexts()]).then(
      ([{ default: loaded }]) => setShown(() => loaded),
      sayFailure,
    )
  }, [isAny])
  return isAny && Shown ? <Shown channel={channel} /> : null
}
