/** Changes of queued items (contract 9.3). */
import { epochSeconds } from 'archivolt'
import { type ItemFailure, isRechecked } from './item-failure.ts'
import { IS_OPEN, type QueueFilter, type Where, whereOf } from './queue-rows.ts'
import { CLEARED, failureFields, nextRecheck, type QueueState, type QueueStatus } from './queue-state.ts'
import { type DownloadDoc, ERROR_CLASSES } from './schema.ts'
import { openQueueUndo } from './undoing.ts'

export interface Changed {
  updated: number
  /** The removal of items that were removed or ignored, for `putBack`; undefined: there were none. */
  removal?: string | undefined
}

/** Number of items that are put back at once. */
const TOGETHER = 200

export function openChanges(state: QueueState) {
  const { app, items, active, changed, manyChanged } = state
  const undo = openQueueUndo(app)

  /**
   * Stops downloads of items that have left the queue, and deletes their partial files. Called after the change, so
   * that downloads that start later see it.
   */
  async function left(ids: readonly string[] = active.ids()): Promise<void> {
    for (const id of ids) if (!isWanted(state, id)) active.cancel(id)
    await app.media.sweepStaging()
  }

  return {
    /** @returns false: the item is not in the queue */
    async setStatus(id: string, status: QueueStatus): Promise<boolean> {
      if ((await items.change([id], { status, ...CLEARED })) === 0) return false
      if (status === 'ignore') await left([id])
      await changed(id)
      return true
    },

    async setStatusWhere(filter: QueueFilter, status: QueueStatus): Promise<Changed> {
      const removal = status === 'ignore' ? await undo.begin() : undefined
      const updated = await items.changeWhere(whereOf(filter), { status, ...CLEARED }, removal)
      if (status === 'ignore') await left()
      await manyChanged()
      return { updated, ...(removal && updated > 0 && { removal: removal.id }) }
    },

    /** @returns the removal, for `putBack`; undefined: the item is not in the queue */
    async remove(id: string): Promise<string | undefined> {
      const removal = await undo.begin()
      const removed = await items.remove([id], removal)
      await left([id])
      if (!removed) return undefined
      await changed(id)
      return removal.id
    },

    async removeWhere(filter: QueueFilter): Promise<Changed> {
      const removal = await undo.begin()
      const updated = await items.removeWhere(whereOf(filter), removal)
      await left()
      await manyChanged()
      return { updated, ...(updated > 0 && { removal: removal.id }) }
    },

    /** Whether anything of this removal can be put back. */
    isUndoable: undo.has,

    /**
     * Puts back removed or ignored items. An item that was added since stays as it is; a video that has been archived
     * meanwhile is not queued again. @returns how many
     */
    async putBack(removal: string): Promise<number> {
      let count = 0
      for (let some = undo.some(removal, TOGETHER); some.length > 0; some = undo.some(removal, TOGETHER)) {
        const ids = some.map(({ platform_id: id }) => id)
        const archived = await app.videos.known(ids)
        const missing = app.media.missing.of(ids)
        const isDownloaded = ({ platform_id: id, force }: DownloadDoc) => archived.has(id) && !force && !missing.has(id)
        const there = items.getMany(ids)
        const isIgnored = ({ platform_id: id, status }: DownloadDoc) =>
          status !== 'ignore' && there.get(id)?.status === 'ignore'
        const wanted = some.filter(
          (doc) => (doc.status === 'ignore' || !isDownloaded(doc)) && (!there.has(doc.platform_id) || isIgnored(doc)),
        )
        await items.remove(wanted.filter(isIgnored).map(({ platform_id: id }) => id))
        count += (await items.add(wanted)).added.size
        await undo.forget(removal, ids)
      }
      await manyChanged()
      return count
    },

    /**
     * Records why an item cannot be downloaded; it is skipped until its status is set again or the time `retryAt` has
     * passed.
     */
    async fail(id: string, failure: ItemFailure): Promise<void> {
      // Clears the earlier message's time, because due items come before all others.
      const set = { retry_at: null, noted_at: null, ...failureFields(failure, app, items.get(id)?.noted_at) }
      await items.change([id], set)
      await changed(id)
    },

    /** Clears messages; a waiting item is tried again. @returns the number of items with a message */
    async clearErrors(filter: QueueFilter): Promise<number> {
      const cleared = await items.changeWhere(whereOf(filter, 'error_class IS NOT NULL'), CLEARED)
      await manyChanged()
      return cleared
    },

    /** Removes an item whose video is now in the library. */
    async done(id: string): Promise<void> {
      await items.remove([id])
      await changed(id)
    },

    /** Moves remaining priority items back to their normal position. @returns their ids */
    demote: () => items.changeAll({ sql: "status = 'priority'", values: [] }, { status: 'pending' }),

    /** Undoes `demote`. */
    async promote(ids: readonly string[]): Promise<void> {
      await items.change(ids, { status: 'priority' }, "status = 'pending'")
    },

    /**
     * Sets the retry times of items whose failure an earlier version without rechecks has recorded, also in a restored
     * backup.
     */
    async planRechecks(): Promise<void> {
      const classes = ERROR_CLASSES.filter((failure) => isRechecked(failure, app))
      const noted_at = epochSeconds(app.clock)
      const set = { noted_at, retry_at: nextRecheck(noted_at, noted_at) ?? null }
      await items.changeAll(failedAs(classes, 'noted_at IS NULL'), set)
    },

    /** Retries items that need an account, after the cookie has changed. */
    async retryWithAccount(): Promise<number> {
      const classes = ERROR_CLASSES.filter((failure) => app.platform.failures[failure].needsAccount)
      return (await items.changeAll(failedAs(classes), CLEARED)).length
    },

    /** Records on the waiting items of a channel whether the channel is archived. */
    async markChannel(channelId: string, isIndexed: boolean): Promise<void> {
      const others = { sql: 'channel_id = ? AND channel_indexed = ?', values: [channelId, isIndexed ? 0 : 1] }
      await items.changeAll(others, { channel_indexed: isIndexed ? 1 : 0 })
    },
  }
}

/** The condition for open items whose message has one of these classes. */
const failedAs = (classes: readonly string[], more = '1'): Where => ({
  sql: `error_class IN (SELECT value FROM json_each(?)) AND ${IS_OPEN} AND ${more}`,
  values: [JSON.stringify(classes)],
})

/** Whether the item is still in the queue, and not ignored. */
export function isWanted({ items }: Pick<QueueState, 'items'>, id: string): boolean {
  const item = items.get(id)
  return item !== undefined && item.status !== 'ignore'
}
