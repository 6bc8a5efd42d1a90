/** State that the parts of the service `watch` share. */
import type { App } from './app.ts'
import { openMarkings } from './bulk-marks.ts'
import { openMarkIndexer } from './indexing.ts'
import { openMarks } from './mark-rows.ts'
import { openPositions } from './positions.ts'
import { openSettling } from './settling.ts'

export type WatchState = ReturnType<typeof newState>

export function newState(app: App) {
  const marks = openMarks(app)
  const indexer = openMarkIndexer(app, marks)
  return {
    ...{ app, marks, indexer, markings: openMarkings(app) },
    ...{ positions: openPositions(app), settling: openSettling(app, marks, indexer) },
  }
}
