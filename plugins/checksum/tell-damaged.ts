/** Notifies people of damaged files that are not being repaired, until somebody reacts. */
import { DAY_SECONDS, say } from 'archivolt'
import type { App } from './app.ts'

const SHOWN_SECONDS = 30 * DAY_SECONDS

/** @param damaged  returns the number of files. @returns notifies people, unless they have been notified already */
export function openTelling({ jobs }: Pick<App, 'jobs'>, damaged: () => number): () => Promise<void> {
  let isTold = false

  function isOver(): boolean {
    if (damaged() > 0) return false
    isTold = false
    return true
  }

  return async () => {
    const count = damaged()
    if (count === 0 || isTold) return
    isTold = true
    await jobs.notify({
      ...{ title: 'Damaged files', group: 'setting:scrub', level: 'error', isOver, shownForSeconds: SHOWN_SECONDS },
      messages: [say`Damaged files that have not been replaced: ${{ count }}. See Settings → Safety`],
    })
  }
}
