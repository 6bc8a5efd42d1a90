/** What is found in folders: films, what lies beside each, what is told of it, and why something is not taken in. */
import type { Words } from 'archivolt'
import type { Ending } from '../media/containers.ts'

/** What is told of a film beside its file: yt-dlp's information file, or what stands for it. */
export type Info = Record<string, unknown>

/** What `<base>.nfo` tells of a film. */
export interface Nfo {
  /** By the platform's name there: `youtube`, `imdb` … */
  ids: Record<string, string>
  /** As far as it says them, in yt-dlp's words. */
  info: Info
}

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
  /** From the place on. */
  path?: string
  id?: string
  why: Words
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

/** What a catalog tells of one file. */
export interface Listed {
  id: string
  /** It names this very file; else its id stands in the name. */
  isStored: boolean
  /** It names another one, which is not there. */
  wasMoved: boolean
  isPart: boolean
  extractor?: string
  /** Further videos that are said to be this file. */
  others: string[]
  info: Info
  /** Its whole path. */
  picture?: string
}
