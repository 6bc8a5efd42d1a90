/**
 * The hook `library.reader`: how libraries of other programs are read (contract 9.17). The plugin adoption asks it, and
 * implements it for the programs that it knows.
 */
import type { FoundFile, Info, Look, Problem } from '../film-kit/types.ts'
import type { VideoMetadata } from '../platform/types.ts'

/** What a reader knows of one film. */
export interface FoundVideo {
  file: FoundFile
  id: string
  /** Only the file name has the id: the platform has to confirm it. */
  isGuess: boolean
  /** No file describes it: only the platform can. */
  isBare?: boolean
  /** The program's own database names this very file. */
  isListed?: boolean
  /** One of several parts of a film. */
  isPart?: boolean
  title: string
  channelId?: string
  channelName?: string
}

/** The tools of a reader; none of them writes. */
export interface PlaceTools {
  /**
   * The head of each film and its information file, checked for size and form.
   * @returns in the same order; `isFilm` is false for a file that only looks like a film
   */
  look(files: readonly FoundFile[]): Promise<Look[]>
  /** The video that a text names, if the text is exactly one id or address of the platform. */
  videoIn(text: string): string | undefined
  /** The platform's name, as yt-dlp writes it. */
  extractor: string
  /** Checked metadata from an information file. @returns undefined: it names no channel, or another video */
  metadataOf(info: Info, id: string): VideoMetadata | undefined
  /** The id in the tags of a file. It starts ffprobe, so use it only if nothing else names the video. */
  idInTags(file: FoundFile): Promise<string | undefined>
}

export type Finding = { video: FoundVideo; problems: Problem[] } | { problems: Problem[] }

/** A kind of library: how to recognise it, and which videos its films are. */
export interface PlaceReader {
  /** `yt-dlp` */
  name: string
  /** For people. */
  title: string
  /** How sure it is, 0 to 1, that a place is of this kind, judging by the names of the two upper levels. */
  recognise(names: readonly string[]): number
  /** Identifies some files of the place. It may be called twice for the same files. */
  read(files: readonly FoundFile[], tools: PlaceTools): Promise<Finding[]>
  /**
   * Metadata of the films that are imported, in the same order.
   * @returns undefined for a film that only the platform can describe
   */
  factsOf(
    films: ReadonlyArray<{ file: FoundFile; id: string; info?: Info }>,
    tools: PlaceTools,
  ): Promise<Array<Facts | undefined>>
}

export interface Facts {
  metadata: VideoMetadata
  /** Epoch seconds, where known. */
  downloadedAt?: number
  /** The platform no longer has it. */
  isGone?: boolean
  /** As announced, if known. */
  streams?: Array<{ type: 'video' | 'audio'; codec: string; bitrate: number; width?: number; height?: number }>
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked by a scan: one or several readers, each for a kind of library of another program. */
    'library.reader': PlaceReader | readonly PlaceReader[]
  }
}
