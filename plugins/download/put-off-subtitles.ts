/** fetch_subtitles: fetches postponed subtitles when the platform offers them again. */
import { defineTask, say, Type } from 'archivolt'
import type { App } from './app.ts'

export const fetchPostponedSubtitles = defineTask({
  name: 'fetch_subtitles',
  title: 'Fetching subtitles',
  group: 'download:subtitles',
  payload: Type.Object({}),
  lane: 'platform',
  unique: true,
  resumable: true,
  retries: { times: 6, delaySeconds: 600, factor: 2, always: true },
  async run(job, app: App) {
    let fetched = 0
    const left = new Map<string, unknown>()
    for (let id = app.extras.nextPutOff(); id !== undefined && !left.has(id); id = app.extras.nextPutOff()) {
      job.progress(0, say`Waiting until ${{ platform: app.platform.name }} offers subtitles again`)
      await app.platform.untilSubtitles(job.signal)
      job.progress(0, say`Subtitles of ${{ title: await app.media.titleOf('video', id) }}`)
      const error = await app.extras.fetchPutOff(id, job)
      if (error !== undefined) left.set(id, error)
      else if (app.extras.nextPutOff() !== id) fetched++
    }
    if (left.size > 0) throw [...left.values()][0]
    if (fetched === 0) return null
    return fetched === 1
      ? say`Subtitles of ${{ count: fetched }} video fetched`
      : say`Subtitles of ${{ count: fetched }} videos fetched`
  },
})
