/** The types of the service `platform`: checked metadata with our names, independent of yt-dlp. */
import type { Sentence, Words } from 'archivolt'
import type { ClosedState, FailureClass, FailureRow } from './failure-classes.ts'

export type VideoType = 'videos' | 'streams' | 'shorts'

/** The target of a text, recognised by its form (contract 9.12). */
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
   * The gate is closed and this item was its probe too often in a row: nothing is known about the item itself.
   * Leave it untouched (no message) and ask for another one, which becomes the next probe.
   */
  readonly isDeferred?: true
  /** With `disk_full`, which is thrown only in this case: this item needs so much free space; others may begin. */
  readonly needBytes?: number
}

export interface AskOptions {
  /** The asker, for turns in the lane: a job's id. */
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

/** Missing or empty fields mean that nothing is known (`told`). */
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
  /** Of the sound. */
  language?: string
  /** The shorter side of the best picture offered. */
  height?: number
  /** Set if the video cannot be downloaded now; `availableAt`: if a time is known. */
  unavailable?: { failure: FailureClass; message: string; availableAt?: number }
}

/** What is left out or empty was not told. */
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

/** What is left out or empty was not told. */
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

/** A row of a channel's tab: little is known, and nothing about the channel. */
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
  /** For whom it is, as yt-dlp says it: `public`, `subscriber_only` …; left out: not told. */
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
  /** A custom yt-dlp format selector and sort, instead of a quality setting. */
  format?: string | undefined
  formatSort?: string | undefined
  quality?: QualityWish | undefined
  /**
   * A picture of the wished height and sound in its language or nothing (`not_offered`); `waitDays`: so long after the
   * publication.
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
  /** Its sound is not in the wanted language. */
  isForeign: boolean
  seconds: number
}

/** The offered video is no better than the present file, or has another length: nothing was downloaded. */
export interface LeftAlone extends Pick<Downloaded, 'metadata' | 'receipt'> {
  isLeft: true
}

export interface DownloadProgress {
  /** 0–1 over all streams. */
  fraction: number
  /** Bytes a second and seconds left, where known. */
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

/**
 * Why more may have been there than was offered: a challenge was not solved, a token was asked for, formats were kept
 * back.
 */
export type Doubt = 'challenge' | 'token' | 'protocol'

interface Picture {
  /** The shorter side: what people call 1080p. 0: no picture. */
  height: number
  fps?: number
  /** `HDR10`, `HLG` …; undefined: none. */
  hdr?: string
}

/** What was offered and what of it came, as yt-dlp's own information says. */
export interface DownloadReceipt {
  /** The version of yt-dlp. */
  downloader: string
  offered: Picture & {
    videoCodecs: string[]
    audioCodecs: string[]
    audioLanguages: string[]
    /** The one that the video was made in, where that is told. */
    originalLanguage?: string
    /** Languages of subtitles that people have made. */
    subtitles: string[]
    /** Clients that formats came from, where their addresses tell. */
    clients: string[]
  }
  got: Picture & {
    videoCodec?: string
    audioCodec?: string
    audioLanguage?: string
    /** Ids of the formats. */
    formats: string[]
  }
  /** The best height that the wish leaves; undefined: a format of somebody's own. */
  allowedHeight?: number
  /** The sound is neither in the language of the wish, where that was offered, nor in the original one. */
  isForeign: boolean
  /** Of a download that succeeded. Without addresses. */
  warnings: string[]
  /** What of them tells that formats may be missing. */
  doubts: Doubt[]
}

export interface Downloaded {
  metadata: VideoMetadata
  receipt: DownloadReceipt
  /**
   * Absolute, inside `folder`: `<id>.mp4`, or `<id>.m4a` where sound alone was wished for. It is complete: its size and
   * the duration of each stream were compared with what was announced.
   */
  mediaPath: string
  subtitles: DownloadedSubtitle[]
  /** Languages that were asked for and are there, but could not be fetched or converted. */
  subtitlesLeftOut?: string[]
  /** The platform refuses subtitles now: some, or all, were not asked for. */
  areSubtitlesPutOff?: true
  /** JPEG, or undefined where the platform has none. */
  thumbnailPath?: string
  /** Where the platform has seek previews of it: these addresses hold for some hours. */
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

/** A film of ours that a new yt-dlp is tried with: it must be offered with this height (the shorter side) at least. */
export interface Canary {
  id: string
  height: number
}

/** The cookie in use; times in epoch seconds, 0: not known or not yet. */
export interface CookieHealth {
  state: 'none' | 'off' | 'untried' | 'valid' | 'invalid'
  stored: number
  /** When it was first found to be no longer valid. */
  ended: number
  checked: number
  /** How many seconds the last ones lived, newest first. */
  lived: number[]
}

/**
 * The external platform. Every ask takes a turn in its lane (`platform` for metadata, `download` for media) and passes
 * the gate: while the platform refuses us it waits there, and goes on unaided. What is thrown is about the thing asked
 * for.
 */
export interface Platform {
  /** What people call it, for texts. */
  name: string
  /**
   * Targets of a text: ids, URLs, handles, several by white space. Form only, no network. @throws bad_request, naming
   * the first word that is none
   */
  targets(text: string): Target[]
  /** As `targets`, but what is none is left out. */
  targetsIn(text: string): Target[]
  video(id: string, options: AskOptions): Promise<VideoMetadata>
  /** @param idOrHandle channel id, `@handle` or path of a channel URL */
  channel(idOrHandle: string, options: AskOptions): Promise<ChannelMetadata>
  /** @param options.most  so many entries are enough */
  playlist(id: string, options: AskOptions & { most?: number }): Promise<PlaylistMetadata>
  /** Ids and names of a channel's playlists. */
  playlistsOf(channelId: string, options: AskOptions): Promise<Array<{ id: string; name: string }>>
  /** A channel's tab, newest first, in pages as the platform has them (30); ending the loop ends the listing. */
  list(channelId: string, tab: VideoType, options: AskOptions): AsyncIterable<ListEntry[]>
  download(
    id: string,
    download: DownloadOptions,
    options: AskOptions & {
      progress?: (progress: DownloadProgress) => void
      /** The platform has given all of it: another download may begin while this machine puts it together. */
      fetched?: () => void
    },
  ): Promise<Downloaded>
  /** The same, where it is better than the file that is there: asked before anything is fetched. */
  downloadBetter(
    id: string,
    download: DownloadOptions & { there: FileThere },
    options: Parameters<Platform['download']>[2],
  ): Promise<Downloaded | LeftAlone>
  /** Of the yt-dlp that is used now; undefined where none can be started. */
  downloaderVersion(): Promise<string | undefined>
  /**
   * The subtitles alone, for a video that is archived already. `arePutOff`: the platform refuses subtitles now, and
   * some may be missing.
   * @param wanted.except  languages to leave out
   */
  subtitles(
    id: string,
    wanted: { folder: string; languages: string; source: 'user' | 'auto'; except?: readonly string[] },
    options: AskOptions,
  ): Promise<{ subtitles: DownloadedSubtitle[]; arePutOff: boolean }>
  /** Resolves when subtitles are not refused, or may be asked for again. @throws the signal's reason */
  untilSubtitles(signal: AbortSignal): Promise<void>
  comments(id: string, limits: { max: string; sort: 'top' | 'new' }, options: AskOptions): Promise<CommentMetadata[]>
  /**
   * Whether the platform knows the owner of this cookie jar (Netscape text), with the jar as the platform renewed it.
   * `isUnreadable`: yt-dlp cannot read it, and nobody was asked.
   */
  validateCookie(jar: string, options: AskOptions): Promise<{ isValid: boolean; isUnreadable?: boolean; jar: string }>
  /**
   * The cookie jar (Netscape text, in a file that only the server may read) that asks go with from now on; null: none.
   */
  useCookie(path: string | null): void
  /**
   * Called with the jar in use as the platform renewed it, still signed in. Write it where the jar was read from;
   * `useCookie` need not be called again. A child may have begun with an earlier jar: once it is this one's turn to be
   * written, `isStillUsed` tells whether `useCookie` has been called since. @returns ends it
   */
  onCookieRenewed(listener: (jar: string, isStillUsed: () => boolean) => void): () => void
  /**
   * Metadata of a video from what yt-dlp once wrote beside its file (`<name>.info.json`, parsed): checked like an
   * answer.
   * @throws unprocessable: it is another video's, or names no channel
   */
  metadataOf(info: Readonly<Record<string, unknown>>, id: string): VideoMetadata
  /** Comments from there (`comments`), checked in the same way: what is none is left out. */
  commentsOf(list: readonly unknown[]): CommentMetadata[]
  /** Why yt-dlp does not take a format or an order of formats, in its own words: before they are set. */
  refusals(settings: { format?: string; formatSort?: string }): Promise<{ format?: string; formatSort?: string }>
  /** What follows from a failure of each class. */
  failures: Readonly<Record<FailureClass, FailureRow>>
  /** The failure that a thrown thing is, if it is one. */
  failureOf(thrown: unknown): Failure | undefined
  /** Why a video cannot be had, in our words, by the failure's class and message; undefined: the message says it. */
  reasonOf(failure: FailureClass, message: string): Sentence | undefined
  /** As it is known now; `GET /api/platform/` looks at the library first. */
  state(): PlatformState
  command(command: 'retry' | 'pause' | 'resume'): Promise<void>
  /** Base URL of pages on the platform, for links. */
  watchUrl(videoId: string): string
  /** Which platform it is of, and its page there: keys of a record. Undefined: nobody knows such a page. */
  original(type: 'video' | 'channel', id: string): Original | undefined
  /**
   * The id under the platform's own key, `{ youtube_id: id }`, or nothing where that is switched off (contract 1.2).
   */
  mirror(id: string): Record<string, string>
  /** The id of a request's object, under either key. @throws bad_request: both are there and differ, or none is */
  idOf(object: Record<string, unknown>): string
  /**
   * Whether art may be fetched from this URL: https on hosts the platform uses (and its own base URL); of what is of
   * another platform, any address of the web.
   * @param of  id of the video or channel that it shows
   */
  isArtUrl(url: string, of?: string): boolean
  /** Fetches what lies at such a URL to a file, by the way that is set. At most 10 MB. @throws why it cannot be had */
  fetchPicture(url: string, to: string, signal: AbortSignal, of?: string): Promise<void>
}

declare module 'archivolt' {
  interface Services {
    platform: {
      platform: Platform
    }
  }
  interface Hooks {
    /** Asked for `GET /api/platform/`: how many queue items wait to be downloaded, those that failed apart. */
    'platform.pending': () => Promise<number>
    /** Asked for `GET /api/platform/`: how many queue items failed, by failure class. */
    'platform.waiting': () => Promise<Record<string, number>>
    /** Asked for `GET /api/platform/`: room on the library's file system, in bytes. */
    'platform.space': () => Promise<{ free: number; total: number }>
    /** Asked before the platform is: why the library is not there, for people. Undefined: it is. */
    'platform.library': () => Promise<Words | undefined>
    /** Asked for `GET /api/platform/`: why nothing is downloaded though the platform would answer. Epoch seconds. */
    'platform.halted': () => { reason: Words; since: number; nextAttempt: number } | undefined
    /** Asked for `GET /api/platform/`: the cookie in use, and how long the last ones lived. */
    'platform.cookie': () => CookieHealth
    /** Asked before another yt-dlp is used: films of the archive to try it with, more than are needed. */
    'platform.canaries': () => Promise<Canary[]>
    /** Asked for `GET /api/resolve/`: whether the archive has this video, playlist or channel (by id or handle). */
    'platform.known': (target: Target) => Promise<boolean>
  }
  interface Settings {
    platformUrl: string
    /** The platform's own name for `platform_id`, or null. */
    platformIdField: string | null
    ytdlp: string | null
    /** A folder that holds `yt_dlp_plugins`, or null. */
    ytdlpPlugins: string | null
    ytdlpUpdate: 'stable' | 'nightly' | 'off'
    /** Where pip looks for packages; null: as it is set up. */
    packageIndex: string | null
    ffmpeg: string
    ffprobe: string
  }
}
