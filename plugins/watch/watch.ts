/** The service `watch`: what each account has watched, and how far it has come. */
import { chunksOf, epochSeconds, errors, isAppError, type JobContext, MAX_WINDOW } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoTail } from '../video/schema.ts'
import type { VideoOutline } from '../video/videos.ts'
import type { App } from './app.ts'
import { openMarkIndexer } from './indexing.ts'
import { type Mark, openMarks } from './marks.ts'
import { openPositions } from './positions.ts'
import { openSettling, SHARED_MARKS, UPGRADE } from './settling.ts'
import { indexMarks, markVideos } from './tasks.ts'

const CHUNK = 1000
/** Marks that are written at a time, on the event loop. */
const MARKED_AT_ONCE = 200
const TOLD_EVERY_MS = 5000

/** What is marked: one video, or all of a channel or playlist. */
type MarkedTogether = { kind: 'channel' | 'playlist'; id: string }
type Target = { kind: 'video'; id: string } | MarkedTogether

const FIELD_OF = { channel: 'channel_id', playlist: 'playlist' } as const

/** Whose watching counts for deletion: that of one at least, of all who watch here, of all admins who do. */
export const WHOSE = ['anyone', 'everyone', 'admins'] as const
type Whose = (typeof WHOSE)[number]

/** From this position on a video counts as watched (contract 9.2). */
function watchedFrom(durationSeconds: number): number {
  if (durationSeconds < 60) return durationSeconds / 2
  return durationSeconds > 900 ? durationSeconds - 180 : durationSeconds * 0.9
}

/** What an account has done with a video elsewhere. */
export interface Elsewhere {
  id: string
  /** When it was watched, in epoch seconds. */
  at?: number
  /** How far it has come. */
  seconds?: number
}

export type Watch = ReturnType<typeof openWatch>

export function openWatch(app: App) {
  const positions = openPositions(app)
  const marks = openMarks(app)
  const indexer = openMarkIndexer(app, marks)
  const settling = openSettling(app, marks, indexer)
  const { ledger } = app

  /** A video, else a channel, else a playlist: looked up, never guessed from the form of the id. */
  async function targetOf(id: string, userId: number): Promise<Target | undefined> {
    if (await app.videos.has(id)) return { kind: 'video', id }
    if ((await app.channels.known([id])).has(id)) return { kind: 'channel', id }
    return (await videosOfPlaylist(id, userId)) && { kind: 'playlist', id }
  }

  /** Ids of the videos of a playlist that the account sees. undefined: there is none for it. */
  async function videosOfPlaylist(id: string, userId: number): Promise<string[] | undefined> {
    const account = app.accounts.get(userId)
    if (!account) return undefined
    const { username, is_staff: isAdmin, may_download: mayDownload } = account
    return app.playlists.videosOf(id, { id: userId, username, isAdmin, mayDownload, via: 'none' })
  }

  /** Of a playlist the videos that say so, and those of a private one, which no video tells of. */
  async function* idsOf({ kind, id }: MarkedTogether, userId: number): AsyncGenerator<string[]> {
    for await (const batch of app.videos.collection.scan({ filter: { eq: [FIELD_OF[kind], id] } }))
      yield batch.map((video) => video.id)
    const listed = kind === 'playlist' && !(await app.playlists.has(id)) && (await videosOfPlaylist(id, userId))
    if (listed) {
      for (const some of chunksOf(listed, MARKED_AT_ONCE)) {
        const known = await app.videos.known(some)
        yield some.filter((videoId) => known.has(videoId))
      }
    }
  }

  async function mustBeThere(videoId: string): Promise<void> {
    if (!(await app.videos.has(videoId))) throw errors.notFound('video', videoId)
  }

  async function durationOf(videoId: string): Promise<number> {
    const video = await app.videos.get(videoId)
    if (!video) throw errors.notFound('video', videoId)
    return video.player.duration
  }

  /**
   * Inside a write of the ledger, so that nothing is written of an account that is being removed.
   * @returns which were in the other state; undefined: there is no such account
   */
  function change(userId: number, ids: readonly string[], isWatched: boolean, at: number): string[] | undefined {
    if (!app.accounts.get(userId)) return undefined
    const changed = isWatched ? marks.add(userId, ids, at) : marks.remove(userId, ids)
    marks.noteUnindexed(userId, changed)
    if (isWatched) marks.noteViewer(userId)
    return changed
  }

  /** What cannot be brought into the index now is brought there by a job, which waits until it can be. */
  async function indexNow(): Promise<void> {
    try {
      await indexer.run()
    } catch (error) {
      await app.jobs.start(indexMarks)
      throw error
    }
  }

  /** @throws not_found */
  async function noteMark(userId: number, id: string, isWatched: boolean): Promise<void> {
    // A removal of the video, which takes its marks, is over or has not begun.
    await app.videos.exclusive(id, async () => {
      await mustBeThere(id)
      await ledger.write(() => {
        if (!change(userId, [id], isWatched, epochSeconds(app.clock))) throw errors.notFound('user')
        // Also where the mark stays: so an unwatched video can be begun anew.
        positions.remove(userId, [id])
      })
    })
  }

  async function markVideo(userId: number, id: string, isWatched: boolean): Promise<void> {
    await app.index.writable()
    await noteMark(userId, id, isWatched)
    await indexNow()
  }

  /** Marks of an account that is gone, in pieces. */
  async function forgetAccount(userId: number, signal?: AbortSignal): Promise<void> {
    for (let ids = marks.someOf(userId, MARKED_AT_ONCE); ids.length > 0; ids = marks.someOf(userId, MARKED_AT_ONCE)) {
      signal?.throwIfAborted()
      await ledger.write(() => marks.noteUnindexed(userId, marks.remove(userId, ids)))
      await indexer.run(signal)
    }
  }

  const whoseCounts = (): Whose => app.preferences.section('progress').watchedBy

  function accountsThatCount(whose: Whose): number[] {
    const accounts = app.accounts.list()
    if (whose === 'anyone') return accounts.map(({ id }) => id)
    const viewers = new Set(marks.viewers())
    return accounts
      .filter(({ id, is_active, is_staff }) => is_active && viewers.has(id) && (whose === 'everyone' || is_staff))
      .map(({ id }) => id)
  }

  /** Of these videos, those that were watched by all who count before that time. */
  function watchedByThen(
    ids: readonly string[],
    whose: Whose,
    accounts: readonly number[],
    epoch: number,
  ): Set<string> {
    const isThen = ({ at }: Mark) => at !== null && at < epoch
    const count = new Map<string, number>()
    for (const mark of marks.ofVideos(ids)) {
      if (isThen(mark) && accounts.includes(mark.userId)) count.set(mark.videoId, (count.get(mark.videoId) ?? 0) + 1)
    }
    const needed = whose === 'anyone' ? 1 : Math.max(1, accounts.length)
    return new Set(ids.filter((id) => (count.get(id) ?? 0) >= needed))
  }

  const forgetAll = (ids: readonly string[]): Promise<void> =>
    ledger.write(() => {
      positions.removeVideos(ids)
      marks.removeVideos(ids)
    })

  return {
    /**
     * Marks a video, or all videos of a channel or playlist, as watched by this account or not, and takes its positions
     * in those whose mark changes.
     * @throws not_found  the id is none of these
     */
    async mark(userId: number, id: string, isWatched: boolean): Promise<void> {
      const target = await targetOf(id, userId)
      if (!target) throw errors.notFound('video, channel or playlist', id)
      if (target.kind === 'video') return markVideo(userId, id, isWatched)
      await app.jobs.run(markVideos, { userId, ...target, isWatched, at: epochSeconds(app.clock) })
    },

    /** Chosen videos; those that are not there are left out. @returns how many were there */
    async markChosen(userId: number, ids: readonly string[], isWatched: boolean): Promise<number> {
      await app.index.writable()
      const known = await app.videos.known(ids)
      for (const id of known) {
        await noteMark(userId, id, isWatched).catch((thrown: unknown) => {
          // It has been removed meanwhile.
          if (!isAppError(thrown, 'not_found') || !known.delete(id)) throw thrown
        })
      }
      await indexNow()
      return known.size
    },

    /**
     * All videos of a channel or playlist, batch by batch: what is cut off is found again by a second run. It ends where
     * the account is removed meanwhile.
     * @param at  epoch seconds
     */
    async markAll(
      userId: number,
      target: MarkedTogether,
      isWatched: boolean,
      at: number,
      { step, signal }: Pick<JobContext<object>, 'step' | 'signal'>,
    ): Promise<void> {
      // What a restore is putting there is meant too.
      await app.index.writable()
      for await (const ids of idsOf(target, userId)) {
        const changed = await step('watch.note', () =>
          ledger.write(() => {
            const others = change(userId, ids, isWatched, at)
            if (others) positions.remove(userId, others)
            return others
          }),
        )
        if (!changed) return
        await step('watch.index', () => indexer.run(signal))
      }
    },

    /** Of these videos, those that the account has neither watched nor begun. */
    untouchedBy(userId: number, ids: readonly string[]): Set<string> {
      const [watched, begun] = [marks.among(userId, ids), positions.among(userId, ids)]
      const touched = new Set([...watched.keys(), ...begun.map(({ id }) => id)])
      return new Set(ids.filter((id) => !touched.has(id)))
    },

    /**
     * What an account has watched and begun in another program. What it has done here stays as it is. May be done twice.
     */
    async takeOver(userId: number, told: readonly Elsewhere[], signal?: AbortSignal): Promise<void> {
      const begun = told.filter(({ seconds }) => seconds !== undefined)
      const docs = await app.videos.collection.getMany(begun.map(({ id }) => id))
      await ledger.write(() => {
        for (const { id, at } of told) if (at !== undefined) change(userId, [id], true, at)
        const free = this.untouchedBy(
          userId,
          begun.map(({ id }) => id),
        )
        for (const { id, seconds = 0 } of begun) {
          const duration = docs.get(id)?.player.duration ?? 0
          const position = duration > 0 ? Math.min(seconds, duration) : seconds
          if (free.has(id) && position > 0) positions.set(userId, id, { position, duration })
        }
      })
      await indexer.run(signal)
    },

    /** Takes back what `takeOver` has brought, unless the account has changed it since. */
    async giveBack(userId: number, told: readonly Elsewhere[], signal?: AbortSignal): Promise<void> {
      const ids = told.map(({ id }) => id)
      await ledger.write(() => {
        const [watched, begun] = [marks.among(userId, ids), positions.among(userId, ids)]
        for (const { id, at } of told) if (at !== undefined && watched.get(id) === at) change(userId, [id], false, at)
        const same = begun.filter(({ id, position, duration }) =>
          told.some(
            (one) =>
              one.id === id && one.seconds !== undefined && position === Math.min(one.seconds, duration || one.seconds),
          ),
        )
        positions.remove(
          userId,
          same.map(({ id }) => id),
        )
      })
      await indexer.run(signal)
    },

    /** Brings into the index what it does not know yet, and takes the marks of accounts that are gone. */
    async catchUp(signal?: AbortSignal): Promise<void> {
      for (const userId of [...marks.accounts()]) if (!app.accounts.get(userId)) await forgetAccount(userId, signal)
      await indexer.run(signal)
    },

    /** What a start does before the first request. */
    async begin(): Promise<void> {
      if (marks.isPending(UPGRADE)) await this.takeSharedMarks()
      const isBehind = marks.unindexed(1).length > 0 || [...marks.accounts()].some((id) => !app.accounts.get(id))
      if (isBehind) await app.jobs.start(indexMarks)
    },

    /** Once: what was watched when all accounts shared one mark, has been watched by each of them. */
    async takeSharedMarks(): Promise<void> {
      let told = app.clock.steady()
      await settling.all({
        progress(done) {
          if (app.clock.steady() - told < TOLD_EVERY_MS) return
          told = app.clock.steady()
          app.log.info(`marks of each account: ${done} videos done`)
        },
      })
      // Documents that are missing may come back, from a snapshot of that time.
      if (app.index.lost !== undefined) return
      await ledger.write(() => {
        marks.noteDone(SHARED_MARKS)
        marks.noteDone(UPGRADE)
      })
    },

    settleAll: settling.all,
    settleVideo: settling.video,

    /** Of these videos, those that the account has watched: when, in epoch seconds; null: nobody knows. */
    watchedAmong: marks.among,

    /** @returns seconds, 0 where nothing is stored. @throws not_found */
    async position(userId: number, videoId: string): Promise<number> {
      await mustBeThere(videoId)
      return positions.get(userId, videoId)?.position ?? 0
    },

    /**
     * @param ago  seconds since the account was there: what it has done later stays
     * @returns what is stored now: at most the duration; 0: nothing. @throws not_found
     */
    async setPosition(userId: number, videoId: string, seconds: number, ago = 0): Promise<number> {
      const duration = await durationOf(videoId)
      const position = duration > 0 ? Math.min(seconds, duration) : seconds
      const then = app.clock.now() - ago * 1000
      const isMarkedSince = (marks.among(userId, [videoId]).get(videoId) ?? 0) * 1000 > then
      if (ago > 0 && (isMarkedSince || positions.isNewer(userId, videoId, then)))
        return positions.get(userId, videoId)?.position ?? 0
      if (position === 0) {
        await ledger.write(() => positions.remove(userId, [videoId]))
        return 0
      }
      const { autoWatched } = app.preferences.section('progress')
      if (autoWatched && duration > 0 && position >= watchedFrom(duration) && !marks.among(userId, [videoId]).size) {
        await markVideo(userId, videoId, true)
        return 0
      }
      await ledger.write(() => {
        if (!app.accounts.get(userId)) throw errors.notFound('user')
        positions.set(userId, videoId, { position, duration }, then)
        marks.noteViewer(userId)
      })
      return position
    },

    /** @throws not_found */
    async clearPosition(userId: number, videoId: string): Promise<void> {
      await mustBeThere(videoId)
      await ledger.write(() => positions.remove(userId, [videoId]))
    },

    /** What records of videos say about the account. Those that it has neither watched nor begun are left out. */
    tailsOf(ids: readonly string[], userId: number): Map<string, VideoTail> {
      if (userId === 0) return new Map()
      const tails = new Map<string, VideoTail>()
      for (const [id, at] of marks.among(userId, ids))
        tails.set(id, { watched: true, ...(at !== null && { watched_date: at }), position: 0, progress: 0 })
      for (const { id, position, duration } of positions.among(userId, ids)) {
        const progress = duration > 0 ? Math.min(100, (100 * position) / duration) : 0
        tails.set(id, { ...(tails.get(id) ?? { watched: false }), position, progress })
      }
      return tails
    },

    /** Videos that the account has begun, by when the position last changed, newest first; watched ones too. */
    begun: (userId: number): string[] => positions.newest(userId, MAX_WINDOW),

    /** Videos that were watched longer ago than that by those who count, in batches. */
    async *watchedBefore(epoch: number, where?: VideoFilter): AsyncGenerator<VideoOutline[]> {
      const whose = whoseCounts()
      const accounts = accountsThatCount(whose)
      if (accounts.length === 0) return
      const byEach = accounts.map((id): VideoFilter => ({ eq: ['watched_by', String(id)] }))
      const watched: VideoFilter = whose === 'anyone' ? { or: byEach } : { and: byEach }
      for await (const batch of app.videos.outlines({ and: where ? [where, watched] : [watched] })) {
        const found = watchedByThen(
          batch.map(({ id }) => id),
          whose,
          accounts,
          epoch,
        )
        yield batch.filter(({ id }) => found.has(id))
      }
    },

    /** As the marks say now. */
    isWatchedBefore(id: string, epoch: number): boolean {
      const whose = whoseCounts()
      return watchedByThen([id], whose, accountsThatCount(whose), epoch).has(id)
    },

    /** Removes everybody's marks of a video and positions in it. */
    forget: (videoId: string): Promise<void> => forgetAll([videoId]),
    forgetAll,

    /**
     * Positions in videos that are not kept any more: after a restore. Marks stay: what a rescan brings back was
     * watched.
     * @returns in how many videos
     */
    async forgetGone(signal?: AbortSignal): Promise<number> {
      let last = ''
      let forgotten = 0
      for (let ids = positions.videosAfter(last, CHUNK); ids.length; ids = positions.videosAfter(last, CHUNK)) {
        signal?.throwIfAborted()
        last = ids.at(-1)!
        const known = await app.videos.known(ids)
        const gone = ids.filter((id) => !known.has(id))
        if (gone.length) await ledger.write(() => positions.removeVideos(gone))
        forgotten += gone.length
      }
      return forgotten
    },
  }
}
