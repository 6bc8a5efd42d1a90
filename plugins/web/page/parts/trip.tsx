/** Videos for a trip: saves as much of a list on this device as fits into some hours. */
import { signal } from '@preact/signals'
import { TramFront } from 'lucide'
import { useState } from 'preact/hooks'
import { isOfflinePossible } from '../browser/offline.ts'
import { whenOver } from '../server/api.ts'
import { t } from '../texts/lookup.ts'
import { Icon } from './icon.tsx'
import type { MenuItem } from './menu.tsx'
import { sayFailure } from './toast.ts'
import type TripDialog from './trip-dialog.tsx'
import type { TripSource } from './trip-source.ts'

const asked = signal<TripSource | undefined>(undefined)
whenOver(() => void (asked.value = undefined))
const askForTrip = (source: TripSource): void => void (asked.value = source)

/** A menu entry; none if the browser cannot save videos. */
export const tripAction = (label: string, source: TripSource): MenuItem[] =>
  isOfflinePossible ? [{ label, icon: TramFront, onSelect: () => askForTrip(source) }] : []

/** A chip that is shown with the filters of a list. */
export const TripChip = ({ source }: { source: TripSource }) =>
  isOfflinePossible ? (
    <button type="button" class="chip" aria-haspopup="dialog" onClick={() => askForTrip(source)}>
      <Icon node={TramFront} size={16} />
      {t('trip.open')}
    </button>
  ) : null

/** Rendered once in the frame; its dialog is loaded when it opens. */
export function TripQuestion() {
  const [Dialog, setDialog] = useState<typeof TripDialog>()
  const source = asked.value
  if (!source) return null
  if (!Dialog) import('./trip-dialog.tsx').then((loaded) => setDialog(() => loaded.default), sayFailure)
  return Dialog ? <Dialog source={source} onClose={() => void (asked.value = undefined)} /> : null
}
