/** State that the parts of the service `watch` share. */
import type { App } from './app.ts'
import { type MarkIndexer, openMarkIndexer } from './indexing.ts'
import { type Markings, openMarkings } from './markings.ts'
import { type Marks, openMarks } from './marks.ts'
import { openPositions, type Positions } from './positions.ts'
import { openSettling, type Settling } from './settling.ts'

export interface WatchState {
  readonly app: App
  readonly marks: Marks
  readonly markings: Markings
  readonly positions: Positions
  readonly indexer: MarkIndexer
  readonly settling: Settling
}

export function newState(app: App): WatchState {
  const marks = openMarks(app)
  const indexer = openMarkIndexer(app, marks)
  return {
    ...{ app, marks, indexer, markings: openMarkings(app) },
    ...{ positions: openPositions(app), settling: openSettling(app, marks, indexer) },
  }
}
