/** The types of the service `bin`, which holds removed videos until they are restored or expire. */
import type { Words } from 'archivolt'
import type { Because, Why } from '../video/types.ts'

export type { Because, Why }

/** A removed video, a channel that was removed with its videos, a playlist, or a film that was replaced. */
export interface BinEntry {
  id: number
  kind: 'video' | 'channel' | 'playlist' | 'film'
  /** The id of all entries that were removed at once: Undo restores them together. */
  removal: string
  videoId: string
  channelId: string
  title: string
  channelName: string
  sizeBytes: number
  durationSeconds: number
  /**
   * Whether the platform no longer had it when it was removed: then the entry never expires, and only an admin can
   * delete it.
   */
  isGone: boolean
  why: Why
  /** The account; null: a task removed the video, or the account no longer exists. */
  by: number | null
  /** The reason of the removal, as a text; '': unknown. */
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
  refused: Array<{ entry: number; videoId: string; title: string; reason: string; words: Words }>
}

export interface BinSum {
  entries: number
  sizeBytes: number
}

export interface Bin {
  /**
   * Moves videos to the bin, in one job; ids without a video are ignored. When it resolves, no list contains the
   * videos.
   * @returns `removal` for `restore`; undefined: the bin is switched off (0 days), or no id was a video
   * @throws unavailable: a file cannot be moved; videos that are already in the bin stay there, all others are
   * unchanged
   */
  put(videoIds: readonly string[], because: Because): Promise<{ removed: number; removal: string | undefined }>
  /**
   * Entries, newest first.
   * @param words  parts of title or channel; '': all
   * @param viewer  the requesting account: private playlists of others are left out
   */
  list(words: string, from: number, size: number, viewer: number): { entries: BinEntry[]; total: number }
  sum(): BinSum
  holds(kind: BinEntry['kind'], id: string): boolean
  /** Whether the removal consists only of playlists that this account has removed. */
  isOwn(removal: string, account: number): boolean
  /** Restores files, documents, and the data of each plugin about them. */
  restore(chosen: Chosen): Promise<Restored>
  /** Deletes entries permanently. @returns how many */
  empty(chosen: Chosen): Promise<number>
}
