/** Finds the job that works on an adoption, and updates the adoption if that job was stopped. */
import type { Job } from 'archivolt'
import type { App } from './app.ts'
import { isBusy } from './plans/plans.ts'
import { type AdoptionRow, TASK_OF } from './plans/rows.ts'
import { STOPPED } from './work.ts'

const RECENT = 200

/** The running or waiting job of an adoption. */
export function runOf({ id, state }: AdoptionRow, { jobs }: Pick<App, 'jobs'>): Job | undefined {
  const task = TASK_OF[state]
  if (task === undefined) return undefined
  return jobs.list({ task, limit: RECENT }).find((job) => job.payload.adoption === id && job.endedAt === null)
}

/** Marks an adoption as failed if its task was killed, or stopped before it began. */
export async function heedEnd({ id, task, payload }: Job, app: App): Promise<void> {
  if (!Object.values(TASK_OF).includes(task)) return
  const adoption = app.adoptions.find(Number(payload.adoption))
  if (adoption?.job_id === id && isBusy(adoption)) await app.adoptions.setState(adoption.id, 'failed', STOPPED)
}
