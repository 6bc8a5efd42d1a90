/** Catalogs: what another program keeps about its films, in a database, a list or a backup of its own. */

import type { Sentence, Words } from 'archivolt'
import { because } from '../../film-kit/because.ts'
import type { Info } from '../../film-kit/types.ts'

/** A film as a catalog tells of it. */
export interface CatalogFilm {
  id: string
  /** As it is stored there: from the root of that program's container, or from a folder of its own. */
  path?: string
  /** In yt-dlp's words; `is_gone`: the platform has it no more. */
  info?: Info
  /** A file of that program with more about it, as yt-dlp wrote it, read where this says too little. */
  infoFile?: string
  pictureFile?: string
  /** One of several files that a film was cut into. */
  isPart?: boolean
  /** Of another platform, as yt-dlp calls that. */
  extractor?: string
}

/** What people have done there, beside having films. `owner`: their name or number there; '' where it has but one. */
export type Along =
  | { kind: 'watched'; id: string; owner: string; at?: number }
  | { kind: 'position'; id: string; owner: string; seconds: number }
  | { kind: 'keep'; id: string }
  | { kind: 'ignore'; id: string; title?: string; channelId?: string; channelName?: string }
  | { kind: 'channel'; id: string; name: string }
  | { kind: 'playlist'; id: string; name: string }
  /** One that people have made there. */
  | { kind: 'list'; id: string; name: string; entries: string[] }
  /** A playlist of the platform as it is known there, subscribed to or not. */
  | ({ kind: 'platform_list'; id: string; name: string; entries: ListedEntry[] } & Partial<ListedFacts>)

/** Of a playlist, in its order. */
export interface ListedEntry {
  id: string
  /** '': unknown there. */
  title: string
  /** Where it is another one than the playlist's. */
  uploader?: string
}
interface ListedFacts {
  description: string
  channelId: string
  channelName: string
  /** The platform has it no more. */
  isGone: boolean
}

export const ALONG = [
  ...(['watched', 'position', 'keep', 'ignore', 'channel', 'playlist'] as const),
  ...(['list', 'platform_list'] as const),
]

/** What the other program is set to do, by source: as text for people, as nothing here does the same. */
const SETTINGS = [
  ...['titles', 'not_titles', 'shortest', 'longest', 'since', 'newest', 'kept_for', 'quality'],
  ...['shorts', 'streams'],
] as const
export interface Setting {
  /** The channel or playlist, as it is called there. */
  of: string
  key: string
  /** As it is stored there: seconds, days, a day, an expression that is never run. */
  value: string
}

export interface AlongCount {
  kind: Along['kind']
  /** Whose it is there. */
  owner: string
  count: number
}

/** What stands there for a folder here: a path of that program, and one from the place on. */
export interface PathMap {
  from: string
  to: string
}

export interface CatalogRead {
  kind: string
  files: string[]
  /** How many films it names, and what of a sample lies in the place. */
  films: number
  share: number
  map: PathMap
  along: AlongCount[]
  broken: Array<{ id: string; why: Words }>
  unread: CatalogFault[]
  settings: Setting[]
}

/** One that has the name of a catalog and cannot be read, or is another library's. */
export interface CatalogFault {
  code: 'unreadable_catalog' | 'catalog_elsewhere'
  path: string
  why: Words
}

export interface CatalogTake {
  film(film: CatalogFilm): void
  /** More of a film, as yt-dlp wrote it: what is told of it otherwise goes first. */
  info(id: string, info: Info): void
  /** What people have said below a film, as yt-dlp writes it. */
  comments(id: string, comments: readonly unknown[]): void
  along(one: Along): void
  /** What is not set there is left out. */
  settings(of: string, set: Partial<Record<(typeof SETTINGS)[number], unknown>>): void
  /** Something in it that nobody can make sense of. */
  broken(id: string, why: Words): void
  /** A file beside it that nobody can read: the rest counts. */
  unread(path: string, why: Words): void
}

/** What a catalog is read with: the files that it may look at. */
export interface CatalogSource {
  /** Those that made it be taken for one, as absolute paths. */
  files: readonly string[]
  /** What else it reads, where it is there. */
  beside: readonly string[]
  /** The place: its films' folder. */
  place: string
  /** A folder of ours, for copies. */
  own: string
  /** Whether a file that it names may be read: it lies below the roots. */
  isAllowed(path: string): boolean
}

/** A kind of catalog. All that is known of that program stands in the file that has it. */
export interface CatalogKind {
  /** `pinchflat` */
  name: string
  /** For people. */
  title: string
  /** Which of these files are its own, by their names alone. @param files  from the looked-at folder on */
  find(files: readonly string[]): string[]
  /** What it reads too, where it lies near: alone it makes no catalog. */
  beside?(files: readonly string[]): string[]
  /** By a glance into it, where its name is one that others have too: what is false is none. */
  isOne?(file: string): boolean
  /** How sure folders are of this program where nothing else of it is there: as `PlaceReader` says. */
  recognise?(names: readonly string[]): number
  /** Which of these it reads, by what is in them, where names alone do not tell. Default: all of them. */
  choose?(files: readonly string[]): Promise<string[]>
  /** @throws NoCatalog: it is none, whatever its name says */
  read(source: CatalogSource, take: CatalogTake): Promise<void> | void
}

/** It cannot be read as what its name says. */
export class NoCatalog extends Error {
  readonly why: Words
  /** @param key  in English, with names in braces where the values stand */
  constructor(key: string, params?: Sentence['params']) {
    super(key)
    this.why = because(key, params)
  }
}
