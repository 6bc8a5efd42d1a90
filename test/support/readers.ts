/**
 * Other programs that read our feeds, our metadata provider and the stand-ins for media servers: podcastparser, PlexAPI
 * and Jellyfin's client from PyPI, Jellyfin's SDK from npm.
 */
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installNode, installPython, type Ran, run } from './installed.ts'
import { ROOT } from './sources.ts'

const FILES = join(ROOT, 'test/data/readers')
const FOLDER = join(ROOT, '.cache/readers')

const NODE = join(ROOT, '.cache/readers-node')

/** @returns the reason why they cannot be installed; undefined if they are */
export async function installReaders(): Promise<string | undefined> {
  const faults = await Promise.all([
    installPython(FOLDER, join(FILES, 'requirements.txt'), 'podcastparser, PlexAPI and a client of Jellyfin'),
    installNode(NODE, FILES, 'Jellyfin’s SDK'),
  ])
  return faults.find((fault) => fault !== undefined)
}

/** @param script  in test/data/readers; prints JSON */
export const read = (
  script: 'plex.py' | 'podcast.py' | 'plex_lists.py' | 'jellyfin.py',
  args: readonly string[],
): Promise<Ran> =>
  run(join(FOLDER, 'bin/python'), [join(FILES, script), ...args], {
    env: { ...process.env, PLEXAPI_PLEXAPI_AUTORELOAD: 'false' },
  })

/** The same for a script that runs in Node. */
export async function readInNode(script: 'jellyfin.mjs', args: readonly string[]): Promise<Ran> {
  // Node looks for packages beside the script.
  await copyFile(join(FILES, script), join(NODE, script))
  return run(process.execPath, [join(NODE, script), ...args])
}
