/** The findings of `archivolt check` about external programs. */
import type { CheckParts, Finding } from 'archivolt'
import { openTools } from './tools.ts'

const PACE = { retryPause: 1, socketTimeout: 10 }
const REMEDIES: Readonly<Record<string, string>> = {
  'yt-dlp': 'run archivolt setup',
  ffmpeg: "install ffmpeg from your system's packages (sudo apt-get install ffmpeg), or set AV_FFMPEG",
  ffprobe: 'it comes with ffmpeg; or set AV_FFPROBE',
}

export async function lookAtPrograms({ settings, clock, log }: CheckParts): Promise<Finding[]> {
  const { tools } = await openTools(settings, PACE, clock, log).report()
  return Object.entries(REMEDIES).map(([what, remedy]) => ({
    what,
    isRight: what in tools,
    said: tools[what] ?? `it is not there, or does not start: ${remedy}`,
  }))
}
