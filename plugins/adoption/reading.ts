/** Starts the reading children for places and catalogs of other programs. */
import { openReading as open, type Reading } from '../film-kit/reading.ts'
import { type ReadingChild, type ReadingLimits, startReading as start } from '../film-kit/reading-child.ts'
import type { App } from './app.ts'
import type { AdoptionRequests } from './worker.ts'

export const startReading = (limits?: ReadingLimits): ReadingChild<AdoptionRequests> =>
  start(new URL('./worker.ts', import.meta.url), limits)

export const openReading = (
  job: { signal: AbortSignal },
  app: Pick<App, 'media'>,
  limits?: ReadingLimits,
): Reading<AdoptionRequests> => open(() => startReading(limits), job, app)
