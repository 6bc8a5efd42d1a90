/** A failure of the platform as it is recorded on an item of the queue. */

import type { FailureClass, ItemFailureClass } from '../platform/failure-classes.ts'
import type { App } from './app.ts'

export interface ItemFailure {
  message: string
  errorClass: ItemFailureClass
  /** Epoch seconds. */
  retryAt?: number | undefined
}

/** Whether a retry would be useless. */
export const isFinal = ({ failure }: { failure: FailureClass }, app: App): boolean =>
  app.platform.failures[failure].item === 'final'

/** Whether the failure may end without notice, so that the item is retried automatically. */
export const isRechecked = (failure: FailureClass, app: App): boolean =>
  app.platform.failures[failure].again === 'rechecked'

export function toItemFailure(
  { failure, message, availableAt }: { failure: FailureClass; message: string; availableAt?: number },
  app: App,
): ItemFailure {
  if (app.platform.failures[failure].item === 'wait')
    throw new Error(`${failure} waits at the gate and is not a failure of an item`)
  return { message, errorClass: failure as ItemFailureClass, retryAt: availableAt }
}

/**
 * Emitted before the failure is recorded, with all details: after an interruption the item is tried and reported again.
 */
export async function tellFailed(
  { id, title, channelId }: { id: string; title: string; channelId: string },
  { errorClass, message, retryAt }: ItemFailure,
  app: App,
): Promise<void> {
  const told = { id, title, channelId, errorClass, message, ...(retryAt !== undefined && { retryAt }) }
  await app.emit('download.failed', told)
}
