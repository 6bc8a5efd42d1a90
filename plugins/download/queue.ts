/** The service `queue`, made of its parts (contract 9.3). Which item is next: `queue-rows.ts`. */
import { epochSeconds, type Words } from 'archivolt'
import { openAdding } from './add.ts'
import type { App } from './app.ts'
import { isWanted, openChanges } from './change.ts'
import { openDocuments } from './documents.ts'
import { openQueueState } from './queue-state.ts'
import type { DownloadDoc } from './schema.ts'
import { openTakeover } from './takeover.ts'

interface Halted {
  /** For people. */
  reason: Words
  /** Epoch seconds. */
  since: number
  nextAttempt: number
}

export type Queue = ReturnType<typeof openDownloadQueue>

export function openDownloadQueue(app: App) {
  const state = openQueueState(app)
  const { items, active } = state
  // These read directly from the ledger, which is fast; no view limits them.
  const { get, getMany, known, count, list, byChannel, byKind } = items
  const indexName = `${app.settings.prefix}_download`
  const untilTakenOver = openTakeover(app, items)
  return {
    ...{ get, getMany, known, count, list, byChannel, byKind },
    ...openAdding(state),
    ...openChanges(state),
    /** Resolves when the items of an earlier version's index have been imported. */
    untilTakenOver,
    /** Set by the run while all remaining items wait for something on this machine. */
    halted: undefined as Halted | undefined,
    /** @param options.except  ids that the run has postponed */
    next: (options: { isAutoOnly: boolean; except: readonly string[] }): DownloadDoc | undefined =>
      items.next({ ...options, now: epochSeconds(app.clock) }),
    /** Whether the item is still in the queue, and not ignored. */
    isWanted: (id: string): boolean => isWanted(state, id),
    /** Whether an item has failed. One that only waits for the time that the platform has given has not. */
    hasFailed: (item: DownloadDoc): item is DownloadDoc & { message: string } =>
      item.message !== undefined && (item.retry_at === undefined || item.noted_at !== undefined),
    /** Marks an item as in progress. */
    begin: active.begin,

    /** Those of these videos that are being downloaded or will be: their partial files must be kept. */
    async wantedAmong(ids: readonly string[]): Promise<Set<string>> {
      // The start calls this, too, before anything else has imported the items.
      await untilTakenOver()
      return new Set(ids.filter((id) => active.has(id) || isWanted(state, id)))
    },

    /** The JSON of an item in replies: with its second id key, its progress, and the `_index` of the former index. */
    replyOf(item: DownloadDoc): string {
      const { position: _position, force: _force, art: _art, noted_at: _noted, reopened: _reopened, ...shown } = item
      const { platform_id: id, error_class: failure, message } = shown
      // Object.assign, because V8 moves objects that are made of several spreads to the old heap.
      return JSON.stringify(
        Object.assign(shown, app.platform.mirror(id), app.platform.original('video', id), {
          // Computed from stored values, so it is known for old items too.
          reason: failure && message && app.platform.reasonOf(failure, message),
          progress: active.progressOf(id),
          _index: indexName,
          _score: 0,
        }),
      )
    },

    /** The number of waiting items without a failure message. */
    waiting: (): number => items.count({ filter: 'pending', error: false }),
    /** The number of waiting items by the class of their message. */
    waitingByClass: items.byErrorClass,
    /** All items, for backups. */
    documents: openDocuments(items),
  }
}

declare module 'archivolt' {
  interface Events {
    /** Emitted when an item was added, changed or removed; without an id, many were. */
    'queue.changed': { id?: string }
    /**
     * Emitted when an item has failed and is not retried until somebody requests it, or until `retryAt` (epoch
     * seconds).
     */
    'download.failed': {
      id: string
      title: string
      channelId: string
      errorClass: string
      message: string
      retryAt?: number
    }
    /**
     * Emitted when videos that an account has requested are in the queue, even if others queued them first. `isOne`:
     * it has requested this one video, no channel or playlist.
     */
    'queue.asked': { userId: number; ids: string[]; isOne?: true }
  }
}
