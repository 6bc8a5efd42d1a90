/** Runs what follows a download run: the work of later plugins, and the comments of the new videos. */
import { isStop, type JobContext, untilStop } from 'archivolt'
import type { App } from './app.ts'

export interface AfterDownload {
  /** @param ingested  ids of the videos that the run has archived */
  run(ingested: readonly string[], job: JobContext<object>): Promise<void>
}

export function openAfterDownload(app: App): AfterDownload {
  return {
    async run(ingested, job) {
      try {
        for (const later of app.hook('download.after')) await later(ingested, untilStop(job))
        await job.step('download.comments', () => app.extras.fetchDue(untilStop(job)))
      } catch (thrown) {
        // After a stop, the due comments stay recorded.
        if (!isStop(thrown, job)) throw thrown
      }
    },
  }
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked after each download run, with the ids that it has archived, for further work. May be asked twice about the
     * same run.
     */
    'download.after': (ingested: readonly string[], job: JobContext<object>) => Promise<void>
  }
}
