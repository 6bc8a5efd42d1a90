/** fetch_subtitles: what the platform refused of subtitles is fetched once it gives them again. */
import { defineTask, Type } from 'archivolt'
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
      job.progress(0, `Waiting until ${app.platform.name} gives subtitles again`)
      await app.platform.untilSubtitles(job.signal)
      job.progress(0, `Subtitles of ${id}`)
      await app.extras.fetchPutOff(id, job)
      if (app.extras.nextPutOff() !== id) fetched++
    }
    return fetched ? `Subtitles of ${fetched} ${fetched === 1 ? 'video' : 'videos'} fetched` : null
  },
})
