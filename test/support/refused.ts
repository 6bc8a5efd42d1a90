/**
 * Replaces ffmpeg and ffprobe for a run of the light tests: starting one fails as if it were damaged and is recorded,
 * so that `make check` behaves the same whether they are installed or not.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

/** Settings of a server that finds no programs: `/api/platform/` would start them to read their versions. */
export const NO_PROGRAMS = { ytdlp: '/nowhere', ffmpeg: '/nowhere/ffmpeg', ffprobe: '/nowhere/ffprobe' } as object

const PROGRAMS = ['ffmpeg', 'ffprobe']

export interface Refused {
  /** A PATH that finds the replacements first. */
  PATH: string
  /** The recorded starts, one line each. */
  started(): Promise<string[]>
}

/** @param folder  removed by the caller */
export async function refusePrograms(folder: string): Promise<Refused> {
  const [bin, notes] = [join(folder, 'refused'), join(folder, 'started')]
  await mkdir(bin)
  const say = 'a light test has started it; it imports test/support/ffmpeg.ts, or does without'
  const program = `#!/bin/sh\necho "\${0##*/} $*" >>'${notes}'\necho "\${0##*/}: ${say}" >&2\nexit 1\n`
  for (const name of PROGRAMS) await writeFile(join(bin, name), program, { mode: 0o755 })
  const read = async () => (await readFile(notes, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
  return { PATH: [bin, process.env.PATH].join(delimiter), started: read }
}
