/**
 * ffmpeg on single files: into mp4, into WebVTT, a picture into a film. Files by absolute path, never a
 * protocol or format that we did not name.
 */
import { open } from 'node:fs/promises'
import { errors, filmInput, giveWay, inputOf, runChild, say, startChild } from 'archivolt'
import type { FileStream, MediaProbe } from '../media/types.ts'
import type { App } from './app.ts'

type Tools = Pick<App, 'settings' | 'clock' | 'media'>

const PICTURE_LIMIT_MS = 60_000
/** ffmpeg tells how far it is twice a second, but writing the index of a long film to its front is done in silence. */
const QUIET_LIMIT_MS = 30 * 60_000
const MOST_COMPLAINT = 2000
const MOST_PICTURE_BYTES = 20 << 20
/** What mp4 can hold as it is; anything else is encoded anew. */
const HELD_BY_MP4 = {
  video: new Set(['h264', 'hevc', 'av1', 'vp9', 'mpeg4', 'mpeg2video', 'mpeg1video']),
  audio: new Set(['aac', 'mp3', 'mp2', 'opus', 'ac3', 'eac3', 'flac', 'alac']),
}
/** Subtitles that are text: mp4 has one form for them. */
const TEXTS = new Set(['subrip', 'srt', 'ass', 'ssa', 'mov_text', 'webvtt', 'text'])
const ENCODED = {
  video: ['libx264', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p'],
  audio: ['aac', '-b:a', '192k'],
}

interface FilmOptions {
  signal: AbortSignal
  /** Seconds of the film that are done. */
  onSeconds?: (seconds: number) => void
  /** With what processor time others leave over. */
  isBehind?: boolean
}

/** Whether the file is an mp4 already: by its first box, not by its name. */
export async function isMp4(path: string): Promise<boolean> {
  const handle = await open(path, 'r')
  try {
    const head = Buffer.alloc(12)
    await handle.read(head, 0, 12, 0)
    // ISO 14496-12, 4.3; QuickTime has the brand `qt  `.
    return head.toString('latin1', 4, 8) === 'ftyp' && head.toString('latin1', 8, 12) !== 'qt  '
  } finally {
    await handle.close()
  }
}

/** With all of its subtitles. @throws unprocessable: it cannot be made an mp4; unavailable: no ffmpeg */
export async function toMp4(
  tools: Tools,
  from: string,
  to: string,
  probe: MediaProbe,
  options: FilmOptions,
): Promise<void> {
  const subtitles = (await tools.media.streamsIn(from, options.signal)).filter(({ type }) => type === 'subtitle')
  const unheld = subtitles.find(({ codec }) => !TEXTS.has(codec))
  if (unheld)
    throw errors.unprocessable(
      say`it has subtitles (${{ codec: unheld.codec }}) that an mp4 cannot hold; take them out of it and import it again`,
    )
  const count = { video: 0, audio: 0 }
  const streams = probe.streams.flatMap(({ type, index, codec }) => {
    const at = count[type]++
    const [name, ...rest] = HELD_BY_MP4[type].has(codec) ? ['copy'] : ENCODED[type]
    return ['-map', `0:${index}`, `-c:${type === 'video' ? 'v' : 'a'}:${at}`, name!, ...rest]
  })
  const texts = subtitles.flatMap(({ index }) => ['-map', `0:${index}`, '-c:s', 'mov_text'])
  await ffmpeg(tools, [...filmInput(from), ...streams, ...texts, ...asMp4(to)], options)
}

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
  audio: ENCODED.audio,
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
  tools: Tools,
  from: string,
  to: string,
  streams: FileStream[],
  { isEncoded, ...options }: FilmOptions & { isEncoded: boolean },
): Promise<void> {
  const played = isEncoded ? PLAYED.all : PLAYED.most
  const maps = shownOf(streams).flatMap((stream) => {
    const type = stream.type as 'video' | 'audio'
    const [name, ...rest] = isPlayed(stream, played) ? ['copy'] : ENCODED_TO_PLAY[type]
    return ['-map', `0:${stream.index}`, `-c:${type === 'video' ? 'v' : 'a'}`, name!, ...rest]
  })
  if (maps.length === 0) throw errors.unprocessable('the file has neither picture nor sound')
  await ffmpeg(tools, [...filmInput(from), ...maps, '-map_metadata', '-1', ...asMp4(to)], options)
}

/** SubRip → WebVTT. @throws unprocessable */
export async function toVtt(tools: Tools, from: string, to: string, options: FilmOptions): Promise<void> {
  await ffmpeg(tools, [...inputOf('srt', from), '-map', '0:s:0', '-f', 'webvtt', '-y', `file:${to}`], options)
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
  tools: Tools,
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
  await ffmpeg(tools, [...limits, ...input, ...output, '-f', 'image2', '-y', `file:${folder}/%d.jpg`], {
    signal,
    isBehind: true,
  })
}

/** The bytes of a picture inside a film, as they were put there. */
export function pictureIn(tools: Tools, path: string, index: number, signal: AbortSignal): Promise<Buffer> {
  return onePicture(tools, filmInput(path), ['-map', `0:${index}`, '-c', 'copy'], signal)
}

/** What a film shows at a second, as JPEG. */
export function frameOf(tools: Tools, path: string, second: number, signal: AbortSignal): Promise<Buffer> {
  const input = ['-ss', String(Math.max(0, second)), ...filmInput(path)]
  return onePicture(tools, input, ['-map', '0:v:0', '-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p'], signal)
}

function onePicture(
  { settings }: Tools,
  input: readonly string[],
  output: readonly string[],
  signal: AbortSignal,
): Promise<Buffer> {
  const toPipe = ['-frames:v', '1', '-f', 'image2pipe', 'pipe:1']
  const args = ['-hide_banner', '-nostdin', '-v', 'error', ...input, ...output, ...toPipe]
  const limits = { timeout: PICTURE_LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: MOST_PICTURE_BYTES, signal } as const
  return new Promise((resolve, reject) => {
    runChild(settings.ffmpeg, args, { encoding: 'buffer', ...limits }, (cause, picture) => {
      if (!cause && picture.length > 0) resolve(picture)
      else if (signal.aborted) reject(signal.reason)
      else if (isNotInstalled(cause)) reject(errors.unavailable('ffmpeg is not installed', { cause }))
      else reject(errors.unprocessable('the file cannot be read as media', { cause }))
    })
  })
}

/** The film with this JPEG as its one picture; sound, image and subtitles are copied. @throws unprocessable */
export async function withPicture(
  tools: Tools,
  from: string,
  streams: FileStream[],
  picture: string,
  to: string,
  options: FilmOptions,
): Promise<void> {
  const kept = streams.filter(({ type, isPicture }) => !isPicture && ['video', 'audio', 'subtitle'].includes(type))
  const place = kept.filter(({ type }) => type === 'video').length
  const maps = kept.flatMap(({ index }) => ['-map', `0:${index}`])
  const inputs = [...filmInput(from), ...inputOf('jpeg_pipe', picture)]
  const picturePlace = [`-disposition:v:${place}`, 'attached_pic']
  await ffmpeg(tools, [...inputs, ...maps, '-map', '1:0', '-c', 'copy', ...picturePlace, ...asMp4(to)], options)
}

/** Written so that it plays before it has been read to its end. FLAC in mp4 was an experiment for ffmpeg up to 5.1. */
const asMp4 = (to: string): string[] => [
  '-strict',
  'experimental',
  '-movflags',
  '+faststart',
  '-f',
  'mp4',
  '-y',
  `file:${to}`,
]

async function ffmpeg({ settings, clock }: Tools, args: string[], options: FilmOptions): Promise<void> {
  const { signal, onSeconds, isBehind } = options
  const quiet = new AbortController()
  const wait = () => clock.after(QUIET_LIMIT_MS, () => quiet.abort(new Error('ffmpeg said nothing for 30 minutes')))
  let timer = wait()
  const child = startChild(
    settings.ffmpeg,
    ['-hide_banner', '-nostdin', '-v', 'error', '-progress', 'pipe:1', ...args],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: AbortSignal.any([signal, quiet.signal]),
      killSignal: 'SIGKILL',
    },
  )
  giveWay(child, isBehind)
  let complaint = ''
  child.stderr.on('data', (chunk: Buffer) => {
    if (complaint.length < MOST_COMPLAINT) complaint += chunk.toString()
  })
  child.stdout.on('data', (chunk: Buffer) => {
    timer.cancel()
    timer = wait()
    const micros = /out_time_us=(\d+)/.exec(chunk.toString())?.[1]
    if (micros !== undefined) onSeconds?.(Number(micros) / 1e6)
  })
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      let cause: unknown
      child.once('error', (error) => (cause = error))
      child.once('close', (ended) => (cause === undefined ? resolve(ended) : reject(cause)))
    })
    if (code !== 0) throw new Error(complaint || `ffmpeg ended with ${code}`)
  } catch (cause) {
    signal.throwIfAborted()
    throw isNotInstalled(cause)
      ? errors.unavailable('ffmpeg is not installed', { cause })
      : errors.unprocessable('ffmpeg cannot make a file of it that can be kept', { cause })
  } finally {
    timer.cancel()
  }
}

const isNotInstalled = (thrown: unknown): boolean => (thrown as NodeJS.ErrnoException | null)?.code === 'ENOENT'
