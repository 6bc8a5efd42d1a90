/** An account's position in a video, and the position from which the video counts as watched. */
import { errors } from 'archivolt'
import type { VideoTail } from '../video/schema.ts'
import { markVideo } from './mark.ts'
import type { WatchState } from './state.ts'
import type { Watch } from './types.ts'

/** From this position on a video counts as watched (contract 9.2). */
function watchedFrom(durationSeconds: number): number {
  if (durationSeconds < 60) return durationSeconds / 2
  return durationSeconds > 900 ? durationSeconds - 180 : durationSeconds * 0.9
}

export function openProgress(state: WatchState) {
  const { app, positions, marks } = state

  return {
    async position(userId, videoId) {
      if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
      return positions.get(userId, videoId)?.position ?? 0
    },

    async setPosition(userId, videoId, seconds, ago = 0) {
      const duration = await durationOf(state, videoId)
      if (ago === 0) for (const tell of app.hook('watch.reported')) await tell({ userId, videoId, position: seconds })
      const reached = duration > 0 ? Math.min(seconds, duration) : seconds
      const then = app.clock.now() - ago * 1000
      const isMarkedSince = (marks.among(userId, [videoId]).get(videoId) ?? 0) * 1000 > then
      if (ago > 0 && (isMarkedSince || positions.isNewer(userId, videoId, then)))
        return positions.get(userId, videoId)?.position ?? 0
      if (reached === 0) {
        await app.ledger.write(() => positions.remove(userId, [videoId]))
        return 0
      }
      const { autoWatched } = app.preferences.section('progress')
      if (autoWatched && duration > 0 && reached >= watchedFrom(duration) && !marks.among(userId, [videoId]).size) {
        await markVideo(state, userId, videoId, true)
        return 0
      }
      await app.ledger.write(() => {
        if (!app.accounts.get(userId)) throw errors.notFound('user')
        positions.set(userId, videoId, { position: reached, duration }, then)
        marks.noteViewer(userId)
      })
      return reached
    },

    async clearPosition(userId, videoId) {
      if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
      await app.ledger.write(() => positions.remove(userId, [videoId]))
    },

    tailsOf(ids, userId) {
      if (userId === 0) return new Map()
      const tails = new Map<string, VideoTail>()
      for (const [id, at] of marks.among(userId, ids))
        tails.set(id, { watched: true, ...(at !== null && { watched_date: at }) })
      for (const { id, position, duration } of positions.among(userId, ids)) {
        const progress = duration > 0 ? Math.min(100, (100 * position) / duration) : 0
        tails.set(id, { ...(tails.get(id) ?? { watched: false }), position, progress })
      }
      return tails
    },
  } satisfies Partial<Watch>
}

async function durationOf({ app }: WatchState, videoId: string): Promise<number> {
  const video = await app.videos.get(videoId)
  if (!video) throw errors.notFound('video', videoId)
  return video.player.duration
}
