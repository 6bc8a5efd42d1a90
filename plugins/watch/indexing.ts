/**
 * Copies marks from the ledger to the index in batches, one after the other, so that the index ends with the newest
 * marks.
 */
import { beyondView, openLocks } from 'archivolt'
import type { App } from './app.ts'
import type { Marks, Unindexed } from './mark-rows.ts'

const CHANGES_AT_ONCE = 200
const ONLY_KEY = 'marks'

export type MarkIndexer = ReturnType<typeof openMarkIndexer>

export function openMarkIndexer(app: App, marks: Marks) {
  const { ledger, videos } = app
  const locks = openLocks()

  async function writeOf(userId: number, ids: readonly string[], isWatched: boolean): Promise<void> {
    const account = String(userId)
    const change = isWatched ? { add: { watched_by: [account] } } : { remove: { watched_by: [account] } }
    const [first] = ids
    if (ids.length === 1) {
      await videos.change(first!, change)
    } else {
      const other = { eq: ['watched_by', account] as ['watched_by', string] }
      await videos.collection.patchWhere(
        { and: [{ in: ['platform_id', ids] }, isWatched ? { not: other } : other] },
        change,
        { visible: true },
      )
    }
  }

  /** Removes marks of videos that were removed meanwhile, so that the videos are not marked if they are restored. */
  async function forgetGone(userId: number, ids: readonly string[]): Promise<void> {
    const known = await videos.collection.known(ids)
    const gone = ids.filter((id) => !known.has(id))
    if (gone.length > 0) await ledger.write(() => marks.remove(userId, gone))
  }

  async function write(changes: readonly Unindexed[]): Promise<void> {
    for (const userId of new Set(changes.map((change) => change.userId))) {
      for (const isWatched of [true, false]) {
        const ids = changes
          .filter((change) => change.userId === userId && change.isWatched === isWatched)
          .map(({ videoId }) => videoId)
        if (ids.length === 0) continue
        await writeOf(userId, ids, isWatched)
        if (isWatched) await forgetGone(userId, ids)
      }
    }
  }

  /** Runs work that reads marks and writes them to the index itself; no other such work runs meanwhile. */
  function alone<Result>(work: () => Promise<Result>): Promise<Result> {
    // The caller's view must not limit this work, because it writes the marks of all accounts.
    return beyondView(() => locks.exclusive(ONLY_KEY, work))
  }

  /** Emits events before the changes are recorded as indexed: after a crash, they are emitted again. */
  async function tell(changes: readonly Unindexed[]): Promise<void> {
    for (const userId of new Set(changes.map((change) => change.userId))) {
      const ids = changes.filter((change) => change.userId === userId).map(({ videoId }) => videoId)
      await app.emit('marks.changed', { userId, ids })
    }
  }

  return {
    alone,
    /** Resolves when the index has all changes that were recorded before the call. */
    run: (signal?: AbortSignal): Promise<void> =>
      alone(async () => {
        for (
          let changes = marks.unindexed(CHANGES_AT_ONCE);
          changes.length > 0;
          changes = marks.unindexed(CHANGES_AT_ONCE)
        ) {
          signal?.throwIfAborted()
          await write(changes)
          await tell(changes)
          await ledger.write(() => marks.noteIndexed(changes))
        }
      }),
  }
}
