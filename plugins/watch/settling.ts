/**
 * Corrects the index where it differs from the marks: after documents were restored or imported, and once after an
 * update from versions in which all accounts shared one mark. Every batch may be repeated.
 */
import type { VideoDoc } from '../video/schema.ts'
import type { App } from './app.ts'
import type { MarkIndexer } from './indexing.ts'
import type { Marks } from './mark-rows.ts'

/** Name of a pending one-time task: gives all accounts marks for videos with a shared mark. */
export const SHARED_MARKS = 'shared marks'
/** Name of a pending task of the start: reads all documents for such marks. */
export const UPGRADE = 'upgrade'
const NOT_WATCHED = -1
/** Size of a batch. Each batch costs two synced writes. */
const VIDEOS_AT_ONCE = 500

interface Video {
  id: string
  doc: VideoDoc
}

interface Change {
  set?: { shared_mark: null; restored_mark: null }
  add?: { watched_by: string[] }
  remove?: { watched_by: string[] }
}

export interface SettleOptions {
  signal?: AbortSignal | undefined
  /** Number of videos done so far. */
  progress?: ((done: number) => void) | undefined
}

/** 0: the date is unknown. */
const toDate = (mark: number): number | null => (mark > 0 ? mark : null)
const isCarrying = ({ doc }: Video): boolean => doc.shared_mark !== undefined || doc.restored_mark !== undefined

export function openSettling({ accounts, ledger, videos }: App, marks: Marks, indexer: MarkIndexer) {
  /**
   * Turns the fields of documents into marks. The documents keep these fields until the index has the marks, so an
   * interrupted run is repeated.
   */
  function takeCarried(batch: readonly Video[]): void {
    const shared = batch.flatMap(
      ({ id, doc }): Array<[string, number | null]> =>
        doc.shared_mark === undefined ? [] : [[id, toDate(doc.shared_mark)]],
    )
    // After that, such fields come only from old snapshots, and the marks are authoritative.
    if (shared.length > 0 && marks.isPending(SHARED_MARKS))
      marks.addDated(
        accounts.list().map(({ id }) => id),
        shared,
      )
    const admin = accounts.firstAdmin()
    const restored = batch.filter(({ doc }) => doc.restored_mark !== undefined)
    if (restored.length === 0 || !admin) return
    const isWatched = ({ doc }: Video) => doc.restored_mark !== NOT_WATCHED
    marks.remove(
      admin.id,
      restored.filter((video) => !isWatched(video)).map(({ id }) => id),
    )
    const dated = restored
      .filter(isWatched)
      .map(({ id, doc }): [string, number | null] => [id, toDate(doc.restored_mark!)])
    marks.addDated([admin.id], dated, true)
  }

  /**
   * The ids of documents, grouped by the change that they need, because many need the same.
   * @param keepsUnknown  the documents keep the marks of accounts that this ledger lacks
   */
  function changesOf(batch: readonly Video[], keepsUnknown: boolean): Map<string, string[]> {
    const known = new Set(accounts.list().map(({ id }) => String(id)))
    const wanted = new Map<string, Set<string>>()
    for (const { userId, videoId } of marks.ofVideos(batch.map(({ id }) => id)))
      wanted.set(videoId, (wanted.get(videoId) ?? new Set()).add(String(userId)))
    const changes = new Map<string, string[]>()
    for (const video of batch) {
      const marked = wanted.get(video.id) ?? new Set()
      const indexed = new Set(video.doc.watched_by)
      const missing = without(marked, indexed)
      const surplus = without(indexed, marked).filter((account) => !keepsUnknown || known.has(account))
      const change: Change = {
        ...(isCarrying(video) && { set: { shared_mark: null, restored_mark: null } }),
        ...(missing.length > 0 && { add: { watched_by: missing } }),
        ...(surplus.length > 0 && { remove: { watched_by: surplus } }),
      }
      if (Object.keys(change).length === 0) continue
      const key = JSON.stringify(change)
      changes.set(key, [...(changes.get(key) ?? []), video.id])
    }
    return changes
  }

  async function settle(batch: readonly Video[], keepsUnknown = false): Promise<void> {
    await indexer.alone(async () => {
      const carrying = batch.filter(isCarrying)
      // Read again: the fields may have been converted since, and a mark that was removed afterwards must not be
      // restored.
      const still =
        carrying.length > 0
          ? await videos.collection.getMany(carrying.map(({ id }) => id))
          : new Map<string, VideoDoc>()
      if (still.size > 0)
        await ledger.write(() => takeCarried([...still].map(([id, doc]) => ({ id, doc })).filter(isCarrying)))
      for (const [change, ids] of changesOf(batch, keepsUnknown))
        await videos.collection.patchWhere({ in: ['platform_id', ids] }, JSON.parse(change) as Change, {
          visible: true,
        })
    })
  }

  /** Call inside a write of the ledger. */
  function takeIndexed(batch: readonly Video[]): void {
    const known = new Set(accounts.list().map(({ id }) => id))
    const ids = batch.map(({ id }) => id)
    const marked = marks.ofVideos(ids).map(({ userId, videoId }) => `${userId} ${videoId}`)
    const indexed = batch.flatMap(({ id, doc }) => (doc.watched_by ?? []).map((account) => `${account} ${id}`))
    const unindexed = new Set(marks.unindexedOf(ids).map(({ userId, videoId }) => `${userId} ${videoId}`))
    const each = (pairs: string[], change: (userId: number, ids: string[]) => void) => {
      for (const pair of pairs) {
        const [account, id] = pair.split(' ')
        if (known.has(Number(account)) && !unindexed.has(pair)) change(Number(account), [id!])
      }
    }
    each(without(new Set(indexed), new Set(marked)), (userId, some) => void marks.add(userId, some, null))
    each(without(new Set(marked), new Set(indexed)), (userId, some) => void marks.remove(userId, some))
  }

  /** Reads all documents, batch by batch. */
  async function through(
    { signal, progress }: SettleOptions,
    work: (batch: readonly Video[]) => Promise<void>,
  ): Promise<void> {
    let done = 0
    for await (const batch of videos.collection.scan({ batch: VIDEOS_AT_ONCE })) {
      signal?.throwIfAborted()
      await work(batch)
      progress?.((done += batch.length))
    }
  }

  return {
    /** Called for an ingested video, because a rescan may restore a video that has marks. */
    async video(id: string): Promise<void> {
      const doc = await videos.get(id)
      if (doc) await settle([{ id, doc }])
    },

    /** Called for videos that were restored together. */
    async some(ids: readonly string[]): Promise<void> {
      await settle([...(await videos.collection.getMany(ids))].map(([id, doc]) => ({ id, doc })))
    },

    async all(options: SettleOptions = {}): Promise<void> {
      let hasShared = false
      await through(options, (batch) => {
        hasShared ||= batch.some(({ doc }) => doc.shared_mark !== undefined)
        return settle(batch)
      })
      if (hasShared && marks.isPending(SHARED_MARKS)) await ledger.write(() => marks.noteDone(SHARED_MARKS))
    },

    /**
     * The other direction, for a ledger that was replaced by an older one: copies the marks from the index; marks that
     * the ledger lacks have no date. Changes that may not be in the index yet stay. So do the names of accounts that this
     * ledger lacks: if the newer one is put back, they have their marks again; nobody else gets their ids.
     */
    relearn: (options: SettleOptions = {}): Promise<void> =>
      through(options, async (batch) => {
        // Read again under the lock, because a batch of the scan may be older than a mark.
        await indexer.alone(async () => {
          const now = await videos.collection.getMany(batch.map(({ id }) => id))
          await ledger.write(() => takeIndexed([...now].map(([id, doc]) => ({ id, doc }))))
        })
        await settle(batch, true)
      }),
  }
}

const without = (some: ReadonlySet<string>, others: ReadonlySet<string>): string[] =>
  [...some].filter((one) => !others.has(one)).sort()
