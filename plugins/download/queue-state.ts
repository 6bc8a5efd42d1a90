/** What the parts of the queue share: its documents, what runs now, and how others hear of a change. */

import { type Collection, epochSeconds, type NamesOf } from 'archivolt'
import { ActiveItems } from './active.ts'
import type { App } from './app.ts'
import { type ItemFailure, isLookedAtAgain } from './item-failure.ts'
import { LOOK_AGAIN_DAYS } from './retries.ts'
import { type DownloadDoc, downloadIndex } from './schema.ts'

export type QueueItems = Collection<DownloadDoc, NamesOf<typeof downloadIndex>>
export type QueueStatus = DownloadDoc['status']

export interface QueueState {
  readonly app: App
  readonly items: QueueItems
  readonly active: ActiveItems
  /** Tells that an item was added, changed or removed. */
  changed(id: string): Promise<void>
  /** Tells that many were. */
  manyChanged(): Promise<void>
}

export function openQueueState(app: App): QueueState {
  const changed = (id: string) => app.emit('queue.changed', { id })
  return {
    app,
    items: app.index.collection(downloadIndex),
    active: new ActiveItems(app, changed),
    changed,
    manyChanged: () => app.emit('queue.changed', {}),
  }
}

/** Without the message of an earlier failure. */
export const CLEARED = { message: null, error_class: null, retry_at: null, noted_at: null, reopened: null } as const

/** What a status means for the other fields of an item. */
export function fieldsOf(status: QueueStatus) {
  const isOpen = status !== 'ignore'
  const isAuto = status === 'priority'
  return { status, auto_start: isAuto, later: !isAuto, open: isOpen, ready: isOpen, ...CLEARED }
}

const MAX_MESSAGE = 1000
const DAY_SECONDS = 86_400

/** All in epoch seconds. @returns undefined: it was looked at often enough */
export const nextLook = (notedAt: number, now: number): number | undefined =>
  LOOK_AGAIN_DAYS.map((days) => notedAt + days * DAY_SECONDS).find((at) => at > now)

/** @param notedBefore  epoch seconds: when such a failure was first noted on the item */
export function failureFields({ message, errorClass, retryAt }: ItemFailure, app: App, notedBefore?: number) {
  const failed = { message: message.slice(0, MAX_MESSAGE), error_class: errorClass, ready: false }
  if (!isLookedAtAgain(errorClass, app)) return { ...failed, ...(retryAt !== undefined && { retry_at: retryAt }) }
  const now = epochSeconds(app.clock)
  const noted = notedBefore ?? now
  const next = nextLook(noted, now)
  return { ...failed, noted_at: noted, ...(next !== undefined && { retry_at: next }) }
}
