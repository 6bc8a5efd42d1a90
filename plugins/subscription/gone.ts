/** What a failed look at a channel or playlist means: gone makes it inactive, anything else waits for the next look. */
import type { JobContext } from 'archivolt'
import type { Failure } from '../platform/types.ts'
import type { App } from './app.ts'

/** @throws what is no failure of the platform's */
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
