/** The platform: its metadata and files, its availability, and yt-dlp. */
import { definePlugin, Type } from 'archivolt'
import { checkPrograms } from './check-programs.ts'
import { NO_COOKIE } from './health.ts'
import { reportMissingPrograms } from './lost-programs.ts'
import { PLATFORM } from './name.ts'
import { pacingTables } from './pacing.ts'
import { openPlatform, type PlatformService } from './platform.ts'
import { pauseOfDownloads, platform } from './preferences.ts'
import { commandPlatform, resolveText, showPlatform } from './routes.ts'
import { openNews, platformStopped } from './stopped.ts'
import { DEFAULT_PLATFORM_URL } from './tools.ts'
import { updateTables } from './update.ts'
import { updateDownloader } from './update-downloader.ts'

const optionalPath = Type.Union([Type.String({ minLength: 1 }), Type.Null()], { description: 'a path' })

export default definePlugin({
  name: 'platform',
  needs: ['fetch', 'lanes'],
  settings: {
    platformUrl: {
      env: 'AV_PLATFORM_URL',
      schema: Type.String({
        pattern: '^https?://[A-Za-z0-9.\\-\\[\\]:]+/?$',
        description: 'an http(s) URL without a path',
      }),
      default: DEFAULT_PLATFORM_URL,
      meaning: `base URL of ${PLATFORM}`,
    },
    platformIdField: {
      env: 'AV_PLATFORM_ID_FIELD',
      schema: Type.Union([Type.String({ pattern: '^[a-z][a-z0-9_]{0,31}$' }), Type.Null()], {
        description: 'a key of lower-case letters, digits and _, or empty',
      }),
      default: 'youtube_id',
      meaning: "a second name for platform_id (the platform's own), added to every object; empty: none",
    },
    ytdlp: {
      env: 'AV_YTDLP',
      schema: optionalPath,
      default: null,
      isPath: true,
      meaning: 'a Python venv with yt-dlp, or the official zip; unset: the one in tools/',
    },
    ytdlpPlugins: {
      env: 'AV_YTDLP_PLUGINS',
      schema: optionalPath,
      default: null,
      isPath: true,
      meaning: 'a folder that contains yt_dlp_plugins',
    },
    ytdlpUpdate: {
      env: 'AV_YTDLP_UPDATE',
      schema: Type.Enum(['stable', 'nightly', 'off'], { description: 'stable, nightly or off' }),
      default: 'stable',
      meaning:
        'which releases of yt-dlp are installed automatically, after a test of the new version; off: updates only on request',
    },
    packageIndex: {
      env: 'AV_PACKAGE_INDEX',
      schema: Type.Union([Type.String({ pattern: '^https?://[^\\s@]+$' }), Type.Null()], {
        description: 'an http(s) URL without user name and password',
      }),
      default: null,
      meaning: 'Python package index for updates of yt-dlp; unset: the one in the configuration of pip',
    },
    ffmpeg: {
      env: 'AV_FFMPEG',
      schema: Type.String({ minLength: 1 }),
      default: 'ffmpeg',
      meaning: 'name of a program on PATH, or its path',
    },
    ffprobe: {
      env: 'AV_FFPROBE',
      schema: Type.String({ minLength: 1 }),
      default: 'ffprobe',
      meaning: 'name of a program on PATH, or its path',
    },
  },
  lanes: { platform: 'turns', lookup: 'turns', download: 'turns' },
  hooks: [
    'platform.pending',
    'platform.waiting',
    'platform.space',
    'platform.library',
    'platform.halted',
    'platform.cookie',
    'platform.canaries',
    'platform.known',
    'platform.answered',
    'platform.source',
  ],
  hookRules: {
    'platform.canaries': { otherwise: () => [] },
    'platform.pending': { otherwise: () => undefined },
    'platform.waiting': { otherwise: () => ({}) },
    'platform.space': { otherwise: () => undefined },
    'platform.library': { otherwise: () => undefined },
    'platform.halted': { isSync: true, otherwise: () => undefined },
    'platform.cookie': { isSync: true, otherwise: () => NO_COOKIE },
    'platform.known': { otherwise: () => false },
    'platform.answered': { otherwise: () => undefined },
    // Long enough for any download; the other calls of a source are limited to a minute (`sources.ts`).
    'platform.source': { withinSeconds: 12 * 3600 },
  },
  events: ['downloader.changed', 'platform.stopped'],
  migrations: [
    {
      number: 1,
      sql: 'CREATE TABLE platform_gate (id INTEGER PRIMARY KEY CHECK (id = 1), record TEXT NOT NULL) STRICT',
    },
    updateTables,
    pacingTables,
  ],
  preferences: { platform, downloads: pauseOfDownloads },
  routes: [showPlatform, commandPlatform, resolveText],
  tasks: [updateDownloader, platformStopped],
  checks: checkPrograms,
  services: (app) => ({ platform: openPlatform(app) }),
  async setup(app) {
    const platform = app.platform as PlatformService
    await platform.start()
    await reportMissingPrograms(app)
    await platform.updates?.begin()
    platform.onOutdated(() => {
      if (app.settings.ytdlpUpdate === 'off') return
      app.jobs
        .start(updateDownloader, { at_once: true })
        .catch((err: unknown) => app.log.error({ err }, 'the update of yt-dlp could not be started'))
    })
    const reportStopped = openNews(app)
    platform.onStopped((state) => {
      reportStopped(state).catch((err: unknown) =>
        app.log.error({ err }, 'not every listener was told that requests to the platform have stopped'),
      )
    })
    platform.onRerouted(() => {
      app
        .emit('downloader.changed', { what: 'way' })
        .catch((err: unknown) =>
          app.log.error({ err }, 'not every plugin was told that the network route or the client has changed'),
        )
    })
  },
  close: (app) => (app.platform as PlatformService).close(),
})
