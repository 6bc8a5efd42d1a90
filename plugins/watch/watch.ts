/** The service `watch`: marks of videos, and positions of users. */
import { epochSeconds, errors, MAX_WINDOW } from 'archivolt'
import type { App } from './app.ts'
import { openPositions } from './positions.ts'
import { markVideos } from './tasks.ts'

const CHUNK = 1000

/** What is marked: one video, or all of a channel or playlist. */
export type Target = { kind: 'video' | 'channel' | 'playlist'; id: string }

const FIELD_OF = { video: 'platform_id', channel: 'channel_id', playlist: 'playlist' } as const

/** From this position on a video counts as watched (contract 9.2). */
function watchedFrom(durationSeconds: number): number {
  if (durationSeconds < 60) return durationSeconds / 2
  return durationSeconds > 900 ? durationSeconds - 180 : durationSeconds * 0.9
}

export type Watch = ReturnType<typeof openWatch>

export function openWatch(app: App) {
  const positions = openPositions(app)

  /** A video, else a channel, else a playlist: looked up, never guessed from the form of the id. */
  async function targetOf(id: string): Promise<Target | undefined> {
    const homes = [
      ['video', app.videos],
      ['channel', app.channels],
      ['playlist', app.playlists],
    ] as const
    for (const [kind, home] of homes) if ((await home.known([id])).has(id)) return { kind, id }
    return undefined
  }

  /** Of the target's videos, those in the other state. */
  const unlike = (
    { kind, id }: Target,
    isWatched: boolean,
  ): { and: Array<{ eq: [(typeof FIELD_OF)[Target['kind']] | 'watched', string | boolean] }> } => ({
    and: [{ eq: [FIELD_OF[kind], id] }, { eq: ['watched', !isWatched] }],
  })

  /** Takes the user's positions in all videos that match. */
  async function forgetWhere(userId: number, filter: ReturnType<typeof unlike>): Promise<void> {
    let last = ''
    for (
      let ids = positions.ofUserAfter(userId, last, CHUNK);
      ids.length;
      ids = positions.ofUserAfter(userId, last, CHUNK)
    ) {
      last = ids.at(-1)!
      const { hits } = await app.videos.collection.find({ ids, filter, size: ids.length, withoutTotal: true })
      if (hits.length)
        await positions.remove(
          userId,
          hits.map(({ id }) => id),
        )
    }
  }

  async function durationOf(videoId: string): Promise<{ duration: number; watched: boolean }> {
    const video = await app.videos.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    return video.player
  }

  return {
    /**
     * Marks a video, or all videos of a channel or playlist whose state differs, and takes the user's positions in
     * them.
     * @throws not_found  the id is none of these
     */
    async mark(userId: number, id: string, isWatched: boolean): Promise<void> {
      const target = await targetOf(id)
      if (!target) throw errors.notFound('video, channel or playlist', id)
      if (target.kind === 'video') {
        await app.index.writable()
        // The position is removed even where the mark stays: so an unwatched video can be begun anew.
        await positions.remove(userId, [id])
        await this.markNow(userId, target, isWatched, epochSeconds(app.clock))
      } else {
        await app.jobs.run(markVideos, { userId, ...target, isWatched, at: epochSeconds(app.clock) })
      }
    },

    /**
     * Positions first: when it is cut off after them, the videos still differ, and a second run finds them. @param at
     * epoch seconds
     */
    async markNow(
      userId: number,
      target: Target,
      isWatched: boolean,
      at: number,
      options: { signal?: AbortSignal; progress?: (done: number) => void } = {},
    ): Promise<void> {
      const filter = unlike(target, isWatched)
      await forgetWhere(userId, filter)
      const player = isWatched ? { watched: true, watched_date: at } : { watched: false, watched_date: null }
      await app.videos.collection.patchWhere(filter, { set: { player } }, { visible: true, ...options })
    },

    /** @returns seconds, 0 where nothing is stored. @throws not_found */
    async position(userId: number, videoId: string): Promise<number> {
      await durationOf(videoId)
      return positions.get(userId, videoId)?.position ?? 0
    },

    /** @returns what is stored now: at most the duration; 0: nothing. @throws not_found */
    async setPosition(userId: number, videoId: string, seconds: number): Promise<number> {
      const { duration, watched } = await durationOf(videoId)
      const position = duration > 0 ? Math.min(seconds, duration) : seconds
      if (position === 0) {
        await positions.remove(userId, [videoId])
        return 0
      }
      const { autoWatched } = app.preferences.section('progress')
      if (autoWatched && !watched && duration > 0 && position >= watchedFrom(duration)) {
        await this.mark(userId, videoId, true)
        return 0
      }
      await positions.set(userId, videoId, { position, duration })
      return position
    },

    /** @throws not_found */
    async clearPosition(userId: number, videoId: string): Promise<void> {
      await durationOf(videoId)
      await positions.remove(userId, [videoId])
    },

    /** What records of videos say about the user. Videos without a position are left out. */
    progressOf(ids: readonly string[], userId: number): Map<string, { position: number; progress: number }> {
      if (userId === 0) return new Map()
      return new Map(
        positions
          .among(userId, ids)
          .map(({ id, position, duration }) => [
            id,
            { position, progress: duration > 0 ? Math.min(100, (100 * position) / duration) : 0 },
          ]),
      )
    },

    /** Videos that the user has begun, by when the position last changed, newest first; watched ones too. */
    begun: (userId: number): string[] => positions.newest(userId, MAX_WINDOW),

    /** Removes everybody's positions in a video. */
    forget: (videoId: string): Promise<void> => positions.removeVideos([videoId]),

    /** Positions in videos that are not kept any more: after a restore. @returns in how many videos */
    async forgetGone(signal?: AbortSignal): Promise<number> {
      let last = ''
      let forgotten = 0
      for (let ids = positions.videosAfter(last, CHUNK); ids.length; ids = positions.videosAfter(last, CHUNK)) {
        signal?.throwIfAborted()
        last = ids.at(-1)!
        const known = await app.videos.known(ids)
        const gone = ids.filter((id) => !known.has(id))
        if (gone.length) await positions.removeVideos(gone)
        forgotten += gone.length
      }
      return forgotten
    },
  }
}
