/**
 * Runs ffmpeg and ffprobe as child processes: with a time limit, files only by handle or absolute path, protocols and
 * formats only from our lists.
 */
import { createReadStream } from 'node:fs'
import type { Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { errors, filmInput, giveWay, inputOf, pipedPictureInput, runChild, say, startChild, withLimit } from 'archivolt'
import { isNotInstalled, lackOfSpace, programFailure } from './files.ts'
import type { FileStream, MediaProbe, StreamProbe } from './types.ts'

const PROBE_LIMIT_MS = 60_000
const PICTURE_LIMIT_MS = 30_000
const OUTPUT_LIMIT_BYTES = 4 * 1024 * 1024
/** Maximum number of pixels: a small file may declare an enormous picture. */
const PIXEL_LIMIT = 60_000_000

interface ProbeOutput {
  format?: { duration?: string; size?: string; bit_rate?: string; tags?: Record<string, string> }
  streams?: Array<{
    codec_type?: string
    codec_name?: string
    pix_fmt?: string
    index?: number
    bit_rate?: string
    width?: number
    height?: number
    tags?: Record<string, string>
    disposition?: { attached_pic?: number }
  }>
}

const UNREADABLE = say`the file cannot be read as media`

const wholeNumber = (text: string | undefined): number => Math.max(0, Math.round(Number(text ?? 0)) || 0)

interface FfprobeOutput {
  output: string
  complaints: string
  /** The error, if ffprobe failed. */
  cause: Error | undefined
}

/** Probes one file. @throws unavailable: ffprobe is missing; the signal's reason */
function runFfprobe(ffprobe: string, input: string[], args: string[], signal?: AbortSignal): Promise<FfprobeOutput> {
  const limits = { timeout: PROBE_LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES, signal } as const
  const all = ['-v', 'error', ...args, ...input]
  return new Promise((done, fail) => {
    runChild(ffprobe, all, limits, (cause, output, complaints) => {
      if (signal?.aborted) fail(signal.reason)
      else if (isNotInstalled(cause)) fail(errors.unavailable('ffprobe is not installed', { cause }))
      else done({ output, complaints, cause: cause ?? undefined })
    })
  })
}

/** @throws unprocessable: not a media file; unavailable: ffprobe or the file is missing */
async function readWithFfprobe<Output>(...asked: Parameters<typeof runFfprobe>): Promise<Output> {
  const [, input] = asked
  const { output, cause } = await runFfprobe(...asked)
  if (cause) throw await programFailure(input, UNREADABLE, cause)
  return JSON.parse(output) as Output
}

/** @throws unprocessable: not a media file; unavailable: ffprobe or the file is missing */
export async function probeMedia(ffprobe: string, path: string): Promise<MediaProbe> {
  const args = ['-print_format', 'json', '-show_format', '-show_streams']
  return toMediaProbe(await readWithFfprobe<ProbeOutput>(ffprobe, filmInput(path), args))
}

/** @throws unprocessable: not a JPEG; unavailable: ffprobe is missing */
export async function jpegSize(ffprobe: string, path: string): Promise<{ width: number; height: number }> {
  const args = ['-show_entries', 'stream=width,height', '-print_format', 'json']
  const { streams = [] } = await readWithFfprobe<ProbeOutput>(ffprobe, inputOf('jpeg_pipe', path), args)
  return { width: streams[0]?.width ?? 0, height: streams[0]?.height ?? 0 }
}

/** @throws unprocessable: not a media file; unavailable: ffprobe or the file is missing */
export async function streamsIn(ffprobe: string, path: string, signal: AbortSignal): Promise<FileStream[]> {
  const entries = 'stream=index,codec_type,codec_name,pix_fmt:stream_disposition=attached_pic'
  const args = ['-show_entries', entries, '-print_format', 'json']
  const { streams = [] } = await readWithFfprobe<ProbeOutput>(ffprobe, filmInput(path), args, signal)
  return streams.map(({ index = 0, codec_type: type = '', codec_name: codec = '', pix_fmt: pixels, disposition }) => ({
    index,
    type,
    codec,
    isPicture: disposition?.attached_pic === 1,
    pixels,
  }))
}

/**
 * The tags, with names in lower case, because containers differ; none for other files. @throws unavailable: ffprobe is
 * missing
 */
export async function tagsIn(ffprobe: string, path: string, signal: AbortSignal): Promise<Map<string, string>> {
  const { output, cause } = await runFfprobe(
    ffprobe,
    filmInput(path),
    ['-show_entries', 'format_tags:stream_tags', '-print_format', 'json'],
    signal,
  )
  if (cause) return new Map()
  const { format, streams = [] } = JSON.parse(output) as ProbeOutput
  const all = [...streams.map(({ tags = {} }) => tags), format?.tags ?? {}]
  return new Map(all.flatMap(Object.entries).map(([name, text]) => [name.toLowerCase(), String(text)]))
}

/** Time limit for the hash of a film: every disk reads at least a few megabytes per second. */
const HASH_LIMIT_MS = 4 * 3_600_000

/** @throws unprocessable: not a media file, or damaged; unavailable: ffmpeg or the file is missing; the signal's reason */
export function streamHash(ffmpeg: string, path: string, signal: AbortSignal): Promise<string> {
  const limits = { timeout: HASH_LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: OUTPUT_LIMIT_BYTES, signal } as const
  const input = filmInput(path)
  const what = ['-map', '0:V?', '-map', '0:a?', '-c', 'copy', '-f', 'streamhash', '-hash', 'md5', '-']
  return new Promise((done, fail) => {
    const child = runChild(ffmpeg, ['-nostdin', '-v', 'error', ...input, ...what], limits, (cause, output) => {
      const sums = [...output.matchAll(/^\d+,[a-z],MD5=([0-9a-f]{32})$/gm)].map(([, md5]) => md5)
      if (signal.aborted) fail(signal.reason)
      else if (isNotInstalled(cause)) fail(errors.unavailable('ffmpeg is not installed', { cause }))
      else if (cause || sums.length === 0) void programFailure(input, UNREADABLE, cause).then(fail, fail)
      else done(sums.join(','))
    })
    giveWay(child, true)
  })
}

/** Length of the end of a film that is checked. */
const END_SECONDS = 30

/**
 * Whether a film is truncated. Its header may describe the complete film, so this looks for its last packets.
 * @throws unavailable: ffprobe is missing
 */
export async function isCutOff(ffprobe: string, path: string, durationSeconds: number): Promise<boolean> {
  const from = `${Math.max(0, durationSeconds - END_SECONDS)}%`
  const args = ['-read_intervals', from, '-show_entries', 'packet=pts_time', '-of', 'csv']
  const { output, complaints } = await runFfprobe(ffprobe, filmInput(path), args)
  return output === '' || complaints.includes('partial file')
}

function toMediaProbe({ format, streams = [] }: ProbeOutput): MediaProbe {
  const probes: StreamProbe[] = []
  for (const stream of streams) {
    // An embedded cover picture is also listed as a video stream.
    if ((stream.codec_type !== 'video' && stream.codec_type !== 'audio') || stream.disposition?.attached_pic === 1)
      continue
    probes.push({
      type: stream.codec_type,
      index: stream.index ?? 0,
      codec: stream.codec_name ?? '',
      bitrate: wholeNumber(stream.bit_rate ?? stream.tags?.['BPS']),
      ...(stream.codec_type === 'video' && { width: stream.width ?? 0, height: stream.height ?? 0 }),
    })
  }
  if (probes.length === 0) throw errors.unprocessable('the file has neither picture nor sound')
  return {
    sizeBytes: wholeNumber(format?.size),
    durationSeconds: Math.max(0, Number(format?.duration ?? 0) || 0),
    streams: probes,
  }
}

/** A JPEG to make from a picture. */
export interface Jpeg {
  path: string
  /** In pixels, never enlarged; omitted: the original width. */
  width?: number
  /** Crop the center as a square, and put transparent parts on white. */
  isSquare?: true
}

const MIDDLE = "crop='min(iw,ih)':'min(iw,ih)'"
const ON_WHITE =
  'format=rgba,split[picture][sheet];[sheet]lutrgb=r=255:g=255:b=255:a=255[white];[white][picture]overlay=format=rgb'

function outputOf({ path, width, isSquare }: Jpeg, input: number): string[] {
  const scale = width === undefined ? [] : [`scale=w='min(${width},iw)':h=${isSquare ? -1 : -2}`]
  const filters = isSquare ? [MIDDLE, ...scale, ON_WHITE] : scale
  const output = ['-map', `${input}:v:0`, '-frames:v', '1', '-map_metadata', '-1', '-f', 'image2', '-update', '1']
  const coded = ['-c:v', 'mjpeg', '-pix_fmt', 'yuvj420p', '-q:v', width === undefined ? '3' : '4']
  return [...output, ...coded, ...(filters.length > 0 ? ['-vf', filters.join(',')] : []), '-y', path]
}

/** A picture of any format, and the JPEGs to make from it. */
export interface Picture {
  from: string
  jpegs: readonly Jpeg[]
}

/**
 * Converts pictures of any format to JPEGs, in one process.
 * The input is piped, so that no name or reference in it can reach another file.
 * @throws unprocessable: one is not a picture; unavailable: ffmpeg is missing
 */
export function toJpegs(ffmpeg: string, pictures: readonly Picture[], signal?: AbortSignal): Promise<void> {
  return withLimit(PICTURE_LIMIT_MS, signal, (limited) => runToJpegs(ffmpeg, pictures, limited, signal))
}

/** The child's file descriptor for an input. 1 and 2 are its output and its errors. */
const descriptorOf = (input: number): number => (input === 0 ? 0 : input + 2)

async function runToJpegs(
  ffmpeg: string,
  pictures: readonly Picture[],
  limited: AbortSignal,
  signal: AbortSignal | undefined,
): Promise<void> {
  const guards = ['-threads', '1', '-max_pixels', String(PIXEL_LIMIT)]
  const inputs = pictures.flatMap((_, at) => [...guards, ...pipedPictureInput(descriptorOf(at))])
  const outputs = pictures.flatMap(({ jpegs }, at) => jpegs.flatMap((jpeg) => outputOf(jpeg, at)))
  const child = startChild(ffmpeg, ['-hide_banner', '-nostdin', '-v', 'error', ...inputs, ...outputs], {
    stdio: ['pipe', 'ignore', 'pipe', ...pictures.slice(1).map(() => 'pipe' as const)],
    signal: limited,
    killSignal: 'SIGKILL',
  })
  giveWay(child)
  let complaint = ''
  child.stderr!.on('data', (piece: Buffer) => {
    if (complaint.length < 2000) complaint += piece.toString()
  })
  const ended = new Promise<number | null>((done, fail) => {
    child.once('error', fail)
    child.once('close', done)
  })
  // ffmpeg may stop reading before the end of the file: its exit code alone decides.
  const failures: unknown[] = []
  const feed = ({ from }: Picture, at: number) =>
    pipeline(createReadStream(from), child.stdio[descriptorOf(at)] as Writable).catch((thrown) => failures.push(thrown))
  const [code] = await Promise.allSettled([ended, ...pictures.map(feed)])
  signal?.throwIfAborted()
  if (code.status === 'fulfilled' && code.value === 0) return
  const cause =
    code.status === 'rejected'
      ? code.reason
      : complaint === '' && failures.length > 0
        ? failures[0]
        : new Error(complaint)
  if (isNotInstalled(cause) && code.status === 'rejected')
    throw errors.unavailable('ffmpeg is not installed', { cause })
  throw lackOfSpace(cause) ?? errors.unprocessable('the file cannot be read as a picture', { cause })
}
