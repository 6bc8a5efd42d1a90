/** Ends a job that would import more during an undo. */
import { isAppError } from 'archivolt'
import type { App } from './app.ts'

/** Resolves once the job has ended, or at once if it is unknown. */
export async function endJob(id: string, { jobs }: Pick<App, 'jobs'>): Promise<void> {
  const job = jobs.get(id)
  if (job?.endedAt !== null) return
  await jobs.command(id, 'KILL').catch((thrown: unknown) => {
    if (!isAppError(thrown, 'conflict')) throw thrown // it has just ended
  })
  await jobs.ended(id)
}
