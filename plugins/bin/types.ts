/** Types of the service `bin`, which holds removed videos until they are restored or expire. */
import type { Because, Why } from '../video/types.ts'

export type { Because, Why }

/** A removed video; a channel that was removed with its videos; a playlist; a film that was replaced. */
export interface BinEntry {
  id: number
  kind: 'video' | 'channel' | 'playlist' | 'film'
  /** The id of everything that was removed at once: Undo restores it together. */
  removal: string
  videoId: string
  channelId: string
  title: string
  channelName: string
  sizeBytes: number
  durationSeconds: number
  /** The platform no longer had it when it was removed: the entry never expires, and only an admin can delete it. */
  isGone: boolean
  why: Why
  /** The account; null: a task removed the video, or the account no longer exists. */
  by: number | null
  /** What decided the removal, in words; '': unknown. */
  note: string
  /** Epoch seconds. */
  removedAt: number
  /** Epoch seconds: the entry is deleted after this time, or earlier if the disk is full; never if `isGone`. */
  until: number
}

/**
 * Entries by their ids, all of one removal, or all entries.
 * @property viewer  the requesting account: private playlists of others are left out
 */
export type Chosen = ({ entries: readonly number[] } | { removal: string } | { all: true }) & { viewer?: number }

export interface Restored {
  restored: number
  /** Entries that could not be restored, each with the reason; they stay in the bin. */
  refused: Array<{ entry: number; videoId: string; title: string; reason: string }>
}

export interface BinSum {
  entries: number
  sizeBytes: number
}

export interface Bin {
  /**
   * Moves videos into the bin, in one job; ids without a video are ignored. All lists have lost the videos when this
   * resolves.
   * @returns `removal` for `restore`; undefined: the bin is switched off (0 days), or no id was a video
   * @throws unavailable: a file cannot be moved; what is already in the bin stays there, all other videos are unchanged
   */
  put(videoIds: readonly string[], because: Because): Promise<{ removed: number; removal: string | undefined }>
  /**
   * Newest first. @param words  parts of title or channel; '': all
   * @param viewer  the requesting account: private playlists of others are left out
   */
  list(words: string, from: number, size: number, viewer: number): { entries: BinEntry[]; total: number }
  sum(): BinSum
  holds(kind: BinEntry['kind'], id: string): boolean
  /** Whether the removal consists only of playlists that this account has removed. */
  isOwn(removal: string, account: number): boolean
  /** Restores files, documents, and the data that each plugin had of them. */
  restore(chosen: Chosen): Promise<Restored>
  /** Deletes for good. @returns how many entries */
  empty(chosen: Chosen): Promise<number>
}
