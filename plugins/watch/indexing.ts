/**
 * Brings marks from the ledger into the index, one batch after the other: so the last one written is the last mark
 * made.
 */
import { beyondView, openLocks } from 'archivolt'
import type { App } from './app.ts'
import type { Marks, Unindexed } from './marks.ts'

const CHANGES_AT_ONCE = 200
const ONLY_KEY = 'marks'

export interface MarkIndexer {
  /** Resolves when the index knows all that was noted before the call. */
  run(signal?: AbortSignal): Promise<void>
  /** Work that reads marks and writes them into the index itself: nobody else does meanwhile. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>
}

export function openMarkIndexer(app: App, marks: Marks): MarkIndexer {
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

  /** A video that was removed while it was being marked is not marked when it comes back. */
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

  // Whoever asks may see a part of the archive only: what is written here is everybody's.
  const alone: MarkIndexer['alone'] = (work) => beyondView(() => locks.exclusive(ONLY_KEY, work))

  return {
    alone,
    run: (signal) =>
      alone(async () => {
        for (
          let changes = marks.unindexed(CHANGES_AT_ONCE);
          changes.length > 0;
          changes = marks.unindexed(CHANGES_AT_ONCE)
        ) {
          signal?.throwIfAborted()
          await write(changes)
          await ledger.write(() => marks.noteIndexed(changes))
        }
      }),
  }
}
