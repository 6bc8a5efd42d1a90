/** The state that the methods of the service share: each ask takes its turn; most use the shared child. */
import { type Clock, errors, type Log, type Settings, say } from 'archivolt'
import { type Ask, type AskParts, type AskPlatform, openAsk } from './asks.ts'
import type { ChildAskOptions, TokenNews } from './child.ts'
import { type DownloadChildren, openDownloadChildren } from './download-children.ts'
import { isId } from './metadata.ts'
import { openSharedChild, type SharedChild } from './shared-child.ts'
import { openSubtitleClosure, type SubtitleClosure } from './subtitle-closure.ts'
import type { Tools } from './tools.ts'
import type { AskOptions } from './types.ts'

const METADATA_QUIET_MS = 120_000
export const LONG_QUIET_MS = 900_000

export interface YtDlp {
  readonly settings: Pick<Settings, 'dataDir' | 'ffprobe'>
  readonly clock: Clock
  readonly log: Log
  /** The child for metadata and listings. */
  readonly shared: SharedChild
  /** The child for HTTP requests, so that a job's long listing does not delay them. */
  readonly hasty: SharedChild
  /** Fetches pictures over a special network route, so that no listing waits for them. */
  readonly pictures: SharedChild
  /** Children for downloads. */
  readonly downloads: DownloadChildren
  /** Closed while the platform refuses subtitles. */
  readonly subtitles: SubtitleClosure
  readonly ask: AskPlatform
}

interface YtDlpParts extends Pick<YtDlp, 'settings'>, AskParts {
  onToken: (news: TokenNews) => void
  tools: Tools
}

export function openYtDlp({ onToken, ...parts }: YtDlpParts): YtDlp {
  const { settings, clock, log, jar, tools } = parts
  const launch = async (use: 'metadata' | 'download') => {
    const { text, onJar } = await jar.lend()
    return { launch: await tools.launch(use, text), onJar, onToken }
  }
  return {
    settings,
    clock,
    log,
    shared: openSharedChild({ clock, log, launch: () => launch('metadata') }),
    hasty: openSharedChild({ clock, log, launch: () => launch('metadata') }),
    pictures: openSharedChild({ clock, log, launch: () => launch('metadata') }),
    downloads: openDownloadChildren({ clock, log, launch: () => launch('download') }),
    subtitles: openSubtitleClosure(clock, log),
    ask: openAsk(parts),
  }
}

/** The same methods with the child that suits the caller: for jobs or for HTTP requests. */
export const forAsker = (ytdlp: YtDlp, { isUrgent }: AskOptions): YtDlp =>
  isUrgent ? { ...ytdlp, shared: ytdlp.hasty } : ytdlp

export const ofMetadata = (item: string, quietMs = METADATA_QUIET_MS): Ask => ({ lane: 'platform', item, quietMs })

/** An ask that the budget counts. */
export const ofVideo = (id: string, quietMs = METADATA_QUIET_MS): Ask => ({ ...ofMetadata(id, quietMs), isVideo: true })

/** The same ask with the shorter time limit of plain metadata. */
export const withMetadataQuiet = (child: ChildAskOptions): ChildAskOptions => ({ ...child, quietMs: METADATA_QUIET_MS })

/** @throws bad_request */
export function checkId(id: string, what: string): string {
  if (!isId(id)) throw errors.badRequest(say`This is not the id of a ${{ what }}`)
  return id
}
