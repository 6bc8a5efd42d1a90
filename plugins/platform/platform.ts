/** The service `platform`: asks yt-dlp for metadata and files, and answers in our words. */
import {
  type Clock,
  epochSeconds,
  errors,
  type Lanes,
  type Ledger,
  type Log,
  openFolder,
  type Settings,
} from 'archivolt'
import type { App } from './app.ts'
import type { ChallengeReport } from './challenge.ts'
import { downloadVideo } from './download-video.ts'
import { failureOf } from './failure.ts'
import { FAILURES } from './failure-classes.ts'
import { fetchSubtitles } from './fetch-subtitles.ts'
import { Gate, type GateRecord } from './gate.ts'
import { isArtUrl } from './hosts.ts'
import { idUnderEitherKey } from './id-field.ts'
import { Jar } from './jar.ts'
import type { KeptChild } from './kept-child.ts'
import { listTab } from './list-tab.ts'
import { MetadataError } from './metadata.ts'
import { PLATFORM } from './name.ts'
import { PackageIndex } from './package-index.ts'
import { openMetadataReader } from './read-metadata.ts'
import { lackOfRoom } from './room.ts'
import { toSidecarMetadata } from './sidecar.ts'
import { openTargets } from './targets.ts'
import { type Pace, type Runtimes, type ToolReport, Tools } from './tools.ts'
import type { Downloaded, Platform } from './types.ts'
import { Updates } from './update.ts'
import { validateCookie } from './validate-cookie.ts'
import { openYtDlp } from './ytdlp.ts'

export interface PlatformParts {
  settings: Pick<
    Settings,
    'dataDir' | 'prefix' | 'platformUrl' | 'platformIdField' | 'ytdlp' | 'ytdlpPlugins' | 'ffmpeg' | 'ffprobe'
  > &
    Partial<Pick<Settings, 'ytdlpUpdate' | 'packageIndex'>>
  clock: Clock
  log: Log
  lanes: Lanes
  /** Without one the gate forgets a pause at the end. */
  ledger?: Ledger
  pace?: Pace
  /** JavaScript runtimes that yt-dlp may use; left out: those that are known. */
  runtimes?: Runtimes
  hook?: App['hook']
}

export interface PlatformService extends Platform {
  /** Takes up what an earlier run left: a pause by hand, a block. */
  start(): Promise<void>
  report(): Promise<ToolReport>
  /** Undefined where it cannot be seen. */
  challenge(): Promise<ChallengeReport | undefined>
  /** What the state says of the library is looked at anew. */
  lookForLibrary(): Promise<boolean>
  /** Called each time that yt-dlp is found not to understand the platform any longer. */
  onOutdated(listener: () => void): void
  /** Without a ledger there are none. */
  readonly updates: Updates | undefined
  readonly tools: Tools
  /** The kept child, for those who watch processes; undefined while there is none. */
  childPid(): number | undefined
  childRssBytes(): Promise<number | undefined>
  close(): Promise<void>
}

const DEFAULT_PACE: Pace = { retryPause: 1, socketTimeout: 20 }

export function openPlatform(parts: PlatformParts): PlatformService {
  const { settings, clock, log, lanes, ledger } = parts
  const base = settings.platformUrl.replace(/\/$/, '')
  const tools = new Tools(settings, parts.pace ?? DEFAULT_PACE, clock, log, parts.runtimes)
  const targets = openTargets(settings)
  const ending = new AbortController()
  const outdated = new Set<() => void>()
  const gate = openGate(parts, tools, () => {
    for (const listener of outdated) listener()
  })
  const jar = new Jar(log)
  const ytdlp = openYtDlp({ settings, clock, log, gate, jar, lanes, tools, ending: ending.signal })
  const { kept } = ytdlp
  const updates = ledger && openUpdates(parts, ledger, { tools, gate, kept })

  return {
    name: PLATFORM,
    targets: (text) => targets.of(text),
    targetsIn: (text) => targets.within(text),

    ...openMetadataReader(ytdlp),
    list: (channelId, tab, options) => listTab(channelId, tab, options, ytdlp),
    // Only where it says what is there may a download come to nothing.
    download: (id, wanted, options) => downloadVideo(id, wanted, options, ytdlp) as Promise<Downloaded>,
    downloadBetter: (id, wanted, options) => downloadVideo(id, wanted, options, ytdlp),
    downloaderVersion: async () => (await tools.report()).downloader.version || undefined,
    subtitles: (id, wanted, options) => fetchSubtitles(id, wanted, options, ytdlp),

    validateCookie: (text, options) => validateCookie(text, options, ytdlp),
    useCookie(path) {
      jar.use(path)
      kept.replace()
    },
    onCookieRenewed: (listener) => jar.onRenewed(listener),

    metadataOf(info, id) {
      try {
        return toSidecarMetadata(info, id, epochSeconds(clock))
      } catch (error) {
        if (error instanceof MetadataError) throw errors.unprocessable(error.message)
        throw error
      }
    },

    failures: FAILURES,
    failureOf,
    state: () => gate.state(),
    command: (command) => gate.command(command),
    watchUrl: (videoId) => `${base}/watch?v=${encodeURIComponent(videoId)}`,
    mirror: (id) => (settings.platformIdField ? { [settings.platformIdField]: id } : {}),
    idOf: (object) => idUnderEitherKey(object, settings.platformIdField || null),
    isArtUrl: (text) => isArtUrl(text, base),

    async start() {
      // The folder is private: yt-dlp's cache in it tells whose cookie is used.
      await openFolder('folder of the downloader', tools.cacheDir, { isPrivate: true })
      const row = ledger?.sql<{ record: string }>('SELECT record FROM platform_gate WHERE id = 1').get()
      if (row) gate.restore(JSON.parse(row.record) as GateRecord)
    },
    report: () => tools.report(),
    challenge: () => tools.challenge(),
    lookForLibrary: () => gate.isAway(),
    onOutdated: (listener) => void outdated.add(listener),
    updates,
    tools,
    childPid: () => kept.pid,
    childRssBytes: () => kept.rssBytes(),
    async close() {
      ending.abort(errors.unavailable('The server is closing'))
      gate.end()
      kept.kill()
      await Promise.all([kept.end(), ytdlp.downloads.end()])
    },
  }
}

/** A newer yt-dlp, tried with films of ours and told to whom it concerns. */
function openUpdates(
  parts: PlatformParts,
  ledger: Ledger,
  { tools, gate, kept }: { tools: Tools; gate: Gate; kept: KeptChild },
): Updates {
  const { settings, clock, log, lanes } = parts
  return new Updates({
    ...{ tools, ledger, clock, log },
    index: new PackageIndex(
      async () => (await tools.launch('metadata', null, null)).python,
      settings.packageIndex ?? null,
      tools.updatesDir,
    ),
    channel: () => (settings.ytdlpUpdate === 'nightly' ? 'nightly' : 'stable'),
    hindrance: () => gate.hindrance(),
    canaries: {
      films: async () => (await Promise.all(parts.hook?.('platform.canaries').map((films) => films()) ?? [])).flat(),
      inTurn: (work, signal) => lanes.turn('platform', { asker: 'update', signal }, work),
    },
    onSwitched: () => {
      kept.replace()
      gate.onUpdated()
    },
  })
}

/** The gate, with what it looks at outside itself and where it keeps what survives a restart. */
function openGate(parts: PlatformParts, tools: Tools, onOutdated: () => void): Gate {
  const { settings, clock, log, ledger } = parts
  return new Gate({
    clock,
    log,
    onOutdated,
    recheck: async (lacking, place) =>
      lacking === 'missing_tool'
        ? tools.areThere()
        : (await lackOfRoom(place ?? settings.dataDir, settings.dataDir)) === undefined,
    absence: async () =>
      (await Promise.all(parts.hook?.('platform.library').map((absence) => absence()) ?? [])).find(
        (reason) => reason !== undefined,
      ),
    save: async (record) => {
      await ledger?.write(() =>
        ledger
          .sql(
            'INSERT INTO platform_gate (id, record) VALUES (1, ?) ON CONFLICT (id) DO UPDATE SET record = excluded.record',
          )
          .run(JSON.stringify(record)),
      )
    },
  })
}
