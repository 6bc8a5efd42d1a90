/** Ends a job of another task that would bring more while an undo takes away. */
import { isAppError } from 'archivolt'
import type { App } from './app.ts'

/** Resolves once it has ended; one that had, or is forgotten, is as good. */
export async function endJob(id: string, { jobs }: Pick<App, 'jobs'>): Promise<void> {
  const job = jobs.get(id)
  if (job?.endedAt !== null) return
  await jobs.command(id, 'KILL').catch((thrown: unknown) => {
    if (!isAppError(thrown, 'conflict')) throw thrown // it has just ended
  })
  await jobs.ended(id)
}
