/**
 * The service `watch`: what each account has watched, and its positions. Each module provides a part; they share the
 * state.
 */
import { MAX_WINDOW } from 'archivolt'
import type { App } from './app.ts'
import { openWatchBelongings } from './belongings.ts'
import { openElsewhere } from './elsewhere.ts'
import { openProgress } from './progress.ts'
import { openMarking } from './set-marks.ts'
import { newState } from './state.ts'
import type { Watch } from './types.ts'
import { openUpkeep } from './upkeep.ts'
import { openWatchedBy } from './watched-by.ts'

export function openWatch(app: App): Watch {
  const state = newState(app)
  const { marks, positions, settling } = state
  const upkeep = openUpkeep(state)
  return {
    ...openMarking(state),
    ...openElsewhere(state),
    ...openWatchedBy(state),
    ...openProgress(state),
    ...upkeep,

    belongings: openWatchBelongings(state),
    watchedAmong: marks.among,
    begun: (userId) => positions.newest(userId, MAX_WINDOW),
    settleAll: settling.all,
    relearnAll: settling.relearn,
    settleVideo: settling.video,
    forget: (videoId) => upkeep.forgetAll([videoId]),
  }
}
