/** The service `platform`: asks yt-dlp for metadata and files, and answers in our words. */
import { readFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
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
import { type Ask, Asks } from './asks.ts'
import { Child, type ChildAskOptions, ChildError } from './child.ts'
import { classify } from './classify.ts'
import { isStillSignedIn } from './cookie.ts'
import { failureOf, isMissingTab } from './failure.ts'
import { FAILURES } from './failures.ts'
import { Gate, type GateRecord } from './gate.ts'
import { isArtUrl } from './hosts.ts'
import { KeptChild, type OpenListing } from './kept-child.ts'
import {
  isId,
  MetadataError,
  noFormats,
  toChannelMetadata,
  toComment,
  toListEntry,
  toPlaylistEntry,
  toPlaylistHead,
  toPlaylistName,
  toVideoMetadata,
} from './metadata.ts'
import { PLATFORM } from './name.ts'
import { lackOfRoom, NoRoom, SPARE_BYTES } from './room.ts'
import { toSidecarMetadata } from './sidecar.ts'
import { openTargets } from './targets.ts'
import { type Pace, type ToolReport, Tools } from './tools.ts'
import type {
  AskOptions,
  Downloaded,
  DownloadedSubtitle,
  DownloadOptions,
  ListEntry,
  Platform,
  VideoMetadata,
  VideoType,
} from './types.ts'
import { clearDownload, findFault, type StreamSize } from './verify.ts'

export interface PlatformParts {
  settings: Pick<
    Settings,
    'dataDir' | 'prefix' | 'platformUrl' | 'platformIdField' | 'ytdlp' | 'ytdlpPlugins' | 'ffmpeg' | 'ffprobe'
  >
  clock: Clock
  log: Log
  lanes: Lanes
  /** Without one the gate forgets a pause at the end. */
  ledger?: Ledger
  pace?: Pace
  hook?: App['hook']
}

export interface PlatformService extends Platform {
  /** Takes up what an earlier run left: a pause by hand, a block. */
  start(): Promise<void>
  report(): Promise<ToolReport>
  /** What the state says of the library is looked at anew. */
  lookForLibrary(): Promise<boolean>
  readonly tools: Tools
  /** The kept child, for those who watch processes; undefined while there is none. */
  childPid(): number | undefined
  childRssBytes(): Promise<number | undefined>
  close(): Promise<void>
}

/**
 * Small at first, as most readers stop where they find what they know; then five of the platform's own pages at once.
 */
const pageSizeAfter = (delivered: number): number => (delivered < 300 ? 30 : 150)
const METADATA_QUIET_MS = 120_000
const LONG_QUIET_MS = 900_000
const DOWNLOAD_QUIET_MS = 1_800_000
const LISTING_MS_PER_SKIPPED = 20
const MAX_COMMENTS_FORM = /^(?:\d{1,9}|all)(?:,(?:\d{1,9}|all)){0,4}$/
const LANGUAGE_FORM = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{2,8}){0,3}$/
const DEFAULT_PACE: Pace = { retryPause: 1, socketTimeout: 20 }
export function openPlatform(parts: PlatformParts): PlatformService {
  const { settings, clock, log, lanes, ledger } = parts
  const base = settings.platformUrl.replace(/\/$/, '')
  const tools = new Tools(settings, parts.pace ?? DEFAULT_PACE, clock, log)
  const targets = openTargets(settings)
  const ending = new AbortController()
  const jarListeners = new Set<Parameters<Platform['onCookieRenewed']>[0]>()
  let jarPath: string | null = null
  /** Raised with each jar: what a child renews may be an earlier one. */
  let jarNumber = 0

  const gate = new Gate({
    clock,
    log,
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
  const asks = new Asks({ gate, lanes, clock, log, ending: ending.signal })

  const readJar = async (): Promise<string | null> => {
    if (jarPath === null) return null
    return readFile(jarPath, 'utf8').catch((error: unknown) => {
      log.warn({ err: error }, 'the cookie cannot be read; the platform is asked without')
      return null
    })
  }
  const launch = async (use: 'metadata' | 'download') => {
    const number = jarNumber
    const isStillUsed = () => number === jarNumber
    const jar = await readJar()
    const onJar = (renewed: string) => {
      if (jar !== null && isStillUsed() && isStillSignedIn(jar, renewed))
        for (const listener of jarListeners) listener(renewed, isStillUsed)
    }
    return { launch: await tools.launch(use, jar), onJar }
  }
  const kept = new KeptChild({ clock, log, launch: () => launch('metadata') })

  const checkId = (id: string, what: string): string => {
    if (!isId(id)) throw errors.badRequest(`This is not the id of a ${what}`)
    return id
  }
  const ask = <Result>(about: Ask, options: AskOptions, work: (child: ChildAskOptions) => Promise<Result>) =>
    asks.do(about, options, work)
  const ofMetadata = (item: string, quietMs = METADATA_QUIET_MS): Ask => ({ lane: 'platform', item, quietMs })

  const metadataOf = async (id: string, child: ChildAskOptions): Promise<VideoMetadata> => {
    const { result, warnings } = await kept.ask({ op: 'video', videoId: id }, child)
    if (!result.hasFormats) {
      const evidence = noFormats(result, warnings)
      if (!FAILURES[classify(evidence, epochSeconds(clock)).failure].hasMetadata || !isId(result.channel_id))
        throw new ChildError(evidence)
    }
    return toVideoMetadata(result, id, warnings, epochSeconds(clock))
  }

  async function* list(channelId: string, tab: VideoType, options: AskOptions): AsyncGenerator<ListEntry[]> {
    checkId(channelId, 'channel')
    let open: OpenListing | undefined
    let delivered = 0
    let lastSize = 0
    const openAgain = (child: ChildAskOptions) => {
      // After an interruption the last page comes once more: what was added meanwhile has moved the rest on.
      const skip = delivered - lastSize
      return kept.openListing(channelId, tab, skip, {
        ...child,
        quietMs: child.quietMs + skip * LISTING_MS_PER_SKIPPED,
      })
    }
    const nextPage = async (child: ChildAskOptions) => {
      for (;;) {
        open ??= await openAgain(child)
        const reading = open
        open = undefined // lost, unless the page comes
        const page = await kept.nextPage(reading, pageSizeAfter(delivered), child)
        if (!page) continue
        if (!page.isEnd) open = reading
        return page
      }
    }
    try {
      for (;;) {
        const page = await ask(ofMetadata(channelId), options, nextPage)
        lastSize = page.entries.length
        delivered += lastSize
        const entries = page.entries.flatMap((entry) => toListEntry(entry, tab) ?? [])
        if (entries.length > 0) yield entries
        if (page.isEnd) return
      }
    } catch (error) {
      if (!isMissingTab(error)) throw error
    } finally {
      if (open)
        await kept
          .closeListing(open)
          .catch((error: unknown) => log.warn({ err: error }, 'a listing could not be closed'))
    }
  }

  const parted = async <Row>(
    request: { op: string; [key: string]: unknown },
    child: ChildAskOptions,
    toRow: (raw: unknown) => Row | undefined,
  ) => {
    const found: Row[] = []
    const { result } = await kept.ask(request, {
      ...child,
      onPart: (part) =>
        part.forEach((raw) => found.push(...([toRow(raw)].filter((row) => row !== undefined) as Row[]))),
    })
    return { result, found }
  }

  const toSubtitles = (value: unknown, folder: string): DownloadedSubtitle[] =>
    (value as Array<{ lang: string; name: string; source: 'user' | 'auto'; url: string; file: string }>).map(
      ({ file, ...subtitle }) => ({ ...subtitle, path: join(folder, file) }),
    )

  const leftOut = (id: string, result: Record<string, unknown>, warnings: string[]): string[] => {
    const languages = result.leftOut as string[]
    if (languages.length > 0)
      log.warn({ id, languages, warnings }, 'subtitles could not be fetched or converted and are left out')
    return languages
  }

  const download = async (id: string, wanted: DownloadOptions, child: ChildAskOptions): Promise<Downloaded> => {
    const { launch: how, onJar } = await launch('download')
    const process = new Child(how, clock, log)
    process.onJar = onJar
    try {
      const { result, warnings } = await process.ask({ op: 'download', videoId: id, ...downloadRequest(wanted) }, child)
      const found = toVideoMetadata(result.metadata as Record<string, unknown>, id, warnings, epochSeconds(clock))
      const mediaPath = join(wanted.folder, `${id}.mp4`)
      if (!result.hasMedia)
        throw new ChildError({ kinds: ['NoFile'], message: 'yt-dlp did not write a file', warnings })
      await refuseCut(mediaPath, id, wanted.folder, result.streams as StreamSize[], found.durationSeconds)
      return {
        metadata: found,
        mediaPath,
        subtitles: toSubtitles(result.subtitles, wanted.folder),
        subtitlesLeftOut: leftOut(id, result, warnings),
        ...(result.hasThumbnail === true && { thumbnailPath: join(wanted.folder, `${id}.jpg`) }),
      }
    } finally {
      await process.end()
    }
  }

  const refuseCut = async (
    mediaPath: string,
    id: string,
    folder: string,
    streams: StreamSize[],
    durationSeconds: number,
  ): Promise<void> => {
    const fault = await findFault(settings.ffprobe, mediaPath, streams, durationSeconds).catch((error: unknown) => {
      if (isNotThere(error)) throw new ChildError({ kinds: ['MissingTool'], message: 'ffprobe cannot be started' })
      return `it cannot be read (${(error as Error).message.slice(0, 200)})`
    })
    if (fault === undefined) return
    await clearDownload(folder, id)
    throw new ChildError({ kinds: ['Truncated'], message: `The downloaded file is not complete: ${fault}` })
  }

  return {
    name: PLATFORM,
    targets: (text) => targets.of(text),
    targetsIn: (text) => targets.within(text),

    video: async (id, options) => ask(ofMetadata(checkId(id, 'video')), options, (child) => metadataOf(id, child)),

    channel: (idOrHandle, options) => {
      const path = isChannelId(idOrHandle) ? `channel/${idOrHandle}` : idOrHandle
      return ask(ofMetadata(idOrHandle), options, async (child) =>
        toChannelMetadata((await kept.ask({ op: 'channel', path }, child)).result),
      )
    },

    playlist: async (id, options) =>
      ask(ofMetadata(checkId(id, 'playlist'), LONG_QUIET_MS), options, async (child) => {
        const { result, found } = await parted({ op: 'playlist', playlistId: id }, child, toPlaylistEntry)
        const head = toPlaylistHead(result)
        return { id, ...head, name: head.name || id, entries: found }
      }),

    playlistsOf: async (channelId, options) => {
      checkId(channelId, 'channel')
      try {
        return await ask(
          ofMetadata(channelId, LONG_QUIET_MS),
          options,
          async (child) => (await parted({ op: 'playlists', channelId }, child, toPlaylistName)).found,
        )
      } catch (error) {
        if (isMissingTab(error)) return []
        throw error
      }
    },

    list,

    download: async (id, wanted, { progress, ...options }) => {
      checkId(id, 'video')
      if (!isAbsolute(wanted.folder)) throw errors.badRequest('The path of the download folder must be absolute')
      return ask(
        { lane: 'download', item: id, quietMs: DOWNLOAD_QUIET_MS, folder: wanted.folder },
        options,
        async (child) => {
          const lack = await lackOfRoom(wanted.folder, settings.dataDir)
          if (lack !== undefined) throw new NoRoom(lack)
          const onProgress: ChildAskOptions['onProgress'] = ({ downloaded, total, speed, eta }) =>
            progress?.({
              fraction: total > 0 ? Math.min(1, downloaded / total) : 0,
              ...(speed !== null && { speed }),
              ...(eta !== null && { eta: Math.max(0, eta) }),
            })
          try {
            return await download(id, wanted, { ...child, onProgress })
          } catch (error) {
            // In another language the platform's words cannot be classed: the metadata alone fails in English.
            if (
              wanted.extractorLanguage &&
              error instanceof ChildError &&
              classify(error.evidence, 0).failure === 'unknown'
            )
              await metadataOf(id, { ...child, quietMs: METADATA_QUIET_MS })
            throw error
          }
        },
      )
    },

    subtitles: async (id, { folder, languages, source }, options) => {
      checkId(id, 'video')
      const request = {
        op: 'subtitles',
        videoId: id,
        folder,
        subtitleLanguages: languages.slice(0, 500),
        subtitleSource: source,
      }
      return ask({ ...ofMetadata(id, LONG_QUIET_MS), folder }, options, async (child) => {
        const { result, warnings } = await kept.ask(request, child)
        leftOut(id, result, warnings)
        return toSubtitles(result.subtitles, folder)
      })
    },

    comments: async (id, { max, sort }, options) => {
      checkId(id, 'video')
      if (!MAX_COMMENTS_FORM.test(max))
        throw errors.badRequest('Limits of comments are up to five numbers, or `all`, separated by commas')
      return ask(
        ofMetadata(id, LONG_QUIET_MS),
        options,
        async (child) => (await parted({ op: 'comments', videoId: id, max, sort }, child, toComment)).found,
      )
    },

    validateCookie: (jar, options) =>
      ask(ofMetadata('cookie'), options, async (child) => {
        try {
          const { result, warnings } = await kept.ask({ op: 'validate', jar }, child)
          return {
            isValid: result.id === 'LL' && !warnings.some((warning) => warning.includes('cookies are no longer valid')),
            jar: String(result.jar),
          }
        } catch (error) {
          if (!(error instanceof ChildError)) throw error
          const isUnreadable = error.evidence.kinds.some((kind) => kind === 'LoadError' || kind === 'CookieLoadError')
          // A jar that belongs to nobody is told so in many ways, all of them final.
          if (isUnreadable || FAILURES[classify(error.evidence, 0).failure].item === 'final')
            return { isValid: false, jar }
          throw error
        }
      }),

    useCookie(path) {
      jarPath = path
      jarNumber++
      kept.replace()
    },
    onCookieRenewed(listener) {
      jarListeners.add(listener)
      return () => void jarListeners.delete(listener)
    },

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
      // it keeps what it learns about whose cookie it uses
      await openFolder('folder of the downloader', tools.cacheDir, { isPrivate: true })
      const row = ledger?.sql<{ record: string }>('SELECT record FROM platform_gate WHERE id = 1').get()
      if (row) gate.restore(JSON.parse(row.record) as GateRecord)
    },
    report: () => tools.report(),
    lookForLibrary: () => gate.isAway(),
    tools,
    childPid: () => kept.pid,
    childRssBytes: () => kept.rssBytes(),
    async close() {
      ending.abort(errors.unavailable('The server is closing'))
      gate.end()
      kept.kill()
      await kept.end()
    },
  }
}

const isChannelId = (text: string): boolean => /^[A-Za-z0-9_-]{24}$/.test(text)

const isNotThere = (error: unknown): boolean =>
  ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'

function downloadRequest(wanted: DownloadOptions): Record<string, unknown> {
  const bytesPerSecond = (kib: number | undefined) => (kib ? kib * 1024 : null)
  return {
    folder: wanted.folder,
    spareBytes: SPARE_BYTES,
    format: wanted.format?.slice(0, 500) ?? null,
    formatSort: wanted.formatSort?.slice(0, 500) ?? null,
    bytesPerSecond: bytesPerSecond(wanted.limitSpeedKib),
    throttledBytesPerSecond: bytesPerSecond(wanted.throttledRateKib),
    subtitleLanguages: wanted.subtitleLanguages?.slice(0, 500) ?? null,
    subtitleSource: wanted.subtitleSource ?? 'user',
    embedMetadata: wanted.embedMetadata ?? false,
    embedThumbnail: wanted.embedThumbnail ?? false,
    language:
      wanted.extractorLanguage && LANGUAGE_FORM.test(wanted.extractorLanguage) ? wanted.extractorLanguage : null,
  }
}

function idUnderEitherKey(object: Record<string, unknown>, mirrorKey: string | null): string {
  const own = object.platform_id
  const mirrored = mirrorKey === null ? undefined : object[mirrorKey]
  const names = mirrorKey === null ? 'platform_id' : `platform_id or ${mirrorKey}`
  if (own !== undefined && mirrored !== undefined && own !== mirrored)
    throw errors.badRequest(`platform_id and ${mirrorKey} must be the same`)
  const id = own ?? mirrored
  if (typeof id !== 'string' || id === '') throw errors.badRequest(`The id is missing: give ${names}`)
  return id
}
