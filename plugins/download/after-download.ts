/** What follows a download run: auto-delete, what later plugins add, and comments of the new videos. */
import { DAY_SECONDS, epochSeconds, isAppError, isStop, type JobContext, untilStop } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoOutline } from '../video/types.ts'
import type { App } from './app.ts'

export interface AfterDownload {
  /** @param ingested  ids of the videos that the run brought */
  run(ingested: readonly string[], job: JobContext<object>): Promise<void>
}

export function openAfterDownload(app: App): AfterDownload {
  async function deleteWatched(job: JobContext<object>): Promise<void> {
    if ((await app.media.absence()) !== undefined) return // the next run does it
    const everywhere = app.preferences.section('downloads').autodelete_days
    const channels = await app.channels.withOverwrite('autodelete_days')
    const own = new Map(channels.map(({ id, value }) => [id, Number(value)]))
    const watchedBefore = (days: number) => epochSeconds(app.clock) - days * DAY_SECONDS
    const groups: Array<{ days: number; where: VideoFilter }> = [
      ...[...own].map(([id, days]) => ({ days, where: { eq: ['channel_id', id] } satisfies VideoFilter })),
      ...(everywhere
        ? [{ days: everywhere, where: { not: { in: ['channel_id', [...own.keys()]] } } satisfies VideoFilter }]
        : []),
    ]
    for (const { days, where } of groups) {
      if (!days) continue // 0 of a channel: never
      const before = watchedBefore(days)
      for (const video of await everyOne(app.watch.watchedBefore(before, where))) {
        if (job.isStopping()) return
        // The list may be long: somebody may have changed their mind meanwhile.
        // What lies in a place is another program's to keep or remove.
        const mayGo = app.media.isOurs(video.id) && app.watch.isWatchedBefore(video.id, before)
        if (mayGo && !(await app.videos.get(video.id))?.keep) await removeAndIgnore(video, job)
      }
    }
  }

  async function removeAndIgnore(video: VideoOutline, job: JobContext<object>): Promise<void> {
    const { id } = video
    await app.queue.add([video], 'ignore', { force: true })
    try {
      await app.videos.remove(id, { why: 'watched' })
      job.log.info({ id }, 'watched long ago: removed and ignored')
    } catch (error) {
      if (!isAppError(error, 'unavailable')) throw error
      // The next run tries again; what else is due does not wait for it.
      job.log.warn({ id, reason: error.message }, 'watched long ago, but cannot be removed')
    }
  }

  return {
    async run(ingested, job) {
      await job.step('download.autodelete', () => deleteWatched(job))
      try {
        for (const later of app.hook('download.after')) await later(ingested, untilStop(job))
        await job.step('download.comments', () => app.extras.fetchDue(untilStop(job)))
      } catch (thrown) {
        // Comments that are due stay noted.
        if (!isStop(thrown, job)) throw thrown
      }
    },
  }
}

/** Before any of them is removed: a list that is read while it changes may leave some out. */
async function everyOne<Item>(batches: AsyncIterable<Item[]>): Promise<Item[]> {
  const all: Item[] = []
  for await (const batch of batches) all.push(...batch)
  return all
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked after each download run, with the ids that it brought: does what else is due. It may be done twice. */
    'download.after': (ingested: readonly string[], job: JobContext<object>) => Promise<void>
  }
}
