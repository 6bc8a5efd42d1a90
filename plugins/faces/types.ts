/** The types of faces and their files. */
import type { Words } from 'archivolt'

export const FORMS = ['shows', 'files', 'sound'] as const
export type Form = (typeof FORMS)[number]

/** The selection: all videos, or those in one of these, but only videos that the account sees. */
export interface Selection {
  channels?: string[] | undefined
  playlists?: string[] | undefined
  /** Groups, whose channels and playlists are selected. */
  groups?: number[] | undefined
  /** The account whose view applies. */
  account?: number | undefined
  /** Only videos that `account` has watched, or has not watched. */
  watched?: boolean | undefined
}

export interface FaceRow {
  id: number
  name: string
  root: string
  mark: string
  form: Form
  template: string
  selection: string
  takes_back: number
  with_places: number
  is_on: number
  state: string
  created_at: number
}

export type LinkKind = 'hard' | 'reflink' | 'symbolic'

/** A wanted file. If `mark` changes, the file is created again. */
export type WantedFile = { path: string; mark: string } & (
  | { kind: 'film'; from: string; isSoft: boolean }
  | { kind: 'sound'; from: string; codec: string }
  | { kind: 'picture'; from: string }
  | { kind: 'subtitles'; from: string }
  | { kind: 'text'; text: string }
)

/** The files of one document, which are created and removed together, the film last. */
export interface WantedUnit {
  unit: string
  files: WantedFile[]
}

/**
 * Path, mark, and the state on disk after it was written (`stateOf` in `disk.ts`). null: the file is about to be
 * created. `-` and a path: the source at this path does not exist.
 */
export type KnownFile = [path: string, mark: string, seen: string | null]

/**
 * The files as the ledger stores them: the prefix that all paths share, then each file with the rest of its path. Rows
 * of earlier versions have whole paths and no prefix.
 */
export type StoredFiles = ReadonlyArray<string | KnownFile>

export function toStored(files: readonly KnownFile[]): StoredFiles {
  const [first = '', ...others] = files.map(([path]) => path)
  let length = first.length
  for (const path of others) while (!path.startsWith(first.slice(0, length))) length--
  return [first.slice(0, length), ...files.map(([path, mark, seen]): KnownFile => [path.slice(length), mark, seen])]
}

export function fromStored(stored: StoredFiles): KnownFile[] {
  const [beginning] = stored
  const files = stored.filter((one) => typeof one !== 'string')
  return typeof beginning === 'string' ? files.map(([rest, mark, seen]) => [beginning + rest, mark, seen]) : files
}

/** The inode of a file; undefined: it is a symbolic link, or does not exist. */
export function inodeIn(seen: string | null): number | undefined {
  const inode = Number.parseInt(seen ?? '', 10)
  return inode > 0 ? inode : undefined
}

/** Whether the source of this file does not exist. */
export const isMissing = (seen: string | null): boolean => seen?.startsWith('-') === true

export interface Change {
  path: string
  kind: 'added' | 'changed' | 'removed'
}

/** The outcome of a render, as shown to people. */
export interface FaceState {
  /** Epoch seconds. */
  at?: number
  took_ms?: number
  films?: number
  changed?: number
  links?: Partial<Record<LinkKind, number>>
  /** Why the face could not be updated. */
  error?: Words
  problems?: Array<{ path: string; reason: Words }>
  more_problems?: number
}
