/**
 * podcast.make_sounds: makes the sound of the films in feeds, the newest first and one at a time while no other task
 * runs, until the size limit is reached. After an interruption, the current film starts over.
 */
import { rm } from 'node:fs/promises'
import { defineTask, diskSpace, type JobContext, Type } from 'archivolt'
import type { App } from './app.ts'

const SPARE_BYTES = 200 << 20

export const makeSounds = defineTask({
  name: 'podcast.make_sounds',
  title: 'Make the sound of podcasts',
  payload: Type.Object({}),
  lane: 'sound',
  internal: true,
  unique: true,
  resumable: true,
  givesWay: true,
  async run(job, app: App) {
    const { sounds } = app
    let bytes = 0
    for (const id of await sounds.wanted()) {
      if (job.isStopping() || bytes >= sounds.room()) return
      if (!sounds.has(id) && sounds.isPossible(id)) {
        if (!fits(bytes, sounds.sizes.get(id), app)) return
        await app.jobs.quiet(job)
        if ((await app.media.absence()) !== undefined) return
        if ((await diskSpace(app.settings.cacheDir)).free < SPARE_BYTES) return
        await makeOne(id, bytes, job, app)
        if (!sounds.has(id) && !fits(bytes, sounds.sizes.get(id), app)) return
      }
      const size = sounds.get(id)?.bytes ?? 0
      if (size > 0) sounds.sizes.set(id, size)
      bytes += size
    }
  },
})

/**
 * Whether the sound fits within the limit: one that would displace newer ones is not made again. The newest is always
 * made.
 */
const fits = (before: number, size: number | undefined, { sounds }: App): boolean =>
  before === 0 || size === undefined || before + size <= sounds.room()

/** @param before  the total size of the sound of newer videos */
async function makeOne(id: string, before: number, job: JobContext<object>, app: App): Promise<void> {
  const { sounds, videos } = app
  const video = await videos.get(id)
  if (!video || sounds.isSound(video)) return
  try {
    const size = await sounds.make(video, job.signal)
    sounds.sizes.set(id, size)
    if (!fits(before, size, app)) return
    await job.step('podcast.keep', () =>
      // The video may have been removed or replaced in the meantime.
      videos.exclusive(id, async () => {
        const now = await videos.get(id)
        if (now?.date_downloaded === video.date_downloaded) await sounds.keep(id)
      }),
    )
  } catch (error) {
    job.signal.throwIfAborted()
    job.log.warn({ err: error, id }, 'the sound of a video could not be made')
    sounds.giveUp(video, error)
  } finally {
    await rm(sounds.draftOf(id), { force: true })
  }
}
