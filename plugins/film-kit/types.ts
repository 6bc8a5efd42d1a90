/** The types of scan results: films with the files next to them, their descriptions, and problems. */
import type { Words } from 'archivolt'
import type { Ending } from '../media/containers.ts'

/** Data about a film, with yt-dlp's keys: its information file, or another program's data. */
export type Info = Record<string, unknown>

/** The content of a film's `<base>.nfo`. */
export interface Nfo {
  /** Ids by the name of the platform: `youtube`, `imdb` … */
  ids: Record<string, string>
  /** Data with yt-dlp's keys. */
  info: Info
}

/** A film and the files that belong to it by name. */
export interface FoundFile {
  /** Relative to the place; '' is the place itself. */
  folder: string
  name: string
  /** The name without its ending, normalized to NFC. */
  base: string
  ending: Ending
  sizeBytes: number
  changedMs: number
  /** Names of files in the same folder, or their paths relative to that folder. */
  info?: string
  nfo?: string
  /** If the film has no information file: those in its folder that match no film by name. */
  lone?: readonly string[]
  /** An absolute path if the other program stores pictures elsewhere. */
  picture?: string
  subtitles: Array<{ name: string; lang: string; isSubRip: boolean }>
}

/** The reasons why something is not imported, as stable codes. */
const PROBLEM_CODES = [
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
  /** Path relative to the place. */
  path?: string
  id?: string
  /** The film, if a person can say which video it is. */
  file?: FoundFile
  why: Words
}

/** Data of the files next to a film, and the film's size and time. */
export interface Beside {
  sizeBytes: number
  changedMs: number
  info?: Info
  fault?: Words
  /** This and `show` are set only if there is no information file. */
  nfo?: Nfo
  /** The channel of the show to which its folder belongs, as `channel_id` and `channel`. */
  show?: Info
  /** The data of the folder's catalog about the film. */
  listed?: Listed
}

export type Look = { isFilm: false; why: Words; code: 'not_a_film' | 'unreadable_file' } | ({ isFilm: true } & Beside)

/** The data of a catalog about one file. */
export interface Listed {
  id: string
  /** Whether the catalog names this file; otherwise the id in the file name matched. */
  isStored: boolean
  /** Whether the catalog names another file, which is missing. */
  wasMoved: boolean
  isPart: boolean
  extractor?: string
  /** Other videos for which the catalog also names this file. */
  others: string[]
  info: Info
  /** Absolute path. */
  picture?: string
}
