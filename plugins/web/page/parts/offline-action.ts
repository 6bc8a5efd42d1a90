/** A menu entry that saves a video in this browser for offline use, or removes it again. */
import { ArrowDownToLine, CircleX } from 'lucide'
import { isOfflinePossible } from '../browser/offline.ts'
import type { Video } from '../server/records.ts'
import { offlineVideos } from '../stores/offline-videos.ts'
import { t } from '../texts/lookup.ts'
import type { MenuItem } from './menu.tsx'
import { say } from './toast.ts'

export function offlineAction(video: Video): MenuItem[] {
  if (!isOfflinePossible) return []
  const { platform_id: id, title } = video
  const isHere = offlineVideos.value.some((one) => one.video.platform_id === id)
  const act = async () => {
    const { removeOffline, saveOffline } = await import('./offline-videos.ts')
    if (!isHere && !(await saveOffline(video))) return
    if (isHere) await removeOffline(id)
    say(t(isHere ? 'device.removed' : 'device.saving', { title }))
  }
  return [
    {
      label: t(isHere ? 'device.remove' : 'device.save'),
      icon: isHere ? CircleX : ArrowDownToLine,
      onSelect: act,
    },
  ]
}
