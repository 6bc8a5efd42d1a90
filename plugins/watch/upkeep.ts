/**
 * What keeps marks, positions and index together: at the start, after a restore, where an account or a video is gone.
 */
import { MARKED_AT_ONCE } from './mark.ts'
import { indexMarks, markVideos } from './marking-tasks.ts'
import { SHARED_MARKS, UPGRADE } from './settling.ts'
import type { WatchState } from './state.ts'

const CHUNK = 1000
const TOLD_EVERY_MS = 5000

/** As `Watch.begin` says. */
export async function begin(state: WatchState): Promise<void> {
  const { app, marks, markings } = state
  if (marks.isPending(UPGRADE)) await takeSharedMarks(state)
  for (const userId of markings.accounts()) await app.jobs.start(markVideos, { userId })
  const isBehind = marks.unindexed(1).length > 0 || [...marks.accounts()].some((id) => !app.accounts.get(id))
  if (isBehind) await app.jobs.start(indexMarks)
}

/** As `Watch.takeSharedMarks` says. */
export async function takeSharedMarks({ app, marks, settling }: WatchState): Promise<void> {
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
  await app.ledger.write(() => {
    marks.noteDone(SHARED_MARKS)
    marks.noteDone(UPGRADE)
  })
}

/** As `Watch.catchUp` says. */
export async function catchUp(state: WatchState, signal?: AbortSignal): Promise<void> {
  const { app, marks, indexer } = state
  for (const userId of [...marks.accounts()]) if (!app.accounts.get(userId)) await forgetAccount(state, userId, signal)
  await indexer.run(signal)
}

/** Marks of an account that is gone, in pieces. */
async function forgetAccount({ app, marks, indexer }: WatchState, userId: number, signal?: AbortSignal): Promise<void> {
  for (let ids = marks.someOf(userId, MARKED_AT_ONCE); ids.length > 0; ids = marks.someOf(userId, MARKED_AT_ONCE)) {
    signal?.throwIfAborted()
    await app.ledger.write(() => marks.noteUnindexed(userId, marks.remove(userId, ids)))
    await indexer.run(signal)
  }
}

/** As `Watch.forgetAll` says. */
export const forgetAll = ({ app, marks, positions }: WatchState, ids: readonly string[]): Promise<void> =>
  app.ledger.write(() => {
    positions.removeVideos(ids)
    marks.removeVideos(ids)
  })

/** As `Watch.forgetGone` says. */
export async function forgetGone({ app, positions }: WatchState, signal?: AbortSignal): Promise<number> {
  let last = ''
  let forgotten = 0
  for (let ids = positions.videosAfter(last, CHUNK); ids.length; ids = positions.videosAfter(last, CHUNK)) {
    signal?.throwIfAborted()
    last = ids.at(-1)!
    const known = await app.videos.known(ids)
    const gone = ids.filter((id) => !known.has(id))
    if (gone.length) await app.ledger.write(() => positions.removeVideos(gone))
    forgotten += gone.length
  }
  return forgotten
}
