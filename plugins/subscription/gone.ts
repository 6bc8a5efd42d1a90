/**
 * Handles failed scans of a channel or playlist: if the platform no longer has it, it becomes inactive; otherwise the
 * next scan tries again.
 */
import type { JobContext } from 'archivolt'
import type { Failure } from '../platform/types.ts'
import type { App } from './app.ts'

/** @throws errors that are not failures of the platform */
export async function markWhereGone(
  { kind, id }: { kind: 'channel' | 'playlist'; id: string },
  error: unknown,
  job: JobContext<object>,
  app: App,
): Promise<Failure> {
  const failure = app.platform.failureOf(error)
  if (!failure) throw error
  job.log.warn({ [kind]: id, failure: failure.failure }, failure.message)
  if (app.platform.failures[failure.failure].deactivates)
    await (kind === 'channel' ? app.channels : app.playlists).setActive([id], false)
  return failure
}
