/** The services of the plugin `platform` with other time limits of yt-dlp than the built program's. */
import type { AppOf } from 'archivolt'
import { openPlatform } from '../../plugins/platform/platform.ts'
import type { Pace } from '../../plugins/platform/tools.ts'

/** Tests have no platform unless they start one: with the built program's pauses, each request would fail only after 15 s. */
const PACE: Pace = { retryPause: 0.01, socketTimeout: 20 }

export const pacedPlatform =
  (pace = PACE) =>
  (app: AppOf<'platform'>) => ({
    platform: openPlatform(Object.assign(Object.create(app) as typeof app, { pace })),
  })
