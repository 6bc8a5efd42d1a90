/**
 * Runs ffmpeg on whole films, without a time limit while it makes progress. Arguments name files by absolute path, and
 * only protocols and formats from our lists are allowed.
 */
import { errors, giveWay, say, startChild } from 'archivolt'
import type { App } from './app.ts'
import { isNotInstalled, programFailure } from './files.ts'
import type { FfmpegOptions } from './types.ts'

/**
 * Maximum time without progress. ffmpeg reports progress twice a second, but is silent while it moves the index of a
 * long film to the front.
 */
const QUIET_LIMIT_MS = 30 * 60_000
const MOST_COMPLAINT = 2000

/** @throws unprocessable: ffmpeg cannot make the file; unavailable: ffmpeg or an input is missing */
export async function runFfmpeg(
  { settings, clock }: Pick<App, 'settings' | 'clock'>,
  args: readonly string[],
  { signal, onSeconds, isBehind }: FfmpegOptions,
): Promise<void> {
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
      : await programFailure(args, say`ffmpeg cannot convert the file`, cause)
  } finally {
    timer.cancel()
  }
}

/**
 * Options for an mp4 with its index in front, so that playback can start before the file is complete. FLAC in mp4 was
 * experimental up to ffmpeg 5.1.
 */
export const asMp4 = (to: string): string[] => [
  '-strict',
  'experimental',
  '-movflags',
  '+faststart',
  '-f',
  'mp4',
  '-y',
  `file:${to}`,
]
