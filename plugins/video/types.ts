/** The types of the service `videos`. */
import type { Actor, BulkResult, Change, JobContext, Step, ToldRows, View } from 'archivolt'
import type { MediaProbe, PlacedFilm, StreamProbe } from '../media/types.ts'
import type {
  CommentMetadata,
  Downloaded,
  DownloadedSubtitle,
  DownloadReceipt,
  VideoMetadata,
} from '../platform/types.ts'
import type { ThreadPart } from './comment-pages.ts'
import type { Comment } from './comment-threads.ts'
import type { Cue } from './cues.ts'
import type { Records } from './join-records.ts'
import type { VideoFilter, VideoNames, VideoQuery } from './listing.ts'
import type { Degraded } from './receipt.ts'
import type {
  CommentCollection,
  CommentDoc,
  CommentTextCollection,
  SubtitleCollection,
  SubtitleDoc,
  VideoCollection,
  VideoDoc,
} from './schema.ts'

/**
 * `metadata`: the platform's data, including that it no longer has the video. `file`: size, streams, duration. `keep`:
 * protection from automatic removal.
 */
export type VideoPart = 'metadata' | 'file' | 'subtitles' | 'comments' | 'keep'

type VideoChange = Change<VideoDoc, VideoNames>

/** A video in the form of the queue. */
export interface VideoOutline {
  id: string
  title: string
  channelId: string
  channelName: string
  durationSeconds: number
  /** YYYY-MM-DD */
  published: string
  vidType: VideoDoc['vid_type']
  /** The picture's address on the platform. */
  art?: string | undefined
}

/** A downloaded or found video that is to be archived. */
export interface Ingest {
  /**
   * The result of the download; files are in staging, or already in the library. `file`: a subtitle next to an imported
   * film.
   */
  downloaded: Omit<Downloaded, 'subtitles' | 'receipt'> & {
    receipt?: DownloadReceipt
    subtitles: Array<Omit<DownloadedSubtitle, 'source'> & { source: DownloadedSubtitle['source'] | 'file' }>
  }
  /** Set if the caller already has it. */
  probe?: MediaProbe
  /** Default true. */
  isSubtitleIndexed?: boolean
  /** Epoch seconds; default: now, or the time of an earlier ingest of the video. */
  dateDownloaded?: number
  /** YYYY-MM-DD, used for a new video without a day on the platform; default: the day of `dateDownloaded`. */
  publishedElse?: string | undefined
  /** What the download lacks. */
  degraded?: Degraded | undefined
  /** Asked about the document (undefined: none) while no other work moves its files; false: nothing is archived. */
  onlyIf?: (now: VideoDoc | undefined) => boolean
}

/** A video whose film is in a place, and that is to be archived. */
export interface Adopted {
  metadata: VideoMetadata
  sizeBytes: number
  /** As reported by the other program; empty: unknown, so the film must be probed. */
  streams: StreamProbe[]
  /** Epoch seconds. */
  dateDownloaded: number
  /** As in `Ingest`. */
  publishedElse?: string | undefined
  /** The platform no longer had the video when its film was saved. */
  isGone: boolean
}

/** Why videos were removed. */
export type Why = 'removed' | 'channel' | 'playlist' | 'watched' | 'missing' | 'rule' | 'replaced'

export interface Because {
  why: Why
  /** The account that requested it. */
  by?: number | undefined
  /** The reason for people, such as a rule's name. */
  note?: string | undefined
}

export interface Removed {
  id: string
  channelId: string
}

/** Another plugin's part of the removal of a video; implements the hook `video.remove`. */
export interface VideoRemoval {
  (video: Removed, step: Step): Promise<void>
  /** Called instead for many videos: for plugins that can remove them faster together. */
  many?(videos: readonly Removed[], step: Step): Promise<void>
}

/** All belongings of a video, as the bin stores them. */
export interface Belongings {
  video: VideoDoc
  comments?: CommentDoc
  subtitles: Array<{ id: string; doc: SubtitleDoc }>
  /** Set if the film is in a place. */
  film?: PlacedFilm
  isMissing?: true
  /** The data of other plugins, by plugin. */
  others: Record<string, unknown>
}

/** A plugin's part of the belongings of videos; implements the hook `video.belongings`. */
export interface OwnBelongings {
  /** The key under which the data is stored. */
  of: string
  /** Called before the removal, and for records next to the films. Returns JSON; omits videos without data. */
  collect(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>>
  /**
   * Called when the documents are restored. May be repeated; values set meanwhile stay. Data from the disk is checked
   * first.
   * @param ids  all restored videos, including those without data of this plugin
   */
  restore(stored: ReadonlyMap<string, unknown>, ids: readonly string[]): Promise<void>
  /** The tables with the data: code that keeps a record of videos watches them for changes. */
  rows?: readonly ToldRows[]
  /**
   * The same data with other ids of accounts: records that outlive the ledger contain names of accounts, because ids
   * differ in another ledger. Omitted: the data belongs to no account. `stored` may come from the disk; undefined: it
   * cannot be used.
   */
  renamed?(stored: unknown, as: Renaming): unknown
}

/**
 * Converts the id of an account to its name, or its name to its id; undefined: the account does not exist, so its data
 * is omitted.
 */
export type Renaming = (account: number | string) => number | string | undefined

export interface CollectOptions {
  /** Omits comments and fragments of subtitles: for callers that read their texts, or the files. */
  isLean?: true
  /** Converts the accounts in the data of other plugins. */
  as?: Renaming
}

/** Stores removed videos for a while; implements the hook `video.bin`. */
export interface VideoBin {
  isOn(): boolean
  /** Records the belongings of videos: called when their files are in the trash, before anything else is removed. */
  hold(trashId: string, ids: readonly string[]): Promise<void>
  /** Called when the videos are deleted from the index: from now on they are in the bin. */
  keep(trashId: string, removal: string, because: Because): Promise<void>
  /** Called when the removal has failed: restores documents that were already deleted, before their files. */
  takeBack(trashId: string): Promise<void>
  /** Keeps the current film of a video, which the film `next` is about to replace. May be repeated. */
  keepFilm(videoId: string, next: string): Promise<void>
}

export interface Videos {
  /** The indexes themselves, for code that only reads, or that changes a field of its own. */
  readonly collection: VideoCollection
  readonly comments: CommentCollection
  /** The same comments individually, for the search. */
  readonly commentTexts: CommentTextCollection
  readonly subtitles: SubtitleCollection
  /** Seconds as people read them, such as `1:02:03`. */
  durationText(seconds: number): string
  /** Frame size of the video stream with the most pixels; zeros if there is none. */
  largestFrameSize(streams: ReadonlyArray<{ type?: unknown; width?: number; height?: number }>): {
    width: number
    height: number
  }
  /** Those of these ids that exist. */
  known(ids: readonly string[]): Promise<Set<string>>
  /** Those of these ids whose documents can be read: films of videos with a damaged document are imported again. */
  readable(ids: readonly string[]): Promise<Set<string>>
  /**
   * The filter for videos of the channels and playlists of a group; it matches nothing if the actor does not see the
   * group.
   */
  ofGroup(id: number, actor?: Pick<Actor, 'view'>): VideoFilter
  /** The filter for the videos that a view shows: jobs see everything. */
  seenIn(view: View): VideoFilter
  get(id: string): Promise<VideoDoc | undefined>
  has(id: string): Promise<boolean>
  /** Records of contract 5.1 for hits of a search or list, in their order, with the caller's data. */
  records: Records
  /** The identifying fields of a video, read from its stored text without parsing it. */
  headOf(text: string): { title: string; channelId: string; thumbUrl: string }
  /** One record in the form of `records`. */
  record(id: string, actor: Actor): Promise<string | undefined>
  /** The records that a query finds, and the total. */
  find(query: VideoQuery, actor: Actor): Promise<{ texts: string[]; total: number }>
  /** Up to six similar videos, best first. */
  similar(id: string, actor: Actor): Promise<string[]>
  /** Whether the URLs of its film and subtitles do not match the film's location. */
  isMisnamed(doc: VideoDoc): boolean
  /** Corrects these URLs. */
  correctPaths(id: string): Promise<void>
  /**
   * Archives a downloaded video: channel (by its name, if unknown), pictures, files, subtitles, document; then emits
   * `video.added`. Data set by people (marks, playlists) is not changed.
   * @throws unprocessable: the file is not a media file
   * @returns false: `onlyIf` has refused it
   */
  ingest(input: Ingest, step?: Step): Promise<boolean>
  /**
   * Archives videos whose films are in places; `kept` contains those that were archived in another way meanwhile. The
   * caller emits `video.adopted`, once for all.
   */
  adopt(list: readonly Adopted[]): Promise<BulkResult>
  /**
   * Removes videos with all our data; their films stay in their places. Videos whose film was downloaded meanwhile
   * stay, too.
   * @returns the number of removed videos
   */
  leave(ids: readonly string[], job: { id: string; step: Step }): Promise<number>
  /** @returns false: no such video */
  change(id: string, change: VideoChange): Promise<boolean>
  /** Sets whether a video is protected from automatic removal. @returns false: no change, or no such video */
  setKept(id: string, isKept: boolean): Promise<boolean>
  /** Updates the platform's offer for a file that stays: it may no longer be degraded, or for other reasons. */
  renewReceipt(id: string, told: DownloadReceipt, degraded: Degraded | undefined): Promise<void>
  /**
   * Updates size, streams and duration from the file. Call it within `exclusive`, because a download may be replacing
   * the file.
   * @returns a sentence about the fault of the file: the document is then unchanged
   */
  measure(id: string): Promise<string | undefined>
  /**
   * Updates metadata, statistics, streams and thumbnail from platform and file; false: not in the archive. Missing and
   * damaged files are left to the rescan.
   */
  refreshWith(metadata: VideoMetadata, options?: { signal?: AbortSignal | undefined }): Promise<boolean>
  /**
   * Adds subtitles from staging or the library, replacing those of the same language (with `onlyMissing` they are
   * skipped): files, list, searchable text. Languages that are no longer offered stay. @returns false: no such video
   */
  setSubtitles(
    id: string,
    staged: Ingest['downloaded']['subtitles'],
    options?: { isIndexed?: boolean; onlyMissing?: boolean },
  ): Promise<boolean>
  /** Languages whose files are missing: people delete files, and a backup may list subtitles that no longer exist. */
  lostSubtitles(doc: VideoDoc): Promise<string[]>
  /**
   * Removes subtitles whose files are missing from the document and the search. May be repeated.
   * @throws unavailable: the library is not available, so files cannot be checked
   */
  dropLostSubtitles(id: string): Promise<void>
  /** Sets whether the platform still has these videos. @returns how many of them are archived */
  setActive(ids: readonly string[], isActive: boolean): Promise<number>
  /** Replaces a video's comments. Refused during the video's removal, which would not remove them. @throws not_found */
  setComments(id: string, list: readonly CommentMetadata[]): Promise<void>
  /** The cues of a subtitle file in the library; rolling captions are unrolled. */
  cuesIn(path: string): AsyncIterable<Cue>
  /** Converts a list of comments from outside (backups, sidecars) to threads. */
  toThreads(comments: readonly CommentMetadata[]): Comment[]
  /** The threads of contract 5.5 as JSON text. */
  commentsText(id: string): Promise<string>
  /** Some threads of a video as JSON texts, each with its first replies, and the total number. */
  threads(id: string, window: { from: number; size: number }): Promise<{ texts: string[]; total: number }>
  /** One part of the thread that contains a comment. @param part  default: the one with the comment */
  thread(id: string, commentId: string, part?: number): Promise<ThreadPart | undefined>
  /** Starts a job that makes all comments searchable that are not yet: after a restore, and at the start. */
  startIndexing(): Promise<void>
  /** The work of that job. */
  indexComments(job: Pick<JobContext<object>, 'signal' | 'isStopping' | 'progress'>): Promise<void>
  /** A video in the form of the queue; undefined: not in the archive. */
  outline(id: string): Promise<VideoOutline | undefined>
  /** The same for several videos; missing ones are omitted. */
  outlinesOf(ids: readonly string[]): Promise<VideoOutline[]>
  /** Removes comments and subtitles of missing videos. @returns the number of such videos */
  dropOrphans(signal?: AbortSignal): Promise<number>
  /** Channel and id of some videos whose films should be in the library. */
  someFilms(atMost: number): Promise<Array<{ channelId: string; videoId: string }>>
  /**
   * The newest videos that are still on the platform, with the height that was offered or, if unknown, that they have.
   * Degraded ones only if there are no others, because they do not distinguish a better yt-dlp from a worse one.
   */
  canaries(): Promise<Array<{ id: string; height: number }>>
  /** All matching videos in the form of the queue, in batches. */
  outlines(filter: VideoFilter): AsyncGenerator<VideoOutline[]>
  /**
   * Removes the video, its files, comments, subtitles, thumbnail and the data of later plugins, files first; into the
   * bin, if there is one. For removals that a person requests: the next scan of a subscription downloads the video
   * again, and protected videos are removed, too. Code that decides automatically calls `app.removals.remove` of the
   * plugin `removal`.
   * @throws not_found; unavailable: a file cannot be moved, and nothing was removed
   */
  remove(id: string, because?: Because): Promise<string>
  /**
   * Removes several videos in one job; missing ones are skipped. Waits for an interrupted call with the same `removal`.
   * @param removal  the bin's id for everything that is removed together; default: a new id
   * @returns the removal
   */
  removeMany(ids: readonly string[], because: Because, removal?: string): Promise<string>
  /** All belongings of these videos; missing ones are omitted. */
  collect(ids: readonly string[], options?: CollectOptions): Promise<Map<string, Belongings>>
  /**
   * Checks belongings that were read from a file. @param as  for a record that names accounts
   * @throws unprocessable: it is damaged, or about another video
   */
  checkBelongings(id: string, told: unknown, as?: Renaming): Belongings
  /** The fragments of its subtitle files, as they are indexed. */
  fragmentsOf(doc: VideoDoc): AsyncGenerator<{ id: string; doc: SubtitleDoc }>
  /** Restores documents and all belongings; existing documents stay unchanged. May be repeated. */
  giveBack(belongings: ReadonlyMap<string, Belongings>): Promise<void>
  /**
   * Exchanges the film of a video for an earlier one; the current one goes into the bin. May be repeated.
   * @param was  the document with the data of that film
   * @param mediaPath  the film, on the library's disk; undefined: it is already in the library
   * @throws not_found
   */
  giveBackFilm(was: VideoDoc, mediaPath: string | undefined): Promise<void>
  /** The document with the data of another film; if the film cannot be read, only with its size. */
  withFilm(doc: VideoDoc, mediaPath: string): Promise<VideoDoc>
  /** Like `exclusive`, for several videos: each of their channels is locked once. */
  exclusiveAll<Result>(videos: readonly Removed[], work: () => Promise<Result>): Promise<Result>
  /**
   * Serializes work that moves a video's files: a removal waits for a running ingest. The channel cannot be removed
   * meanwhile.
   * @param channelId  for a video that may have no document yet
   */
  exclusive<Result>(id: string, work: () => Promise<Result>, channelId?: string): Promise<Result>
  /** Removes the data of other plugins. */
  removeWith(video: Removed, step: Step): Promise<void>
  /** Makes the value of the hook `video.remove` for a plugin that can remove many at once. */
  removal(remove: (ids: readonly string[], step: Step) => Promise<void>): VideoRemoval
  /** The last part of a removal: pictures, subtitles, comments, documents. */
  dropAll(ids: readonly string[], options?: { isArtKept?: boolean }): Promise<void>
  /** All videos of a channel, for its removal; their files are already in the trash. */
  removeOfChannel(channelId: string, step: Step): Promise<void>
}
