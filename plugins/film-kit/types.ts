/** What a scan finds in folders: films with the files beside them, what describes them, and problems. */
import type { Words } from 'archivolt'
import type { Ending } from '../media/containers.ts'

/** What describes a film, with yt-dlp's keys: its information file, or another program's data. */
export type Info = Record<string, unknown>

/** What `<base>.nfo` says about a film. */
export interface Nfo {
  /** By the name of the platform: `youtube`, `imdb` … */
  ids: Record<string, string>
  /** With yt-dlp's keys. */
  info: Info
}

/** A film and the files that belong to it by name. */
export interface FoundFile {
  /** Relative to the place; '' is the place itself. */
  folder: string
  name: string
  /** The name without its ending, normalised to NFC. */
  base: string
  ending: Ending
  sizeBytes: number
  changedMs: number
  /** Names of files in the same folder, or their paths from that folder on. */
  info?: string
  nfo?: string
  /** If it has no information file: those of the folder that match no film by name. */
  lone?: readonly string[]
  /** An absolute path if the other program keeps pictures elsewhere. */
  picture?: string
  subtitles: Array<{ name: string; lang: string; isSubRip: boolean }>
}

/** Why something is not imported, as a stable code. */
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
  /** Relative to the place. */
  path?: string
  id?: string
  /** The film, if a person can say which video it is. */
  file?: FoundFile
  why: Words
}

/** What lies beside a film, and the film's size and time. */
export interface Beside {
  sizeBytes: number
  changedMs: number
  info?: Info
  fault?: Words
  /** These two only if there is no information file. */
  nfo?: Nfo
  /** The channel that the show of its folder is made of, as `channel_id` and `channel`. */
  show?: Info
  /** What the catalog of its folder says about it. */
  listed?: Listed
}

export type Look = { isFilm: false; why: Words; code: 'not_a_film' | 'unreadable_file' } | ({ isFilm: true } & Beside)

/** What a catalog says about one file. */
export interface Listed {
  id: string
  /** The catalog names this file; otherwise the id in the file name matched. */
  isStored: boolean
  /** The catalog names another file, which is missing. */
  wasMoved: boolean
  isPart: boolean
  extractor?: string
  /** Other videos for which the catalog names this file too. */
  others: string[]
  info: Info
  /** An absolute path. */
  picture?: string
}
