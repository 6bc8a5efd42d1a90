/** Programs of others that read our feeds and our metadata provider: podcastparser and PlexAPI, from PyPI. */
import { join } from 'node:path'
import { installPython, type Ran, run } from './installed.ts'
import { ROOT } from './sources.ts'

const FILES = join(ROOT, 'test/data/readers')
const FOLDER = join(ROOT, '.cache/readers')

/** @returns why they cannot be installed, or undefined: they are there */
export const installReaders = (): Promise<string | undefined> =>
  installPython(FOLDER, join(FILES, 'requirements.txt'), 'podcastparser and PlexAPI')

/** @param script  in test/data/readers; it prints JSON */
export const read = (script: 'plex.py' | 'podcast.py', args: readonly string[]): Promise<Ran> =>
  run(join(FOLDER, 'bin/python'), [join(FILES, script), ...args], {
    env: { ...process.env, PLEXAPI_PLEXAPI_AUTORELOAD: 'false' },
  })
