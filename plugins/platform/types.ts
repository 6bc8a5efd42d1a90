/** The types of the service `platform`: checked metadata with our names, independent of yt-dlp. */
import type { Sentence, Words } from 'archivolt'
import type { ClosedState, FailureClass, FailureRow } from './failure-classes.ts'
import type { Feed, FeedTag } from './feed.ts'

export type VideoType = 'videos' | 'streams' | 'shorts'

/** The target of a text, recognized by its form (contract 9.12). */
export type Target =
  | { type: 'video'; id: string; vidType?: VideoType }
  /**
   * `id` is a channel id, or an `@handle` or other channel path that only the platform can resolve (`isHandle`). `tab`
   * limits the type.
   */
  | { type: 'channel'; id: string; isHandle?: true; tab?: VideoType }
  | { type: 'playlist'; id: string }

/** The error of a finally failed ask. Classes that wait at the gate (`failure-classes.ts`) are never thrown. */
export interface Failure extends Error {
  readonly failure: FailureClass
  /** With `upcoming`: when to retry, in epoch seconds. */
  readonly availableAt?: number
  /**
   * The gate is closed, and this item was its probe too often in a row, so nothing is known about the item itself.
   * Leave it unchanged (no message) and ask for another one, which becomes the next probe.
   */
  readonly isDeferred?: true
  /**
   * With `disk_full`, which is thrown only if this item is too large: the free space that it needs, in bytes. Smaller
   * items may begin.
   */
  readonly needBytes?: number
}

export interface AskOptions {
  /** Who asks, for turns in the lane: the id of a job. */
  asker: string
  signal?: AbortSignal | undefined
  /**
   * A request waits for the answer: it takes turns with other such requests and waits at most 20 s; a closed gate gives
   * `unavailable` (503) at once.
   */
  isUrgent?: boolean
  /**
   * With `isUrgent`: the account of the request. An account may have two such asks at once and about ten a minute; more
   * are `throttled` (429).
   */
  account?: number
}

/** For people: the name of a platform, and the page of a video or channel on it. */
export interface Original {
  platform_name: string
  platform_url: string
}

export interface Thumbnail {
  url: string
  width?: number
  height?: number
}

/** Sheets with small pictures of a film, in rows from left to right. */
export interface Storyboard {
  /** Seconds between two pictures. */
  interval: number
  /** Size of one picture, in pixels. */
  width: number
  height: number
  columns: number
  rows: number
  /** Addresses of the sheets. The last one may be smaller. */
  sheets: string[]
}

export interface Chapter {
  /** Seconds. */
  start: number
  title: string
}

/** Metadata of a video. Missing or empty fields are unknown (`told`). */
export interface VideoMetadata {
  id: string
  title?: string | undefined
  description: string
  channelId: string
  channelName: string
  vidType: VideoType
  /** YYYY-MM-DD */
  published?: string | undefined
  /** Epoch seconds, where known. */
  timestamp?: number
  durationSeconds: number
  tags: string[]
  categories: string[]
  /** In order. */
  chapters: Chapter[]
  viewCount?: number | undefined
  likeCount?: number | undefined
  averageRating?: number | undefined
  thumbnails: Thumbnail[]
  /** Languages of manual and automatic subtitles. */
  subtitles: { user: string[]; auto: string[] }
  /** `is_live`, `is_upcoming` … as in yt-dlp; undefined for ordinary videos. */
  liveStatus?: string
  /** As in `ListEntry`. */
  availability?: string
  /** Language of the sound. */
  language?: string
  /** The shorter side of the best picture offered. */
  height?: number
  /** Size in bytes of the best that is offered, as the platform announces it. */
  expectedBytes?: number
  /** At first it was shown to everybody at the same time. */
  isPremiere?: boolean
  /** Set if the video cannot be downloaded now; `availableAt`: if a time is known. */
  unavailable?: { failure: FailureClass; message: string; availableAt?: number }
}

/** Metadata of a channel. Missing or empty fields are unknown. */
export interface ChannelMetadata {
  id: string
  name?: string | undefined
  handle?: string
  description: string
  tags: string[]
  subscribers?: number | undefined
  views?: number | undefined
  tabs: VideoType[]
  art: { thumb?: string; banner?: string; tvart?: string }
}

/** Metadata of a playlist. Missing or empty fields are unknown. */
export interface PlaylistMetadata {
  id: string
  name?: string | undefined
  description: string
  channelId: string | null
  channelName: string | null
  thumbnail?: string
  /** The number of entries that the platform reports, if it does. */
  count?: number | undefined
  entries: PlaylistEntryMetadata[]
}

export interface PlaylistEntryMetadata {
  id: string
  title: string
  uploader: string | null
  /** false for placeholders (private, deleted). */
  isThere: boolean
  /** Upcoming or live now. */
  isPending?: boolean
  /** As in `ListEntry`. */
  isLimited?: true
  availability?: string
  channelId?: string
  durationSeconds?: number
  thumbnail?: string
}

/** A row of a channel's tab, with little metadata, and none of the channel. */
export interface ListEntry {
  id: string
  title: string
  durationSeconds?: number
  vidType: VideoType
  thumbnail?: string
  /** Upcoming or live now. */
  isPending: boolean
  /** Marked as restricted: for members, paying or signed-in viewers. */
  isLimited?: true
  /** Who may see it, as in yt-dlp: `public`, `subscriber_only` …; undefined: unknown. */
  availability?: string
}

/** A quality setting: which of the offered formats is wanted. */
export interface QualityWish {
  /** Maximum of the picture's shorter side; undefined: the best available. */
  height?: number
  /** `compatible`: prefers H.264 and AAC, which every device plays, to larger pictures. `sound`: an m4a, no picture. */
  codec: 'best' | 'compatible' | 'smallest' | 'sound'
  /** Language of the sound; undefined: the original one. */
  language?: string
  /** Whether to prefer HDR if offered. */
  hdr: boolean
}

export interface DownloadOptions {
  /** The folder for the files, created by the caller on the library's file system. A part file in it is resumed. */
  folder: string
  /** A custom format selector and sort of yt-dlp, instead of a quality setting. */
  format?: string | undefined
  formatSort?: string | undefined
  quality?: QualityWish | undefined
  /**
   * Accepts only a picture of the wanted height and audio in the wanted language (otherwise `not_offered`); `waitDays`:
   * for this long after publication.
   */
  insistence?: { waitDays?: number } | undefined
  limitSpeedKib?: number
  throttledRateKib?: number
  /** Languages, comma separated, as in yt-dlp, except that `en` includes `en-US`; undefined: no subtitles. */
  subtitleLanguages?: string
  /** `auto`: automatic subtitles too, if there are no manual ones. */
  subtitleSource?: 'user' | 'auto'
  embedMetadata?: boolean
  embedThumbnail?: boolean
  extractorLanguage?: string
  /** When the video was first seen, in epoch seconds: for a video without a publication time. */
  firstSeen?: number
}

/** The present file, which a download must surpass. */
export interface FileThere {
  height: number
  /** Whether its sound is not in the wanted language. */
  isForeign: boolean
  seconds: number
}

/** The offered video is no better than the present file, or has another duration: nothing was downloaded. */
export interface LeftAlone extends Pick<Downloaded, 'metadata' | 'receipt'> {
  isLeft: true
}

export interface DownloadProgress {
  /** 0–1 over all streams. */
  fraction: number
  /** Bytes per second and remaining seconds, if known. */
  speed?: number
  eta?: number
}

export interface DownloadedSubtitle {
  lang: string
  name: string
  source: 'user' | 'auto'
  url: string
  /** WebVTT, absolute, inside the folder. */
  path: string
}

/** Why more formats may exist than were offered: an unsolved challenge, a required token, withheld formats. */
export type Doubt = 'challenge' | 'token' | 'protocol'

interface Picture {
  /** The shorter side: what people call 1080p. 0: no picture. */
  height: number
  fps?: number
  /** `HDR10`, `HLG` …; undefined: none. */
  hdr?: string
}

/** The offered and the downloaded formats, according to yt-dlp's own information. */
export interface DownloadReceipt {
  /** The version of yt-dlp. */
  downloader: string
  offered: Picture & {
    videoCodecs: string[]
    audioCodecs: string[]
    audioLanguages: string[]
    /** The original language, if known. */
    originalLanguage?: string
    /** Languages of manual subtitles. */
    subtitles: string[]
    /** The clients that the formats came from, if their URLs tell. */
    clients: string[]
  }
  got: Picture & {
    videoCodec?: string
    audioCodec?: string
    audioLanguage?: string
    /** Ids of the formats. */
    formats: string[]
  }
  /** The best height within the quality setting; undefined: a custom format. */
  allowedHeight?: number
  /** Whether the sound is neither in the wanted language, although that was offered, nor in the original one. */
  isForeign: boolean
  /** Warnings of a successful download, without URLs. */
  warnings: string[]
  /** The reasons why formats may be missing, from those warnings. */
  doubts: Doubt[]
}

export interface Downloaded {
  metadata: VideoMetadata
  receipt: DownloadReceipt
  /**
   * Absolute path inside `folder`: `<id>.mp4`, or `<id>.m4a` for sound only. The size and the duration of each stream
   * have been compared with the announced ones.
   */
  mediaPath: string
  subtitles: DownloadedSubtitle[]
  /** Languages that were requested and exist, but could not be fetched or converted. */
  subtitlesLeftOut?: string[]
  /** The platform currently refuses subtitles, so some or all were not requested. */
  areSubtitlesPutOff?: true
  /** A picture of any format; undefined: the platform has none. */
  thumbnailPath?: string
  /** The platform's seek previews, if it has any; their addresses are valid for some hours. */
  storyboard?: Storyboard
}

export interface CommentMetadata {
  id: string
  /** `root` or the parent's id. */
  parent: string
  text: string
  /** Epoch seconds. */
  timestamp: number
  likeCount: number
  isFavorited: boolean
  author: string
  authorId: string
  authorThumbnail: string
  authorIsUploader: boolean
}

export interface PlatformState {
  state: 'open' | 'paused' | ClosedState
  reason: Words
  /** Epoch seconds. */
  since: number
  /** Epoch seconds, or 0. */
  next_attempt: number
}

/** An archived film for testing a new yt-dlp, which must be offered at least this height (the shorter side). */
export interface Canary {
  id: string
  height: number
}

/** The cookie in use; times in epoch seconds, 0: unknown or not yet. */
export interface CookieHealth {
  state: 'none' | 'off' | 'untried' | 'valid' | 'invalid'
  stored: number
  /** When it was first found to be invalid. */
  ended: number
  checked: number
  /** The lifetimes of the last cookies in seconds, newest first. */
  lived: number[]
}

/**
 * The external platform. Every ask takes a turn in its lane (`platform` for metadata, `download` for media) and passes
 * the gate: while the platform refuses us, the ask waits there and continues by itself. Thrown errors are about the
 * requested item.
 */
export interface Platform {
  /** Its name for people. */
  name: string
  /**
   * The targets in a text: ids, URLs, handles, separated by white space. By form only, without the network. @throws
   * bad_request, naming the first word that is not a target
   */
  targets(text: string): Target[]
  /** Like `targets`, but skips words that are not targets. */
  targetsIn(text: string): Target[]
  video(id: string, options: AskOptions): Promise<VideoMetadata>
  /** @param idOrHandle  channel id, `@handle` or path of a channel URL */
  channel(idOrHandle: string, options: AskOptions): Promise<ChannelMetadata>
  /** @param options.most  the number of entries that are needed */
  playlist(id: string, options: AskOptions & { most?: number }): Promise<PlaylistMetadata>
  /** Ids and names of a channel's playlists. */
  playlistsOf(channelId: string, options: AskOptions): Promise<Array<{ id: string; name: string }>>
  /** A channel's tab, newest first, in the platform's pages (30 entries); leaving the loop ends the listing. */
  list(channelId: string, tab: VideoType, options: AskOptions): AsyncIterable<ListEntry[]>
  download(
    id: string,
    download: DownloadOptions,
    options: AskOptions & {
      progress?: (progress: DownloadProgress) => void
      /** Called when all streams have arrived: another download may begin while this machine merges them. */
      fetched?: () => void
    },
  ): Promise<Downloaded>
  /** Downloads only if the offered video is better than the present file, which is checked before the download. */
  downloadBetter(
    id: string,
    download: DownloadOptions & { there: FileThere },
    options: Parameters<Platform['download']>[2],
  ): Promise<Downloaded | LeftAlone>
  /** The version of yt-dlp in use; undefined: none can be started. */
  downloaderVersion(): Promise<string | undefined>
  /**
   * Only the subtitles, for an archived video. `arePutOff`: the platform currently refuses subtitles, and some may be
   * missing.
   * @param wanted.except  languages to leave out
   */
  subtitles(
    id: string,
    wanted: { folder: string; languages: string; source: 'user' | 'auto'; except?: readonly string[] },
    options: AskOptions,
  ): Promise<{ subtitles: DownloadedSubtitle[]; arePutOff: boolean }>
  /** Resolves when subtitles may be requested. @throws the signal's reason */
  untilSubtitles(signal: AbortSignal): Promise<void>
  comments(id: string, limits: { max: string; sort: 'top' | 'new' }, options: AskOptions): Promise<CommentMetadata[]>
  /**
   * Whether the platform knows the owner of this cookie jar (Netscape text), with the jar as the platform renewed it.
   * `isUnreadable`: yt-dlp cannot read it, and the platform was not asked.
   */
  validateCookie(jar: string, options: AskOptions): Promise<{ isValid: boolean; isUnreadable?: boolean; jar: string }>
  /** Sets the cookie jar for further asks (Netscape text, in a file that only the server may read); null: none. */
  useCookie(path: string | null): void
  /**
   * Called with each renewed jar that is still signed in. The listener stores it; it need not call `useCookie`. A child
   * may have begun with an earlier jar: before writing, check `isStillUsed`, which is false once `useCookie` was
   * called.
   * @returns ends it
   */
  onCookieRenewed(listener: (jar: string, isStillUsed: () => boolean) => void): () => void
  /**
   * Converts yt-dlp's information file of a film (`<name>.info.json`, parsed) to metadata, checked like an answer.
   * @throws unprocessable: it is about another video, or names no channel
   */
  metadataOf(info: Readonly<Record<string, unknown>>, id: string): VideoMetadata
  /** The comments in such a file, checked the same way; invalid ones are left out. */
  commentsOf(list: readonly unknown[]): CommentMetadata[]
  /** Why yt-dlp does not accept a format or a sort of formats, in its own words; used to check a new value. */
  refusals(settings: { format?: string; formatSort?: string }): Promise<{ format?: string; formatSort?: string }>
  /** The consequences of each failure class. */
  failures: Readonly<Record<FailureClass, FailureRow>>
  /** The failure behind a thrown value, if there is one. */
  failureOf(thrown: unknown): Failure | undefined
  /**
   * Why a video is unavailable, in our words, by the failure's class and message; undefined: use the message itself.
   */
  reasonOf(failure: FailureClass, message: string): Sentence | undefined
  /** The last known state; `GET /api/platform/` checks the library first. */
  state(): PlatformState
  command(command: 'retry' | 'pause' | 'resume'): Promise<void>
  /** Base URL of the platform's pages, for links. */
  watchUrl(videoId: string): string
  /** Keys of a record: the platform's name, and the page there; undefined: unknown. */
  original(type: 'video' | 'channel', id: string): Original | undefined
  /** The id under the platform's own key, `{ youtube_id: id }`, or nothing if that is switched off (contract 1.2). */
  mirror(id: string): Record<string, string>
  /** The id of an object in a request, under either key. @throws bad_request: both keys differ, or both are missing */
  idOf(object: Record<string, unknown>): string
  /**
   * Whether a picture may be fetched from this URL: https on the platform's hosts (and its base URL); for another
   * platform, any public address.
   * @param of  id of the video or channel that it shows
   */
  isArtUrl(url: string, of?: string): boolean
  /**
   * The platform's own feed of a channel; undefined: there is none, because the channel is on another platform. Call it
   * rarely, because it is neither counted nor paced.
   * @param tag  of the last answer; 'same': nothing has changed since
   * @throws NoFeed, or an error of the network
   */
  feed(channelId: string, tag: FeedTag, signal: AbortSignal): Promise<Feed | 'same' | undefined>
  /** Downloads such a picture to a file, by the configured network route. At most 10 MB. @throws the reason */
  fetchPicture(url: string, to: string, signal: AbortSignal, of?: string): Promise<void>
}

/** An answer of the platform about one video, channel or playlist. */
export type Answer =
  | { kind: 'video'; id: string; metadata: VideoMetadata; isDownload?: true }
  | { kind: 'channel'; id: string; metadata: ChannelMetadata }
  | { kind: 'playlist'; id: string; metadata: PlaylistMetadata }
  /** A part of a channel's tab. */
  | { kind: 'tab'; id: string; entries: readonly ListEntry[] }
  | Refusal

/** The platform or this server could not provide the item, for any reason. */
export interface Refusal {
  kind: 'video' | 'channel' | 'playlist'
  id: string
  failure: Failure
}

declare module 'archivolt' {
  interface Services {
    platform: {
      /** Metadata and files of the platform, checked and with our names, independent of yt-dlp. */
      platform: Platform
    }
  }
  interface Hooks {
    /** Asked for `GET /api/platform/`: how many queue items wait, and how many failed. */
    'platform.pending': () => Promise<number>
    /** Asked for `GET /api/platform/`: the number of failed queue items by failure class. */
    'platform.waiting': () => Promise<Record<string, number>>
    /** Asked for `GET /api/platform/`: free space on the library's file system, in bytes. */
    'platform.space': () => Promise<{ free: number; total: number }>
    /**
     * Asked before each request to the platform: returns why the library is unavailable, as a sentence for people.
     * Undefined: it is available.
     */
    'platform.library': () => Promise<Words | undefined>
    /** Asked for `GET /api/platform/`: why downloads are paused although the platform is available. Epoch seconds. */
    'platform.halted': () => { reason: Words; since: number; nextAttempt: number } | undefined
    /** Asked for `GET /api/platform/`: the cookie in use, and the lifetimes of the last ones. */
    'platform.cookie': () => CookieHealth
    /**
     * Asked before another version of yt-dlp is used: returns archived videos for testing it, more than the test needs,
     * because some may no longer be available.
     */
    'platform.canaries': () => Promise<Canary[]>
    /** Asked for `GET /api/resolve/`: whether the archive has this video, playlist or channel (by id or handle). */
    'platform.known': (target: Target) => Promise<boolean>
    /**
     * Asked to take note of each answer about a video, channel or playlist, and of each refusal, before the caller uses
     * it. At that time the documents have not been changed yet. The same answer may be reported twice.
     */
    'platform.answered': (answer: Answer) => Promise<void>
  }
  interface Settings {
    platformUrl: string
    /** The platform's own name for `platform_id`, or null. */
    platformIdField: string | null
    ytdlp: string | null
    /** A folder that contains `yt_dlp_plugins`, or null. */
    ytdlpPlugins: string | null
    ytdlpUpdate: 'stable' | 'nightly' | 'off'
    /** The package index for pip; null: pip's own configuration. */
    packageIndex: string | null
    ffmpeg: string
    ffprobe: string
  }
}
