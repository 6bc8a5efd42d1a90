/** The service `watch`. */
import type { JobContext } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoTail } from '../video/schema.ts'
import type { OwnBelongings, VideoOutline } from '../video/types.ts'
import type { SettleOptions } from './settling.ts'

/** A channel or playlist whose videos are all marked. */
export type MarkedTogether = { kind: 'channel' | 'playlist'; id: string }

/**
 * Which accounts must have watched a video before it is deleted: at least one, all that watch videos here, or all
 * admins that do.
 */
export type Whose = 'anyone' | 'everyone' | 'admins'

/** An account's activity with a video in another program. */
export interface Elsewhere {
  id: string
  /** When it was watched, in epoch seconds. */
  at?: number
  /** The position. */
  seconds?: number
}

export interface Watch {
  /**
   * Marks a video, or all videos of a channel or playlist, as watched or unwatched by this account. Removes its
   * positions in videos whose mark changes.
   * @returns for a channel or playlist, the number for `undo`; undefined: nothing has changed, or it is a single video
   * @throws not_found  the id is not a video, channel or playlist
   */
  mark(userId: number, id: string, isWatched: boolean): Promise<number | undefined>
  /** Whether there is anything to undo. */
  hasUndo(userId: number, number: number): boolean
  /**
   * Restores the marks and positions before this marking of a channel or playlist, except those that the account has
   * changed since. @returns the number of restored videos
   */
  undo(userId: number, number: number): Promise<number>
  /** Deletes the data for undoing markings that are more than a day old. */
  forgetUndo(): Promise<void>
  /** Marks chosen videos and skips unknown ones. @returns how many of them exist */
  markChosen(userId: number, ids: readonly string[], isWatched: boolean): Promise<number>
  /**
   * Carries out an account's pending markings of channels and playlists, in order and batch by batch. A repeated run
   * continues an interrupted one. It stops if the account is removed meanwhile.
   * @param upTo  the number of a marking; undefined: all
   */
  markAll(userId: number, upTo: number | undefined, job: Pick<JobContext<object>, 'step' | 'signal'>): Promise<void>
  /** Those of these videos that the account has neither watched nor begun. */
  untouchedBy(userId: number, ids: readonly string[]): Set<string>
  /** Imports an account's marks and positions from another program. Existing ones stay. May be repeated. */
  takeOver(userId: number, told: readonly Elsewhere[], signal?: AbortSignal): Promise<void>
  /** Reverts the import of `takeOver`, except where the account has changed something since. */
  giveBack(userId: number, told: readonly Elsewhere[], signal?: AbortSignal): Promise<void>

  /** Those of these videos that the account has watched, with the time in epoch seconds; null: unknown. */
  watchedAmong(userId: number, ids: readonly string[]): Map<string, number | null>
  /** The account's keys in video records; videos that it has neither watched nor begun are omitted. */
  tailsOf(ids: readonly string[], userId: number): Map<string, VideoTail>
  /** Videos that the relevant accounts watched before this time, in batches. @param epoch  seconds */
  watchedBefore(epoch: number, where?: VideoFilter): AsyncGenerator<VideoOutline[]>
  /**
   * Those of these videos that the relevant accounts have watched, with the time in epoch seconds since which all of
   * them have. @param whose  default: the preference
   */
  watchedSince(ids: readonly string[], whose?: Whose): Map<string, number>
  /** The same for one video, from the current marks. @param epoch  seconds */
  isWatchedBefore(id: string, epoch: number): boolean

  /** @returns seconds; 0: nothing is stored. @throws not_found */
  position(userId: number, videoId: string): Promise<number>
  /**
   * @param ago  the age of the position in seconds: later positions and marks of the account take precedence
   * @returns the stored position, at most the duration; 0: nothing is stored. @throws not_found
   */
  setPosition(userId: number, videoId: string, seconds: number, ago?: number): Promise<number>
  /** @throws not_found */
  clearPosition(userId: number, videoId: string): Promise<void>
  /**
   * Videos that the account has begun, including watched ones, sorted by the last change of the position, newest first.
   */
  begun(userId: number): string[]

  /** Runs at the start, before the first request. */
  begin(): Promise<void>
  /** Runs once: gives each account marks for the videos from the time when all accounts shared one mark. */
  takeSharedMarks(): Promise<void>
  /** Writes pending marks to the index, and removes the marks of removed accounts. */
  catchUp(signal?: AbortSignal): Promise<void>
  /** Corrects the index for all documents that differ from the marks. */
  settleAll(options?: SettleOptions): Promise<void>
  /** Copies the marks from the index, after the ledger was replaced by an older one. */
  relearnAll(options?: SettleOptions): Promise<void>
  /** Corrects the index for a document that was just written. */
  settleVideo(id: string): Promise<void>
  /** The marks and positions of removed videos, for the bin. */
  readonly belongings: OwnBelongings
  /** Removes all accounts' marks and positions of a video. */
  forget(videoId: string): Promise<void>
  /** The same for several videos, in one write. */
  forgetAll(ids: readonly string[]): Promise<void>
  /**
   * Removes positions in videos that are missing after a restore. Marks stay, because a rescan may find these videos
   * again.
   * @returns the number of these videos
   */
  forgetGone(signal?: AbortSignal): Promise<number>
}
