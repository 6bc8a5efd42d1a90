/** Starts and finds the job that works on an adoption, and updates the adoption if that job was stopped. */
import type { Job } from 'archivolt'
import type { App } from './app.ts'
import { isBusy } from './plans/plans.ts'
import { type AdoptionRow, TASK_OF } from './plans/rows.ts'
import { STOPPED, UNSTARTED } from './task-context.ts'

const RECENT = 200

/**
 * Starts a task for an adoption whose state says that it is in progress.
 * @throws the error that prevents the start; then the adoption has failed, and can be repeated
 */
export async function startWork(id: number, task: string, { adoptions, jobs }: App): Promise<void> {
  try {
    const job = await jobs.start(task, { adoption: id })
    await adoptions.setTask(id, job.id)
  } catch (error) {
    await adoptions.setState(id, 'failed', UNSTARTED)
    throw error
  }
}

/**
 * Starts tasks after a restart, because the server may have stopped after a state was written and before its task was
 * started.
 */
export async function startUnstarted(app: App): Promise<void> {
  for (const adoption of app.adoptions.list())
    if (isBusy(adoption) && !runOf(adoption, app)) await startWork(adoption.id, TASK_OF[adoption.state]!, app)
}

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
