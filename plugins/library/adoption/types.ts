/** Adopting: what is found in a place, what becomes of it, and how other kinds of places are read (contract 9.17). */
import type { Words } from 'archivolt'
import type { Ending } from '../../media/containers.ts'
import type { VideoMetadata } from '../../platform/types.ts'
import type { Info, Listed } from '../catalogs/types.ts'
import type { Nfo } from '../nfo.ts'

/** A film and what belongs to it by its name. */
export interface FoundFile {
  /** From the place on: '' is the place itself. */
  folder: string
  name: string
  /** The name without its ending, in the normal form of Unicode. */
  base: string
  ending: Ending
  sizeBytes: number
  changedMs: number
  /** Names of files in the same folder. */
  info?: string
  nfo?: string
  /** Where it has none: information files of the folder that belong to no film by their name. */
  lone?: readonly string[]
  /** A whole path where its program keeps pictures elsewhere. */
  picture?: string
  subtitles: Array<{ name: string; lang: string; isSubRip: boolean }>
}

/** Why something is not taken in, by a word that does not change. */
export const PROBLEM_CODES = [
  'missing_file',
  'moved_file',
  'catalog_elsewhere',
  'unreadable_catalog',
  'unreadable_document',
  'duplicate',
  'second_container',
  'hard_link',
  'symbolic_link',
  'outside_root',
  'loop',
  'too_deep',
  'unfinished',
  'part_of_film',
  'not_a_film',
  'no_id',
  'ambiguous_id',
  'unsure_id',
  'no_facts',
  'foreign_platform',
  'foreign_sidecar',
  'unreadable_sidecar',
  'unreadable_name',
  'unreadable_file',
  'in_archive_only',
  'changed',
] as const
export type ProblemCode = (typeof PROBLEM_CODES)[number]

export interface Problem {
  code: ProblemCode
  /** From the place on. */
  path?: string
  id?: string
  why: Words
}

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

export type Look =
  | { isFilm: false; why: Words; code: 'not_a_film' | 'unreadable_file' }
  | {
      isFilm: true
      sizeBytes: number
      changedMs: number
      info?: Info
      fault?: Words
      /** Where no information file tells of it. */
      nfo?: Nfo
      /** What the place's catalog tells of it. */
      listed?: Listed
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
    /** Asked when a place is scanned: further kinds of places, beside folders of yt-dlp. */
    'library.reader': PlaceReader
  }
}
