/** Claims jobs: as many of those that wait longest in a lane as it has room for. */
import type { Job } from '../ledger/jobs.ts'
import { execute, writeBegun } from './run.ts'
import type { Runner } from './state.ts'
import type { Handed } from './task.ts'
import { TRY_LEDGER_AGAIN_MS } from './upkeep.ts'

export function claim<App extends Handed>(runner: Runner<App>, lane: string): void {
  const { ledger, laneSizes, clock, log } = runner
  const free = runner.isClaiming ? laneSizes.takeFree(lane) : 0
  if (free === 0) return
  ledger
    .write(() => writeClaimed(runner, lane, free))
    .then(
      (claimed) => {
        laneSizes.giveBack(lane, free - claimed.length)
        for (const job of claimed) execute(runner, job, { isAwaited: false, hasPlace: true })
      },
      (error: unknown) => {
        laneSizes.giveBack(lane, free)
        log.error({ err: error, lane }, 'jobs could not be claimed; it is tried again')
        clock.after(TRY_LEDGER_AGAIN_MS, () => claim(runner, lane))
      },
    )
}

function writeClaimed<App>(runner: Runner<App>, lane: string, most: number): Job[] {
  const claimed: Job[] = []
  while (runner.isClaiming && claimed.length < most) {
    const job = runner.rows.claim(lane)
    if (!job) break
    writeBegun(runner, job)
    claimed.push(job)
  }
  return claimed
}
