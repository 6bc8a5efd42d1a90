/**
 * The library on disk and the art beside it: paths from checked ids only, staged, renamed into place, trashed before
 * deletion.
 */
import type { Readable } from 'node:stream'
import type { Step, Words } from 'archivolt'
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
  /** How a picture keeps its points, such as `yuv420p`. */
  pixels?: string
}

export interface FfmpegOptions {
  signal: AbortSignal
  /** Seconds of the film that are done. */
  onSeconds?: (seconds: number) => void
  /** With what processor time others leave over. */
  isBehind?: boolean
}

export type ArtKind = 'video' | 'channel_thumb' | 'channel_banner' | 'channel_tvart' | 'playlist'

/** A folder with films of another program: only read, never written; and removed from only where a person says so. */
export interface Place {
  id: number
  /** Absolute, without links. */
  path: string
  /** What people call it. */
  label: string
  /** Epoch seconds. */
  addedAt: number
  /** How many videos lie in it. */
  films: number
  /** Epoch seconds; left out: it is there. */
  awaySince?: number
  /** A person has marked it: what is removed here leaves the disk too, through a trash in the place. */
  isOurs: boolean
}

/** A film that was removed from a place of ours, with what belongs to it: it lies in the trash of its place. */
export interface Discarded {
  id: number
  videoId: string
  /** Where it lay, from the place on. */
  path: string
  sizeBytes: number
  /** Epoch seconds: until then it can be brought back. */
  until: number
}

export interface PlaceTrash {
  /** How many films lie in the trash of a place. */
  countOf(placeId: number): number
  /** The same of a channel's films, in whatever place. */
  countOfChannel(channelId: string): number
  has(videoId: string): boolean
  /** Of these videos, the films that lie in the trash of a place, newest first. */
  of(videoIds: readonly string[]): Array<{ id: number; placeId: number; videoId: string }>
  /** Whether a video's film lay at this path before it was removed: who finds it there again has put it back. */
  wasAt(placeId: number, videoId: string, path: string): boolean
  /** The newest first. */
  page(placeId: number, from: number, size: number): Discarded[]
  /** @throws not_found, conflict, unavailable: why it cannot be put back where it lay */
  restore(placeId: number, id: number): Promise<Discarded>
}

export interface NewFilm {
  videoId: string
  channelId: string
  placeId: number
  /** From the place's folder on, as the disk has it. */
  path: string
  ending: Ending
  sizeBytes: number
  changedMs: number
}

/** A film that lies in a place. `lost`: its place is there, and it is not. */
export interface PlacedFilm extends NewFilm {
  state: 'there' | 'lost'
}

/** Which files are films, or sound alone, that are kept and served as they are. */
export interface Containers {
  /** In lower case; what every browser plays comes first. */
  readonly endings: readonly Ending[]
  /** Those of the library's own films. */
  readonly own: readonly OwnEnding[]
  isSound(ending: Ending): boolean
  /** Of a file with this ending; undefined: it is none of these. */
  contentTypeOf(ending: string): string | undefined
  /** By the first bytes of a file. */
  isFilm(head: Uint8Array): boolean
}

/** What people see of where a film lies that is in a place. */
export interface PlacedState {
  label: string
  state: 'there' | 'away' | 'missing'
  ours?: true
}

export interface Places {
  list(): Place[]
  /** @throws not_found */
  get(id: number): Place
  /** Folders below which there may be places, as the operator has set them. */
  roots(): readonly string[]
  /** The same without links, less those that are not there. */
  realRoots(): Promise<string[]>
  /** The same path a second time is the same place. @throws unprocessable, conflict: why not, and what to do */
  add(path: string, label: string): Promise<Place>
  rename(id: number, label: string): Promise<Place>
  /**
   * What is removed from it from now on goes into a trash in it, or stays as before.
   * @throws unprocessable: nothing can be removed there, and what to do; unavailable: it is away
   */
  setOurs(id: number, isOurs: boolean): Promise<Place>
  readonly trash: PlaceTrash
  /** The folder lies elsewhere now: told by a sample of its films. @throws unprocessable: they are not there */
  move(id: number, path: string): Promise<Place>
  /** @throws conflict: videos lie in it */
  remove(id: number): Promise<void>
  /** Looks now; who is away is told to people once. */
  isThere(id: number): Promise<boolean>
  /** Hears of each place that was away, once it is there again. */
  onBack(hear: (placeId: number) => Promise<void>): void
  filmOf(videoId: string): PlacedFilm | undefined
  /** Those that lie at these paths of a place, by path. */
  at(placeId: number, paths: readonly string[]): Map<string, PlacedFilm>
  /** Where it lies, looked at anew each time. @throws not_found; unavailable: its place is away */
  pathIn(film: PlacedFilm): Promise<string>
  /** Its place is there, and nothing lies at its path: as against what lies behind a link that may not be followed. */
  isGone(film: PlacedFilm): Promise<boolean>
  /** Of those that lie in places: what people see of it. */
  statesOf(videoIds: readonly string[]): ReadonlyMap<string, PlacedState>
  /** How many videos of a channel lie in places. */
  countOfChannel(channelId: string): number
  /** Which of these somebody has removed from the archive, and whose files stay. */
  wasForgotten(videoIds: readonly string[]): Set<string>
  /** Which of these lie in a place, or lay there until somebody removed them. */
  broughtFrom(placeId: number, videoIds: readonly string[]): Set<string>
  keep(films: readonly NewFilm[]): Promise<void>
  /** They lie in no place any more, or never did. */
  drop(videoIds: readonly string[]): Promise<void>
  /** They leave the archive, and no scan brings them back. Those that lie in no place are passed over. */
  forget(videoIds: readonly string[]): Promise<void>
  setLost(videoIds: readonly string[], isLost: boolean): Promise<void>
  /** In batches, by path. */
  filmsOf(placeId: number, batch?: number): Iterable<PlacedFilm[]>
}

/** Videos of the archive whose film is not where it should lie: in the library, or in a place that is there. */
export interface Missing {
  /** Those of them that are, as far as anybody has looked. */
  of(videoIds: readonly string[]): Set<string>
  count(): number
  /** By id. */
  page(from: number, size: number): string[]
  /** The next ones by id. */
  after(videoId: string, size: number): string[]
  /** As the library has been found: all others are there. */
  set(videoIds: Iterable<string>): Promise<void>
  /** They are there, or their videos are gone. */
  drop(videoIds: readonly string[]): Promise<void>
}

/** The part of the trash that the bin holds. Its records lie beside the films; whoever reads one checks it. */
export interface Binned {
  /** From now on nobody else puts this trash back or empties it; `emptyTrash` ends that. */
  hold(trashId: string): Promise<void>
  /**
   * Keeps a record for each video; by `undefined` that of the channel. One that is there stays.
   * @throws unavailable: there is no room
   */
  write(trashId: string, channelId: string, records: ReadonlyMap<string | undefined, string>): Promise<void>
  /** What has a record in this trash. */
  records(trashId: string): Promise<Array<{ channelId: string; videoId?: string }>>
  /** As the disk has it; undefined: there is none, or it is too large. */
  read(trashId: string, channelId: string, videoId?: string): Promise<string | undefined>
  /** By video, a file that has taken the name of one of its files since. */
  inTheWay(trashId: string, channelId: string, videoIds: readonly string[]): Promise<Map<string, string>>
  /** Their files are in the library again; without ids, what belongs to no video of the bin. May be done twice. */
  putBack(trashId: string, channelId: string, videoIds?: readonly string[]): Promise<void>
  /** Their files are deleted. */
  drop(trashId: string, channelId: string, videoIds: readonly string[]): Promise<void>
  dropRecords(trashId: string, channelId: string, videoIds: ReadonlyArray<string | undefined>): Promise<void>
}

export interface Media {
  readonly binned: Binned
  /**
   * `<media>/<channel>/<video>.mp4`, or `.m4a` of sound alone, whether it is there or not; ids are checked. This is the
   * one home of where an own film lies.
   */
  pathOf(channelId: string, videoId: string): string
  /** Where `adopt` puts this file: with its ending, whichever the video's film has now. */
  homeOf(channelId: string, videoId: string, mediaPath: string): string
  readonly places: Places
  readonly missing: Missing
  /** Whether the archive has it. */
  isKnown(kind: KnownKind, id: string): Promise<boolean>
  /** For people: its title or name, or else its id. */
  titleOf(kind: KnownKind, id: string): Promise<string>
  readonly containers: Containers
  /**
   * Where the film of a video is read: in its place, or in the library.
   * @throws not_found, unavailable: it lies in a place and cannot be had
   */
  filmPath(channelId: string, videoId: string): Promise<string>
  /** Whether its file is ours to change, move and remove: it lies in no place. */
  isOurs(videoId: string): boolean
  subtitlePathOf(channelId: string, videoId: string, lang: string): string
  /** Whether a subtitle's language can be part of its file's name: 1–35 letters, digits and `-` (RFC 5646, 4.4.1). */
  isLanguage(text: string): boolean
  /** URL paths of contract 1.3. @param said  one from elsewhere: its ending counts where nobody knows better */
  mediaUrl(channelId: string, videoId: string, said?: string): string
  subtitleUrl(channelId: string, videoId: string, lang: string): string
  artUrl(kind: ArtKind, id: string): string
  /** Where a picture lies, whether it is there or not: for embedding it in a media file. */
  artPathOf(kind: ArtKind, id: string): string
  /**
   * Why the library is not there, for people; undefined: it is. All that writes to it asks by itself, and throws
   * `unavailable` with this reason; a long run asks before it begins.
   */
  absence(): Promise<Words | undefined>
  /**
   * The media folder as it is now is the library from now on. @throws conflict: there is no such folder; unavailable:
   * it cannot be written
   */
  accept(): Promise<void>
  /**
   * A folder for one download on the library's file system; the same for the same id, so that part files are found
   * again.
   */
  staging(videoId: string): Promise<string>
  /** Removes the folder. */
  clearStaging(videoId: string): Promise<void>
  /** Removes the folders of downloads that nobody goes on with, as the hook `media.staged` says. */
  sweepStaging(): Promise<void>
  /**
   * Runs the work with a folder of its own on the library's file system, and removes it at the end. The next start
   * removes what a crash has left.
   */
  scratch<Result>(work: (folder: string) => Promise<Result>): Promise<Result>
  /**
   * Moves finished files into the library by rename, file and folder fsynced; an existing file is replaced. Where the
   * channel's folder lies on another disk they are copied beside and renamed. Doing it twice is harmless: what is not
   * in staging any more but in the library counts as moved. A film with another ending goes once this one is there.
   * @throws unavailable: the channel's folder is a link that cannot be followed, or its disk is full
   */
  adopt(
    channelId: string,
    videoId: string,
    files: { mediaPath?: string; subtitles: Array<{ lang: string; path: string }> },
  ): Promise<void>
  /**
   * The film that is in its place is kept in the trash for a day, by a second name, or by a copy where the file system
   * has none: another one may take its place then. Nothing where there is no film. @throws unavailable: no room for a
   * copy
   */
  setAside(channelId: string, videoId: string): Promise<void>
  /**
   * What lies of a video in the folder of a channel goes, once its film lies in another one's. @param options.isKept
   * for a day, in the trash @throws unavailable: a file cannot be moved, and nothing was
   */
  leaveHome(channelId: string, videoId: string, options?: { isKept?: boolean | undefined }): Promise<void>
  /**
   * The same for a file that lies elsewhere in the library, under its own name. @throws unprocessable: the folder's
   * link cannot be followed
   */
  moveInto(channelId: string, from: string): Promise<void>
  /**
   * Bytes of a file; undefined: it is not there. Where a disk does not answer, its error is thrown.
   * @throws conflict: a link leads to itself
   */
  sizeOf(path: string): Promise<number | undefined>
  isThere(path: string): Promise<boolean>
  /** By ffprobe. @throws unprocessable: no media */
  probe(path: string): Promise<MediaProbe>
  /** Of a JPEG, by ffprobe, in pixels. @throws unprocessable: it is none */
  jpegSize(path: string): Promise<{ width: number; height: number }>
  /** Whether the file ends before the film does, whatever its head says. @param durationSeconds  as probed */
  isCutOff(path: string, durationSeconds: number): Promise<boolean>
  /** What the file says of itself as a whole, names in lower case; nothing of what is no media. */
  tagsIn(path: string, signal: AbortSignal): Promise<ReadonlyMap<string, string>>
  /** All of its streams, subtitles and pictures inside the file included. @throws unprocessable: no media */
  streamsIn(path: string, signal: AbortSignal): Promise<FileStream[]>
  /**
   * Runs ffmpeg. @param args  inputs by `filmInput` or `inputOf`, outputs as `file:` and an absolute path
   * @throws unprocessable: it cannot make the file; unavailable: it is not installed
   */
  ffmpeg(args: readonly string[], options: FfmpegOptions): Promise<void>
  /** The same into an mp4 that plays before it has been read to its end. */
  toMp4(args: readonly string[], to: string, options: FfmpegOptions): Promise<void>
  /** Puts a JPEG (and its 320-pixel variant) into the art folder, from a file of any picture format. */
  keepArt(kind: ArtKind, id: string, fromPath: string): Promise<void>
  /** Fetches a picture: only from where the platform plugin allows, at most 10 MB; false: none to be had. */
  fetchArt(kind: ArtKind, id: string, url: string, signal?: AbortSignal): Promise<boolean>
  /** The same, 320 pixels wide and kept nowhere; undefined: none to be had. */
  fetchSmall(id: string, url: string, signal?: AbortSignal): Promise<Buffer | undefined>
  /** A picture of a video, as JPEG at this path and kept nowhere else; false: none to be had. */
  fetchJpeg(id: string, url: string, to: string, signal?: AbortSignal): Promise<boolean>
  /**
   * The middle of a picture that somebody sends, as a square JPEG of at most 256 pixels that is kept nowhere.
   * @throws unprocessable: no picture; unavailable: ffmpeg is not there
   */
  portraitOf(picture: Readable, signal: AbortSignal): Promise<Buffer>
  hasArt(kind: ArtKind, id: string): Promise<boolean>
  removeArt(kind: ArtKind, id: string): Promise<void>
  /** Ids that have art of this kind, for clean-ups. */
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
    what:
      | { channelId: string; videoId: string; film?: 'stays' }
      | { channelId: string; videoIds: readonly string[] }
      | { channelFolder: string },
  ): Promise<void>
  /** Undoes the first half, for a removal that could not go on. A file that has come into the place meanwhile stays. */
  putBack(jobId: string): Promise<void>
  /**
   * Second half, once the documents are gone: nothing of the job is put back from now on, whatever becomes of it. What
   * `emptyTrash` does not unlink is tried each hour.
   */
  release(jobId: string): Promise<void>
  /** Unlinks what was trashed for a job that was released. */
  emptyTrash(jobId: string): Promise<void>
  /** Bytes free and in all where the library lies, or a channel's folder in it. */
  space(channelId?: string): Promise<{ free: number; total: number }>
}

export type { Step }

/** What an art URL may belong to: the hook `media.known` is asked before a placeholder is sent. */
export type KnownKind = 'video' | 'channel' | 'playlist'

declare module 'archivolt' {
  interface Hooks {
    /** Asked where a picture is missing or perhaps an orphan: whether there is such a document. */
    'media.known': (kind: KnownKind, id: string) => Promise<boolean>
    /** Asked where people are told of it: its title or name; undefined: it is not here. */
    'media.titled': (kind: KnownKind, id: string) => Promise<string | undefined>
    /**
     * Asked at the start and when items leave the queue: which of these staging folders (video ids) are still needed.
     * The others are removed.
     */
    'media.staged': (ids: readonly string[]) => Promise<Set<string>>
    /** Asked to tell whether this is the library: at most so many of the films that should lie in it. */
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
