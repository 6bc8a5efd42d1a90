/**
 * The hook `library.reader`: how libraries of other programs are read (contract 9.17). adoption asks it, and answers it for
 * those that it knows itself.
 */
import type { FoundFile, Info, Look, Problem } from '../film-kit/types.ts'
import type { VideoMetadata } from '../platform/types.ts'

/** What a reader knows of one film. */
export interface FoundVideo {
  file: FoundFile
  id: string
  /** The id stands in a name alone: the platform has to confirm it. */
  isGuess: boolean
  /** Nothing here tells its facts: only the platform can. */
  isBare?: boolean
  /** The program's own database names this very file. */
  isListed?: boolean
  /** One of several files that a film was cut into. */
  isPart?: boolean
  title: string
  channelId?: string
  channelName?: string
}

/** What a reader is given to read a place with. Nothing of it writes. */
export interface PlaceTools {
  /**
   * The head of each film and its information file, checked for size and form.
   * @returns in the same order; `isFilm` false: it is none, whatever its name says
   */
  look(files: readonly FoundFile[]): Promise<Look[]>
  /** The video that a text stands for: an id or an address of the platform, and nothing else. */
  videoIn(text: string): string | undefined
  /** The platform's name, as yt-dlp writes it. */
  extractor: string
  /** Metadata from an information file, checked. @returns undefined: it names no channel, or is another video's */
  metadataOf(info: Info, id: string): VideoMetadata | undefined
  /** Ids in the tags of one file. By a program of its own: for the few that nothing else tells of. */
  idInTags(file: FoundFile): Promise<string | undefined>
}

export type Finding = { video: FoundVideo; problems: Problem[] } | { problems: Problem[] }

/** A kind of place: how one is recognised, and what its films are. */
export interface PlaceReader {
  /** `yt-dlp` */
  name: string
  /** For people. */
  title: string
  /** How sure it is that a place is of its kind, by the names of its two upper levels: 0 not at all, 1 certain. */
  recognise(names: readonly string[]): number
  /** What a piece of the place is. May be asked twice. */
  read(files: readonly FoundFile[], tools: PlaceTools): Promise<Finding[]>
  /**
   * All that is known of those that are taken in, in the same order.
   * @returns undefined for one: only the platform can tell
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
  /** The platform has it no more. */
  isGone?: boolean
  /** As announced, where known. */
  streams?: Array<{ type: 'video' | 'audio'; codec: string; bitrate: number; width?: number; height?: number }>
}

declare module 'archivolt' {
  interface Hooks {
    /** Asked when a folder of another program is scanned: kinds of libraries, each with how it is recognised and read. */
    'library.reader': PlaceReader | readonly PlaceReader[]
  }
}
