/** The types of catalogs: another program's data about its films, in a database, a list or a backup. */

import { inEnglish, type Words } from 'archivolt'
import type { Info } from '../../film-kit/types.ts'

/** A film as a catalog describes it. */
export interface CatalogFilm {
  id: string
  /** The stored path: relative to the root of that program's container, or to one of its folders. */
  path?: string
  /** Uses the keys of yt-dlp; `is_gone`: the platform no longer has the video. */
  info?: Info
  /** A file of that program with yt-dlp's full information, read if the catalog contains too little. */
  infoFile?: string
  pictureFile?: string
  /** The film was split into several files; this is one of them. */
  isPart?: boolean
  /** yt-dlp's name of the platform, if it is another one. */
  extractor?: string
}

/**
 * Data about what people have done in that program. `owner`: their name or number there; '': the program has one user.
 */
export type Along =
  | { kind: 'watched'; id: string; owner: string; at?: number }
  | { kind: 'position'; id: string; owner: string; seconds: number }
  | { kind: 'keep'; id: string }
  | { kind: 'ignore'; id: string; title?: string; channelId?: string; channelName?: string }
  | { kind: 'channel'; id: string; name: string }
  | { kind: 'playlist'; id: string; name: string }
  /** A playlist that people created there. */
  | { kind: 'list'; id: string; name: string; entries: string[] }
  /** A playlist of the platform that the program knows, with or without a subscription. */
  | ({ kind: 'platform_list'; id: string; name: string; entries: ListedEntry[] } & Partial<ListedFacts>)

/** An entry of a playlist, in the order of the playlist. */
export interface ListedEntry {
  id: string
  /** '': the program does not know it. */
  title: string
  /** Set if it differs from the playlist's. */
  uploader?: string
}
interface ListedFacts {
  description: string
  channelId: string
  channelName: string
  /** Whether the platform no longer has it. */
  isGone: boolean
}

export const ALONG = [
  ...(['watched', 'position', 'keep', 'ignore', 'channel', 'playlist'] as const),
  ...(['list', 'platform_list'] as const),
]

/** Settings of the other program, by source, that have no equivalent here: shown to people as text. */
const SETTINGS = [
  ...['titles', 'not_titles', 'shortest', 'longest', 'since', 'newest', 'kept_for', 'quality'],
  ...['shorts', 'streams'],
] as const
export interface Setting {
  /** The name of the channel or playlist in that program, and its kind and id on the platform, if known. */
  of: string
  kind?: 'channel' | 'playlist'
  id?: string
  key: string
  /** The stored value: seconds, days, a date, or an expression, which is never evaluated. */
  value: string
}

export interface AlongCount {
  kind: Along['kind']
  /** The owner in that program. */
  owner: string
  count: number
}

/** Maps a path of that program to a path relative to the place. */
export interface PathMap {
  from: string
  to: string
}

export interface CatalogRead {
  kind: string
  files: string[]
  /** The number of films in the catalog, and the share of a sample that is in the place. */
  films: number
  share: number
  map: PathMap
  along: AlongCount[]
  broken: Array<{ id: string; why: Words }>
  unread: CatalogFault[]
  settings: Setting[]
}

/** A file with the name of a catalog that cannot be read, or that belongs to another library. */
export interface CatalogFault {
  code: 'unreadable_catalog' | 'catalog_elsewhere'
  path: string
  why: Words
}

export interface CatalogTake {
  film(film: CatalogFilm): void
  /** Adds yt-dlp's information about a film; other information in the catalog has priority. */
  info(id: string, info: Info): void
  /** A line of a download archive: `<extractor> <id>`; the video may have been removed since. */
  archived(line: string): void
  /** Adds the comments of a film, in yt-dlp's form. */
  comments(id: string, comments: readonly unknown[]): void
  along(one: Along): void
  /** Settings without a value are omitted. */
  settings(
    of: { name: string; kind: 'channel' | 'playlist'; id?: string | undefined },
    set: Partial<Record<(typeof SETTINGS)[number], unknown>>,
  ): void
  /** Reports a part of the catalog that cannot be understood. */
  broken(id: string, why: Words): void
  /** Reports a file next to the catalog that cannot be read; everything else is used. */
  unread(path: string, why: Words): void
}

/** The input of a catalog reader: the files that it may read. */
export interface CatalogSource {
  /** The files by which the catalog was recognized, as absolute paths. */
  files: readonly string[]
  /** Further files, which are read if they exist. */
  beside: readonly string[]
  /** The place: the folder of the films. */
  place: string
  /** A folder of the archive for temporary copies. */
  own: string
  /** Whether a file named by the catalog may be read: it must be below the permitted roots. */
  isAllowed(path: string): boolean
}

/** A kind of catalog. Its file contains everything that is specific to that program. */
export interface CatalogKind {
  /** The short name, such as `pinchflat`. */
  name: string
  /** The name shown to people. */
  title: string
  /** Chooses the program's files by name. @param files  paths relative to the searched folder */
  find(files: readonly string[]): string[]
  /** Further files that are read if they are near; alone they are not a catalog. */
  beside?(files: readonly string[]): string[]
  /** Checks the content of a file whose name other programs use too; false: it is not a catalog of this kind. */
  isOne?(file: string): boolean
  /** Whether the catalog is always in the folder of the films, never next to it. */
  isWithFilms?: boolean
  /** How surely the folders alone indicate this program; see `PlaceReader`. */
  recognise?(names: readonly string[]): number
  /** Chooses the files to read by their content, if names are not enough. Default: all. */
  choose?(files: readonly string[]): Promise<string[]>
  /** @throws NoCatalog: despite its name, the file is not a catalog */
  read(source: CatalogSource, take: CatalogTake): Promise<void> | void
}

/** The content of the file does not match its name. */
export class NoCatalog extends Error {
  readonly why: Words
  constructor(why: Words) {
    super(inEnglish(why))
    this.why = why
  }
}
