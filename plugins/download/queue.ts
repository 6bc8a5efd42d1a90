/** The service `queue`: the one home of download documents. Each file beside it has one verb of it (contract 9.3). */
import { type Words, withKeys } from 'archivolt'
import type { ActiveItem } from './active.ts'
import { type Adding, openAdding } from './add.ts'
import type { App } from './app.ts'
import { type Changes, isWanted, openChanges } from './change.ts'
import { filterOf } from './filter.ts'
import { type NextOptions, nextItem } from './next.ts'
import { openQueueState, type QueueItems } from './queue-state.ts'
import type { DownloadDoc } from './schema.ts'

interface Halted {
  /** For people. */
  reason: Words
  /** Epoch seconds. */
  since: number
  nextAttempt: number
}

export interface Queue extends Adding, Changes {
  readonly items: QueueItems
  /** Set by the run while all that is left waits for something of this machine. */
  halted: Halted | undefined
  /** The reply for a stored text: with the mirror id, what runs now, and the index. */
  replyText(id: string, text: string): string
  next(options: NextOptions): Promise<DownloadDoc | undefined>
  /** Whether it is still there, and not ignored. */
  isWanted(id: string): Promise<boolean>
  /** Which of these videos are downloaded now or will be: what was fetched of them stays. */
  wantedAmong(ids: readonly string[]): Promise<Set<string>>
  /** Marks an item as worked on. */
  begin(id: string): ActiveItem
  /** How many items wait to be downloaded, those with a message apart. */
  waiting(): Promise<number>
  /** How many items wait, by the class of their message. */
  waitingByClass(): Promise<Record<string, number>>
}

export function openDownloadQueue(app: App): Queue {
  const state = openQueueState(app)
  const { items, active } = state
  /** Told from what is kept, so it is known of old items too. */
  const reasonIn = (text: string) => {
    if (!text.includes('"error_class":')) return undefined
    const { error_class: failure, message } = JSON.parse(text) as DownloadDoc
    return failure && message && app.platform.reasonOf(failure, message)
  }
  const indexName = `${app.settings.prefix}_download`
  return {
    items,
    halted: undefined,
    ...openAdding(state),
    ...openChanges(state),
    next: (options) => nextItem(state, options),
    isWanted: (id) => isWanted(state, id),
    begin: (id) => active.begin(id),

    async wantedAmong(ids) {
      const found = await items.getMany(ids)
      return new Set(ids.filter((id) => active.has(id) || (found.has(id) && found.get(id)!.status !== 'ignore')))
    },

    replyText(id, text) {
      const tail = { reason: reasonIn(text), progress: active.progressOf(id), _index: indexName, _score: 0 }
      return withKeys(text, { ...app.platform.mirror(id), ...app.platform.original('video', id), ...tail })
    },

    waiting() {
      return items.count(filterOf({ filter: 'pending', error: false }))
    },

    async waitingByClass() {
      const rows = await items.aggregate({
        filter: { and: [{ eq: ['open', true] }, { exists: 'error_class' }] },
        groupBy: ['error_class'],
      })
      return Object.fromEntries(rows.map(({ key, count }) => [String(key[0]), count]))
    },
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
