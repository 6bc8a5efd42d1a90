/** The platform service on a loopback platform, with the real yt-dlp, for tests without a server. */
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '../../../core/base/clock.ts'
import type { Preferences } from '../../../core/ledger/preferences.ts'
import { openLog } from '../../../core/log.ts'
import { openPlatform, type PlatformParts, type PlatformService } from '../../../plugins/platform/platform.ts'
import { type PlatformPreferences, platform as sections } from '../../../plugins/platform/preferences.ts'
import { openLanes } from '../../../plugins/plugin-kit/lanes.ts'
import { type LoopbackPlatform, startTestPlatform } from '../../platform/start.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { UNPACED } from '../../support/preferences.ts'

export interface GivenPlatform {
  platform: LoopbackPlatform
  service: PlatformService
  /** A folder for files; removed after the test. */
  folder: string
  dataDir: string
}

const defaults = Object.fromEntries(
  Object.entries(sections).map(([key, schema]) => [key, (schema as { default?: unknown }).default]),
)

interface Scope {
  after(cleanUp: () => Promise<void>): void
}

export async function givenPlatform(
  scope: Scope,
  {
    clock = systemClock,
    settings = {},
    runtimes,
    preferences = {},
    sleepInterval = 0,
  }: {
    clock?: Clock
    settings?: Partial<PlatformParts['settings']>
    preferences?: Partial<PlatformPreferences>
    runtimes?: PlatformParts['runtimes']
    /** Pause between two videos, in seconds. */
    sleepInterval?: number
  } = {},
): Promise<GivenPlatform> {
  const { platform, settings: ours } = await startTestPlatform(scope)
  const dataDir = await temporaryFolder(scope)
  const service = openPlatform({
    settings: {
      dataDir,
      prefix: 'av',
      platformIdField: 'youtube_id',
      ytdlp: null,
      ffmpeg: 'ffmpeg',
      ffprobe: 'ffprobe',
      ...ours,
      ...settings,
    },
    clock,
    log: openLog('silent'),
    lanes: openLanes({ clock, lanes: ['platform', 'lookup', 'download'] }),
    preferences: {
      section: ((name: string) =>
        name === 'platform'
          ? { ...defaults, ...UNPACED.platform, ...preferences }
          : { sleep_interval: sleepInterval }) as Preferences['section'],
      judge: () => undefined,
      watch: () => undefined,
    },
    pace: { retryPause: 0.01, socketTimeout: 1 },
    ...(runtimes && { runtimes }),
  })
  await service.start()
  scope.after(() => service.close())
  return { platform, service, folder: await mkdtemp(join(dataDir, 'files-')), dataDir }
}

/** The text of a cookie jar of a signed-in user of the loopback platform. */
export const SIGNED_IN =
  '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\tSID\tsecret\n127.0.0.1\tFALSE\t/\tFALSE\t0\tLOGIN_INFO\tsecret\n'
