/** The service `platform`: gets metadata and files with yt-dlp, and converts them to our types. */
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type Clock,
  epochSeconds,
  errors,
  type Lanes,
  type Ledger,
  type Log,
  openFolder,
  type Preferences,
  type Settings,
} from 'archivolt'
import { withAnswers } from './answers.ts'
import type { App } from './app.ts'
import { failureOf } from './ask-failure.ts'
import type { ChallengeReport } from './challenge.ts'
import { ChildError } from './child.ts'
import { type Jar, openJar } from './cookie-in-use.ts'
import { openDownloads } from './download-video.ts'
import { FAILURES } from './failure-classes.ts'
import { type FeedTag, fetchFeed, NoFeed, readFeed } from './feed.ts'
import { fetchByRoute, fetchDirectly, isUsualWay } from './fetch-picture.ts'
import { openSubtitles } from './fetch-subtitles.ts'
import { lackOfRoom } from './free-space.ts'
import { type Gate, type GateParts, type GateRecord, openGate } from './gate.ts'
import { isArtUrl } from './hosts.ts'
import { idUnderEitherKey } from './id-field.ts'
import { openLookUps } from './look-ups.ts'
import { MetadataError, toComment } from './metadata.ts'
import { PLATFORM } from './name.ts'
import { routeOf, UNSET_ROUTE } from './network-route.ts'
import { type Budgets, openPacing, type Pacing, type Rest } from './pacing.ts'
import { openPackageIndex } from './package-index.ts'
import type { PlatformPreferences } from './preferences.ts'
import { openMetadataReader } from './read-metadata.ts'
import { reasonOf } from './reasons.ts'
import { formatsOf, type Judged, judgePreferences, refusalsOf } from './refusals.ts'
import { toSidecarMetadata } from './sidecar.ts'
import { checkSources, sourceOf } from './source.ts'
import { withSources } from './sources.ts'
import { isOfPlatform, openTargets } from './targets.ts'
import { openTokens, type Tokens } from './token-provider.ts'
import { openTools, type Pace, type Runtimes, type ToolReport, type Tools } from './tools.ts'
import type { Platform, PlatformState } from './types.ts'
import { openUpdates, type Updates } from './update.ts'
import { validateCookie } from './validate-cookie.ts'
import { forAsker, openYtDlp } from './ytdlp.ts'

export interface PlatformParts {
  settings: Pick<
    Settings,
    'dataDir' | 'prefix' | 'platformUrl' | 'platformIdField' | 'ytdlp' | 'ytdlpPlugins' | 'ffmpeg' | 'ffprobe'
  > &
    Partial<Pick<Settings, 'ytdlpUpdate' | 'packageIndex'>>
  clock: Clock
  log: Log
  lanes: Lanes
  /** Stores the gate's state; without a ledger a pause is lost at the end of the process. */
  ledger?: Ledger
  /** Without preferences there are no pauses, limits or special routes. */
  preferences?: Pick<Preferences, 'section' | 'judge' | 'watch'>
  pace?: Pace
  /** JavaScript runtimes that yt-dlp may use; default: all known ones. */
  runtimes?: Runtimes
  hook?: App['hook']
  /** Fetches pictures of further platforms; undefined: none are fetched. */
  fetch?: App['fetch']
}

export interface PlatformService extends Platform {
  /** Restores a manual pause or a block from an earlier run. */
  start(): Promise<void>
  report(): Promise<ToolReport>
  /** undefined: unknown. */
  challenge(): Promise<ChallengeReport | undefined>
  /** Checks the library again and updates the state. @returns whether it is available */
  checkLibrary(): Promise<boolean>
  /** Called when the gate closes; once until it opens again. */
  onStopped(listener: (state: PlatformState) => void): void
  /** Called when yt-dlp no longer understands the platform. */
  onOutdated(listener: () => void): void
  /** Called when the network route or the client settings change. */
  onRerouted(listener: () => void): void
  /** undefined without a ledger. */
  readonly updates: Updates | undefined
  readonly tools: Tools
  /** Videos requested in the last hour, and the limits. */
  budgets(): Budgets
  readonly tokens: Tokens
  /** Why asks wait although the platform is available. */
  resting(): Rest | undefined
  /** Process id of the shared child of jobs, or of look-ups; undefined: none is running. */
  childPid(asker?: { isUrgent?: boolean }): number | undefined
  childRssBytes(): Promise<number | undefined>
  close(): Promise<void>
}

const DEFAULT_PACE: Pace = { retryPause: 1, socketTimeout: 20 }

export function openPlatform(parts: PlatformParts): PlatformService {
  const { settings, clock, log, lanes, ledger } = parts
  const tools = openTools(settings, parts.pace ?? DEFAULT_PACE, clock, log, parts.runtimes)
  const ending = new AbortController()
  const [outdated, rerouted, stopped] = [listeners(), listeners(), listeners<[PlatformState]>()]
  const gate = gateOf(parts, tools, { onOutdated: outdated.tell, onStopped: stopped.tell })
  const jar = openJar(log)
  const set = (): Readonly<PlatformPreferences> | undefined => parts.preferences?.section('platform')
  tools.route = () => routeOf(set() ?? UNSET_ROUTE)
  const pacing = pacingOf(parts, tools, jar)
  const isGuestFirst = () => set()?.cookie_use === 'needed'
  const tokens = openTokens(clock, () => set()?.token_provider || undefined)
  const lookUps = openLookUps(clock)
  const ytdlp = openYtDlp({
    ...{ settings, clock, log, gate, pacing, jar, isGuestFirst, lanes, lookUps, tools, ending: ending.signal },
    onTokenNews: tokens.hear,
  })
  const { shared, hasty, pictures } = ytdlp
  const replaceShared = () => {
    for (const child of [shared, hasty]) child.replace()
  }
  const updates = ledger && updatesOf(parts, ledger, { tools, gate, pacing, replaceShared })
  const refusals = (wanted: Judged) => refusalsOf(wanted, { clock, log, launch: () => tools.launch('metadata', null) })
  if (parts.preferences) {
    judgePreferences(parts.preferences, refusals)
    followPreferences(parts.preferences, lanes, tools, {
      onChanged: pacing.changed,
      onRerouted() {
        for (const child of [shared, hasty, pictures]) child.replace()
        rerouted.tell()
      },
    })
  }

  const sources = () => parts.hook?.('platform.source') ?? []

  async function feed(channelId: string, tag: FeedTag, signal: AbortSignal) {
    if (!isOfPlatform('channel', channelId)) return undefined
    const base = settings.platformUrl.replace(/\/$/, '')
    const url = `${base}/feeds/videos.xml?channel_id=${encodeURIComponent(channelId)}`
    if (isUsualWay(tools.route())) return fetchFeed(url, tag, AbortSignal.any([signal, ending.signal]))
    const folder = await mkdtemp(join(tools.cacheDir, 'feed-'))
    try {
      const path = join(folder, 'feed.xml')
      await fetchByRoute(url, path, signal, pictures)
      return await readFeed(path)
    } catch (error) {
      const status = error instanceof ChildError && error.evidence.status
      throw status ? new NoFeed(error.message, status) : error
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  const platform: PlatformService = {
    ...knownWithoutAsking(settings, clock),
    ...openTargets(settings),
    ...openMetadataReader(ytdlp),
    ...openDownloads(ytdlp),
    ...openSubtitles(ytdlp, ending.signal),
    downloaderVersion: async () => (await tools.report()).downloader.version || undefined,
    validateCookie: (text, options) => validateCookie(text, options, forAsker(ytdlp, options)),
    useCookie(path) {
      jar.use(path)
      replaceShared()
      void jar.isRead().then(pacing.changed)
    },
    onCookieRenewed: jar.onRenewed,

    refusals: (formats) => refusals(formatsOf(formats)),
    state: gate.state,
    async command(command) {
      await gate.command(command)
      if (command === 'retry') pacing.retry()
    },
    feed,
    fetchPicture: (url, to, signal) =>
      isUsualWay(tools.route()) ? fetchDirectly(url, to, signal) : fetchByRoute(url, to, signal, pictures),

    async start() {
      checkSources(sources())
      // The folder is private, because yt-dlp's cache in it reveals whose cookie is used.
      await openFolder('folder of the downloader', tools.cacheDir, { isPrivate: true })
      const row = ledger?.sql<{ record: string }>('SELECT record FROM platform_gate WHERE id = 1').get()
      if (row) gate.restore(JSON.parse(row.record) as GateRecord)
    },
    report: tools.report,
    challenge: tools.challenge,
    checkLibrary: gate.checkLibrary,
    onOutdated: outdated.add,
    onStopped: stopped.add,
    onRerouted: rerouted.add,
    updates,
    tools,
    budgets: pacing.state,
    tokens,
    resting: pacing.resting,
    childPid: ({ isUrgent } = {}) => (isUrgent ? hasty : shared).pid,
    childRssBytes: shared.rssBytes,
    async close() {
      ending.abort(errors.unavailable('The server is closing'))
      gate.end()
      for (const child of [shared, hasty, pictures]) child.kill()
      await Promise.all([shared, hasty, pictures, ytdlp.downloads].map((children) => children.end()))
    },
  }
  return withAnswers(
    withSources(platform, { clock, lanes, lookUps, settings, sources, fetch: parts.fetch }),
    parts.hook,
  )
}

/** The parts of the service that need no request: URLs, ids, failures and information files. */
function knownWithoutAsking({ platformUrl, platformIdField }: PlatformParts['settings'], clock: Clock) {
  const base = platformUrl.replace(/\/$/, '')
  const watchUrl = (videoId: string): string => `${base}/watch?v=${encodeURIComponent(videoId)}`
  return {
    name: PLATFORM,
    failures: FAILURES,
    failureOf,
    reasonOf,
    watchUrl,
    original(type, id) {
      const url = type === 'video' ? watchUrl(id) : `${base}/channel/${encodeURIComponent(id)}`
      return isOfPlatform(type, id) ? { platform_name: PLATFORM, platform_url: url } : undefined
    },
    mirror: (id) => (platformIdField ? { [platformIdField]: id } : {}),
    idOf: (object) => idUnderEitherKey(object, platformIdField || null),
    isArtUrl: (text) => isArtUrl(text, base),
    commentsOf: (list) => list.flatMap((one) => toComment(one) ?? []),
    metadataOf(info, id) {
      try {
        return toSidecarMetadata(info, id, epochSeconds(clock))
      } catch (error) {
        if (error instanceof MetadataError) throw errors.unprocessable(error.message)
        throw error
      }
    },
  } satisfies Partial<Platform>
}

function listeners<Told extends unknown[] = []>() {
  const all = new Set<(...told: Told) => void>()
  return {
    add: (listener: (...told: Told) => void) => void all.add(listener),
    tell(...told: Told) {
      for (const listener of all) listener(...told)
    },
  }
}

/** Applies changes of preferences: number of parallel downloads, network route. */
function followPreferences(
  preferences: NonNullable<PlatformParts['preferences']>,
  lanes: Lanes,
  tools: Tools,
  { onChanged, onRerouted }: { onChanged(): void; onRerouted(): void },
): void {
  const widen = () => lanes.widen('download', preferences.section('platform').downloads_at_once)
  widen()
  preferences.watch(widen)
  let route = JSON.stringify(tools.route())
  preferences.watch(() => {
    onChanged()
    const now = JSON.stringify(tools.route())
    if (now === route) return
    route = now
    onRerouted()
  })
}

/** Opens the updates of yt-dlp, which are tested with archived videos. */
function updatesOf(
  parts: PlatformParts,
  ledger: Ledger,
  { tools, gate, pacing, replaceShared }: { tools: Tools; gate: Gate; pacing: Pacing; replaceShared: () => void },
): Updates {
  const { settings, clock, log, lanes } = parts
  return openUpdates({
    ...{ tools, ledger, clock, log },
    index: openPackageIndex(
      async () => (await tools.launch('metadata', null, null)).python,
      settings.packageIndex ?? null,
      tools.updatesDir,
    ),
    channel: () => (settings.ytdlpUpdate === 'nightly' ? 'nightly' : 'stable'),
    hindrance: gate.hindrance,
    canaries: {
      films: async () => {
        const films = await Promise.all(parts.hook?.('platform.canaries').map((some) => some()) ?? [])
        // Videos of other platforms do not test yt-dlp.
        return films.flat().filter(({ id }) => !sourceOf(id, parts.hook?.('platform.source') ?? []))
      },
      inTurn: (work, signal) =>
        lanes.turn('platform', { asker: 'update', signal }, () => {
          pacing.takeAsGuest()
          return work()
        }),
    },
    onSwitched: () => {
      replaceShared()
      gate.onUpdated()
    },
  })
}

/** Opens the pacing with the preferences. */
function pacingOf({ clock, log, ledger, preferences }: PlatformParts, tools: Tools, jar: Jar): Pacing {
  const set = () => preferences?.section('platform')
  return openPacing({
    ...{ clock, log, ledger },
    pauses: () => ({
      video: preferences?.section('downloads').sleep_interval || 0,
      request: set()?.request_pause ?? 0,
      subtitle: set()?.subtitle_pause ?? 0,
    }),
    perHour: () => set()?.videos_per_hour || Number.POSITIVE_INFINITY,
    route: tools.route,
    // A cookie that is used only when needed is counted when it is used.
    account: () => (set()?.cookie_use === 'needed' ? undefined : jar.session),
  })
}

/** Opens the gate with its external checks and its storage. */
function gateOf(
  parts: PlatformParts,
  tools: Tools,
  listeners: Required<Pick<GateParts, 'onOutdated' | 'onStopped'>>,
): Gate {
  const { settings, clock, log, ledger } = parts
  return openGate({
    clock,
    log,
    ...listeners,
    recheck: async (lacking, folder) =>
      lacking === 'missing_tool'
        ? tools.areThere()
        : (await lackOfRoom(folder ?? settings.dataDir, settings.dataDir)) === undefined,
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
