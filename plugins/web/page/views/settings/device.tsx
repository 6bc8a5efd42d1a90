/** Videos saved in this browser for offline use. */
import { Trash } from 'lucide'
import { useEffect, useState } from 'preact/hooks'
import { isOfflinePossible } from '../../browser/offline.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { under } from '../../server/base.ts'
import { type OnDevice, offlineVideos } from '../../stores/offline-videos.ts'
import { refilledTrip, setRefilledTrip } from '../../stores/refilled-trip.ts'
import { titledAs } from '../../stores/titles.ts'
import { toBytes } from '../../texts/format.ts'
import { t } from '../../texts/lookup.ts'
import { Group } from './option.tsx'

export function DeviceSection() {
  const free = useFree()
  const trip = refilledTrip.value
  if (!isOfflinePossible) return <p class="settings-lead">{t('settings.device.plain')}</p>
  return (
    <Group title={t('settings.device.videos')} hint={t('settings.device.hint')}>
      {offlineVideos.value.length === 0 && <p class="option-line">{t('settings.device.none')}</p>}
      <ul class="settings-rows">
        {trip && (
          <li>
            <div class="row-words">
              {t('settings.device.kept', { count: trip.hours })}
              <p class="meta" dir="auto">
                {trip.name || t('home.all')}
              </p>
            </div>
            <Button onClick={() => setRefilledTrip(undefined)}>{t('settings.device.kept.end')}</Button>
          </li>
        )}
        {offlineVideos.value.map((one) => (
          <Film key={one.video.platform_id} {...one} />
        ))}
      </ul>
      {free !== undefined && <p class="option-line meta">{t('settings.device.free', { free: toBytes(free) })}</p>}
    </Group>
  )
}

function Film({ video, bytes, done, isWhole }: OnDevice) {
  const { platform_id: id } = video
  const { title } = titledAs(video)
  const drop = async () => (await import('../../parts/offline-videos.ts')).removeOffline(id)
  return (
    <li>
      <div class="row-words">
        <a href={under(`/video/${id}/`)} dir="auto">
          {title}
        </a>
        <p class="meta">
          {isWhole ? toBytes(bytes) : t('settings.device.done', { done: toBytes(done), all: toBytes(bytes) })}
        </p>
      </div>
      <IconButton icon={Trash} label={t('settings.device.drop', { title })} onClick={() => drop()} />
    </li>
  )
}

/** The available space in bytes; undefined: the browser does not tell. */
function useFree(): number | undefined {
  const [free, setFree] = useState<number>()
  useEffect(() => {
    const tell = ({ quota, usage = 0 }: StorageEstimate) =>
      void (quota !== undefined && setFree(Math.max(0, quota - usage)))
    if (isOfflinePossible) void navigator.storage.estimate().then(tell)
  }, [offlineVideos.value])
  return free
}
