/** The state that the methods of the service share: each ask takes its turn; most use the shared child. */
import { errors, type Settings, say } from 'archivolt'
import { type Ask, type AskParts, openAsk } from './asks.ts'
import type { ChildAskOptions, TokenNews } from './child.ts'
import { openDownloadChildren } from './download-children.ts'
import { isId } from './metadata.ts'
import { openSharedChild } from './shared-child.ts'
import { openSubtitleClosure } from './subtitle-closure.ts'
import type { Tools } from './tools.ts'
import type { AskOptions } from './types.ts'

const METADATA_QUIET_MS = 120_000
export const LONG_QUIET_MS = 900_000

interface YtDlpParts extends AskParts {
  settings: Pick<Settings, 'dataDir' | 'ffprobe'>
  onTokenNews: (news: TokenNews) => void
  tools: Tools
}

export type YtDlp = ReturnType<typeof openYtDlp>

export function openYtDlp({ onTokenNews, ...parts }: YtDlpParts) {
  const { settings, clock, log, jar, tools } = parts
  const launch = async (use: 'metadata' | 'download') => {
    const { text, onJar } = await jar.lend()
    return { launch: await tools.launch(use, text), onJar, onTokenNews }
  }
  return {
    ...{ settings, clock, log },
    /** The child for metadata and listings. */
    shared: openSharedChild({ clock, log, launch: () => launch('metadata') }),
    /** The child for HTTP requests, so that a job's long listing does not delay them. */
    hasty: openSharedChild({ clock, log, launch: () => launch('metadata') }),
    /** Fetches pictures over a special network route, so that no listing waits for them. */
    pictures: openSharedChild({ clock, log, launch: () => launch('metadata') }),
    /** Children for downloads. */
    downloads: openDownloadChildren({ clock, log, launch: () => launch('download') }),
    /** Closed while the platform refuses subtitles. */
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
