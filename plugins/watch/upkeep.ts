/**
 * Keeps marks, positions and index consistent: at the start, after a restore, after the removal of an account or video.
 */
import { indexMarks, markVideos } from './bulk-mark-tasks.ts'
import { MARKED_AT_ONCE } from './set-marks.ts'
import { SHARED_MARKS, UPGRADE } from './settling.ts'
import type { WatchState } from './state.ts'
import type { Watch } from './types.ts'

const CHUNK = 1000
const TOLD_EVERY_MS = 5000

export function openUpkeep(state: WatchState) {
  const { app, marks, markings, settling, indexer, positions } = state

  async function takeSharedMarks(): Promise<void> {
    let told = app.clock.steady()
    await settling.all({
      progress(done) {
        if (app.clock.steady() - told < TOLD_EVERY_MS) return
        told = app.clock.steady()
        app.log.info(`converting shared marks to marks of each account: ${done} videos done`)
      },
    })
    // Missing documents may be restored from a snapshot of the same time.
    if (app.index.lost !== undefined) return
    await app.ledger.write(() => {
      marks.noteDone(SHARED_MARKS)
      marks.noteDone(UPGRADE)
    })
  }

  return {
    async begin() {
      if (marks.isPending(UPGRADE)) await takeSharedMarks()
      for (const userId of markings.accounts()) await app.jobs.start(markVideos, { userId })
      const isBehind = marks.unindexed(1).length > 0 || [...marks.accounts()].some((id) => !app.accounts.get(id))
      if (isBehind) await app.jobs.start(indexMarks)
    },

    takeSharedMarks,

    async catchUp(signal) {
      for (const userId of [...marks.accounts()])
        if (!app.accounts.get(userId)) await forgetAccount(state, userId, signal)
      await indexer.run(signal)
    },

    forgetAll: (ids) =>
      app.ledger.write(() => {
        positions.removeVideos(ids)
        marks.removeVideos(ids)
      }),

    async forgetGone(signal) {
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
    },
  } satisfies Partial<Watch>
}

/** Removes the marks of a removed account, in batches. */
async function forgetAccount({ app, marks, indexer }: WatchState, userId: number, signal?: AbortSignal): Promise<void> {
  for (let ids = marks.someOf(userId, MARKED_AT_ONCE); ids.length > 0; ids = marks.someOf(userId, MARKED_AT_ONCE)) {
    signal?.throwIfAborted()
    await app.ledger.write(() => marks.noteUnindexed(userId, marks.remove(userId, ids)))
    await indexer.run(signal)
  }
}
