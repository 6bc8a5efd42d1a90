/** An admin's actions on a video, the same on its card and its page: refresh, delete, delete and ignore. */

import { Ban, Pin, RefreshCw, Trash } from 'lucide'
import { h } from 'preact'
import { post, remove } from '../server/api.ts'
import type { Video } from '../server/records.ts'
import { noteDeleted } from '../stores/deleted.ts'
import { isAdmin } from '../stores/session.ts'
import { t } from '../texts/lookup.ts'
import { undoOf } from './bin.ts'
import { confirm } from './dialog.tsx'
import type { MenuItem } from './menu.tsx'
import { say } from './toast.ts'

interface Target {
  id: string
  title: string
  /** The name of its platform. */
  platform: string
  /** The place that contains its file, which stays after a deletion. */
  place?: Video['place']
}

/** Called after the deletion; may return a function that shows the video again. */
type OnGone = () => (() => unknown) | undefined

export function videoActions(video: Target, onGone: OnGone): MenuItem[] {
  if (!isAdmin.value) return []
  return [
    {
      label: t('video.refresh', { platform: video.platform }),
      icon: RefreshCw,
      onSelect: () => refresh(video),
    },
    {
      label: t('video.delete'),
      icon: Trash,
      isDangerous: true,
      onSelect: () => drop(video, false, onGone),
    },
    {
      label: t('video.deleteIgnore'),
      icon: Ban,
      isDangerous: true,
      onSelect: () => drop(video, true, onGone),
    },
  ]
}

/**
 * Protects the video from automatic deletion, or ends the protection.
 * @param show  shows the current state on the page
 */
export function exemptAction({ platform_id: id, keep }: Video, show: (isExempt: boolean) => void): MenuItem[] {
  if (!isAdmin.value) return []
  const isExempt = keep === true
  const change = async () => {
    await post(`/api/video/${id}/`, { keep: !isExempt })
    show(!isExempt)
    say(isExempt ? t('video.exempt.no') : t('video.exempt.yes'))
  }
  return [{ label: t('video.exempt'), icon: Pin, isOn: isExempt, onSelect: change }]
}

async function refresh({ id }: Target): Promise<void> {
  await post('/api/refresh/', { video: [id] })
  say(t('video.refreshing'))
}

async function drop({ id, title, place }: Target, isIgnored: boolean, onGone: OnGone): Promise<void> {
  const text = h(
    'div',
    { class: 'prose' },
    h(
      'p',
      null,
      place
        ? t(place.ours ? 'video.delete.trash' : 'video.delete.keeps', { title, place: place.label })
        : t('video.delete.goes', { title }),
    ),
    h('p', null, isIgnored ? t('video.delete.ignored') : t('video.delete.stays')),
  )
  if (
    !(await confirm({
      title: t('video.delete.title'),
      text,
      action: isIgnored ? t('video.deleteIgnore') : t('video.delete'),
      isDangerous: true,
    }))
  )
    return
  const { removal } = await remove<{ removal?: string }>(`/api/video/${id}/`)
  const back = noteDeleted([id])
  if (isIgnored) await post(`/api/download/${id}/`, { status: 'ignore-force' })
  const show = onGone()
  say(t('video.deleted'), undoOf([removal], show ? [back, show] : [back]))
}
