/** yt-dlp as the verbs of the service share it: each ask takes its turn, most go to the kept child. */
import { type Clock, errors, type Lanes, type Log, type Settings, say } from 'archivolt'
import { type Ask, Asks } from './asks.ts'
import type { ChildAskOptions, TokenNews } from './child.ts'
import type { Jar } from './cookie-in-use.ts'
import { DownloadChildren } from './download-children.ts'
import type { Gate } from './gate.ts'
import { KeptChild } from './kept-child.ts'
import type { LookUps } from './look-ups.ts'
import { isId } from './metadata.ts'
import type { Pacing } from './pacing.ts'
import { SubtitleClosure } from './subtitle-closure.ts'
import type { Tools } from './tools.ts'
import type { AskOptions } from './types.ts'

const METADATA_QUIET_MS = 120_000
export const LONG_QUIET_MS = 900_000

export interface YtDlp {
  readonly settings: Pick<Settings, 'dataDir' | 'ffprobe'>
  readonly clock: Clock
  readonly log: Log
  /** The child that metadata and listings share. */
  readonly kept: KeptChild
  /** The same for what requests wait for: a long listing of a job does not keep them waiting. */
  readonly hasty: KeptChild
  /** Fetches pictures where they go another way than usual, so that no listing waits for them. */
  readonly pictures: KeptChild
  /** A download has a child of its own. */
  readonly downloads: DownloadChildren
  /** Closed while the platform refuses subtitles. */
  readonly subtitles: SubtitleClosure
  /** Waits at the gate and for a turn in the lane, then does the work. */
  ask<Result>(about: Ask, options: AskOptions, work: (child: ChildAskOptions) => Promise<Result>): Promise<Result>
}

interface YtDlpParts extends Pick<YtDlp, 'settings' | 'clock' | 'log'> {
  gate: Gate
  pacing: Pacing
  jar: Jar
  isGuestFirst: () => boolean
  onToken: (news: TokenNews) => void
  lanes: Lanes
  lookUps: LookUps
  tools: Tools
  /** Ends all asks: the server is closing. */
  ending: AbortSignal
}

export function openYtDlp({ onToken, ...parts }: YtDlpParts): YtDlp {
  const { settings, clock, log, jar, tools } = parts
  const asks = new Asks(parts)
  const launch = async (use: 'metadata' | 'download') => {
    const { text, onJar } = await jar.lend()
    return { launch: await tools.launch(use, text), onJar, onToken }
  }
  return {
    settings,
    clock,
    log,
    kept: new KeptChild({ clock, log, launch: () => launch('metadata') }),
    hasty: new KeptChild({ clock, log, launch: () => launch('metadata') }),
    pictures: new KeptChild({ clock, log, launch: () => launch('metadata') }),
    downloads: new DownloadChildren({ clock, log, launch: () => launch('download') }),
    subtitles: new SubtitleClosure(clock, log),
    ask: (about, options, work) => asks.do(about, options, work),
  }
}

/** As who asks sees it: with the child that is theirs. */
export const forAsker = (ytdlp: YtDlp, { isUrgent }: AskOptions): YtDlp =>
  isUrgent ? { ...ytdlp, kept: ytdlp.hasty } : ytdlp

export const ofMetadata = (item: string, quietMs = METADATA_QUIET_MS): Ask => ({ lane: 'platform', item, quietMs })

/** One of those that the budget counts. */
export const ofVideo = (id: string, quietMs = METADATA_QUIET_MS): Ask => ({ ...ofMetadata(id, quietMs), isVideo: true })

/** The same ask with the patience of plain metadata. */
export const withMetadataQuiet = (child: ChildAskOptions): ChildAskOptions => ({ ...child, quietMs: METADATA_QUIET_MS })

/** @throws bad_request */
export function checkId(id: string, what: string): string {
  if (!isId(id)) throw errors.badRequest(say`This is not the id of a ${{ what }}`)
  return id
}
