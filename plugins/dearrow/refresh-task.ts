/**
 * dearrow.refresh: reads titles of new videos often, and those of others monthly, in hourly rounds
 * (community-kit/refresh-rounds.ts).
 */
import { defineTask, Type } from 'archivolt'
import { askAboutDue, ROUND_SECONDS } from '../community-kit/refresh-rounds.ts'
import type { App } from './app.ts'
import { cutPictures } from './pictures.ts'

export const refreshTitles = defineTask({
  name: 'dearrow.refresh',
  title: 'Read titles by viewers',
  payload: Type.Object({}),
  lane: 'dearrow',
  internal: true,
  silent: true,
  unique: true,
  resumable: true,
  async run(job, app: App) {
    const { dearrow } = app
    if (!dearrow.isWanted()) return void (await dearrow.forget(job.signal))
    await app.jobs.start(refreshTitles, {}, { afterSeconds: ROUND_SECONDS })
    await askAboutDue(
      {
        readAt: 'dearrow_read_at',
        read: (id, signal) => dearrow.read(id, signal),
        wanted: () => (dearrow.isWanted() ? { and: [] } : undefined),
      },
      job,
      app,
    )
    await app.jobs.start(cutPictures)
  },
})
