/** ffmpeg on films that are played: which need a copy, the copy, and sheets of small pictures. */
import { errors, filmInput } from 'archivolt'
import type { FfmpegOptions, FileStream } from '../media/types.ts'
import type { App } from './app.ts'

/** What most browsers play in an mp4, and what all of them do. */
const PLAYED = {
  most: { video: new Set(['h264', 'vp9', 'av1']), audio: new Set(['aac', 'mp3', 'opus', 'flac']) },
  all: { video: new Set(['h264']), audio: new Set(['aac']) },
}
const PLAIN_PIXELS = new Set(['yuv420p', 'yuvj420p'])
/** No larger than screens are: it has to be made on small machines too. */
const SCREEN = "scale=w='min(1920,iw)':h='min(1920,ih)':force_original_aspect_ratio=decrease:force_divisible_by=2"
const ENCODED_TO_PLAY = {
  video: ['libx264', '-preset', 'veryfast', '-crf', '22', '-pix_fmt', 'yuv420p', '-vf', SCREEN],
  audio: ['aac', '-b:a', '192k'],
}

type Played = typeof PLAYED.all

const isPlayed = ({ type, codec, pixels = '' }: FileStream, by: Played): boolean =>
  by[type as keyof Played].has(codec) && (codec !== 'h264' || PLAIN_PIXELS.has(pixels))

/** The first picture and the first sound: what a browser plays of a film. */
const shownOf = (streams: readonly FileStream[]): FileStream[] =>
  (['video', 'audio'] as const).flatMap((type) => streams.find((one) => one.type === type && !one.isPicture) ?? [])

/** Whether every browser plays what is in the file, in a container that it reads. */
export function playsEverywhere(streams: readonly FileStream[]): boolean {
  const shown = shownOf(streams)
  return shown.length > 0 && shown.every((stream) => isPlayed(stream, PLAYED.all))
}

/**
 * An mp4 with the first picture and the first sound, as browsers play them.
 * @param isEncoded  what only most browsers play is encoded too
 * @throws unprocessable: nothing can be made of it; unavailable: no ffmpeg
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

/** Of all sheets of one film together, in seconds of the processor. */
const MOST_SHEETS_WORK_S = 120

export interface SheetsShape {
  /** Seconds between two pictures. */
  interval: number
  columns: number
  rows: number
  sheets: number
  /** Points of a picture's longer side. */
  longest: number
}

/**
 * Small pictures of a film in sheets, `1.jpg` and on in a folder: of its keyframes alone, behind all else that runs.
 * The last picture is repeated to the end of its sheet. @throws unprocessable; unavailable: no ffmpeg
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
