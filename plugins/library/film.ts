/**
 * ffmpeg for imports and covers: converts a film to mp4, extracts pictures, embeds a picture in a film. Inputs are
 * absolute paths with a named format, never a protocol.
 */
import { open } from 'node:fs/promises'
import { errors, filmInput, inputOf, runChild, say } from 'archivolt'
import { codeOf } from '../film-kit/disk-fault.ts'
import type { FfmpegOptions, FileStream, MediaProbe } from '../media/types.ts'
import type { App } from './app.ts'

type Tools = Pick<App, 'settings' | 'media'>

const PICTURE_LIMIT_MS = 60_000
const MOST_PICTURE_BYTES = 20 << 20
/** Codecs that mp4 can contain; all others are converted. */
const HELD_BY_MP4 = {
  video: new Set(['h264', 'hevc', 'av1', 'vp9', 'mpeg4', 'mpeg2video', 'mpeg1video']),
  audio: new Set(['aac', 'mp3', 'mp2', 'opus', 'ac3', 'eac3', 'flac', 'alac']),
}
/** Text subtitles, which are stored as mov_text in mp4. */
const TEXTS = new Set(['subrip', 'srt', 'ass', 'ssa', 'mov_text', 'webvtt', 'text'])
const ENCODED = {
  video: ['libx264', '-preset', 'veryfast', '-crf', '20', '-pix_fmt', 'yuv420p'],
  audio: ['aac', '-b:a', '192k'],
}

/** Whether the file is an mp4, judged by its first box and not by its name. */
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

/** Converts a film with all subtitles. @throws unprocessable: it cannot be converted; unavailable: ffmpeg is missing */
export async function toMp4(
  tools: Tools,
  from: string,
  to: string,
  probe: MediaProbe,
  options: FfmpegOptions,
): Promise<void> {
  const subtitles = (await tools.media.streamsIn(from, options.signal)).filter(({ type }) => type === 'subtitle')
  const unheld = subtitles.find(({ codec }) => !TEXTS.has(codec))
  if (unheld)
    throw errors.unprocessable(
      say`it has subtitles (${{ codec: unheld.codec }}) that an mp4 cannot contain; remove them and import it again`,
    )
  const count = { video: 0, audio: 0 }
  const streams = probe.streams.flatMap(({ type, index, codec }) => {
    const at = count[type]++
    const [name, ...rest] = HELD_BY_MP4[type].has(codec) ? ['copy'] : ENCODED[type]
    return ['-map', `0:${index}`, `-c:${type === 'video' ? 'v' : 'a'}:${at}`, name!, ...rest]
  })
  const texts = subtitles.flatMap(({ index }) => ['-map', `0:${index}`, '-c:s', 'mov_text'])
  await tools.media.toMp4([...filmInput(from), ...streams, ...texts], to, options)
}

/** The bytes of a picture embedded in a film, unchanged. */
export function pictureIn(tools: Tools, path: string, index: number, signal: AbortSignal): Promise<Buffer> {
  return onePicture(tools, filmInput(path), ['-map', `0:${index}`, '-c', 'copy'], signal)
}

/** The frame at a second, as JPEG. */
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
      else if (codeOf(cause) === 'ENOENT') reject(errors.unavailable('ffmpeg is not installed', { cause }))
      else reject(errors.unprocessable('the file cannot be read as media', { cause }))
    })
  })
}

/** Copies the film with this JPEG as its only picture. @throws unprocessable */
export async function withPicture(
  tools: Tools,
  from: string,
  streams: FileStream[],
  picture: string,
  to: string,
  options: FfmpegOptions,
): Promise<void> {
  const others = streams.filter(({ type, isPicture }) => !isPicture && ['video', 'audio', 'subtitle'].includes(type))
  const position = others.filter(({ type }) => type === 'video').length
  const maps = others.flatMap(({ index }) => ['-map', `0:${index}`])
  const inputs = [...filmInput(from), ...inputOf('jpeg_pipe', picture)]
  const disposition = [`-disposition:v:${position}`, 'attached_pic']
  await tools.media.toMp4([...inputs, ...maps, '-map', '1:0', '-c', 'copy', ...disposition], to, options)
}
