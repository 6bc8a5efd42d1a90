/** Stops one job by a command, or all jobs when the server closes. */
import type { Timer } from '../base/clock.ts'
import { errors } from '../base/error.ts'
import { say } from '../base/say.ts'
import { hasEnded, withoutWords } from '../ledger/jobs.ts'
import { answer, interrupt, stop, writeRescued } from './life-and-retries.ts'
import { CLOSING_TEXT, endingOf, type Runner } from './state.ts'
import type { JobsRunner } from './types.ts'

/** When the server closes, jobs that still run after this time are put back into the ledger. */
export const RUNS_END_WITHIN_MS = 7_000

export function openStop<App>(runner: Runner<App>) {
  const { ledger, rows, tasks, notifications, changes, running } = runner

  return {
    async command(id, asked) {
      const found = rows.get(id)
      if (!found) throw errors.notFound('task', id)
      // A job of a missing plugin can always be ended.
      if (tasks.has(found.task) && !tasks.get(found.task)?.apiStop)
        throw errors.badRequest(say`${{ task: found.task }} accepts no commands`)
      const job = await ledger.write(() => {
        const row = rows.get(id)
        if (!row || hasEnded(row)) throw errors.conflict('The task has already finished')
        if (row.state === 'STARTED') return rows.command(id, asked) ?? row
        const state = asked === 'KILL' ? 'REVOKED' : 'SUCCESS'
        notifications.writeEnded({ ...row, state: 'REVOKED' })
        return rows.endWaiting(id, withoutWords(state), asked)
      })
      const entry = running.get(id)
      if (entry) {
        if (job.command === 'KILL') interrupt(entry, 'kill')
        stop(entry)
      }
      changes.tell({ job })
      notifications.changed()
      if (hasEnded(job)) answer(runner, job, withoutWords(endingOf(job).state))
    },

    async close() {
      if (runner.isClosing) return
      runner.isClosing = true
      runner.isClaiming = false
      runner.upkeep.close()
      for (const entry of running.values()) interrupt(entry, 'close')
      await runsEnd(runner, RUNS_END_WITHIN_MS)
      await abandonLate(runner)
      notifications.close()
      runner.forRun.rejectAll(errors.unavailable(CLOSING_TEXT))
      runner.forEnd.rejectAll(errors.unavailable(CLOSING_TEXT))
    },
  } satisfies Partial<JobsRunner>
}

/** Resolves once no job runs, or the time is up. */
async function runsEnd<App>({ running, clock }: Runner<App>, withinMs: number): Promise<void> {
  let timer: Timer | undefined
  const tooLong = new Promise<void>((resolve) => (timer = clock.after(withinMs, resolve)))
  const allEnd = async () => {
    while (running.size > 0) await Promise.all([...running.values()].map((entry) => entry.done))
  }
  await Promise.race([allEnd(), tooLong])
  timer?.cancel()
}

async function abandonLate<App>(runner: Runner<App>): Promise<void> {
  const late = [...runner.running.values()]
  for (const entry of late) entry.isAbandoned = true
  await runner.ledger.write(() => {
    for (const { job, task, log } of late) {
      if (runner.rows.get(job.id)?.state === 'STARTED') writeRescued(runner, job, task, log.lines)
    }
  })
  for (const { job } of late)
    runner.log.warn({ job: job.id, task: job.task }, 'job did not end in time and was requeued')
}
