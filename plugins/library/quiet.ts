/** Work that nobody waits for gives way to what people have asked for. */
import { abortable, type JobContext } from 'archivolt'
import type { App } from './app.ts'

/** A queue of downloads may take days. */
const MOST_MS = 15 * 60_000
const RECENT = 100
/** They give way to all others, and would wait for each other without end. */
const GIVE_WAY = new Set(['preview.make', 'complete_videos'])

/**
 * Resolves when no other task runs, some have run for a quarter of an hour, or the job is to stop.
 * @param giveUp  what takes room, and is not needed while it waits
 * @throws the signal's reason
 */
export async function untilQuiet(
  { signal, isStopping }: Pick<JobContext<object>, 'signal' | 'isStopping'>,
  { jobs, clock }: App,
  giveUp?: () => Promise<void>,
): Promise<void> {
  const isBusy = () =>
    jobs.list({ limit: RECENT }).some(({ task, state }) => state === 'STARTED' && !GIVE_WAY.has(task))
  if (!isBusy()) return
  await giveUp?.()
  return abortable(signal, (resolve) => {
    const limit = clock.after(MOST_MS, end)
    const unhear = jobs.onEnded(() => {
      if (!isBusy()) end()
    })
    const unwatch = jobs.watch(() => {
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
    if (!isBusy()) end() // ended meanwhile
    return withdraw
  })
}
