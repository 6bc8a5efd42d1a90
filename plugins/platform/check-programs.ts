/** The findings of `archivolt check` about external programs. */
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CheckParts, Finding } from 'archivolt'
import { openTools } from './tools.ts'

const PACE = { retryPause: 1, socketTimeout: 10 }
const REMEDIES: Readonly<Record<string, string>> = {
  'yt-dlp': 'run archivolt setup',
  ffmpeg: "install ffmpeg from your system's packages (sudo apt-get install ffmpeg), or set AV_FFMPEG",
  ffprobe: 'install ffmpeg, which includes it, or set AV_FFPROBE',
}

export async function checkPrograms({ settings, clock, log }: CheckParts): Promise<Finding[]> {
  const tools = await withFolder(settings.dataDir, async (dataDir) => {
    const { tools } = await openTools({ ...settings, dataDir }, PACE, clock, log).report()
    return tools
  })
  return Object.entries(REMEDIES).map(([what, remedy]) => ({
    what,
    isRight: what in tools,
    said: tools[what] ?? `it is missing or does not start: ${remedy}`,
  }))
}

/**
 * Uses a temporary folder before the first download: `check` may run as another user than the server, so it must not
 * create the real one.
 */
async function withFolder<Result>(dataDir: string, work: (dataDir: string) => Promise<Result>): Promise<Result> {
  if (existsSync(join(dataDir, 'yt-dlp'))) return work(dataDir)
  const folder = await mkdtemp(join(tmpdir(), 'archivolt-check-'))
  try {
    return await work(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
