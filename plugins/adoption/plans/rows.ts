/** The rows of adoptions and plans in the ledger (contract 9.17). */

import type { ProblemCode } from '../../film-kit/types.ts'
import type { Ending } from '../../media/containers.ts'

export const ADOPTION_STATES = ['scanning', 'planned', 'adopting', 'adopted', 'undoing', 'undone', 'failed'] as const
export type AdoptionState = (typeof ADOPTION_STATES)[number]

/** The task of each state. */
export const TASK_OF: Partial<Record<AdoptionState, string>> = {
  scanning: 'scan_place',
  adopting: 'adopt_videos',
  adopted: 'complete_videos',
  undoing: 'undo_adoption',
}
export const OUTCOMES = ['new', 'ask', 'moved', 'known', 'removed', 'problem'] as const
export type Outcome = (typeof OUTCOMES)[number]
export const ITEM_STATES = ['planned', 'in', 'done', 'left', 'undone'] as const

/** The results for rows that were to be imported; `skipped`: problems other than videos without a file. */
export const PARTS = ['imported', 'waiting', 'left', 'skipped'] as const
/** Problems of videos that are named somewhere but have no file: people decide about these separately. */
export const WITHOUT_FILE: readonly ProblemCode[] = ['in_archive_only', 'missing_file']
export type Part = (typeof PARTS)[number]

export interface AdoptionRow {
  id: number
  place_id: number
  reader: string
  state: AdoptionState
  created_at: number
  ended_at: number | null
  job_id: string | null
  /** Why the adoption has failed; in other states, what it waits for. */
  why: string
  unchanged: number
  catalog: string
  along: string
  /** JSON; empty: nothing has been chosen yet. */
  choice: string
  is_following: 0 | 1
  is_again: 0 | 1
  map: string
  settings: string
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
  /** Whether a person has set the channel. */
  is_channel_said: 0 | 1
  size_bytes: number
  ending: Ending | null
  state: (typeof ITEM_STATES)[number]
}
