/** Verifies that a downloaded file is complete, because yt-dlp reports a truncated one as a success. */
import { readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { childEnvironment, filmInput, runChild } from 'archivolt'

export interface StreamSize {
  format: string
  size: number
  /** As announced by the platform, if a stream is a single file. */
  announced: number | null
}

const LEEWAY_SECONDS = 2
const LEEWAY_SHARE = 0.03
const PROBE_TIMEOUT_MS = 60_000
/** With less free space than this, any failure counts as a full disk. */
export const LITTLE_ROOM_BYTES = 16 << 20

/**
 * Compares sizes and each stream's duration with what was announced.
 * @param durationSeconds  0: not announced
 * @returns the fault as a sentence; undefined: the file is complete
 */
export async function findFault(
  ffprobe: string,
  path: string,
  streams: StreamSize[],
  durationSeconds: number,
): Promise<string | undefined> {
  for (const { format, size, announced } of streams) {
    if (announced !== null && size < announced) return `stream ${format} has ${size} of ${announced} bytes`
  }
  if ((await stat(path)).size === 0) return 'the file is empty'
  const durations = await streamDurations(ffprobe, path)
  if (durations.length === 0) return 'the file has neither picture nor sound'
  const enough = durationSeconds - Math.max(LEEWAY_SECONDS, durationSeconds * LEEWAY_SHARE)
  const short = durations.find(({ seconds }) => seconds !== undefined && seconds < enough)
  return short && `the ${short.kind} ends after ${short.seconds?.toFixed(1)} of ${durationSeconds} s`
}

interface StreamDuration {
  kind: string
  seconds: number | undefined
}

async function streamDurations(ffprobe: string, path: string): Promise<StreamDuration[]> {
  const entries = 'stream=codec_type,duration:stream_disposition=attached_pic:format=duration'
  const output = await run(
    ffprobe,
    ['-v', 'error', '-show_entries', entries, '-of', 'json', ...filmInput(path)],
    PROBE_TIMEOUT_MS,
  )
  const probed = JSON.parse(output) as {
    streams?: Array<{ codec_type?: string; duration?: string; disposition?: { attached_pic?: number } }>
  }
  return (probed.streams ?? [])
    .filter(
      ({ codec_type, disposition }) =>
        (codec_type === 'video' || codec_type === 'audio') && disposition?.attached_pic !== 1,
    )
    .map(({ codec_type = '', duration }) => ({
      kind: codec_type,
      seconds: duration === undefined ? undefined : Number(duration),
    }))
}

/** Runs a program without a shell and returns its output. @throws with its error output */
export function run(
  program: string,
  args: string[],
  timeoutMs: number,
  signal?: AbortSignal,
  env = childEnvironment(),
): Promise<string> {
  return new Promise((resolve, reject) => {
    runChild(program, args, { env, signal, timeout: timeoutMs, maxBuffer: 1 << 20 }, (error, output, complaints) => {
      if (error) reject(new Error(complaints.slice(-500) || error.message, { cause: error }))
      else resolve(output)
    })
  })
}

/** Removes the remains of a download of this id, so that the next one begins from scratch. */
export async function clearDownload(folder: string, id: string): Promise<void> {
  for (const name of await readdir(folder)) if (name.startsWith(`${id}.`)) await rm(join(folder, name), { force: true })
}
