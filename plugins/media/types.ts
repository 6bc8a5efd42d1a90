/**
 * The library on disk and the art beside it: paths from checked ids only, staged, renamed into place, trashed before
 * deletion.
 */
import type { Step } from 'archivolt'

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
}

export type ArtKind = 'video' | 'channel_thumb' | 'channel_banner' | 'channel_tvart' | 'playlist'

export interface Media {
  /** `<media>/<channel>/<video>.mp4`; ids are checked. */
  pathOf(channelId: string, videoId: string): string
  subtitlePathOf(channelId: string, videoId: string, lang: string): string
  /** Whether a subtitle's language can be part of its file's name: 1–35 letters, digits and `-` (RFC 5646, 4.4.1). */
  isLanguage(text: string): boolean
  /** URL paths of contract 1.3. */
  mediaUrl(channelId: string, videoId: string): string
  subtitleUrl(channelId: string, videoId: string, lang: string): string
  artUrl(kind: ArtKind, id: string): string
  /** Where a picture lies, whether it is there or not: for embedding it in a media file. */
  artPathOf(kind: ArtKind, id: string): string
  /**
   * Why the library is not there, for people; undefined: it is. All that writes to it asks by itself, and throws
   * `unavailable` with this reason; a long run asks before it begins.
   */
  absence(): Promise<string | undefined>
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
  /**
   * Moves finished files into the library by rename, file and folder fsynced; an existing file is replaced. Where the
   * channel's folder lies on another disk they are copied beside and renamed. Doing it twice is harmless: what is not
   * in staging any more but in the library counts as moved.
   * @throws unavailable: the channel's folder is a link that cannot be followed, or its disk is full
   */
  adopt(
    channelId: string,
    videoId: string,
    files: { mediaPath: string; subtitles: Array<{ lang: string; path: string }> },
  ): Promise<void>
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
  /** Whether the file ends before the film does, whatever its head says. @param durationSeconds  as probed */
  isCutOff(path: string, durationSeconds: number): Promise<boolean>
  /** All of its streams, subtitles and pictures inside the file included. @throws unprocessable: no media */
  streamsIn(path: string, signal: AbortSignal): Promise<FileStream[]>
  /** Puts a JPEG (and its 320-pixel variant) into the art folder, from a file of any picture format. */
  keepArt(kind: ArtKind, id: string, fromPath: string): Promise<void>
  /** Fetches a picture: only from where the platform plugin allows, at most 10 MB; false: none to be had. */
  fetchArt(kind: ArtKind, id: string, url: string, signal?: AbortSignal): Promise<boolean>
  hasArt(kind: ArtKind, id: string): Promise<boolean>
  removeArt(kind: ArtKind, id: string): Promise<void>
  /** Ids that have art of this kind, for clean-ups. */
  artIds(kind: ArtKind): AsyncIterable<string>
  /**
   * First half of a removal: renames files into `<media>/.trash/<job>/`, or where the channel's folder lies on another
   * disk into `.trash/<job>/` in it; the same call again after an interruption goes on. A folder that is a link is
   * emptied, and stays.
   * @throws unavailable: one cannot be moved; then all are back in their place
   */
  trash(jobId: string, what: { channelId: string; videoId: string } | { channelFolder: string }): Promise<void>
  /** Undoes the first half, for a removal that could not go on. A file that has come into the place meanwhile stays. */
  putBack(jobId: string): Promise<void>
  /** Second half: unlinks what was trashed for the job. */
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
    /** Asked at the start: which of these staging folders (video ids) are still needed. The others are removed. */
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
  }
}
