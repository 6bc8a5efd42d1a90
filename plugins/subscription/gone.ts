/**
 * Handles failed scans of a channel or playlist: if the platform no longer has it, it becomes inactive; if its record
 * is damaged, people are notified; otherwise the next scan tries again.
 */
import { type AppError, isAppError, type JobContext, say, wordsOf } from 'archivolt'
import type { Failure } from '../platform/types.ts'
import type { App } from './app.ts'

const ABOUT = { name: 'update_subscribed', title: 'Rescan your Subscriptions', group: 'download:scan' }
const TOLD_SECONDS = 3600

/** Whether a record is damaged, so that a person must repair it; logs it. */
export function isDamage(
  error: unknown,
  { type, id }: { type: string; id: string },
  job: JobContext<object>,
): error is AppError {
  const isDamaged = isAppError(error, 'unprocessable')
  if (isDamaged) job.log.warn({ [type]: id, err: error }, 'a subscription could not be scanned')
  return isDamaged
}

/**
 * @returns undefined: a record is damaged, and this subscription waits for a person
 * @throws all other errors that are not failures of the platform
 */
export async function markWhereGone(
  { kind, id }: { kind: 'channel' | 'playlist'; id: string },
  error: unknown,
  job: JobContext<object>,
  app: App,
): Promise<Failure | undefined> {
  const failure = app.platform.failureOf(error)
  if (!failure) {
    if (!isDamage(error, { type: kind, id }, job)) throw error
    const name = await app.media.titleOf(kind, id)
    const messages = [say`${{ name }}: ${{ reason: wordsOf(error) }}`]
    await app.jobs.notify({ of: ABOUT, level: 'error', messages, shownForSeconds: TOLD_SECONDS })
    return undefined
  }
  job.log.warn({ [kind]: id, failure: failure.failure }, failure.message)
  if (app.platform.failures[failure.failure].deactivates)
    await (kind === 'channel' ? app.channels : app.playlists).setActive([id], false)
  return failure
}
