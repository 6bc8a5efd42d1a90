/** Downloads one video in a child process, and refuses a truncated file. */
import { isAbsolute, join } from 'node:path'
import { epochSeconds, errors } from 'archivolt'
import { type ChildAskOptions, ChildError, type Fetched } from './child.ts'
import { classify } from './classify.ts'
import { leftOut, noteSubtitles, toSubtitles } from './fetch-subtitles.ts'
import { toFormats } from './format-order.ts'
import { lackOfRoom, NoRoom, SPARE_BYTES } from './free-space.ts'
import { toVideoMetadata } from './metadata.ts'
import { readVideo } from './read-metadata.ts'
import { toReceipt } from './receipt.ts'
import { storyboardOf } from './storyboard.ts'
import type { Downloaded, DownloadOptions, DownloadProgress, FileThere, LeftAlone, Platform } from './types.ts'
import { clearDownload, findFault, type StreamSize } from './verify.ts'
import { checkId, withMetadataQuiet, type YtDlp } from './ytdlp.ts'

const DOWNLOAD_QUIET_MS = 1_800_000
const LANGUAGE_FORM = /^[A-Za-z]{2,8}(?:-[A-Za-z0-9]{2,8}){0,3}$/

export const openDownloads = (ytdlp: YtDlp): Pick<Platform, 'download' | 'downloadBetter'> => ({
  // Only `downloadBetter`, which compares with the present file, may return without a download.
  download: (id, wanted, options) => downloadVideo(id, wanted, options, ytdlp) as Promise<Downloaded>,
  downloadBetter: (id, wanted, options) => downloadVideo(id, wanted, options, ytdlp),
})

async function downloadVideo(
  id: string,
  wanted: DownloadOptions & { there?: FileThere },
  { progress, fetched, ...options }: Parameters<Platform['download']>[2],
  ytdlp: YtDlp,
): Promise<Downloaded | LeftAlone> {
  const { folder } = wanted
  checkId(id, 'video')
  if (!isAbsolute(folder)) throw errors.badRequest('The path of the download folder must be absolute')
  const about = { lane: 'download', item: id, quietMs: DOWNLOAD_QUIET_MS, folder, isVideo: true } as const
  return ytdlp.ask(about, options, async (child) => {
    const lack = await lackOfRoom(folder, ytdlp.settings.dataDir)
    if (lack !== undefined) throw new NoRoom(lack)
    const onFetched = (told: Fetched) => {
      if (told.areSubtitlesRefused) ytdlp.subtitles.hear(true) // before the next video requests subtitles
      child.onFetched?.(told)
      fetched?.()
    }
    try {
      return await inOwnChild(id, wanted, { ...child, onProgress: forPeople(progress), onFetched }, ytdlp)
    } catch (error) {
      // Only English messages can be classified, so the metadata is requested in English: it fails for the same reason.
      if (wanted.extractorLanguage && error instanceof ChildError && classify(error.evidence, 0).failure === 'unknown')
        await readVideo(id, withMetadataQuiet(child), ytdlp)
      throw error
    }
  })
}

const forPeople =
  (progress: ((progress: DownloadProgress) => void) | undefined): ChildAskOptions['onProgress'] =>
  ({ downloaded, total, speed, eta }) =>
    progress?.({
      fraction: total > 0 ? Math.min(1, downloaded / total) : 0,
      ...(speed !== null && { speed }),
      ...(eta !== null && { eta: Math.max(0, eta) }),
    })

async function inOwnChild(
  id: string,
  wanted: DownloadOptions & { there?: FileThere },
  options: ChildAskOptions,
  ytdlp: YtDlp,
): Promise<Downloaded | LeftAlone> {
  const isClosed = wanted.subtitleLanguages !== undefined && ytdlp.subtitles.isClosed()
  const asked = isClosed ? { ...wanted, subtitleLanguages: undefined } : wanted
  const request = { op: 'download', videoId: id, pictureName: pictureName(id), ...toRequest(asked) }
  const { result, warnings } = await ytdlp.downloads.ask(request, options)
  const metadata = toVideoMetadata(result.metadata as Record<string, unknown>, id, warnings, epochSeconds(ytdlp.clock))
  const receipt = toReceipt(result.receipt, metadata, warnings, wanted.quality)
  if (result.isLeft === true) return { metadata, receipt, isLeft: true }
  const mediaPath = join(wanted.folder, `${id}.${endingOf(wanted)}`)
  if (!result.hasMedia) throw new ChildError({ kinds: ['NoFile'], message: 'yt-dlp did not write a file', warnings })
  const fault = await faultOf(mediaPath, result.streams as StreamSize[], metadata.durationSeconds, ytdlp)
  if (fault !== undefined) {
    await clearDownload(wanted.folder, id)
    throw new ChildError({ kinds: ['Truncated'], message: `The downloaded file is not complete: ${fault}` })
  }
  const storyboard = storyboardOf(result.storyboards)
  const areSubtitlesPutOff = noteSubtitles(result, ytdlp) || isClosed
  return {
    metadata,
    receipt,
    mediaPath,
    subtitles: toSubtitles(result.subtitles, wanted.folder),
    subtitlesLeftOut: leftOut(id, result, warnings, ytdlp),
    storyboard,
    ...(areSubtitlesPutOff && { areSubtitlesPutOff }),
    ...(result.hasThumbnail === true && { thumbnailPath: join(wanted.folder, pictureName(id)) }),
  }
}

/** @returns a sentence about the fault in the file; undefined: none. @throws ChildError: ffprobe is missing */
async function faultOf(
  mediaPath: string,
  streams: StreamSize[],
  durationSeconds: number,
  { settings }: YtDlp,
): Promise<string | undefined> {
  try {
    return await findFault(settings.ffprobe, mediaPath, streams, durationSeconds)
  } catch (error) {
    if (isNotThere(error)) throw new ChildError({ kinds: ['MissingTool'], message: 'ffprobe cannot be started' })
    return `it cannot be read (${(error as Error).message.slice(0, 200)})`
  }
}

const pictureName = (id: string): string => `${id}.picture`

/** Only the setting `sound` gives an m4a: the sound of a custom format may not fit into one. */
const endingOf = ({ quality }: DownloadOptions): 'mp4' | 'm4a' => (quality?.codec === 'sound' ? 'm4a' : 'mp4')

const isNotThere = (error: unknown): boolean =>
  ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'

function toRequest(wanted: DownloadOptions & { there?: FileThere }): Record<string, unknown> {
  const bytesPerSecond = (kib: number | undefined) => (kib ? kib * 1024 : null)
  return {
    folder: wanted.folder,
    firstSeen: wanted.firstSeen ?? null,
    spareBytes: SPARE_BYTES,
    format: wanted.format?.slice(0, 500) ?? null,
    formatSort: wanted.formatSort?.slice(0, 500) ?? null,
    ...(wanted.quality && toFormats(wanted.quality)),
    ending: endingOf(wanted),
    isWish: wanted.quality !== undefined,
    there: wanted.there ?? null,
    insistsOn:
      wanted.insistence && wanted.quality
        ? { ...wanted.insistence, height: wanted.quality.height, language: wanted.quality.language }
        : null,
    soundLanguage: wanted.quality?.language ?? null,
    bytesPerSecond: bytesPerSecond(wanted.limitSpeedKib),
    throttledBytesPerSecond: bytesPerSecond(wanted.throttledRateKib),
    subtitleLanguages: wanted.subtitleLanguages?.slice(0, 500) ?? null,
    subtitleSource: wanted.subtitleSource ?? 'user',
    embedMetadata: wanted.embedMetadata ?? false,
    embedThumbnail: wanted.embedThumbnail ?? false,
    language:
      wanted.extractorLanguage && LANGUAGE_FORM.test(wanted.extractorLanguage) ? wanted.extractorLanguage : null,
  }
}
