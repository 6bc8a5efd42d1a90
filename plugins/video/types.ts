/** What the service `videos` offers. */
import type { Actor, BulkResult, Change, Step } from 'archivolt'
import type { MediaProbe, PlacedFilm, StreamProbe } from '../media/types.ts'
import type {
  CommentMetadata,
  Downloaded,
  DownloadedSubtitle,
  DownloadReceipt,
  VideoMetadata,
} from '../platform/types.ts'
import type { Comment } from './comment-threads.ts'
import type { Cue } from './cues.ts'
import type { Records } from './join-records.ts'
import type { VideoFilter, VideoNames, VideoQuery } from './listing.ts'
import type { Degraded } from './receipt.ts'
import type {
  CommentCollection,
  CommentDoc,
  SubtitleCollection,
  SubtitleDoc,
  VideoCollection,
  VideoDoc,
} from './schema.ts'

/**
 * `metadata`: what the platform says of it, also that it has it no longer. `file`: its size, streams, duration. `keep`:
 * whether it is never removed by itself.
 */
export type VideoPart = 'metadata' | 'file' | 'subtitles' | 'comments' | 'keep'

type VideoChange = Change<VideoDoc, VideoNames>

/** A video as the queue takes it. */
export interface VideoOutline {
  id: string
  title: string
  channelId: string
  channelName: string
  durationSeconds: number
  /** YYYY-MM-DD */
  published: string
  vidType: VideoDoc['vid_type']
  /** Where the platform has the picture. */
  art?: string | undefined
}

/** A video that was downloaded, or found, and comes in. */
export interface Ingest {
  /**
   * What was downloaded; files are staged, or lie in the library already. `file`: a subtitle found beside an imported
   * film.
   */
  downloaded: Omit<Downloaded, 'subtitles' | 'receipt'> & {
    receipt?: DownloadReceipt
    subtitles: Array<Omit<DownloadedSubtitle, 'source'> & { source: DownloadedSubtitle['source'] | 'file' }>
  }
  /** Where the caller has it already. */
  probe?: MediaProbe
  /** Default true. */
  isSubtitleIndexed?: boolean
  /** Epoch seconds; default now, or what an earlier ingest of the video has noted. */
  dateDownloaded?: number
  /** YYYY-MM-DD, for a new video of which the platform tells no day; default: the day of `dateDownloaded`. */
  publishedElse?: string | undefined
  /** What the download lacks. */
  degraded?: Degraded | undefined
  /** The film that is there is kept for a day: what comes takes its place. Nothing comes where it has been removed. */
  isOldKept?: boolean
}

/** A video whose film lies in a place, and comes in. */
export interface Adopted {
  metadata: VideoMetadata
  sizeBytes: number
  /** As announced; empty: nothing tells, and the film has to be asked. */
  streams: StreamProbe[]
  /** Epoch seconds. */
  dateDownloaded: number
  /** As for `Ingest`. */
  publishedElse?: string | undefined
  /** The platform had it no more when its film was kept. */
  isGone: boolean
}

/** Why videos were removed. */
export type Why = 'removed' | 'channel' | 'playlist' | 'watched' | 'missing' | 'rule'

export interface Because {
  why: Why
  /** The account that asked for it. */
  by?: number | undefined
  /** What decided, in words, such as a rule's name. */
  note?: string | undefined
}

export interface Removed {
  id: string
  channelId: string
}

/** What another plugin removes with a video, put into the hook `video.remove`. */
export interface VideoRemoval {
  (video: Removed, step: Step): Promise<void>
  /** Asked instead where many go at once: for who can do that in less than one after the other. */
  many?(videos: readonly Removed[], step: Step): Promise<void>
}

/** All that belongs to a video, as the bin keeps it. */
export interface Belongings {
  video: VideoDoc
  comments?: CommentDoc
  subtitles: Array<{ id: string; doc: SubtitleDoc }>
  /** Its film lies in a place. */
  film?: PlacedFilm
  isMissing?: true
  /** What other plugins have of it, by plugin. */
  others: Record<string, unknown>
}

/** A plugin's part of what belongs to videos, put into the hook `video.belongings`. */
export interface OwnBelongings {
  /** Under which name it is kept. */
  of: string
  /** Before they are removed. JSON; who has nothing of a video leaves it out. */
  collect(ids: readonly string[]): Promise<ReadonlyMap<string, unknown>>
  /**
   * After their documents are back as they were. May be done twice, and what was set meanwhile stays. What comes from
   * the disk is checked first.
   * @param ids  all that are back, also those that it has kept nothing of
   */
  restore(kept: ReadonlyMap<string, unknown>, ids: readonly string[]): Promise<void>
}

/** What keeps removed videos for a while, put into the hook `video.bin`. */
export interface VideoBin {
  isOn(): boolean
  /** Writes down what belongs to them, once their files are in the trash and before anything else goes. */
  hold(trashId: string, ids: readonly string[]): Promise<void>
  /** They are gone from the index: from now on they lie in the bin. */
  keep(trashId: string, removal: string, because: Because): Promise<void>
  /** The removal failed: documents that are gone already come back, before their files do. */
  takeBack(trashId: string): Promise<void>
}

export interface Videos {
  /** The indexes themselves, for what only reads, or changes a field that is its own. */
  readonly collection: VideoCollection
  readonly comments: CommentCollection
  readonly subtitles: SubtitleCollection
  /** Seconds as people read them, such as `1:02:03`. */
  durationText(seconds: number): string
  /** Of the video stream with the most pixels; zeros if there is none. */
  largestPicture(streams: ReadonlyArray<{ type?: unknown; width?: number; height?: number }>): {
    width: number
    height: number
  }
  /** Those of them that are there. */
  known(ids: readonly string[]): Promise<Set<string>>
  /** The same, less those whose documents are damaged: their films are taken in again. */
  readable(ids: readonly string[]): Promise<Set<string>>
  get(id: string): Promise<VideoDoc | undefined>
  has(id: string): Promise<boolean>
  /** Records of contract 5.1 for hits of a search or list, in their order, with what is the actor's own. */
  records: Records
  /** What names a video, read off its stored text without parsing it. */
  headOf(text: string): { title: string; channelId: string; thumbUrl: string }
  /** One record, as `records` gives it. */
  record(id: string, actor: Actor): Promise<string | undefined>
  /** Records of what a query finds, and how many there are in all. */
  find(query: VideoQuery, actor: Actor): Promise<{ texts: string[]; total: number }>
  /** Up to six, best first. */
  similar(id: string, actor: Actor): Promise<string[]>
  /** Whether the addresses of its film and subtitles are not those of where its film lies. */
  isMisnamed(doc: VideoDoc): boolean
  /** Brings these addresses in line. */
  correctPaths(id: string): Promise<void>
  /**
   * Puts a downloaded video into the archive: channel (by its name, where it is not known), art, files, subtitles,
   * document, then tells `video.added`. What people have set (marks, playlists) stays where the video was there
   * before.
   * @throws unprocessable: the file is no media
   */
  ingest(input: Ingest, step?: Step): Promise<void>
  /**
   * Videos whose films lie in places come in together; one that came in by another way meanwhile is in `kept`.
   * `video.adopted` is for whoever has brought them all.
   */
  adopt(list: readonly Adopted[]): Promise<BulkResult>
  /** They leave again with what is ours of them; their films stay. @returns how many were there */
  leave(ids: readonly string[], job: { id: string; step: Step }): Promise<number>
  /** @returns false: no such video */
  change(id: string, change: VideoChange): Promise<boolean>
  /** Whether it is never removed by itself. @returns false: it was so already, or there is no such video */
  setKept(id: string, isKept: boolean): Promise<boolean>
  /** What is offered now, of a file that stays: it is degraded no longer, or for other reasons. */
  renewReceipt(id: string, told: DownloadReceipt, degraded: Degraded | undefined): Promise<void>
  /**
   * Takes size, streams and duration from the file as it is now. Call it in `exclusive`, as a download may be
   * replacing the file.
   * @returns what is wrong with the file, in words: then the document stays as it was
   */
  measure(id: string): Promise<string | undefined>
  /**
   * Metadata, stats, streams and thumbnail as the platform and the file have them now; false: not ours. A file that
   * is missing or damaged is for the rescan.
   */
  refreshWith(metadata: VideoMetadata, options?: { signal?: AbortSignal | undefined }): Promise<boolean>
  /**
   * Staged subtitles, or such as lie in the library, take the place of those of the same language (with `onlyMissing`
   * they are left out): files, list, what is said in them. Languages that are not offered any more stay. @returns
   * false: no such video
   */
  setSubtitles(
    id: string,
    staged: Ingest['downloaded']['subtitles'],
    options?: { isIndexed?: boolean; onlyMissing?: boolean },
  ): Promise<boolean>
  /** Languages whose files are gone: people delete some, and a backup tells of what was there then. */
  lostSubtitles(doc: VideoDoc): Promise<string[]>
  /**
   * Subtitles whose files are gone leave the document and the search. May be done twice.
   * @throws unavailable: the library is not there, so nothing says that they are gone
   */
  dropLostSubtitles(id: string): Promise<void>
  /** Whether the platform still has them. @returns how many were ours */
  setActive(ids: readonly string[], isActive: boolean): Promise<number>
  /** Replaces a video's comments. Not while it is being removed: they would be left behind. @throws not_found */
  setComments(id: string, list: readonly CommentMetadata[]): Promise<void>
  /** What a subtitle file of ours says, cue by cue; captions that roll are unrolled. */
  cuesIn(path: string): AsyncIterable<Cue>
  /** Comments as a list → threads, for those that come from elsewhere (backups, sidecars). */
  toThreads(comments: readonly CommentMetadata[]): Comment[]
  /** The threads of contract 5.5 as JSON text. */
  commentsText(id: string): Promise<string>
  /** As the queue takes it; undefined: not ours. */
  outline(id: string): Promise<VideoOutline | undefined>
  /** Comments and subtitles of videos that are not there any more go. @returns of how many videos */
  dropOrphans(signal?: AbortSignal): Promise<number>
  /** Where the files of some videos should lie. */
  someFilms(atMost: number): Promise<Array<{ channelId: string; videoId: string }>>
  /**
   * The newest that the platform still has, with the height that they were offered in, or else were kept in. Degraded
   * ones only where there are no others: what was offered in a bad hour tells no better yt-dlp from a worse one.
   */
  canaries(): Promise<Array<{ id: string; height: number }>>
  /** Those that match, as the queue takes them, in batches. */
  outlines(filter: VideoFilter): AsyncGenerator<VideoOutline[]>
  /**
   * Removes the video, its files, comments, subtitles, thumbnail and what later plugins have of it, files first; into
   * the bin, where there is one.
   * @throws not_found; unavailable: a file cannot be moved, and nothing was removed
   */
  remove(id: string, because?: Because): Promise<string>
  /**
   * The same of many, in one job; who is not there is passed over.
   * @returns the job: as `removal` of the bin
   */
  removeMany(ids: readonly string[], because: Because): Promise<string>
  /** All that belongs to those that are there. */
  collect(ids: readonly string[]): Promise<Map<string, Belongings>>
  /** What was read from a file of the bin. @throws unprocessable: it is damaged, or not of this video */
  checkBelongings(id: string, told: unknown): Belongings
  /** Documents and all that belongs to them are as before; a document that is there stays. May be done twice. */
  giveBack(belongings: ReadonlyMap<string, Belongings>): Promise<void>
  /** As `exclusive`, of many: each of their channels is held once. */
  exclusiveAll<Result>(videos: readonly Removed[], work: () => Promise<Result>): Promise<Result>
  /**
   * What moves a video's files goes one after the other: a removal waits for an ingest that is under way. Its channel
   * stays meanwhile.
   * @param channelId  where there may be no document yet
   */
  exclusive<Result>(id: string, work: () => Promise<Result>, channelId?: string): Promise<Result>
  /** What other plugins have of it goes. */
  removeWith(video: Removed, step: Step): Promise<void>
  /** What a plugin puts into the hook `video.remove` that removes many as well as one. */
  removal(remove: (ids: readonly string[], step: Step) => Promise<void>): VideoRemoval
  /** The last part of a removal: art, subtitles, comments, documents. */
  dropAll(ids: readonly string[], options?: { isArtKept?: boolean }): Promise<void>
  /** All videos of a channel, for its removal; their files are in the trash already. */
  removeOfChannel(channelId: string, step: Step): Promise<void>
}
