/**
 * segment.refresh: reads the segments of videos again in hourly rounds: often for new videos, monthly for others
 * (community-kit/refresh-rounds.ts).
 */
import { defineTask, Type } from 'archivolt'
import { askAboutDue, ROUND_SECONDS } from '../community-kit/refresh-rounds.ts'
import type { App } from './app.ts'

export const refreshSegments = defineTask({
  name: 'segment.refresh',
  title: 'Refresh skip segments',
  payload: Type.Object({}),
  lane: 'segments',
  internal: true,
  silent: true,
  unique: true,
  resumable: true,
  async run(job, app: App) {
    const { segments } = app
    if (!(await segments.isWanted())) return
    await app.jobs.start(refreshSegments, {}, { afterSeconds: ROUND_SECONDS })
    await askAboutDue(
      { readAt: 'segments_read_at', read: (id, signal) => segments.read(id, signal), wanted: () => segments.wanted() },
      job,
      app,
    )
  },
})
