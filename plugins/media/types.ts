/**
 * The library on disk and the pictures: paths only from checked ids, staging, rename into place, trash before deletion.
 */
import type { Readable } from 'node:stream'
import type { Actor, Meter, Step, Words } from 'archivolt'
import type { Ending, OwnEnding } from './containers.ts'

export interface StreamProbe {
  type: 'video' | 'audio'
  index: number
  codec: string
  /** bit/s */
  bitrate: number
  width?: number
  height?: number
}

export interface MediaProbe {
  sizeBytes: number
  durationSeconds: number
  streams: StreamProbe[]
}

export interface FileStream {
  index: number
  type: string
  codec: string
  isPicture: boolean
  /** The pixel format, such as `yuv420p`. */
  pixels?: string
}

export interface FfmpegOptions {
  signal: AbortSignal
  /** The number of seconds done. */
  onSeconds?: (seconds: number) => void
  /** With low processor priority. */
  isBehind?: boolean
}

export type ArtKind = 'video' | 'channel_thumb' | 'channel_banner' | 'channel_tvart' | 'playlist'

/**
 * A folder with films of another program: never written to, and nothing in it is removed unless a person allows that.
 */
export interface Place {
  id: number
  /** Absolute, without links. */
  path: string
  /** Its name for people. */
  label: string
  /** Epoch seconds. */
  addedAt: number
  /** The number of videos in it. */
  films: number
  /** Epoch seconds; omitted: it is available. */
  awaySince?: number
  /** A person has marked it as ours: removed films leave the disk through a trash in the place. */
  isOurs: boolean
}

/** Films in the bin that stay on the disk of their place, where the archive may delete files. */
export interface PlaceTrash {
  /** The number of a channel's films, in all places. */
  countOfChannel(channelId: string): number
  has(videoId: string): boolean
  /** Those of these videos whose film is here. */
  among(videoIds: readonly string[]): string[]
  /**
   * Whether a video's film was at this path before it was removed: if a scan finds it there, somebody has moved it
   * back.
   */
  wasAt(placeId: number, videoId: string, path: string): boolean
  /** Moves the film back to its place; does nothing if it is not here. @throws conflict, unavailable: the reason */
  restore(videoId: string): Promise<void>
  /** Deletes films that the bin no longer holds: at once, or when their disk is back. */
  drop(videoIds: readonly string[]): Promise<void>
}

export interface NewFilm {
  videoId: string
  channelId: string
  placeId: number
  /** Relative to the place's folder, as on disk. */
  path: string
  ending: Ending
  sizeBytes: number
  changedMs: number
}

/** A film in a place. `lost`: its place is available, but the film is missing. */
export interface PlacedFilm extends NewFilm {
  state: 'there' | 'lost'
}

/** Which files are films or audio files that are stored and served unchanged. */
export interface Containers {
  /** In lower case; containers that every browser plays come first. */
  readonly endings: readonly Ending[]
  /** Those of the library's own films. */
  readonly own: readonly OwnEnding[]
  isSound(ending: Ending): boolean
  /** Of a file with this extension; undefined: none of these. */
  contentTypeOf(ending: string): string | undefined
  /** By the first bytes of a file. */
  isFilm(head: Uint8Array): boolean
}

/** What people see of the location of a film in a place. */
export interface PlacedState {
  label: string
  state: 'there' | 'away' | 'missing'
  ours?: true
}

export interface Places {
  list(): Place[]
  /** @throws not_found */
  get(id: number): Place
  /** Folders below which places may be, from the settings. */
  roots(): readonly string[]
  /** The same with links resolved, without missing ones. */
  realRoots(): Promise<string[]>
  /** Adding the same path again returns the same place. @throws unprocessable, conflict: the reason, and what to do */
  add(path: string, label: string): Promise<Place>
  rename(id: number, label: string): Promise<Place>
  /**
   * Whether removed films of it go into a trash in it from now on.
   * @throws unprocessable: nothing can be removed there, and what to do; unavailable: its disk is offline
   */
  setOurs(id: number, isOurs: boolean): Promise<Place>
  readonly trash: PlaceTrash
  /** Changes the folder's path, if a sample of its films is found there. @throws unprocessable: they are not there */
  move(id: number, path: string): Promise<Place>
  /** @throws conflict: it contains videos */
  remove(id: number): Promise<void>
  /** Checks all now; people are told once of each that is unavailable. */
  isThere(id: number): Promise<boolean>
  /** Called for each place that becomes available again. */
  onBack(hear: (placeId: number) => Promise<void>): void
  filmOf(videoId: string): PlacedFilm | undefined
  /** The films at these paths of a place, by path. */
  at(placeId: number, paths: readonly string[]): Map<string, PlacedFilm>
  /** The film's path, checked at each call. @throws not_found; unavailable: its place is unavailable */
  pathIn(film: PlacedFilm): Promise<string>
  /**
   * The place of a film that may have been recorded long ago: its own, or if that was removed, one that has a file of its
   * size at its path. undefined: none
   */
  placeWith(film: PlacedFilm): Promise<number | undefined>
  /** Its place is available, and no file is at its path; false if a link there may not be followed. */
  isGone(film: PlacedFilm): Promise<boolean>
  /** What people see of those among them that are in places. */
  statesOf(videoIds: readonly string[]): ReadonlyMap<string, PlacedState>
  /** The number of a channel's videos in places. */
  countOfChannel(channelId: string): number
  /** Which of these were removed from the archive while their files stayed. */
  wasForgotten(videoIds: readonly string[]): Set<string>
  /** Which of these are in a place, or were until they were removed. */
  broughtFrom(placeId: number, videoIds: readonly string[]): Set<string>
  keep(films: readonly NewFilm[]): Promise<void>
  /** They are no longer in any place, or never were. */
  drop(videoIds: readonly string[]): Promise<void>
  /** They are removed from the archive, and no scan imports them again. Those in no place are skipped. */
  forget(videoIds: readonly string[]): Promise<void>
  setLost(videoIds: readonly string[], isLost: boolean): Promise<void>
  /** In batches, by path. */
  filmsOf(placeId: number, batch?: number): Iterable<PlacedFilm[]>
}

/** Videos of the archive whose film was not found, in the library or in an available place. */
export interface Missing {
  /** Those among them whose film is missing, as far as known. */
  of(videoIds: readonly string[]): Set<string>
  count(): number
  /** By id. */
  page(from: number, size: number): string[]
  /** The next ones by id. */
  after(videoId: string, size: number): string[]
  /** Replaces the list after a complete check of the library: all others were found. */
  set(videoIds: Iterable<string>): Promise<void>
  /** Their films were found, or the videos were removed. */
  drop(videoIds: readonly string[]): Promise<void>
}

/** A video, by the folder that its files are in. */
export interface Homed {
  channelId: string
  videoId: string
}

/** What the bin has a record of: a video, or without `videoId` a channel. */
export type Recorded = Homed | { channelId: string; videoId?: undefined }

/**
 * The bin's part of the trash. Its records are next to the films; readers check them. Each call is for many, because
 * each checks before and after that the library is available.
 */
export interface Binned {
  /** From now on nobody else restores or empties this trash; `emptyTrash` ends that. */
  hold(trashId: string): Promise<void>
  /** @throws unavailable: the folder of the channel leads nowhere, so that its trash would seem to be empty */
  mustReach(channelId: string): Promise<void>
  /** An existing record is unchanged. @throws unavailable: no space */
  write(trashId: string, records: ReadonlyArray<{ of: Recorded; text: string }>): Promise<void>
  /** Those that have a record in this trash. */
  records(trashId: string): Promise<Recorded[]>
  /** As on disk, in the order of `of`; undefined: missing, or too large. */
  read(trashId: string, of: readonly Recorded[]): Promise<Array<string | undefined>>
  /** The path of the film of a video in this trash; undefined: it is not there. */
  filmIn(trashId: string, video: Homed): Promise<string | undefined>
  /** Those of these videos whose film is in this trash on the library's disk, not on the disk of a channel or place. */
  onLibraryDisk(trashId: string, videos: readonly Homed[]): Promise<Set<string>>
  /** By video, a file that now has the name of one of its files. */
  inTheWay(trashId: string, videos: readonly Homed[]): Promise<Map<string, string>>
  /** Moves their files back into the library. May be done twice. */
  putBack(trashId: string, videos: readonly Homed[]): Promise<void>
  /** The same for files of a channel's folder that belong to no video of the bin, such as what people have put there. */
  putBackRest(trashId: string, channelId: string): Promise<void>
  /** Deletes their files. */
  drop(trashId: string, videos: readonly Homed[]): Promise<void>
  dropRecords(trashId: string, of: readonly Recorded[]): Promise<void>
}

export interface Media {
  readonly binned: Binned
  /**
   * `<media>/<channel>/<video>.mp4`, or `.m4a` for audio, whether it exists or not; ids are checked. The only function
   * that determines the path of an own film.
   */
  pathOf(channelId: string, videoId: string): string
  /** The path to which `adopt` moves this file: with its extension, whatever the video's present film has. */
  homeOf(channelId: string, videoId: string, mediaPath: string): string
  readonly places: Places
  readonly missing: Missing
  /** Whether the archive has it. */
  isKnown(kind: KnownKind, id: string): Promise<boolean>
  /** Whether something outside the archive may be restored, for example from the bin, so that its picture is still needed. */
  isKept(kind: KnownKind, id: string): Promise<boolean>
  /** For people: its title or name, otherwise its id. */
  titleOf(kind: KnownKind, id: string): Promise<string>
  readonly containers: Containers
  /**
   * The path at which the film of a video is recorded, in its place or in the library, whether it exists or not.
   */
  recordedPath(channelId: string, videoId: string): string
  /**
   * The path from which the film of a video is read: in its place, or in the library.
   * @throws not_found; unavailable: its place is unavailable
   */
  filmPath(channelId: string, videoId: string): Promise<string>
  /** Whether we may change, move and remove its file: it is in no place. */
  isOurs(videoId: string): boolean
  /**
   * How many names each film of the library has: 0: it is missing. Hard links that go with the video, such as those of
   * faces, do not count.
   */
  linksOf(films: readonly Homed[]): Promise<Map<string, number>>
  subtitlePathOf(channelId: string, videoId: string, lang: string): string
  /** Whether a subtitle's language can be part of a file name: 1–35 letters, digits and `-` (RFC 5646, 4.4.1). */
  isLanguage(text: string): boolean
  /** URL paths of contract 1.3. @param said  one from elsewhere: its extension counts if it is not known otherwise */
  mediaUrl(channelId: string, videoId: string, said?: string): string
  subtitleUrl(channelId: string, videoId: string, lang: string): string
  artUrl(kind: ArtKind, id: string): string
  /** The path of a picture, whether it exists or not: for embedding it in a media file. */
  artPathOf(kind: ArtKind, id: string): string
  /**
   * Why the library is unavailable, for people; undefined: it is available. Everything that writes to the library
   * checks this itself and throws `unavailable` with this reason; a long run checks before it begins.
   */
  absence(): Promise<Words | undefined>
  /**
   * Accepts the media folder as it is now as the library. @throws conflict: the folder does not exist; unavailable: it
   * cannot be written
   */
  accept(): Promise<void>
  /**
   * A folder for one download on the library's file system; always the same for an id, so that partial files are found
   * again.
   */
  staging(videoId: string): Promise<string>
  /** Removes the folder. */
  clearStaging(videoId: string): Promise<void>
  /** Removes the folders of downloads that are no longer needed, according to the hook `media.staged`. */
  sweepStaging(): Promise<void>
  /**
   * Runs the work with a temporary folder on the library's file system, and removes the folder at the end. The next
   * start removes what a crash has left.
   */
  scratch<Result>(work: (folder: string) => Promise<Result>): Promise<Result>
  /**
   * Moves finished files into the library by rename, with file and folder synced; an existing file is replaced. If the
   * channel's folder is on another disk, they are copied next to their destination and renamed. May be done twice: a
   * file that is no longer in staging but in the library counts as moved. An old film with another extension is removed
   * after the new one is there.
   * @throws unavailable: the channel's folder is a link that cannot be followed, or its disk is full
   */
  adopt(
    channelId: string,
    videoId: string,
    files: { mediaPath?: string; subtitles: Array<{ lang: string; path: string }> },
  ): Promise<void>
  /**
   * Keeps the present film in a trash under a second name, or as a copy on file systems without hard links: another one
   * may then replace it. The trash is emptied after a day unless it is held (`Binned.hold`).
   * @param next  the film that replaces it
   * @returns the id of the trash, the same for the same film; undefined: the film is missing, or `next` is the same file
   * @throws unavailable: no space for a copy
   */
  setAside(channelId: string, videoId: string, next: string): Promise<string | undefined>
  /**
   * Removes a video's files from the folder of a channel once its film is in another one's.
   * @throws unavailable: a file cannot be moved, and nothing was
   */
  leaveHome(channelId: string, videoId: string): Promise<void>
  /**
   * The same for a file elsewhere in the library, under its own name. @throws unprocessable: the folder's link cannot
   * be followed
   */
  moveInto(channelId: string, from: string): Promise<void>
  /**
   * The size of a file in bytes; undefined: it does not exist. An error of the disk is thrown.
   * @throws conflict: a link leads to itself
   */
  sizeOf(path: string): Promise<number | undefined>
  isThere(path: string): Promise<boolean>
  /** By ffprobe. @throws unprocessable: not a media file */
  probe(path: string): Promise<MediaProbe>
  /** Of a JPEG, by ffprobe, in pixels. @throws unprocessable: not a JPEG */
  jpegSize(path: string): Promise<{ width: number; height: number }>
  /**
   * The MD5 of each stream of picture and sound, with commas: the same whatever the container, its tags and embedded
   * pictures are.
   * @throws unprocessable: not a media file, or damaged
   */
  streamHash(path: string, signal: AbortSignal): Promise<string>
  /** Whether the file ends before the film does, whatever its header says. @param durationSeconds  as probed */
  isCutOff(path: string, durationSeconds: number): Promise<boolean>
  /** The file's own tags, with names in lower case; none for other files. */
  tagsIn(path: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** All of its streams, including embedded subtitles and pictures. @throws unprocessable: not a media file */
  streamsIn(path: string, signal: AbortSignal): Promise<FileStream[]>
  /**
   * Runs ffmpeg. @param args  inputs by `filmInput` or `inputOf`, outputs as `file:` and an absolute path
   * @throws unprocessable: it cannot make the file; unavailable: it is not installed
   */
  ffmpeg(args: readonly string[], options: FfmpegOptions): Promise<void>
  /** The same into an mp4 whose playback can start before it is complete. */
  toMp4(args: readonly string[], to: string, options: FfmpegOptions): Promise<void>
  /** Stores a JPEG (and its 320-pixel version) in the pictures' folder, from a file of any picture format. */
  keepArt(kind: ArtKind, id: string, fromPath: string): Promise<void>
  /** Downloads a picture: only from addresses that the platform plugin allows, at most 10 MB; false: not available. */
  fetchArt(kind: ArtKind, id: string, url: string, signal?: AbortSignal): Promise<boolean>
  /** The same, 320 pixels wide and not stored; undefined: not available. */
  fetchSmall(id: string, url: string, signal?: AbortSignal): Promise<Buffer | undefined>
  /** A picture of a video, as JPEG at this path and not stored elsewhere; false: not available. */
  fetchJpeg(id: string, url: string, to: string, signal?: AbortSignal): Promise<boolean>
  /**
   * The centre of an uploaded picture, as a square JPEG of at most 256 pixels, not stored.
   * @throws unprocessable: not a picture; unavailable: ffmpeg is missing
   */
  portraitOf(picture: Readable, signal: AbortSignal): Promise<Buffer>
  hasArt(kind: ArtKind, id: string): Promise<boolean>
  removeArt(kind: ArtKind, id: string): Promise<void>
  /** Ids that have a picture of this kind, for cleaning up. */
  artIds(kind: ArtKind): AsyncIterable<string>
  /**
   * First half of a removal: renames files into `<media>/.trash/<job>/`, or where the channel's folder lies on another
   * disk into `.trash/<job>/` in it; the same call again after an interruption goes on. A folder that is a link is
   * emptied, and stays.
   * Films in places go into the trash of their place where that is ours; a film that `stays` does not.
   * @throws unavailable: one cannot be moved; then all are back in their place
   */
  trash(
    jobId: string,
    what: (Homed & { film?: 'stays' }) | { videos: readonly Homed[] } | { channelFolder: string },
  ): Promise<void>
  /** Undoes the first half, for a removal that failed. A file that now has the name of one of them stays. */
  putBack(jobId: string): Promise<void>
  /**
   * Second half, once the documents are deleted: from now on the job's files are never moved back. Files that
   * `emptyTrash` cannot delete are tried again each hour.
   */
  release(jobId: string): Promise<void>
  /** Deletes the trash of a job that was released. */
  emptyTrash(jobId: string): Promise<void>
  /** Free and total bytes of the disk with the library, or with a channel's folder in it. */
  space(channelId?: string): Promise<{ free: number; total: number }>
  /** The options of the reply with a film, as the hook `media.play` says. @throws what it throws */
  play(play: Play): Promise<{ meter?: Meter }>
}

export type { Step }

/** What a picture's URL may belong to: the hook `media.known` is asked before a placeholder is sent. */
export type KnownKind = 'video' | 'channel' | 'playlist'

/** A file of the archive that it has written itself. */
export interface WrittenFile {
  kind: 'video' | 'subtitle' | 'picture'
  /** Of the video, channel or playlist. */
  id: string
  /** Of a subtitle its language, of a picture its kind. */
  part?: string
}

/** A film, or a part of one, that is about to be sent to an account. */
export interface Play {
  actor: Actor
  videoId: string
  /** Its length, if it is not that of the video. */
  seconds?: number
}

/** A picture that another one is about to replace. Both are JPEG files. */
export interface ReplacedPicture {
  kind: ArtKind
  /** Of the video, channel or playlist. */
  id: string
  /** The present one. */
  path: string
  /** The new one. */
  fresh: string
}

declare module 'archivolt' {
  interface Hooks {
    /**
     * Asked before a film is sent. An error refuses the request; a returned `Meter` is called for each piece, and may
     * end the transfer. Every route that sends films must call `app.media.play`, which asks this hook.
     */
    'media.play': (play: Play) => Promise<Meter | undefined>
    /**
     * Asked before a new picture replaces the current one: `false` keeps the current picture. An implementation may
     * copy the current picture first.
     */
    'media.replacing': (picture: ReplacedPicture) => Promise<boolean>
    /** Asked to take note of files that were written into the library or the folder of pictures, before the call returns. */
    'media.written': (files: readonly WrittenFile[]) => Promise<void>
    /** Asked if a picture is missing or may be an orphan: whether the document exists. */
    'media.known': (kind: KnownKind, id: string) => Promise<boolean>
    /** Asked before an orphaned picture is removed: whether its owner may be restored. */
    'media.kept': (kind: KnownKind, id: string) => Promise<boolean>
    /**
     * Asked when a message to people needs a title: returns the title or name of the video, channel or playlist;
     * undefined: it is not in the archive.
     */
    'media.titled': (kind: KnownKind, id: string) => Promise<string | undefined>
    /**
     * Asked at the start and when items leave the queue: which of these staging folders (video ids) are still needed.
     * The others are removed.
     */
    'media.staged': (ids: readonly string[]) => Promise<Set<string>>
    /**
     * Asked to calculate how much space a removal would free: returns the inodes of hard links that the plugin has made
     * and will remove together with the video.
     */
    'media.links': (videoIds: readonly string[]) => ReadonlyMap<string, readonly number[]>
    /** Asked when the library has to be recognised: returns films that should be in it, at most `atMost`. */
    'media.films': (atMost: number) => Promise<Array<{ channelId: string; videoId: string }>>
  }
  interface Services {
    media: {
      media: Media
    }
  }
  interface Settings {
    mediaDir: string
    cacheDir: string
    importDir: string
    libraryRoots: string[]
  }
}
