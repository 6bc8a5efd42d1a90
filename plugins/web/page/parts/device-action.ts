/** Keeps a video in this browser for times without the network, or takes it away again: an entry of its menu. */
import { ArrowDownToLine, CircleX } from 'lucide'
import { isKeepingPossible } from '../browser/kept.ts'
import type { Video } from '../server/records.ts'
import { onDevice } from '../stores/on-device.ts'
import { t } from '../texts/lookup.ts'
import type { MenuItem } from './menu.tsx'
import { say } from './toast.ts'

export function deviceAction(video: Video): MenuItem[] {
  if (!isKeepingPossible) return []
  const { platform_id: id, title } = video
  const isHere = onDevice.value.some((one) => one.video.platform_id === id)
  const act = async () => {
    const { dropFromDevice, keepOnDevice } = await import('./device.ts')
    if (!isHere && !(await keepOnDevice(video))) return
    if (isHere) await dropFromDevice(id)
    say(t(isHere ? 'device.dropped' : 'device.keeping', { title }))
  }
  return [
    {
      label: t(isHere ? 'device.drop' : 'device.keep'),
      icon: isHere ? CircleX : ArrowDownToLine,
      onSelect: act,
    },
  ]
}
