/** What a face is, and what is to lie in it. */
import type { Words } from 'archivolt'

export const FORMS = ['shows', 'files', 'sound'] as const
export type Form = (typeof FORMS)[number]

/** What a face shows: all of it, or what is in one of these, as far as that account sees it. */
export interface Selection {
  channels?: string[] | undefined
  playlists?: string[] | undefined
  /** The view of this account holds. */
  account?: number | undefined
  /** Only what `account` has watched, or has not. */
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

/** A file as it is to be. `mark` differs where the file is to be made anew. */
export type WantedFile = { path: string; mark: string } & (
  | { kind: 'film'; from: string; isSoft: boolean }
  | { kind: 'sound'; from: string; codec: string }
  | { kind: 'picture'; from: string }
  | { kind: 'subtitles'; from: string }
  | { kind: 'text'; text: string }
)

/** What belongs to one document: it comes and goes together, the film first and last. */
export interface WantedUnit {
  unit: string
  files: WantedFile[]
}

/**
 * Path, mark, and what the disk had after it was written (`look`). null: it is on its way. `-` and a path: nothing lay
 * there to make it of.
 */
export type KeptFile = [path: string, mark: string, seen: string | null]

/** There was nothing to make this file of. */
export const isMissing = (seen: string | null): boolean => seen?.startsWith('-') === true

export interface Change {
  path: string
  kind: 'added' | 'changed' | 'removed'
}

/** What became of a render, as people are shown it. */
export interface FaceState {
  /** Epoch seconds. */
  at?: number
  took_ms?: number
  films?: number
  changed?: number
  links?: Partial<Record<LinkKind, number>>
  /** Why nothing could be done. */
  error?: Words
  problems?: Array<{ path: string; reason: Words }>
  more_problems?: number
}
