/**
 * Replaces ffmpeg, ffprobe and yt-dlp for a run of the light tests: starting one fails as if it were damaged and is
 * recorded, so that `make check` behaves the same whether they are installed or not.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/**
 * Settings of a server that finds no programs: `/api/platform/` would start them to read their versions, and a rescan to
 * find pictures in films.
 */
export const NO_PROGRAMS = { ytdlp: '/nowhere', ffmpeg: '/nowhere/ffmpeg', ffprobe: '/nowhere/ffprobe' } as object

/** yt-dlp runs in the `python` of its venv. */
const PROGRAMS = ['ffmpeg', 'ffprobe', 'python']

export interface Refused {
  /** PATH finds the replacements first; TEST_YTDLP is the venv of yt-dlp for every test server. */
  env: { PATH: string; TEST_YTDLP: string }
  /** The recorded starts, one line each. */
  started(): Promise<string[]>
}

/** @param folder  removed by the caller */
export async function refusePrograms(folder: string): Promise<Refused> {
  const [venv, notes] = [join(folder, 'refused'), join(folder, 'started')]
  const bin = join(venv, 'bin')
  await mkdir(bin, { recursive: true })
  const say = 'a light test has started it; it imports test/support/ffmpeg.ts or tools.ts, or does without'
  const program = `#!/bin/sh\necho "\${0##*/} $*" >>'${notes}'\necho "\${0##*/}: ${say}" >&2\nexit 1\n`
  for (const name of PROGRAMS) await writeFile(join(bin, name), program, { mode: 0o755 })
  const read = async () => (await readFile(notes, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
  return { env: { PATH: [bin, process.env.PATH].join(delimiter), TEST_YTDLP: venv }, started: read }
}
