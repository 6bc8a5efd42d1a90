/** The service `queue`, from its parts (contract 9.3). */
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

/** Reads are of the ledger: they take no time, and no view limits them. */
type Reads = Pick<QueueTable, 'get' | 'getMany' | 'known' | 'count' | 'list' | 'byChannel' | 'byKind'>

export interface Queue extends Adding, Changes, Reads {
  /** Set by the run while all that is left waits for something of this machine. */
  halted: Halted | undefined
  /** As JSON: what is shown of an item, with the mirror id, what runs now, and the name that its index had. */
  replyOf(item: DownloadDoc): string
  /** @param options.except  ids that the run has postponed */
  next(options: { isAutoOnly: boolean; except: readonly string[] }): DownloadDoc | undefined
  /** Whether it is still there, and not ignored. */
  isWanted(id: string): boolean
  /** Which of these videos are downloaded now or will be: what was fetched of them stays. */
  wantedAmong(ids: readonly string[]): Promise<Set<string>>
  /** Marks an item as worked on. */
  begin(id: string): ActiveItem
  /** How many items wait to be downloaded, those with a message apart. */
  waiting(): number
  /** How many items wait, by the class of their message. */
  waitingByClass(): Record<string, number>
  /** Resolves when what an earlier version kept in the index is here. */
  isTakenOver(): Promise<void>
  /** All items, for backups. */
  documents: StoredDocuments
}

export function openDownloadQueue(app: App): Queue {
  const state = openQueueState(app)
  const { items, active } = state
  const { get, getMany, known, count, list, byChannel, byKind } = items
  const indexName = `${app.settings.prefix}_download`
  const isTakenOver = openTakeover(app, items)
  return {
    ...{ get, getMany, known, count, list, byChannel, byKind, isTakenOver },
    halted: undefined,
    ...openAdding(state),
    ...openChanges(state),
    next: (options) => items.next({ ...options, now: epochSeconds(app.clock) }),
    isWanted: (id) => isWanted(state, id),
    begin: active.begin,

    async wantedAmong(ids) {
      // Asked at the start too, before anything else.
      await isTakenOver()
      return new Set(ids.filter((id) => active.has(id) || isWanted(state, id)))
    },

    replyOf({ position: _position, force: _force, art: _art, noted_at: _noted, reopened: _reopened, ...shown }) {
      const { platform_id: id, error_class: failure, message } = shown
      return JSON.stringify({
        ...shown,
        ...app.platform.mirror(id),
        ...app.platform.original('video', id),
        // Told from what is kept, so it is known of old items too.
        reason: failure && message && app.platform.reasonOf(failure, message),
        progress: active.progressOf(id),
        _index: indexName,
        _score: 0,
      })
    },

    waiting: () => items.count({ filter: 'pending', error: false }),
    waitingByClass: () => items.byErrorClass(),
    documents: openDocuments(items),
  }
}

declare module 'archivolt' {
  interface Events {
    /** Emitted when an item was added, changed or removed; without an id: many. */
    'queue.changed': { id?: string }
    /** Emitted when an item of the queue is given up until somebody asks again, or until `retryAt` (epoch seconds). */
    'download.failed': {
      id: string
      title: string
      channelId: string
      errorClass: string
      message: string
      retryAt?: number
    }
    /** Emitted when an account has asked for videos that are in the queue now, whoever has put them there first. */
    'queue.asked': { userId: number; ids: string[] }
  }
}
