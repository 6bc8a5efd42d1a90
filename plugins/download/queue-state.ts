/**
 * The state that the parts of the queue share: its items, the running downloads, and how listeners learn of changes.
 */
import { DAY_SECONDS, epochSeconds } from 'archivolt'
import { type ActiveItems, openActiveItems } from './active.ts'
import type { App } from './app.ts'
import { type ItemFailure, isLookedAtAgain } from './item-failure.ts'
import { openQueueTable, type QueueTable } from './queue-rows.ts'
import { LOOK_AGAIN_DAYS } from './retries.ts'
import type { DownloadDoc } from './schema.ts'

export type QueueStatus = DownloadDoc['status']

export interface QueueState {
  readonly app: App
  readonly items: QueueTable
  readonly active: ActiveItems
  /** Emits `queue.changed` for one item: it was added, changed or removed. */
  changed(id: string): Promise<void>
  /** Emits `queue.changed` without an id: many items have changed. */
  manyChanged(): Promise<void>
}

export function openQueueState(app: App): QueueState {
  const changed = (id: string) => app.emit('queue.changed', { id })
  return {
    app,
    items: openQueueTable(app),
    active: openActiveItems(app, changed),
    changed,
    manyChanged: () => app.emit('queue.changed', {}),
  }
}

/** The columns of an item without the message of an earlier failure. */
export const CLEARED = { message: null, error_class: null, retry_at: null, noted_at: null, reopened: null } as const

const MAX_MESSAGE = 1000

/** The time of the next retry; all times in epoch seconds. @returns undefined: it was retried often enough */
export const nextLook = (notedAt: number, now: number): number | undefined =>
  LOOK_AGAIN_DAYS.map((days) => notedAt + days * DAY_SECONDS).find((at) => at > now)

/** @param notedBefore  epoch seconds: when such a failure was first recorded on the item */
export function failureFields({ message, errorClass, retryAt }: ItemFailure, app: App, notedBefore?: number) {
  const failed = { message: message.slice(0, MAX_MESSAGE), error_class: errorClass }
  if (!isLookedAtAgain(errorClass, app)) return { ...failed, ...(retryAt !== undefined && { retry_at: retryAt }) }
  const now = epochSeconds(app.clock)
  const noted = notedBefore ?? now
  const next = nextLook(noted, now)
  return { ...failed, noted_at: noted, ...(next !== undefined && { retry_at: next }) }
}
