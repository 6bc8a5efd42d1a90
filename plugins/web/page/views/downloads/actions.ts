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

export async function change(queue: QueueStore, item: QueueItem, wanted: Wanted): Promise<void> {
  const { platform_id: id, status } = item
  queue.drop(id)
  try {
    if (wanted === 'delete') {
      const { removal } = await remove<{ removal: string }>(`/api/download/${id}/`)
      say(t('downloads.did.delete', { count: 1 }), { undo: () => putBack(queue, removal) })
    } else {
      await post(`/api/download/${id}/`, { status: wanted })
      const undo = () => change(queue, { ...item, status: wanted }, status)
      say(t(`downloads.did.${wanted}`, { count: 1 }), wanted === 'ignore' ? { undo } : {})
    }
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
    const { updated, removal } = await post<QueueChanged>('/api/download/bulk/', { ...which, status: wanted })
    const undo = removal === undefined ? undefined : () => putBack(queue, removal)
    say(t(`downloads.did.${wanted}`, { count: updated }), { ...(undo && { undo }) })
  } finally {
    await queue.readAll()
  }
}

async function putBack(queue: QueueStore, removal: string): Promise<void> {
  const { restored } = await post<{ restored: number }>('/api/download/restore/', { removal })
  await queue.readAll()
  say(t('downloads.did.restore', { count: restored }))
}
