/** Checks the files that a further platform has downloaded, like a download of yt-dlp. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { filmInput } from 'archivolt'
import { checked, Files, type Source } from './source.ts'
import type { Downloaded, DownloadOptions, DownloadReceipt, VideoMetadata } from './types.ts'
import { clearDownload, findFault, run } from './verify.ts'

const PROBE_TIMEOUT_MS = 60_000

/** @throws Error  a sentence: the film is missing or incomplete */
export async function toDownloaded(
  source: Source,
  metadata: VideoMetadata,
  { folder, quality }: Pick<DownloadOptions, 'folder' | 'quality'>,
  said: unknown,
  ffprobe: string,
): Promise<Downloaded> {
  const { id } = metadata
  const pathOf = (ending: string): string => join(folder, `${id}.${ending}`)
  const { subtitles } = checked(Files, said ?? {}, source)
  // An earlier attempt with another quality setting may have left a file with the other ending.
  const endings = quality?.codec === 'sound' ? ['m4a', 'mp4'] : ['mp4', 'm4a']
  const mediaPath = endings.map(pathOf).find((path) => existsSync(path))
  if (mediaPath === undefined) throw new Error(`the plugin did not write ${id}.mp4 to the folder`)
  const fault = await findFault(ffprobe, mediaPath, [], metadata.durationSeconds)
  if (fault !== undefined) {
    await clearDownload(folder, id)
    throw new Error(`the downloaded file is not complete: ${fault}`)
  }
  return {
    metadata,
    receipt: await receiptOf(source, mediaPath, ffprobe),
    mediaPath,
    subtitles: subtitles
      .map((one) => ({ ...one, path: pathOf(`${one.lang}.vtt`) }))
      .filter(({ path }) => existsSync(path)),
    ...(existsSync(pathOf('jpg')) && { thumbnailPath: pathOf('jpg') }),
  }
}

interface Probed {
  streams?: Array<{ codec_type?: string; codec_name?: string; width?: number; height?: number }>
}

/** A receipt in which the downloaded quality counts as the offered one, because nothing more is known. */
async function receiptOf({ name }: Source, path: string, ffprobe: string): Promise<DownloadReceipt> {
  const entries = 'stream=codec_type,codec_name,width,height'
  const output = await run(
    ffprobe,
    ['-v', 'error', '-show_entries', entries, '-of', 'json', ...filmInput(path)],
    PROBE_TIMEOUT_MS,
  )
  const { streams = [] } = JSON.parse(output) as Probed
  const picture = streams.find(({ codec_type }) => codec_type === 'video')
  const sound = streams.find(({ codec_type }) => codec_type === 'audio')
  const height = Math.min(picture?.width ?? 0, picture?.height ?? 0)
  const [videoCodec, audioCodec] = [picture?.codec_name, sound?.codec_name]
  return {
    downloader: name,
    offered: {
      height,
      videoCodecs: videoCodec === undefined ? [] : [videoCodec],
      audioCodecs: audioCodec === undefined ? [] : [audioCodec],
      ...{ audioLanguages: [], subtitles: [], clients: [] },
    },
    got: { height, ...(videoCodec && { videoCodec }), ...(audioCodec && { audioCodec }), formats: [] },
    ...{ isForeign: false, warnings: [], doubts: [] },
  }
}
