/** The service `queue`, made of its parts (contract 9.3). Which item is next: `queue-rows.ts`. */
import { epochSeconds, type StoredDocuments, type Words } from 'archivolt'
import type { ActiveItem } from './active.ts'
import { type Adding, openAdding } from './add.ts'
import type { App } from './app.ts'
import { type Changes, isWanted, openChanges } from './change.ts'
import { openDocuments } from './documents.ts'
import type { QueueTable } from './queue-rows.ts'
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

/** Reads directly from the ledger, which is fast; no view limits them. */
type Reads = Pick<QueueTable, 'get' | 'getMany' | 'known' | 'count' | 'list' | 'byChannel' | 'byKind'>

export interface Queue extends Adding, Changes, Reads {
  /** Set by the run while all remaining items wait for something on this machine. */
  halted: Halted | undefined
  /** An item as shown, as JSON: with the second id key, its progress, and the `_index` of the former index. */
  replyOf(item: DownloadDoc): string
  /** @param options.except  ids that the run has postponed */
  next(options: { isAutoOnly: boolean; except: readonly string[] }): DownloadDoc | undefined
  /** Whether the item is still in the queue, and not ignored. */
  isWanted(id: string): boolean
  /** Whether an item has failed. One that only waits for the time that the platform has given has not. */
  hasFailed(item: DownloadDoc): item is DownloadDoc & { message: string }
  /** Which of these videos are being downloaded or will be, so that their partial files must be kept. */
  wantedAmong(ids: readonly string[]): Promise<Set<string>>
  /** Marks an item as in progress. */
  begin(id: string): ActiveItem
  /** The number of waiting items without a failure message. */
  waiting(): number
  /** The number of waiting items by the class of their message. */
  waitingByClass(): Record<string, number>
  /** Resolves when the items of an earlier version's index have been imported. */
  untilTakenOver(): Promise<void>
  /** All items, for backups. */
  documents: StoredDocuments
}

export function openDownloadQueue(app: App): Queue {
  const state = openQueueState(app)
  const { items, active } = state
  const { get, getMany, known, count, list, byChannel, byKind } = items
  const indexName = `${app.settings.prefix}_download`
  const untilTakenOver = openTakeover(app, items)
  return {
    ...{ get, getMany, known, count, list, byChannel, byKind, untilTakenOver },
    halted: undefined,
    ...openAdding(state),
    ...openChanges(state),
    next: (options) => items.next({ ...options, now: epochSeconds(app.clock) }),
    isWanted: (id) => isWanted(state, id),
    hasFailed: (item): item is typeof item & { message: string } =>
      item.message !== undefined && (item.retry_at === undefined || item.noted_at !== undefined),
    begin: active.begin,

    async wantedAmong(ids) {
      // The start calls this, too, before anything else has imported the items.
      await untilTakenOver()
      return new Set(ids.filter((id) => active.has(id) || isWanted(state, id)))
    },

    replyOf({ position: _position, force: _force, art: _art, noted_at: _noted, reopened: _reopened, ...shown }) {
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

    waiting: () => items.count({ filter: 'pending', error: false }),
    waitingByClass: () => items.byErrorClass(),
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
    /** Emitted when videos that an account has requested are in the queue, even if others queued them first. */
    'queue.asked': { userId: number; ids: string[] }
  }
}
