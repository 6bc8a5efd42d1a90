/**
 * The library on disk and the pictures: paths only from checked ids, staging, rename into place, trash before deletion.
 */
import type { Readable } from 'node:stream'
import type { Actor, Meter, Step, View, Words } from 'archivolt'
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

/** A picture to download, and the path of the JPEG to make from it. */
export interface FetchedJpeg {
  url: string
  to: string
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
  /** Runs with low processor priority. */
  isBehind?: boolean
}

export type ArtKind = 'video' | 'channel_thumb' | 'channel_banner' | 'channel_tvart' | 'playlist'

/**
 * A folder with films of another program. It is never written to, and nothing in it is removed unless a person allows
 * it.
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
  /** Those of these videos whose film is in this trash. */
  among(videoIds: readonly string[]): string[]
  /**
   * Whether a video's film was at this path before it was removed: if a scan finds it there, somebody has moved it
   * back.
   */
  wasAt(placeId: number, videoId: string, path: string): boolean
  /**
   * Moves the film back to its place; does nothing if it is not in this trash. @throws conflict, unavailable: the
   * reason
   */
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
  /** Extensions in lower case; containers that every browser plays come first. */
  readonly endings: readonly Ending[]
  /** Extensions of the library's own films. */
  readonly own: readonly OwnEnding[]
  isSound(ending: Ending): boolean
  /** Content type of a file with this extension; undefined: not a film or audio file. */
  contentTypeOf(ending: string): string | undefined
  /** Whether a file is a film, by its first bytes. */
  isFilm(head: Uint8Array): boolean
}

/** What people are shown about the place of a film. */
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
  /** The same folders with links resolved; missing ones are omitted. */
  realRoots(): Promise<string[]>
  /** Adding the same path again returns the same place. @throws unprocessable, conflict: the reason, and what to do */
  add(path: string, label: string): Promise<Place>
  rename(id: number, label: string): Promise<Place>
  /**
   * Sets whether removed films of this place are moved to a trash in it from now on.
   * @throws unprocessable: nothing can be removed there, and what to do; unavailable: its disk is offline
   */
  setOurs(id: number, isOurs: boolean): Promise<Place>
  readonly trash: PlaceTrash
  /**
   * Changes the folder's path, if a sample of its films is found there. @throws unprocessable: the films are not there
   */
  move(id: number, path: string): Promise<Place>
  /** @throws conflict: it contains videos */
  remove(id: number): Promise<void>
  /** Checks all places now; people are notified once of each that is unavailable. */
  isThere(id: number): Promise<boolean>
  /** Called for each place that becomes available again. */
  onBack(hear: (placeId: number) => Promise<void>): void
  filmOf(videoId: string): PlacedFilm | undefined
  /** The films of a place at these paths, by path. */
  at(placeId: number, paths: readonly string[]): Map<string, PlacedFilm>
  /** The film's path, checked at each call. @throws not_found; unavailable: its place is unavailable */
  pathIn(film: PlacedFilm): Promise<string>
  /**
   * The place of a film that may have been recorded long ago: its own place, or if that was removed, one that has a
   * file of the same size at the same path. undefined: none
   */
  placeWith(film: PlacedFilm): Promise<number | undefined>
  /** Whether the place is available but has no file at this path; false if a link there may not be followed. */
  isGone(film: PlacedFilm): Promise<boolean>
  /** What people are shown about those of these videos that are in places. */
  statesOf(videoIds: readonly string[]): ReadonlyMap<string, PlacedState>
  /** The number of a channel's videos in places. */
  countOfChannel(channelId: string): number
  /** Which of these were removed from the archive while their files stayed. */
  wasForgotten(videoIds: readonly string[]): Set<string>
  /** Which of these are in this place, or were in it until they were removed. */
  broughtFrom(placeId: number, videoIds: readonly string[]): Set<string>
  keep(films: readonly NewFilm[]): Promise<void>
  /** Deletes the entries of videos that are no longer in any place, or never were. */
  drop(videoIds: readonly string[]): Promise<void>
  /** Marks videos as removed from the archive, so that no scan imports them again. Videos in no place are skipped. */
  forget(videoIds: readonly string[]): Promise<void>
  setLost(videoIds: readonly string[], isLost: boolean): Promise<void>
  /** The films of a place in batches, ordered by path. */
  filmsOf(placeId: number, batch?: number): Iterable<PlacedFilm[]>
}

/** Videos of the archive whose film was not found, in the library or in an available place. */
export interface Missing {
  /** Those of these videos whose film is known to be missing. */
  of(videoIds: readonly string[]): Set<string>
  count(): number
  /** A page of ids, in order. */
  page(from: number, size: number): string[]
  /** The next ids after this one, in order. */
  after(videoId: string, size: number): string[]
  /**
   * Replaces the list with the result of a complete check of the library, which has found all other films. Videos that
   * are removed from the list during the check stay removed.
   */
  replace(check: () => Promise<readonly string[]>): Promise<void>
  /** Removes videos from the list: their films were found, or the videos were removed. */
  drop(videoIds: readonly string[]): Promise<void>
}

/** A video, with the channel whose folder has its files. */
export interface Homed {
  channelId: string
  videoId: string
}

/** The subject of a record in the bin: a video, or without `videoId` a channel. */
export type Recorded = Homed | { channelId: string; videoId?: undefined }

/**
 * The bin's part of the trash. Its records are next to the films; readers validate them. Each call takes many items,
 * because it checks before and afterwards that the library is available.
 */
export interface Binned {
  /** From now on nobody else restores or empties this trash, until `emptyTrash`. */
  hold(trashId: string): Promise<void>
  /** Keeps the trash of a removal that failed and cannot be undone now, until `left` returns it. */
  leave(trashId: string): Promise<void>
  /** The ids of trash that failed removals have left. @param hasEntries  whether the bin has entries of a trash */
  left(hasEntries: (trashId: string) => boolean): string[]
  /** @throws unavailable: the folder of the channel is a broken link, so that its trash would seem to be empty */
  mustReach(channelId: string): Promise<void>
  /** Writes records; existing ones stay unchanged. @throws unavailable: no space */
  write(trashId: string, records: ReadonlyArray<{ of: Recorded; text: string }>): Promise<void>
  /** The videos and channels that have a record in this trash. */
  records(trashId: string): Promise<Recorded[]>
  /** The texts of records as on disk, in the order of `of`; undefined: missing, or too large. */
  read(trashId: string, of: readonly Recorded[]): Promise<Array<string | undefined>>
  /** The path of the film of a video in this trash; undefined: it is not there. */
  filmIn(trashId: string, video: Homed): Promise<string | undefined>
  /** Those of these videos whose film is in this trash on the library's disk, not on the disk of a channel or place. */
  onLibraryDisk(trashId: string, videos: readonly Homed[]): Promise<Set<string>>
  /** For each of these videos that has one: a file that now has the name of one of the video's files. */
  inTheWay(trashId: string, videos: readonly Homed[]): Promise<Map<string, string>>
  /** Moves the files of these videos back into the library. May be repeated. */
  putBack(trashId: string, videos: readonly Homed[]): Promise<void>
  /**
   * Moves back files of a channel's folder that belong to no video of the bin, such as files that people have put
   * there.
   */
  putBackRest(trashId: string, channelId: string): Promise<void>
  /** Deletes the files of these videos. */
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
  /** The path to which `adopt` moves this file: with the extension of this file, not of the video's current film. */
  homeOf(channelId: string, videoId: string, mediaPath: string): string
  readonly places: Places
  readonly missing: Missing
  /** Whether the archive has the document. */
  isKnown(kind: KnownKind, id: string): Promise<boolean>
  /**
   * Whether a document outside the archive may be restored, for example from the bin, so that its picture is still
   * needed.
   */
  isKept(kind: KnownKind, id: string): Promise<boolean>
  /** The title or name for people, otherwise the id. */
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
  /** Whether the film of a video is missing. While the library or its place is offline, it does not count as missing. */
  isMissing(channelId: string, videoId: string): Promise<boolean>
  /** Whether we may change, move and remove the film's file, because it is in no place. */
  isOurs(videoId: string): boolean
  /**
   * How many names (hard links) each film of the library has; 0: the film is missing. Links that are removed with the
   * video, such as those of faces, do not count.
   */
  linksOf(films: readonly Homed[]): Promise<Map<string, number>>
  subtitlePathOf(channelId: string, videoId: string, lang: string): string
  /** Whether a subtitle's language can be part of a file name: 1–35 letters, digits and `-` (RFC 5646, 4.4.1). */
  isLanguage(text: string): boolean
  /**
   * URL paths of contract 1.3. @param said  a URL from elsewhere: its extension is used if it is not known otherwise
   */
  mediaUrl(channelId: string, videoId: string, said?: string): string
  subtitleUrl(channelId: string, videoId: string, lang: string): string
  artUrl(kind: ArtKind, id: string): string
  /** The path of a picture, whether it exists or not: used to embed the picture in a media file. */
  artPathOf(kind: ArtKind, id: string): string
  /**
   * Whether an account with this view may see a picture of what the view shows. The picture of a playlist is taken from
   * one of its videos, which a view that hides may hide.
   */
  showsArt(kind: ArtKind, view: View | undefined): boolean
  /**
   * Why the library is unavailable, for people; undefined: it is available. Everything that writes to the library
   * checks this itself and throws `unavailable` with this reason; long work checks before it begins.
   */
  absence(): Promise<Words | undefined>
  /**
   * Accepts the current media folder as the library. @throws conflict: the folder does not exist; unavailable: it
   * cannot be written
   */
  accept(): Promise<void>
  /**
   * The folder for a download on the library's file system; always the same for an id, so that partial files are found
   * again.
   */
  staging(videoId: string): Promise<string>
  /** Removes the folder. */
  clearStaging(videoId: string): Promise<void>
  /** Removes the folders of downloads that are no longer needed, according to the hook `media.staged`. */
  sweepStaging(): Promise<void>
  /**
   * Runs the work with a temporary folder on the library's file system, and removes the folder afterwards. After a
   * crash, the next start removes it.
   */
  scratch<Result>(work: (folder: string) => Promise<Result>): Promise<Result>
  /**
   * Moves finished files into the library by rename, with file and folder synced; existing files are replaced. If the
   * channel's folder is on another disk, the files are copied next to their destination and renamed. May be repeated: a
   * file that is already in the library and no longer in staging counts as moved. An old film with another extension is
   * removed after the new one is in place.
   * @throws unavailable: the channel's folder is a link that cannot be followed, or its disk is full
   */
  adopt(
    channelId: string,
    videoId: string,
    files: { mediaPath?: string; subtitles: Array<{ lang: string; path: string }> },
  ): Promise<void>
  /**
   * Keeps the current film in a trash as a hard link, or as a copy on file systems without hard links, so that another
   * film may replace it. The trash is emptied after a day unless it is held (`Binned.hold`).
   * @param next  the film that replaces it
   * @returns the id of the trash, the same for the same film; undefined: the film is missing, or `next` is the same
   * file
   * @throws unavailable: no space for a copy
   */
  setAside(channelId: string, videoId: string, next: string): Promise<string | undefined>
  /**
   * Removes a video's files from the folder of a channel once its film is in another channel's folder.
   * @throws unavailable: a file cannot be moved, and nothing was
   */
  leaveHome(channelId: string, videoId: string): Promise<void>
  /**
   * Moves a file from elsewhere in the library into a channel's folder, with its own name. @throws unprocessable: the
   * folder's link cannot be followed
   */
  moveInto(channelId: string, from: string): Promise<void>
  /**
   * The size of a file in bytes; undefined: it does not exist. An error of the disk is thrown.
   * @throws conflict: a link leads to itself
   */
  sizeOf(path: string): Promise<number | undefined>
  isThere(path: string): Promise<boolean>
  /** Reads with ffprobe. @throws unprocessable: not a media file */
  probe(path: string): Promise<MediaProbe>
  /** Size of a JPEG in pixels, read with ffprobe. @throws unprocessable: not a JPEG */
  jpegSize(path: string): Promise<{ width: number; height: number }>
  /**
   * The MD5 of each video and audio stream, separated by commas: independent of the container, its tags and embedded
   * pictures.
   * @throws unprocessable: not a media file, or damaged
   */
  streamHash(path: string, signal: AbortSignal): Promise<string>
  /**
   * Whether the file ends before the film does, whatever its header says. @param durationSeconds  length from the probe
   */
  isCutOff(path: string, durationSeconds: number): Promise<boolean>
  /** The file's own tags, with names in lower case; none for other files. */
  tagsIn(path: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** All of its streams, including embedded subtitles and pictures. @throws unprocessable: not a media file */
  streamsIn(path: string, signal: AbortSignal): Promise<FileStream[]>
  /**
   * Runs ffmpeg. @param args  inputs by `filmInput` or `inputOf`, outputs as `file:` and an absolute path
   * @throws unprocessable: ffmpeg cannot make the file; unavailable: it is not installed
   */
  ffmpeg(args: readonly string[], options: FfmpegOptions): Promise<void>
  /** Runs ffmpeg with an mp4 as output whose playback can start before it is complete. */
  toMp4(args: readonly string[], to: string, options: FfmpegOptions): Promise<void>
  /** Stores a JPEG (and its 320-pixel version) in the pictures' folder, from a file of any picture format. */
  keepArt(kind: ArtKind, id: string, fromPath: string): Promise<void>
  /**
   * Downloads and stores a picture: only from addresses that the platform plugin allows, at most 10 MB; false: not
   * available.
   */
  fetchArt(kind: ArtKind, id: string, url: string, signal?: AbortSignal): Promise<boolean>
  /** Downloads a picture as a JPEG of 320 pixels width, without storing it; undefined: not available. */
  fetchSmall(id: string, url: string, signal?: AbortSignal): Promise<Buffer | undefined>
  /**
   * Downloads pictures of a video as JPEGs, without storing them elsewhere, and converts all of them in one process;
   * false: one is not available.
   */
  fetchJpegs(id: string, wanted: readonly FetchedJpeg[], signal?: AbortSignal): Promise<boolean>
  /**
   * The center of an uploaded picture as a square JPEG of at most 256 pixels, without storing it.
   * @throws unprocessable: not a picture; unavailable: ffmpeg is missing
   */
  portraitOf(picture: Readable, signal: AbortSignal): Promise<Buffer>
  hasArt(kind: ArtKind, id: string): Promise<boolean>
  removeArt(kind: ArtKind, id: string): Promise<void>
  /** Ids that have a picture of this kind, for removing orphans. */
  artIds(kind: ArtKind): AsyncIterable<string>
  /**
   * First half of a removal: renames files into `<media>/.trash/<job>/`, or if the channel's folder is on another disk,
   * into `.trash/<job>/` in it. May be repeated after an interruption. A folder that is a link is emptied, and stays.
   * Films in places go into the trash of their place if the place is ours, except a film that `stays`.
   * @throws unavailable: a file cannot be moved; then all files have been moved back
   */
  trash(
    jobId: string,
    what: (Homed & { film?: 'stays' }) | { videos: readonly Homed[] } | { channelFolder: string },
  ): Promise<void>
  /** Undoes the first half, for a removal that failed. If another file has taken the name of one, that file stays. */
  putBack(jobId: string): Promise<void>
  /**
   * Second half, after the documents are deleted: from now on the job's files are never moved back. Files that
   * `emptyTrash` cannot delete are retried every hour.
   */
  release(jobId: string): Promise<void>
  /** Deletes the trash of a job that was released. */
  emptyTrash(jobId: string): Promise<void>
  /** Free and total bytes of the disk with the library, or with a channel's folder. */
  space(channelId?: string): Promise<{ free: number; total: number }>
  /** The options for sending a film, from the hook `media.play`. @throws the errors of the hook */
  play(play: Play): Promise<{ meter?: Meter }>
}

export type { Step }

/** The owner of a picture's URL: the hook `media.known` is asked before a placeholder is sent. */
export type KnownKind = 'video' | 'channel' | 'playlist'

/** A file that the archive itself has written. */
export interface WrittenFile {
  kind: 'video' | 'subtitle' | 'picture'
  /** Id of the video, channel or playlist. */
  id: string
  /** Language of a subtitle, kind of a picture. */
  part?: string
}

/** A film, or a part of one, that is about to be sent to an account. */
export interface Play {
  actor: Actor
  videoId: string
  /** Length of the film, if it differs from that of the video. */
  seconds?: number
}

/** A picture that another one is about to replace. Both are JPEG files. */
export interface ReplacedPicture {
  kind: ArtKind
  /** Id of the video, channel or playlist. */
  id: string
  /** Path of the current picture. */
  path: string
  /** Path of the new picture. */
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
    /**
     * Asked to record files that were written into the library or the folder of pictures, before the call returns.
     */
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
    /** Asked when the library has to be recognized: returns films that should be in it, at most `atMost`. */
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
