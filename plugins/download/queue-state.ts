/**
 * The state that the parts of the queue share: its items, the running downloads, and how listeners learn of changes.
 */
import { DAY_SECONDS, epochSeconds } from 'archivolt'
import { openActiveItems } from './active.ts'
import type { App } from './app.ts'
import { type ItemFailure, isRechecked } from './item-failure.ts'
import { openQueueTable } from './queue-rows.ts'
import { RECHECK_DAYS } from './retries.ts'
import type { DownloadDoc } from './schema.ts'

export type QueueStatus = DownloadDoc['status']

export type QueueState = ReturnType<typeof openQueueState>

export function openQueueState(app: App) {
  /** Emits `queue.changed` for one item: it was added, changed or removed. */
  const changed = (id: string) => app.emit('queue.changed', { id })
  return {
    app,
    items: openQueueTable(app),
    active: openActiveItems(app, changed),
    changed,
    /** Emits `queue.changed` without an id: many items have changed. */
    manyChanged: () => app.emit('queue.changed', {}),
  }
}

/** The columns of an item without the message of an earlier failure. */
export const CLEARED = { message: null, error_class: null, retry_at: null, noted_at: null, reopened: null } as const

const MAX_MESSAGE = 1000

/** The time of the next retry; all times in epoch seconds. @returns undefined: it was retried often enough */
export const nextRecheck = (notedAt: number, now: number): number | undefined =>
  RECHECK_DAYS.map((days) => notedAt + days * DAY_SECONDS).find((at) => at > now)

/** @param notedBefore  epoch seconds: when such a failure was first recorded on the item */
export function failureFields({ message, errorClass, retryAt }: ItemFailure, app: App, notedBefore?: number) {
  const failed = { message: message.slice(0, MAX_MESSAGE), error_class: errorClass }
  if (!isRechecked(errorClass, app)) return { ...failed, ...(retryAt !== undefined && { retry_at: retryAt }) }
  const now = epochSeconds(app.clock)
  const noted = notedBefore ?? now
  const next = nextRecheck(noted, now)
  return { ...failed, noted_at: noted, ...(next !== undefined && { retry_at: next }) }
}
