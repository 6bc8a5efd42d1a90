/**
 * Small libraries of other programs for tests, made anew by `test/libraries/make.py`, and what must be found in each.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from './sources.ts'

const run = promisify(execFile)

export interface ExpectedVideo {
  id: string
  title: string
  channel_id: string
  channel_name: string
  published: string
  vid_type: string
  duration: number
  /** From the library's folder on, like all paths. */
  file: string
  watched: boolean
  watched_date?: number
  position?: Record<string, number>
  kept?: boolean
  active?: boolean | null
  subtitles: Array<{ lang: string; source: string; file: string }>
  thumbnail?: string
  date_downloaded?: number
  /** Where they come from, best first: `platform` is asked where nothing else knows. */
  facts_from: string
  channel_from?: string
}

export interface ExpectedLibrary {
  source: string
  /** The folder with the films. */
  library: string
  videos: ExpectedVideo[]
  ignored: string[]
  ignored_optional?: string[]
  subscriptions: Array<{
    type: string
    id?: string
    handle?: string
    enabled?: boolean
    download?: boolean
    audio_only?: boolean
  }>
  playlists: Array<{ id?: string; name?: string; type: string; entries?: number }>
  problems: Array<{ code: string; id?: string; file?: string; file_hex?: string; severity: string }>
  /** Of exports: what each file holds. */
  files?: Record<string, { channels?: string[]; same_as?: string }>
}

/** @param names  those of `make.py` */
export async function makeLibraries(folder: string, names: readonly string[]): Promise<void> {
  await run('python3', ['-B', join(ROOT, 'test/libraries/make.py'), folder, '--only', names.join()])
}

export const expectedOf = async (folder: string, name: string): Promise<ExpectedLibrary> =>
  JSON.parse(await readFile(join(folder, name, 'expected.json'), 'utf8')) as ExpectedLibrary
