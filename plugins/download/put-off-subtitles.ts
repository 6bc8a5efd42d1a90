/** fetch_subtitles: fetches postponed subtitles when the platform offers them again. */
import { defineTask, say, Type } from 'archivolt'
import type { App } from './app.ts'

export const fetchSubtitlesPutOff = defineTask({
  name: 'fetch_subtitles',
  title: 'Fetching subtitles',
  group: 'download:subtitles',
  payload: Type.Object({}),
  lane: 'platform',
  unique: true,
  resumable: true,
  retries: { times: 6, delaySeconds: 600, factor: 2 },
  async run(job, app: App) {
    let fetched = 0
    for (let id = app.extras.nextPutOff(); id !== undefined; id = app.extras.nextPutOff()) {
      job.progress(0, say`Waiting until ${{ platform: app.platform.name }} offers subtitles again`)
      await app.platform.untilSubtitles(job.signal)
      job.progress(0, say`Subtitles of ${{ title: await app.media.titleOf('video', id) }}`)
      await app.extras.fetchPutOff(id, job)
      if (app.extras.nextPutOff() !== id) fetched++
    }
    if (fetched === 0) return null
    return fetched === 1
      ? say`Subtitles of ${{ count: fetched }} video fetched`
      : say`Subtitles of ${{ count: fetched }} videos fetched`
  },
})
