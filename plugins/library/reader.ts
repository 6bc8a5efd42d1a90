/**
 * The hook `library.reader`: reads libraries of other programs (contract 9.17). The plugin adoption asks it, and
 * implements it for the programs that it knows.
 */
import type { FoundFile, Info, Look, Problem } from '../film-kit/types.ts'
import type { VideoMetadata } from '../platform/types.ts'

/** A reader's findings about one film. */
export interface FoundVideo {
  file: FoundFile
  id: string
  /** Only the file name contains the id: the platform has to confirm it. */
  isGuess: boolean
  /** No file describes it: only the platform can provide metadata. */
  isBare?: boolean
  /** The program's own database lists this file. */
  isListed?: boolean
  /** It is one of several parts of a film. */
  isPart?: boolean
  title: string
  channelId?: string
  channelName?: string
}

/** The tools of a reader, all of which only read. */
export interface PlaceTools {
  /**
   * Reads the first bytes of each film and its information file, and checks their size and form.
   * @returns in the same order; `isFilm` is false for a file that only looks like a film
   */
  look(files: readonly FoundFile[]): Promise<Look[]>
  /** The video that a text identifies, if the text is exactly one id or address of the platform. */
  videoIn(text: string): string | undefined
  /** The platform's name, as yt-dlp writes it. */
  extractor: string
  /**
   * Checked metadata from an information file. @returns undefined: it contains no channel, or is about another video
   */
  metadataOf(info: Info, id: string): VideoMetadata | undefined
  /** The id in the tags of a file. This starts ffprobe, so use it only if there is no other source of the id. */
  idInTags(file: FoundFile): Promise<string | undefined>
}

export type Finding = { video: FoundVideo; problems: Problem[] } | { problems: Problem[] }

/** A kind of library: recognizes it, and identifies the videos of its films. */
export interface PlaceReader {
  /** `yt-dlp` */
  name: string
  /** Title for people. */
  title: string
  /** Probability (0 to 1) that a place is of this kind, judged by the names of the two upper levels. */
  recognise(names: readonly string[]): number
  /** If two readers are equally sure, the one with the higher priority wins; default: 0. */
  priority?: number
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
  /** Epoch seconds, if known. */
  downloadedAt?: number
  /** The platform no longer has the video. */
  isGone?: boolean
  /** As recorded by the other program, if known. */
  streams?: Array<{ type: 'video' | 'audio'; codec: string; bitrate: number; width?: number; height?: number }>
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked during a scan: one or more readers, each for a kind of library of another program. */
    'library.reader': PlaceReader | readonly PlaceReader[]
  }
}
