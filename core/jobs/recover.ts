/** Puts right the rows of jobs that say they run and do not: after a crash, and while the server closes. */
import { type Ending, hasEnded, type Job, withoutWords } from '../ledger/jobs.ts'
import { say } from '../say.ts'
import { answer } from './answer.ts'
import type { JobLog } from './job-log.ts'
import { endingOf, type Runner } from './state.ts'
import type { AnyTask } from './task.ts'

const DAMAGED: Ending = { ...withoutWords('FAILED'), result: say`Its row in the ledger is damaged: start it again` }
const WENT_DOWN: Ending = { ...withoutWords('FAILED'), result: say`Interrupted when the server stopped` }

/**
 * The move of such a row; inside `ledger.write`.
 * @param lines  of its log; those on the row if left out
 */
export function writeRescued<App>(
  { rows, notifications }: Runner<App>,
  row: Job,
  task: AnyTask | undefined,
  lines?: JobLog['lines'],
): Job {
  const { command, again } = rows.get(row.id) ?? row
  notifications.writeEnded({ ...row, state: 'FAILED' })
  const kept = lines ?? rows.logOf(row.id)
  if (command === 'KILL') return rows.end(row.id, withoutWords('REVOKED'), kept)
  if (command === 'STOP') return rows.end(row.id, withoutWords('SUCCESS'), kept)
  if (task?.resumable || task?.internal || again) return rows.requeue(row.id, lines)
  return rows.end(row.id, WENT_DOWN, kept)
}

/** Puts right what a crash has left, and what an update has changed; nothing is claimed before. */
export async function recover<App>(runner: Runner<App>): Promise<void> {
  const { ledger, rows, notifications, log, tasks, own, listeners } = runner
  const { rescued, aside } = await ledger.write(() => {
    notifications.writeCleared()
    const damaged = rows.endDamaged(DAMAGED)
    for (const task of tasks.values()) rows.moveToLane(task.name, task.lane)
    // What was stopped has ended, also where its plugin is gone; the rest of such a plugin's jobs waits for it.
    const orphans = rows.started().filter((row) => !own.has(row.id) && (tasks.has(row.task) || row.command !== null))
    const rescued = orphans.map((row) => writeRescued(runner, row, tasks.get(row.task)))
    return { rescued: [...damaged, ...rescued], aside: rows.setAside([...tasks.keys()]) }
  })
  if (Object.keys(aside).length > 0)
    log.warn({ jobs: aside }, 'jobs of tasks that no plugin offers now wait until it is there again')
  for (const row of rescued) {
    log.info({ job: row.id, task: row.task, state: row.state }, 'job found unfinished')
    listeners.changed({ job: row })
    if (hasEnded(row)) answer(runner, row, endingOf(row))
  }
}
