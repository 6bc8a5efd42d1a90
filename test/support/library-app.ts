/** A whole server with the loopback platform, and films for its folders. */
import { execFile } from 'node:child_process'
import { copyFile, mkdir, readdir, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import { type LoopbackPlatform, startTestPlatform } from '../platform/start.ts'
import { FILM_FILE } from './film.ts'

const run = promisify(execFile)

export interface LibraryApp extends TestApp {
  platform: LoopbackPlatform
  /** Paths below the data folder: `media/…`, `import/…`, `cache/…`. */
  at(...parts: string[]): string
  /** Writes a film of one second there. */
  film(...parts: string[]): Promise<string>
  /** All files below a folder as relative paths, sorted, without hidden ones. */
  files(...parts: string[]): Promise<string[]>
  /**
   * Starts a task as a user does, and waits for its end.
   * @returns the job in its final state
   */
  runTask(name: string, payload?: object): Promise<{ state: string; result: string | null; messages: string[] }>
}

export async function libraryApp(t: TestContext, options: TestOptions = {}): Promise<LibraryApp> {
  const { platform, settings } = await startTestPlatform(t)
  const app = await testApp(t, { ...options, settings: { ...settings, ...options.settings } })
  const at = (...parts: string[]) => join(app.dataDir, ...parts)
  const own = {
    platform,
    at,
    async film(...parts: string[]) {
      const path = at(...parts)
      await mkdir(dirname(path), { recursive: true })
      await copyFile(FILM_FILE, path)
      return path
    },
    async files(...parts: string[]) {
      const entries = await readdir(at(...parts), { recursive: true, withFileTypes: true })
      const paths = entries
        .filter((entry) => !entry.isDirectory())
        .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(at(...parts).length + 1))
      return paths.filter((path) => !path.startsWith('.')).sort()
    },
    async runTask(name: string, payload?: Record<string, unknown>) {
      const job = await app.app.jobs.start(name, payload)
      const { state, result } = await app.app.jobs.ended(job.id)
      return { state, result, messages: app.app.jobs.notifications().flatMap(({ messages }) => messages) }
    },
  }
  return Object.create(app, Object.getOwnPropertyDescriptors(own)) as LibraryApp
}

interface ProbedStream {
  codec_type: string
  codec_name: string
  disposition: { attached_pic: number }
}

export async function probe(
  path: string,
): Promise<{ streams: ProbedStream[]; format: { format_name: string; duration: string; size: string } }> {
  const { stdout } = await run('ffprobe', ['-v', 'error', '-show_streams', '-show_format', '-of', 'json', path])
  return JSON.parse(stdout) as Awaited<ReturnType<typeof probe>>
}

/** Decodes every frame; rejects if the file is damaged. */
export async function play(path: string): Promise<void> {
  const { stderr } = await run('ffmpeg', ['-v', 'error', '-i', path, '-f', 'null', '-'])
  if (stderr) throw new Error(stderr)
}

/** The address of a video's picture on the platform. */
export const thumbnailOf = (platform: LoopbackPlatform, id: string): string =>
  `${platform.baseUrl}/vi/${id}/hqdefault.jpg`

export const VTT = 'WEBVTT\n\n00:00.000 --> 00:01.000\nherring at dawn\n'
export const SRT = '1\n00:00:00,000 --> 00:00:01,000\nherring at dawn\n'

export const remove = (path: string): Promise<void> => rm(path, { recursive: true, force: true })
