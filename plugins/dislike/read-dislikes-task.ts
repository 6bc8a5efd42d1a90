/** Fetches due estimates, one video after the other, as an internal task that nothing waits for. */
import { defineTask, errors, Type } from 'archivolt'
import { TooMany } from '../community-kit/ask.ts'
import type { App } from './app.ts'

/** Number of failures in a row after which the service counts as unavailable. */
const MOST_FAILURES = 3
/** Pause after a failure; the limits of the service are per minute and per day. */
const REST_MINUTES = 15

export const readDislikes = defineTask({
  name: 'dislike.read',
  title: 'Estimate dislikes',
  payload: Type.Object({}),
  lane: 'light',
  internal: true,
  unique: true,
  resumable: true,
  // Retries for one day. Remaining videos are fetched after the next video, refresh or start.
  retries: { times: 96, delaySeconds: REST_MINUTES * 60 },
  async run(job, app: App) {
    const { dislikes } = app
    let failures = 0
    for (;;) {
      job.signal.throwIfAborted()
      if (!dislikes.isWanted()) await dislikes.forget()
      const id = dislikes.next()
      if (id === undefined || job.isStopping()) return
      try {
        await dislikes.read(id, job.signal)
        failures = 0
        await dislikes.forget(id)
      } catch (error) {
        job.signal.throwIfAborted()
        job.log.warn({ err: error, id }, 'the estimate of dislikes could not be fetched')
        const isBusy = error instanceof TooMany
        if (!isBusy) await dislikes.putOff(id)
        if (isBusy || ++failures >= MOST_FAILURES)
          throw errors.unavailable('The service that estimates dislikes does not respond', { cause: error })
      }
    }
  },
})
