/** Finishes a run: writes its last move, gives its room in the lane to the next job, and answers those who wait. */
import { errors } from '../error.ts'
import { type Ending, hasEnded, type Job, withoutWords } from '../ledger/jobs.ts'
import { answer } from './answer.ts'
import type { Outcome } from './attempt.ts'
import { writeRescued } from './recover.ts'
import { CLOSING_TEXT, endingOf, type Runner, type Running } from './state.ts'
import { TRY_LEDGER_AGAIN_MS } from './upkeep.ts'

export async function finish<App>(runner: Runner<App>, entry: Running<App>, outcome: Outcome): Promise<void> {
  const { job, task } = entry
  const written = entry.isAbandoned ? undefined : await save(runner, entry, outcome)
  runner.running.delete(job.id)
  runner.own.delete(job.id)
  if (entry.hasPlace) {
    runner.laneSizes.giveBack(task.lane, 1)
    runner.claim(task.lane)
  }
  if (!written) return
  const { row, ending } = written
  runner.listeners.changed({ job: row })
  runner.notifications.changed()
  if (row.state === 'RETRY') runner.upkeep.wakeInTime()
  if (row.state === 'PENDING') runner.claim(task.lane)
  if (ending && outcome.kind !== 'requeued') {
    answer(runner, row, ending, outcome.error)
    runner.upkeep.noteEnded()
  } else if (outcome.kind === 'requeued') {
    runner.forRun.reject(job.id, errors.unavailable(CLOSING_TEXT))
    if (hasEnded(row)) answer(runner, row, endingOf(row))
  }
}

interface Written {
  row: Job
  /** How the run has ended for good. */
  ending?: Ending
}

/**
 * A full disk makes it wait, not fail: the row must not say less than has happened. @returns nothing where the server
 * closes first
 */
async function save<App>(runner: Runner<App>, entry: Running<App>, outcome: Outcome): Promise<Written | undefined> {
  const { ledger, clock, log } = runner
  for (;;) {
    try {
      return await ledger.write(() => writeOutcome(runner, entry, outcome))
    } catch (error) {
      log.error({ err: error, job: entry.job.id }, 'the end of a job could not be written; it is tried again')
      if (runner.isClosing) return undefined
      await clock.sleep(TRY_LEDGER_AGAIN_MS)
    }
  }
}

function writeOutcome<App>(runner: Runner<App>, { job, task, log }: Running<App>, outcome: Outcome): Written {
  const { rows, notifications } = runner
  if (outcome.kind === 'requeued') return { row: writeRescued(runner, job, task, log.lines) }
  // A command may have come in the run's last moment: what was stopped is not tried again.
  const command = outcome.kind === 'retry' ? (rows.get(job.id)?.command ?? null) : null
  if (outcome.kind === 'retry' && command === null) {
    const row = rows.retry(job.id, outcome.ending, outcome.retryAt, log.lines)
    notifications.writeEnded({ ...row, state: 'RETRY' })
    return { row }
  }
  const ending = command === 'KILL' ? withoutWords('REVOKED') : outcome.ending
  const row = rows.end(job.id, ending, log.lines)
  notifications.writeEnded({ ...row, ...ending })
  return { row, ending }
}
