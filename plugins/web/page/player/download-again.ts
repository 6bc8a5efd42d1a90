/** Downloads a video again if its file is missing, and waits for the file. */
import { Failure, get, post, remove, toFailure } from '../server/api.ts'
import { listen } from '../server/events.ts'
import type { Item, QueueItem } from '../server/records.ts'
import { taskOver } from '../stores/jobs.ts'
import { sentenceIn, t } from '../texts/lookup.ts'

/**
 * @param show  receives the progress
 * @throws Failure  the reason why it cannot be downloaded; AbortError if the caller no longer waits
 */
export async function fetchAgain(id: string, show: (fraction: number) => void, signal: AbortSignal): Promise<void> {
  // The item is removed first: adding alone skips queued and ignored items, and an older item may not replace an
  // archived video.
  await remove(`/api/download/${id}/`).catch((error: unknown) => {
    if (toFailure(error).status !== 404) throw error
  })
  const { task_id: task } = await post<{ task_id: string | null }>(
    '/api/download/',
    { data: [{ platform_id: id, status: 'pending' }] },
    { autostart: true, force: true },
  )
  const added = task === null ? undefined : await taskOver(task)
  if (added && added.status !== 'SUCCESS')
    throw new Failure(
      422,
      added.result ? { message: added.result, said: added.said } : { message: t('adding.stopped') },
    )
  await leftQueue(id, show, signal)
}

/** Resolves when the item has left the queue; rejects with the reason if it has failed. */
function leftQueue(id: string, show: (fraction: number) => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const poll = () =>
      void get<Item<QueueItem>>(`/api/download/${id}/`, {}, signal).then(
        ({ data }) => take(data),
        // on any other error, the next event polls again
        (error: unknown) => (toFailure(error).status === 404 ? settle() : undefined),
      )
    const take = (item: QueueItem) => {
      if (item.message !== undefined)
        settle(new Failure(422, { message: item.reason ? sentenceIn(item.reason) : item.message }))
      else if (item.progress) show(item.progress.fraction)
    }
    const end = listen('queue', (change) => {
      if ('reset' in change && change.reset) return poll()
      const told = change as { platform_id: string; removed?: true } & Partial<QueueItem>
      if (told.platform_id !== id) return
      if (told.removed) settle()
      else take(told as QueueItem)
    })
    const onAbort = () => settle(new DOMException('', 'AbortError'))
    function settle(error?: unknown): void {
      end()
      signal.removeEventListener('abort', onAbort)
      if (error) reject(error as Error)
      else resolve()
    }
    signal.addEventListener('abort', onAbort)
    poll()
  })
}
