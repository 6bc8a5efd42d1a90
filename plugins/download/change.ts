/** What becomes of items that are in the queue (contract 9.3). */
import { chunksOf, epochSeconds } from 'archivolt'
import type { QueueFilter } from './filter.ts'
import { type ItemFailure, isLookedAtAgain } from './item-failure.ts'
import { CLEARED, failureFields, fieldsOf, nextLook, type QueueState, type QueueStatus } from './queue-state.ts'
import { type DownloadDoc, ERROR_CLASSES } from './schema.ts'

export interface Changes {
  /** @returns false: not in the queue */
  setStatus(id: string, status: QueueStatus): Promise<boolean>
  setStatusWhere(filter: QueueFilter, status: QueueStatus): Promise<number>
  /** @returns false: not in the queue */
  remove(id: string): Promise<boolean>
  removeWhere(filter: QueueFilter): Promise<number>
  /** Notes why an item cannot be had; it is skipped until its status is set again or `retryAt` has come. */
  fail(id: string, failure: ItemFailure): Promise<void>
  /** Takes messages away; a waiting item is taken again. @returns how many had one */
  clearErrors(filter: QueueFilter): Promise<number>
  /** The item is in the library now. */
  done(id: string): Promise<void>
  /** Leftover priority items wait their turn again. @returns their ids */
  demote(): Promise<string[]>
  /** Takes back what `demote` did. */
  promote(ids: readonly string[]): Promise<void>
  /** For items that were noted before there were looks, here or where a backup comes from. */
  planLooks(): Promise<void>
  /** The cookie has changed: what needed an account is taken again. */
  retryWithAccount(): Promise<number>
  /** Whether a channel is archived, as its waiting items show it. */
  markChannel(channelId: string, isIndexed: boolean): Promise<void>
}

/** Items that are looked for and changed by one call. */
const CHANGED_AT_ONCE = 100

export function openChanges(state: QueueState): Changes {
  const { app, items, active, changed, manyChanged } = state

  /** After the change, so that whatever begins later sees that it is not wanted. What was fetched goes, too. */
  async function left(ids: readonly string[] = active.ids): Promise<void> {
    for (const id of ids) if (!(await isWanted(state, id))) active.cancel(id)
    await app.media.sweepStaging()
  }

  return {
    async setStatus(id, status) {
      if (!(await items.patch(id, { set: fieldsOf(status) }, { visible: true }))) return false
      if (status === 'ignore') await left([id])
      await changed(id)
      return true
    },

    async setStatusWhere(filter, status) {
      const updated = await items.patchWhere(filter, { set: fieldsOf(status) }, { visible: true })
      if (status === 'ignore') await left()
      await manyChanged()
      return updated
    },

    async remove(id) {
      const removed = await items.remove(id, { visible: true })
      await left([id])
      if (!removed) return false
      if (!(await app.videos.known([id])).has(id)) await app.media.removeArt('video', id)
      await changed(id)
      return true
    },

    async removeWhere(filter) {
      const removed = await items.removeWhere(filter, { visible: true })
      await left()
      await manyChanged()
      return removed
    },

    async fail(id, failure) {
      // The time of an earlier message must not outlive it: an item that is due is taken before all others.
      const before = await items.get(id)
      const set = { retry_at: null, noted_at: null, ...failureFields(failure, app, before?.noted_at) }
      await items.patch(id, { set }, { visible: true })
      await changed(id)
    },

    async clearErrors(filter) {
      let cleared = 0
      for (const isOpen of [true, false])
        cleared += await items.patchWhere(
          { and: [filter, { exists: 'error_class' }, { eq: ['open', isOpen] }] },
          { set: { ...CLEARED, ready: isOpen } },
          { visible: true },
        )
      await manyChanged()
      return cleared
    },

    async done(id) {
      await items.remove(id, { visible: true })
      await changed(id)
    },

    async demote() {
      const ids: string[] = []
      for await (const batch of items.scan({ filter: { eq: ['status', 'priority'] }, batch: CHANGED_AT_ONCE }))
        ids.push(...batch.map(({ id }) => id))
      await move(items, ids, 'priority', { status: 'pending', auto_start: false, later: true })
      return ids
    },

    promote: (ids) => move(items, ids, 'pending', { status: 'priority', auto_start: true, later: false }),

    async planLooks() {
      const classes = ERROR_CLASSES.filter((failure) => isLookedAtAgain(failure, app))
      const unplanned: QueueFilter = {
        and: [{ eq: ['open', true] }, { in: ['error_class', classes] }, { not: { exists: 'noted_at' } }],
      }
      const noted_at = epochSeconds(app.clock)
      await items.patchWhere(
        unplanned,
        { set: { noted_at, retry_at: nextLook(noted_at, noted_at) } },
        { visible: true },
      )
    },

    retryWithAccount() {
      const classes = ERROR_CLASSES.filter((failure) => app.platform.failures[failure].needsAccount)
      return items.patchWhere(
        { and: [{ eq: ['open', true] }, { in: ['error_class', classes] }] },
        { set: { ...CLEARED, ready: true } },
        { visible: true },
      )
    },

    async markChannel(channelId, isIndexed) {
      await items.patchWhere(
        { and: [{ eq: ['channel_id', channelId] }, { eq: ['channel_indexed', !isIndexed] }] },
        { set: { channel_indexed: isIndexed } },
      )
    },
  }
}

/** Whether it is still in the queue, and not ignored. */
export async function isWanted({ items }: Pick<QueueState, 'items'>, id: string): Promise<boolean> {
  const item = await items.get(id)
  return item !== undefined && item.status !== 'ignore'
}

/** Changes those of the ids that still have the status: somebody may have given them another one meanwhile. */
async function move(
  items: QueueState['items'],
  ids: readonly string[],
  from: QueueStatus,
  set: Pick<DownloadDoc, 'status' | 'auto_start' | 'later'>,
): Promise<void> {
  for (const some of chunksOf(ids, CHANGED_AT_ONCE)) {
    await items.patchWhere({ and: [{ eq: ['status', from] }, { in: ['platform_id', some] }] }, { set })
  }
}
