/** Starts the reading children for the library and the import folder. */
import { openReading as open, type Reading } from '../film-kit/reading.ts'
import { startReading } from '../film-kit/reading-child.ts'
import type { App } from './app.ts'

export const openReading = (job: { signal: AbortSignal }, app: Pick<App, 'media'>): Reading =>
  open(() => startReading(new URL('./worker.ts', import.meta.url)), job, app)
