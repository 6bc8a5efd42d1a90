/** What the service `bin` offers: removed videos, until they are restored or their time is over. */
import type { Because, Why } from '../video/types.ts'

export type { Because, Why }

/** A removed video; a channel that was removed with its videos; a playlist. */
export interface BinEntry {
  id: number
  kind: 'video' | 'channel' | 'playlist'
  /** Of all that went at once: Undo restores it together. */
  removal: string
  videoId: string
  channelId: string
  title: string
  channelName: string
  sizeBytes: number
  durationSeconds: number
  /** The platform has it no longer: it leaves the bin only by an admin. */
  isGone: boolean
  why: Why
  /** The account; null: nobody asked for it, or the account is gone. */
  by: number | null
  /** What decided, in words; '': nothing else is known. */
  note: string
  /** Epoch seconds. */
  removedAt: number
  /** Epoch seconds: from then on it goes by itself. */
  until: number
}

/** Entries by their ids, all of one removal, or all there are. */
export type Chosen = { entries: readonly number[] } | { removal: string } | { all: true }

export interface Restored {
  restored: number
  /** What could not be restored stays in the bin, each with a sentence. */
  refused: Array<{ entry: number; videoId: string; title: string; reason: string }>
}

export interface BinSum {
  entries: number
  sizeBytes: number
}

export interface Bin {
  /**
   * Removes videos into the bin, in one job; ids of no video are passed over. They are gone from all lists when this
   * resolves.
   * @returns `removal` for `restore`; undefined: the bin is switched off (0 days), or no id was a video
   * @throws unavailable: a file cannot be moved; what is in the bin by then stays there, all others are untouched
   */
  put(videoIds: readonly string[], because: Because): Promise<{ removed: number; removal: string | undefined }>
  /**
   * The newest first. @param words  parts of title or channel; '': all
   * @param viewer  the account that asks: private playlists of others are left out
   */
  list(words: string, from: number, size: number, viewer: number): { entries: BinEntry[]; total: number }
  sum(): BinSum
  holds(kind: BinEntry['kind'], id: string): boolean
  /** Whether a removal is all of playlists that this account has removed. */
  isOwn(removal: string, account: number): boolean
  /** Brings back what was: files, documents, and what each plugin has of them. */
  restore(chosen: Chosen): Promise<Restored>
  /** Deletes for good. @returns how many entries */
  empty(chosen: Chosen): Promise<number>
}
