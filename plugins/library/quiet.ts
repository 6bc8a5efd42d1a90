/** Work that nobody waits for gives way to what people have asked for. */
import { abortable, type JobContext } from 'archivolt'
import type { App } from './app.ts'

/** A queue of downloads may take days. */
const MOST_MS = 15 * 60_000
const RECENT = 100

/** Resolves when no other task runs, or some have run for a quarter of an hour. @throws once the job is to stop */
export function untilQuiet({ signal }: JobContext<object>, { jobs, clock }: App): Promise<void> {
  const isBusy = () => jobs.list({ limit: RECENT }).some(({ state }) => state === 'STARTED')
  if (!isBusy()) return Promise.resolve()
  return abortable(signal, (resolve) => {
    const limit = clock.after(MOST_MS, end)
    const unwatch = jobs.onEnded(() => {
      if (!isBusy()) end()
    })
    function withdraw() {
      limit.cancel()
      unwatch()
    }
    function end() {
      withdraw()
      resolve()
    }
    return withdraw
  })
}
