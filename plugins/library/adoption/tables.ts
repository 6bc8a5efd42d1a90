/** Adoptions and their plans in the ledger: what was found, what is to become of it, and what has (contract 9.17). */
import type { Ending } from '../../media/containers.ts'
import type { ProblemCode } from './types.ts'

export const adoptionTables = {
  number: 2,
  sql: `
    CREATE TABLE library_adoption (
      id INTEGER PRIMARY KEY AUTOINCREMENT,
      place_id INTEGER NOT NULL,
      reader TEXT NOT NULL DEFAULT '',
      state TEXT NOT NULL CHECK (state IN ('scanning', 'planned', 'adopting', 'adopted', 'undoing', 'undone', 'failed')),
      created_at INTEGER NOT NULL,
      ended_at INTEGER,
      job_id TEXT,
      why TEXT NOT NULL DEFAULT '',
      -- films that are in the archive already and lie as they lay
      unchanged INTEGER NOT NULL DEFAULT 0
    ) STRICT;
    CREATE TABLE library_adoption_item (
      adoption_id INTEGER NOT NULL REFERENCES library_adoption (id) ON DELETE CASCADE,
      number INTEGER NOT NULL,
      -- found: nothing has been decided yet
      outcome TEXT NOT NULL CHECK (outcome IN ('found', 'new', 'ask', 'moved', 'known', 'removed', 'problem')),
      code TEXT,
      why TEXT NOT NULL DEFAULT '',
      video_id TEXT,
      title TEXT NOT NULL DEFAULT '',
      channel_id TEXT,
      channel_name TEXT,
      path TEXT NOT NULL,
      -- the film's own, and what lies beside it, as the reader knows it (JSON)
      file TEXT,
      is_guess INTEGER NOT NULL DEFAULT 0,
      size_bytes INTEGER NOT NULL DEFAULT 0,
      ending TEXT,
      -- planned → in: the video is in the archive → done: with picture and subtitles; left: it was not taken in
      state TEXT NOT NULL DEFAULT 'planned' CHECK (state IN ('planned', 'in', 'done', 'left', 'undone')),
      PRIMARY KEY (adoption_id, number)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX library_adoption_item_video ON library_adoption_item (adoption_id, video_id);
    CREATE INDEX library_adoption_item_outcome ON library_adoption_item (adoption_id, outcome, number);
    CREATE TABLE library_adoption_channel (
      adoption_id INTEGER NOT NULL REFERENCES library_adoption (id) ON DELETE CASCADE,
      channel_id TEXT NOT NULL,
      PRIMARY KEY (adoption_id, channel_id)
    ) STRICT, WITHOUT ROWID;`,
}

/** What a catalog told of the place and of its films. */
export const catalogTables = {
  number: 3,
  sql: `
    -- the database, list or backup that was read, and what comes along by it (JSON)
    ALTER TABLE library_adoption ADD COLUMN catalog TEXT NOT NULL DEFAULT '';
    ALTER TABLE library_adoption ADD COLUMN along TEXT NOT NULL DEFAULT '[]';
    ALTER TABLE library_adoption_item ADD COLUMN is_bare INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE library_adoption_item ADD COLUMN is_listed INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE library_adoption_item ADD COLUMN is_part INTEGER NOT NULL DEFAULT 0;`,
}

/** What comes along beside films: what was chosen, and what it has changed here. */
export const alongTables = {
  number: 4,
  sql: `
    ALTER TABLE library_adoption ADD COLUMN choice TEXT NOT NULL DEFAULT '';
    CREATE TABLE library_adoption_along (
      adoption_id INTEGER NOT NULL REFERENCES library_adoption (id) ON DELETE CASCADE,
      -- of the notes of the catalog
      number INTEGER NOT NULL,
      kind TEXT NOT NULL,
      -- as the notes have it (JSON), with what is needed to take it back
      data TEXT NOT NULL,
      is_done INTEGER NOT NULL DEFAULT 0,
      PRIMARY KEY (adoption_id, number)
    ) STRICT, WITHOUT ROWID;`,
}

/** How paths of the other program become ones of the place, and what it is set to do. */
export const mapTables = {
  number: 8,
  sql: `
    -- JSON; empty: there is no catalog, or nobody has said it and none was found yet
    ALTER TABLE library_adoption ADD COLUMN map TEXT NOT NULL DEFAULT '';
    -- of its filters and the like, as text (JSON)
    ALTER TABLE library_adoption ADD COLUMN settings TEXT NOT NULL DEFAULT '[]';`,
}

/** Films that the ledger knows in their place, and whose documents are gone: they alone come in again. */
export const againTables = {
  number: 10,
  sql: 'ALTER TABLE library_adoption ADD COLUMN is_again INTEGER NOT NULL DEFAULT 0;',
}

export const ADOPTION_STATES = ['scanning', 'planned', 'adopting', 'adopted', 'undoing', 'undone', 'failed'] as const
export type AdoptionState = (typeof ADOPTION_STATES)[number]

/** The task that works on an adoption in this state. */
export const TASK_OF: Partial<Record<AdoptionState, string>> = {
  scanning: 'scan_place',
  adopting: 'adopt_videos',
  adopted: 'complete_videos',
}
export const OUTCOMES = ['new', 'ask', 'moved', 'known', 'removed', 'problem'] as const
export type Outcome = (typeof OUTCOMES)[number]
export const ITEM_STATES = ['planned', 'in', 'done', 'left', 'undone'] as const

export interface AdoptionRow {
  id: number
  place_id: number
  reader: string
  state: AdoptionState
  created_at: number
  ended_at: number | null
  job_id: string | null
  /** Why it has failed; of a state that does not say so: what it waits for. */
  why: string
  unchanged: number
  catalog: string
  along: string
  /** JSON; empty: nobody has chosen yet. */
  choice: string
  is_following: 0 | 1
  is_again: 0 | 1
  map: string
  settings: string
  /** The one film that it is about; empty: all of its place. */
  only_path: string
}

export interface ItemRow {
  adoption_id: number
  number: number
  outcome: Outcome | 'found'
  code: ProblemCode | null
  why: string
  video_id: string | null
  title: string
  channel_id: string | null
  channel_name: string | null
  path: string
  file: string | null
  is_guess: 0 | 1
  is_bare: 0 | 1
  is_listed: 0 | 1
  is_part: 0 | 1
  size_bytes: number
  ending: Ending | null
  state: (typeof ITEM_STATES)[number]
}
