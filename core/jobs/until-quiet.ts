/** Background work that nobody waits for gives way to jobs that people have started. */
import { abortable } from '../base/abortable.ts'
import type { Runner } from './state.ts'
import type { JobContext } from './types.ts'

/** Upper limit of the wait: a queue of downloads may take days. */
const MOST_MS = 15 * 60_000
const RECENT = 100

/** Tasks that give way do not count: they would wait for each other forever. */
const isBusy = <App>({ rows, tasks }: Runner<App>): boolean =>
  rows.list(undefined, RECENT).some(({ task, state }) => state === 'STARTED' && !tasks.get(task)?.givesWay)

export async function untilQuiet<App>(
  runner: Runner<App>,
  { signal, isStopping }: Pick<JobContext<object>, 'signal' | 'isStopping'>,
  giveUp?: () => Promise<void>,
): Promise<void> {
  if (!isBusy(runner)) return
  await giveUp?.()
  const { clock, changes, ends } = runner
  return abortable(signal, (resolve) => {
    const limit = clock.after(MOST_MS, end)
    const unhear = ends.add(() => {
      if (!isBusy(runner)) end()
    })
    const unwatch = changes.add(() => {
      if (isStopping()) end()
    })
    function withdraw() {
      limit.cancel()
      unhear()
      unwatch()
    }
    function end() {
      withdraw()
      resolve()
    }
    if (!isBusy(runner)) end() // ended meanwhile
    return withdraw
  })
}
