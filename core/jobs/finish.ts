/** Finishes a run: writes its last move, gives its room in the lane to the next job, and answers those who wait. */
import { errors } from '../error.ts'
import { hasEnded, type Job } from '../ledger/jobs.ts'
import { answer } from './answer.ts'
import type { Outcome } from './attempt.ts'
import { writeRescued } from './recover.ts'
import { CLOSING_TEXT, endingOf, type Runner, type Running } from './state.ts'
import { TRY_LEDGER_AGAIN_MS } from './upkeep.ts'

export async function finish<App>(runner: Runner<App>, entry: Running<App>, outcome: Outcome): Promise<void> {
  const { job, task } = entry
  const saved = entry.isAbandoned ? undefined : await save(runner, entry, outcome)
  runner.running.delete(job.id)
  runner.own.delete(job.id)
  if (entry.hasPlace) {
    runner.laneSizes.giveBack(task.lane, 1)
    runner.claim(task.lane)
  }
  if (!saved) return
  runner.listeners.changed({ job: saved })
  runner.notifications.changed()
  if (outcome.kind === 'retry') runner.upkeep.wakeInTime()
  if (saved.state === 'PENDING') runner.claim(task.lane)
  if (outcome.kind === 'ended') {
    answer(runner, saved, outcome.ending, outcome.error)
    runner.upkeep.noteEnded()
  } else if (outcome.kind === 'requeued') {
    runner.forRun.reject(job.id, errors.unavailable(CLOSING_TEXT))
    if (hasEnded(saved)) answer(runner, saved, endingOf(saved))
  }
}

/**
 * A full disk makes it wait, not fail: the row must not say less than has happened. @returns the row; nothing where the
 * server closes first
 */
async function save<App>(runner: Runner<App>, entry: Running<App>, outcome: Outcome): Promise<Job | undefined> {
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

function writeOutcome<App>(runner: Runner<App>, { job, task, log }: Running<App>, outcome: Outcome): Job {
  const { rows, notifications } = runner
  if (outcome.kind === 'requeued') return writeRescued(runner, job, task, log.lines)
  const ended =
    outcome.kind === 'retry' ? rows.retry(job.id, outcome, log.lines) : rows.end(job.id, outcome.ending, log.lines)
  notifications.writeEnded(outcome.kind === 'retry' ? ended : { ...ended, ...outcome.ending })
  return ended
}
