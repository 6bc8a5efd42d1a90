/** The services of the plugin `platform`, with other yt-dlp time limits than those of the built program. */
import type { AppOf } from 'archivolt'
import { openPlatform } from '../../plugins/platform/platform.ts'
import type { Pace } from '../../plugins/platform/tools.ts'

/** Without a test platform, each request would fail only after 15 s with the pauses of the built program. */
const PACE: Pace = { retryPause: 0.01, socketTimeout: 20 }

export const pacedPlatform =
  (pace = PACE) =>
  (app: AppOf<'platform'>) => ({
    platform: openPlatform(Object.assign(Object.create(app) as typeof app, { pace })),
  })
