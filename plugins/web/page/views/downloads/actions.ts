/** Actions on one or many items of the queue: download now, ignore, forget. */
import { h } from 'preact'
import { confirm } from '../../parts/dialog.tsx'
import { say } from '../../parts/toast.ts'
import { post, remove } from '../../server/api.ts'
import type { ErrorClass, QueueChanged, QueueItem } from '../../server/records.ts'
import type { QueueStore } from '../../stores/queue.ts'
import { type Count, t } from '../../texts/lookup.ts'

export type Wanted = 'pending' | 'priority' | 'ignore' | 'delete'

/** Selects items, as in `/api/download/bulk/`. */
export interface Which {
  filter: 'pending' | 'ignore'
  error?: boolean
  error_class?: ErrorClass
}

export async function change(queue: QueueStore, { platform_id: id }: QueueItem, wanted: Wanted): Promise<void> {
  queue.drop(id)
  try {
    if (wanted === 'delete') await remove(`/api/download/${id}/`)
    else await post(`/api/download/${id}/`, { status: wanted })
    say(t(`downloads.did.${wanted}`, { count: 1 }))
  } catch (error) {
    void queue.readAll()
    throw error
  }
}

/** @param count  the number of selected items, for the confirmation */
export async function changeAll(queue: QueueStore, which: Which, wanted: Wanted, count: Count): Promise<void> {
  if (
    wanted === 'ignore' &&
    !(await confirm({
      title: t('downloads.ignore.title', { count }),
      text: h('p', null, t('downloads.ignore.text')),
      action: t('downloads.ignoreAll'),
    }))
  )
    return
  if (
    wanted === 'delete' &&
    !(await confirm({
      title: t('downloads.forget.title', { count }),
      text: h('p', null, t('downloads.forget.text')),
      action: t('downloads.forgetAll'),
      isDangerous: true,
    }))
  )
    return
  try {
    const { updated } = await post<QueueChanged>('/api/download/bulk/', { ...which, status: wanted })
    say(t(`downloads.did.${wanted}`, { count: updated }))
  } finally {
    await queue.readAll()
  }
}
