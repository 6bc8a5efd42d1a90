/** ffmpeg for playback: decides which films need a copy, makes it, and makes sheets of small pictures. */
import { errors, filmInput } from 'archivolt'
import type { FfmpegOptions, FileStream } from '../media/types.ts'
import type { App } from './app.ts'

/** Codecs in mp4 that most browsers play, and codecs that all browsers play. */
const PLAYED = {
  most: { video: new Set(['h264', 'vp9', 'av1']), audio: new Set(['aac', 'mp3', 'opus', 'flac']) },
  all: { video: new Set(['h264']), audio: new Set(['aac']) },
}
const PLAIN_PIXELS = new Set(['yuv420p', 'yuvj420p'])
/** Limits the picture to the size of a screen, so that small machines can encode it. */
const SCREEN = "scale=w='min(1920,iw)':h='min(1920,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2"
const ENCODED_TO_PLAY = {
  video: ['libx264', '-preset', 'veryfast', '-crf', '22', '-pix_fmt', 'yuv420p', '-vf', SCREEN],
  audio: ['aac', '-b:a', '192k'],
}

type Played = typeof PLAYED.all

const isPlayed = ({ type, codec, pixels = '' }: FileStream, by: Played): boolean =>
  by[type as keyof Played].has(codec) && (codec !== 'h264' || PLAIN_PIXELS.has(pixels))

/** The first video and the first audio stream, which are what a browser plays. */
const shownOf = (streams: readonly FileStream[]): FileStream[] =>
  (['video', 'audio'] as const).flatMap((type) => streams.find((one) => one.type === type && !one.isPicture) ?? [])

/** Whether every browser plays these streams. */
export function playsEverywhere(streams: readonly FileStream[]): boolean {
  const shown = shownOf(streams)
  return shown.length > 0 && shown.every((stream) => isPlayed(stream, PLAYED.all))
}

/**
 * Makes an mp4 of the first video and the first audio stream that browsers play.
 * @param isEncoded  also encode codecs that only most browsers play
 * @throws unprocessable: a copy cannot be made; unavailable: ffmpeg is missing
 */
export async function toCopy(
  { media }: Pick<App, 'media'>,
  from: string,
  to: string,
  streams: FileStream[],
  { isEncoded, ...options }: FfmpegOptions & { isEncoded: boolean },
): Promise<void> {
  const played = isEncoded ? PLAYED.all : PLAYED.most
  const maps = shownOf(streams).flatMap((stream) => {
    const type = stream.type as 'video' | 'audio'
    const [name, ...rest] = isPlayed(stream, played) ? ['copy'] : ENCODED_TO_PLAY[type]
    return ['-map', `0:${stream.index}`, `-c:${type === 'video' ? 'v' : 'a'}`, name!, ...rest]
  })
  if (maps.length === 0) throw errors.unprocessable('the file has neither picture nor sound')
  await media.toMp4([...filmInput(from), ...maps, '-map_metadata', '-1'], to, options)
}

/** Maximum processor time for all sheets of one film. */
const MOST_SHEETS_WORK_S = 120

export interface SheetsShape {
  /** Seconds between two pictures. */
  interval: number
  columns: number
  rows: number
  sheets: number
  /** Length of the longer side of a picture, in pixels. */
  longest: number
}

/**
 * Writes sheets of small pictures, `1.jpg`, `2.jpg` …, into a folder. Decodes only keyframes, at low priority. The last
 * picture is repeated to fill its sheet. @throws unprocessable; unavailable: ffmpeg is missing
 */
export async function toSheets(
  { media }: Pick<App, 'media'>,
  from: string,
  folder: string,
  { interval, columns, rows, sheets, longest }: SheetsShape,
  signal: AbortSignal,
): Promise<void> {
  const half = longest / 2
  const scale = `scale=w='if(gte(dar,1),${longest},max(2,2*trunc(${half}*dar)))':h='if(gte(dar,1),max(2,2*trunc(${half}/dar)),${longest})',setsar=1`
  const filter = `fps=1/${interval}:start_time=0,${scale},tpad=stop=-1:stop_mode=clone,tile=${columns}x${rows}`
  const input = ['-threads', '1', '-discard:v', 'nokey', '-skip_frame', 'nokey', ...filmInput(from)]
  const output = ['-map', '0:V:0', '-vf', filter, '-frames:v', String(sheets), '-pix_fmt', 'yuvj420p', '-q:v', '6']
  const limits = ['-timelimit', String(MOST_SHEETS_WORK_S), '-filter_threads', '1']
  await media.ffmpeg([...limits, ...input, ...output, '-f', 'image2', '-y', `file:${folder}/%d.jpg`], {
    signal,
    isBehind: true,
  })
}
