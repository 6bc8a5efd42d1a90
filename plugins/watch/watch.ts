/**
 * The service `watch`: what each account has watched, and how far it has come. Each verb is a module over its state.
 */
import { MAX_WINDOW } from 'archivolt'
import type { App } from './app.ts'
import { giveBack, takeOver, untouchedBy } from './elsewhere.ts'
import { mark, markAll, markChosen } from './mark.ts'
import { clearPosition, position, setPosition, tailsOf } from './progress.ts'
import { newState } from './state.ts'
import type { Watch } from './types.ts'
import { begin, catchUp, forgetAll, forgetGone, takeSharedMarks } from './upkeep.ts'
import { isWatchedBefore, watchedBefore } from './watched-by.ts'

export function openWatch(app: App): Watch {
  const state = newState(app)
  const { marks, positions, settling } = state
  return {
    mark: (userId, id, isWatched) => mark(state, userId, id, isWatched),
    markChosen: (userId, ids, isWatched) => markChosen(state, userId, ids, isWatched),
    markAll: (userId, upTo, job) => markAll(state, userId, upTo, job),
    untouchedBy: (userId, ids) => untouchedBy(state, userId, ids),
    takeOver: (userId, told, signal) => takeOver(state, userId, told, signal),
    giveBack: (userId, told, signal) => giveBack(state, userId, told, signal),

    watchedAmong: (userId, ids) => marks.among(userId, ids),
    tailsOf: (ids, userId) => tailsOf(state, ids, userId),
    watchedBefore: (epoch, where) => watchedBefore(state, epoch, where),
    isWatchedBefore: (id, epoch) => isWatchedBefore(state, id, epoch),

    position: (userId, videoId) => position(state, userId, videoId),
    setPosition: (userId, videoId, seconds, ago) => setPosition(state, userId, videoId, seconds, ago),
    clearPosition: (userId, videoId) => clearPosition(state, userId, videoId),
    begun: (userId) => positions.newest(userId, MAX_WINDOW),

    begin: () => begin(state),
    takeSharedMarks: () => takeSharedMarks(state),
    catchUp: (signal) => catchUp(state, signal),
    settleAll: settling.all,
    relearnAll: settling.relearn,
    settleVideo: settling.video,
    forget: (videoId) => forgetAll(state, [videoId]),
    forgetAll: (ids) => forgetAll(state, ids),
    forgetGone: (signal) => forgetGone(state, signal),
  }
}
