/** Sets and removes marks: of one video, of chosen videos, or of all videos of a channel or playlist. */
import { actorOf, chunksOf, epochSeconds, errors, isAppError, type JobContext } from 'archivolt'
import { indexMarks, markVideos } from './bulk-mark-tasks.ts'
import type { Marking } from './bulk-marks.ts'
import type { WatchState } from './state.ts'
import type { MarkedTogether, Watch } from './types.ts'
import { noteBefore, openUndoing } from './undoing.ts'

/** Number of marks that are written together, because a write blocks the event loop. */
export const MARKED_AT_ONCE = 200

const FIELD_OF = { channel: 'channel_id', playlist: 'playlist' } as const

type Target = { kind: 'video'; id: string } | MarkedTogether

export function openMarking(state: WatchState) {
  const { app, markings } = state
  const undoing = openUndoing(state)

  return {
    ...undoing,

    async mark(userId, id, isWatched) {
      const target = await targetOf(state, id, userId)
      if (!target) throw errors.notFound('video, channel or playlist', id)
      if (target.kind === 'video') {
        await markVideo(state, userId, id, isWatched)
        return undefined
      }
      await app.index.writable()
      await undoing.forgetUndo()
      const number = await markings.add({ userId, ...target, isWatched, at: epochSeconds(app.clock) })
      await app.jobs.run(markVideos, { userId, number })
      return undoing.hasUndo(userId, number) ? number : undefined
    },

    async markChosen(userId, ids, isWatched) {
      await app.index.writable()
      const known = await app.videos.known(ids)
      for (const id of known) {
        await noteMark(state, userId, id, isWatched).catch((thrown: unknown) => {
          // The video was removed meanwhile.
          if (!isAppError(thrown, 'not_found') || !known.delete(id)) throw thrown
        })
      }
      await indexNow(state)
      return known.size
    },

    async markAll(userId, upTo, job) {
      // Wait for a running restore, because its videos are to be marked, too.
      await app.index.writable()
      await markings.workOff(userId, { upTo, signal: job.signal }, (marking) => markTogether(state, marking, job))
    },
  } satisfies Partial<Watch>
}

/** @throws not_found */
export async function markVideo(state: WatchState, userId: number, id: string, isWatched: boolean): Promise<void> {
  await state.app.index.writable()
  await noteMark(state, userId, id, isWatched)
  await indexNow(state)
}

async function markTogether(
  state: WatchState,
  marking: Marking,
  { step, signal }: Pick<JobContext<object>, 'step' | 'signal'>,
): Promise<void> {
  const { app, markings, positions, indexer } = state
  const { userId, isWatched, at } = marking
  for await (const batch of idsOf(state, marking, userId)) {
    const changed = await step('watch.note', () =>
      app.ledger.write(() => {
        const own = markings.leftAloneBy(marking, batch)
        const ids = batch.filter((id) => !own.has(id))
        if (app.accounts.get(userId)) noteBefore(app, marking, ids)
        const others = change(state, userId, ids, isWatched, at)
        if (others) positions.remove(userId, others)
        return others
      }),
    )
    if (!changed) return
    await step('watch.index', () => indexer.run(signal))
  }
}

/** @throws not_found */
async function noteMark(state: WatchState, userId: number, id: string, isWatched: boolean): Promise<void> {
  const { app, positions, markings } = state
  // The lock excludes a removal of the video, which also removes its marks.
  await app.videos.exclusive(id, async () => {
    if (!(await app.videos.has(id))) throw errors.notFound('video', id)
    await app.ledger.write(() => {
      if (!change(state, userId, [id], isWatched, epochSeconds(app.clock))) throw errors.notFound('user')
      markings.noteOwn(userId, [id])
      // Even if the mark does not change, so that an unwatched video starts from the beginning.
      positions.remove(userId, [id])
    })
  })
}

/**
 * Call inside a write of the ledger, so that nothing is written for an account that is being removed.
 * @returns the ids whose mark changed; undefined: the account does not exist
 */
export function change(
  { app, marks, positions }: WatchState,
  userId: number,
  ids: readonly string[],
  isWatched: boolean,
  at: number,
): string[] | undefined {
  if (!app.accounts.get(userId)) return undefined
  const changed = isWatched ? marks.add(userId, ids, at) : marks.remove(userId, ids)
  marks.noteUnindexed(userId, changed)
  if (isWatched) marks.noteViewer(userId)
  else positions.noteRemoved(userId, ids)
  return changed
}

/** Updates the index; if that is not possible now, a job does it as soon as possible. */
async function indexNow({ app, indexer }: WatchState): Promise<void> {
  try {
    await indexer.run()
  } catch (error) {
    await app.jobs.start(indexMarks)
    throw error
  }
}

/** Looks up the id as a video, then a channel, then a playlist, because its form does not show the kind. */
async function targetOf(state: WatchState, id: string, userId: number): Promise<Target | undefined> {
  const { videos, channels } = state.app
  if (await videos.has(id)) return { kind: 'video', id }
  if ((await channels.known([id])).has(id)) return { kind: 'channel', id }
  return (await videosOfPlaylist(state, id, userId)) && { kind: 'playlist', id }
}

/** Ids of the videos of a playlist. @returns undefined: the account sees no such playlist */
async function videosOfPlaylist({ app }: WatchState, id: string, userId: number): Promise<string[] | undefined> {
  const account = app.accounts.get(userId)
  return account && app.playlists.videosOf(id, actorOf(account))
}

/**
 * The video ids of a channel or playlist. For a playlist: the videos whose documents contain it, or the entries of a
 * private playlist, which is in no document. Includes only videos that the account sees, because the job that marks
 * them sees all.
 */
async function* idsOf(state: WatchState, { kind, id }: MarkedTogether, userId: number): AsyncGenerator<string[]> {
  const { accounts, videos, playlists } = state.app
  const view = accounts.get(userId) && accounts.viewOf(userId)
  const seen = view && videos.seenIn(view)
  const named = { eq: [FIELD_OF[kind], id] as [(typeof FIELD_OF)[typeof kind], string] }
  for await (const batch of videos.collection.scan({ filter: seen ? { and: [named, seen] } : named }))
    yield batch.map((video) => video.id)
  const listed = kind === 'playlist' && !(await playlists.has(id)) && (await videosOfPlaylist(state, id, userId))
  if (!listed) return
  for (const ids of chunksOf(listed, MARKED_AT_ONCE)) {
    const { hits } = await videos.collection.find({
      ...{ ids, filter: seen, size: ids.length },
      ...{ withoutTotal: true, withoutTexts: true },
    })
    yield hits.map((video) => video.id)
  }
}
