/** What the service `watch` offers. */
import type { JobContext } from 'archivolt'
import type { VideoFilter } from '../video/listing.ts'
import type { VideoTail } from '../video/schema.ts'
import type { VideoOutline } from '../video/types.ts'
import type { SettleOptions } from './settling.ts'

/** All videos of a channel or playlist, marked as one. */
export type MarkedTogether = { kind: 'channel' | 'playlist'; id: string }

/** What an account has done with a video elsewhere. */
export interface Elsewhere {
  id: string
  /** When it was watched, in epoch seconds. */
  at?: number
  /** How far it has come. */
  seconds?: number
}

export interface Watch {
  /**
   * Marks a video, or all videos of a channel or playlist, as watched by this account or not, and takes its positions
   * in those whose mark changes.
   * @throws not_found  the id is none of these
   */
  mark(userId: number, id: string, isWatched: boolean): Promise<void>
  /** Chosen videos; those that are not there are left out. @returns how many were there */
  markChosen(userId: number, ids: readonly string[], isWatched: boolean): Promise<number>
  /**
   * What an account has asked for of channels and playlists, in order, batch by batch: what is cut off is found again
   * by a second run. It ends where the account is removed meanwhile.
   * @param upTo  the number of a marking; undefined: all
   */
  markAll(userId: number, upTo: number | undefined, job: Pick<JobContext<object>, 'step' | 'signal'>): Promise<void>
  /** Of these videos, those that the account has neither watched nor begun. */
  untouchedBy(userId: number, ids: readonly string[]): Set<string>
  /**
   * What an account has watched and begun in another program. What it has done here stays as it is. May be done twice.
   */
  takeOver(userId: number, told: readonly Elsewhere[], signal?: AbortSignal): Promise<void>
  /** Takes back what `takeOver` has brought, unless the account has changed it since. */
  giveBack(userId: number, told: readonly Elsewhere[], signal?: AbortSignal): Promise<void>

  /** Of these videos, those that the account has watched: when, in epoch seconds; null: nobody knows. */
  watchedAmong(userId: number, ids: readonly string[]): Map<string, number | null>
  /** What records of videos say about the account. Those that it has neither watched nor begun are left out. */
  tailsOf(ids: readonly string[], userId: number): Map<string, VideoTail>
  /** Videos that were watched longer ago than that by those who count, in batches. @param epoch  seconds */
  watchedBefore(epoch: number, where?: VideoFilter): AsyncGenerator<VideoOutline[]>
  /** As the marks say now. @param epoch  seconds */
  isWatchedBefore(id: string, epoch: number): boolean

  /** @returns seconds, 0 where nothing is stored. @throws not_found */
  position(userId: number, videoId: string): Promise<number>
  /**
   * @param ago  seconds since the account was there: what it has done later stays
   * @returns what is stored now: at most the duration; 0: nothing. @throws not_found
   */
  setPosition(userId: number, videoId: string, seconds: number, ago?: number): Promise<number>
  /** @throws not_found */
  clearPosition(userId: number, videoId: string): Promise<void>
  /** Videos that the account has begun, by when the position last changed, newest first; watched ones too. */
  begun(userId: number): string[]

  /** What a start does before the first request. */
  begin(): Promise<void>
  /** Once: what was watched when all accounts shared one mark, has been watched by each of them. */
  takeSharedMarks(): Promise<void>
  /** Brings into the index what it does not know yet, and takes the marks of accounts that are gone. */
  catchUp(signal?: AbortSignal): Promise<void>
  /** Puts the index right for all documents where it differs from the marks. */
  settleAll(options?: SettleOptions): Promise<void>
  /** Takes over what the index says, where the ledger is an older one. */
  relearnAll(options?: SettleOptions): Promise<void>
  /** Puts the index right for a document that has just been written. */
  settleVideo(id: string): Promise<void>
  /** Removes everybody's marks of a video and positions in it. */
  forget(videoId: string): Promise<void>
  /** The same for many videos, in one write. */
  forgetAll(ids: readonly string[]): Promise<void>
  /**
   * Positions in videos that are not kept any more: after a restore. Marks stay: what a rescan brings back was
   * watched.
   * @returns in how many videos
   */
  forgetGone(signal?: AbortSignal): Promise<number>
}
