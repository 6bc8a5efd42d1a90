/** Stores an account's position in a video, and decides from which position the video counts as watched. */
import { errors } from 'archivolt'
import type { VideoTail } from '../video/schema.ts'
import { markVideo } from './set-marks.ts'
import type { WatchState } from './state.ts'
import type { Watch } from './types.ts'

/** The position from which a video counts as watched (contract 9.2). */
function watchedFrom(durationSeconds: number): number {
  if (durationSeconds < 60) return durationSeconds / 2
  return durationSeconds > 900 ? durationSeconds - 180 : durationSeconds * 0.9
}

/** A position that a player has sent. */
interface Report {
  userId: number
  videoId: string
  /** Seconds, like `duration`. */
  position: number
  duration: number
  /** When the player was at this position, in epoch milliseconds. */
  at: number
  /** The report was sent later, for example because the player was offline. */
  isLate: boolean
}

export function openProgress(state: WatchState) {
  const { app, positions, marks } = state

  /** Does the work while a lock prevents removal of the video, which also removes its positions. @throws not_found */
  function whileThere<Result>(id: string, channelId: string, work: () => Promise<Result>): Promise<Result> {
    const ifThere = async () => {
      if (!(await app.videos.has(id))) throw errors.notFound('video', id)
      return work()
    }
    return app.videos.exclusive(id, ifThere, channelId)
  }

  /**
   * Call inside a write of the ledger, so that nothing changes between the check of a late report and its effect.
   * @returns the stored position; undefined: the video is to be marked as watched instead
   */
  function store({ userId, videoId, position, duration, at, isLate }: Report): number | undefined {
    const watchedAt = marks.among(userId, [videoId])
    const isMarkedSince = (watchedAt.get(videoId) ?? 0) * 1000 > at
    if (isLate && (isMarkedSince || positions.isNewer(userId, videoId, at)))
      return positions.get(userId, videoId)?.position ?? 0
    if (position === 0) {
      clear(userId, videoId, at)
      return 0
    }
    const { autoWatched } = app.preferences.section('progress')
    if (autoWatched && duration > 0 && position >= watchedFrom(duration) && watchedAt.size === 0) return undefined
    if (!app.accounts.get(userId)) throw errors.notFound('user')
    positions.set(userId, videoId, { position, duration }, at)
    marks.noteViewer(userId)
    return position
  }

  function clear(userId: number, videoId: string, ms?: number): void {
    positions.remove(userId, [videoId])
    positions.noteRemoved(userId, [videoId], ms)
  }

  return {
    async position(userId, videoId) {
      if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
      return positions.get(userId, videoId)?.position ?? 0
    },

    async setPosition(userId, videoId, seconds, ago = 0) {
      const video = await app.videos.get(videoId)
      if (!video) throw errors.notFound('video', videoId)
      if (ago === 0) for (const tell of app.hook('watch.reported')) await tell({ userId, videoId, position: seconds })
      const { duration } = video.player
      const report = {
        ...{ userId, videoId, duration, position: duration > 0 ? Math.min(seconds, duration) : seconds },
        at: app.clock.now() - ago * 1000,
        isLate: ago > 0,
      }
      const stored = await whileThere(videoId, video.channel_id, () => app.ledger.write(() => store(report)))
      if (stored !== undefined) return stored
      await markVideo(state, userId, videoId, true)
      return 0
    },

    async clearPosition(userId, videoId) {
      if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
      await app.ledger.write(() => clear(userId, videoId))
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
