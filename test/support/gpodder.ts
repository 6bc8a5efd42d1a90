/** Runs the podcast app gPodder by its command line: subscribes to feeds and downloads their episodes. */
import { execFileSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Ran, run } from './installed.ts'
import { missingHere } from './required.ts'

const program = pathOf('gpo')

function pathOf(name: string): string | undefined {
  try {
    return execFileSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).trim()
  } catch {
    return undefined
  }
}

/** For the option `skip` of tests: false if it is installed. */
export const noGpodder: string | false = program
  ? false
  : missingHere('gpodder', 'gPodder is not installed (on Debian: apt-get install gpodder)')

/** @param home  a folder for its settings, its database and its downloads */
export function openGpodder(home: string) {
  const gpo = (...args: string[]): Promise<Ran> =>
    run(program!, args, {
      env: { ...process.env, HOME: home, GPODDER_HOME: home, GPODDER_DOWNLOAD_DIR: join(home, 'Downloads') },
    })
  return {
    gpo,

    /** The downloaded files by name. */
    async downloads(): Promise<Map<string, Buffer>> {
      const folder = join(home, 'Downloads')
      const entries = await readdir(folder, { recursive: true, withFileTypes: true })
      const files = new Map<string, Buffer>()
      for (const entry of entries)
        if (entry.isFile() && /\.(m4a|mp4)$/.test(entry.name))
          files.set(entry.name, await readFile(join(entry.parentPath ?? entry.path, entry.name)))
      return files
    },
  }
}
