/**
 * Folders of another program for tests: a root outside of the data folder, locations in it, and videos with films
 * there.
 */
import { createHash } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { aChannel, aVideo, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import type { Ending } from '../../plugins/media/containers.ts'
import type { Scope } from './last-first.ts'
import { lay } from './lay.ts'

/** The part of a plan that tests check. */
export interface PlannedRow {
  outcome: string
  state: string
  code: string
  file: string
  platform_id: string
}

export interface PlacesApp extends TestApp {
  /** The folder in `AV_LIBRARY_ROOTS`. */
  root: string
  /**
   * Writes a file below the root, and creates its folders.
   * @returns its path
   */
  lay(path: string, content?: string | Uint8Array): Promise<string>
  /**
   * Adds a location below the root.
   * @returns its id
   */
  place(path: string, label?: string): Promise<number>
  /** Adds a video to the archive with its film in a location; `path` is relative to the location. */
  placed(video: { id: string; placeId: number; path: string; channelId?: string; content?: string }): Promise<void>
}

/** An app with one root. */
export async function placesApp(t: Scope, options: TestOptions = {}): Promise<PlacesApp> {
  const root = await mkdtemp(join(tmpdir(), 'av-root-'))
  t.after(() => rm(root, { recursive: true, force: true }))
  const app = await testApp(t, { ...options, settings: { libraryRoots: [root], ...options.settings } })
  return withPlaces(app, root)
}

export function withPlaces<App extends TestApp>(app: App, root: string): App & PlacesApp {
  const own = {
    root,
    lay: lay(root),
    async place(path: string, label?: string) {
      await mkdir(join(root, path), { recursive: true })
      const { status, body } = await app
        .as('admin')
        .post('/api/place/', { path: join(root, path), ...(label && { label }) })
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.id as number
    },
    async placed({ id, placeId, path, channelId = 'UC1', content = 'a film' }: Parameters<PlacesApp['placed']>[0]) {
      const { places } = app.app.media
      const whole = join(places.get(placeId).path, path)
      await mkdir(dirname(whole), { recursive: true })
      await writeFile(whole, content)
      const { size, mtimeMs } = await lstat(whole)
      const ending = extname(path).slice(1) as Ending
      await places.keep([{ videoId: id, channelId, placeId, path, ending, sizeBytes: size, changedMs: mtimeMs }])
      await app.given(
        aChannel({ id: channelId }),
        aVideo({ id, channelId, media_url: `/media/${channelId}/${id}.${ending}`, media_size: size }),
      )
    },
  }
  return Object.create(app, Object.getOwnPropertyDescriptors(own)) as App & PlacesApp
}

/** Everything observable in a folder: names, kinds, sizes, both kinds of times, contents. */
export async function listing(folder: string | Buffer): Promise<string[]> {
  const lines: string[] = []
  // Some names are not valid UTF-8: read as text, they could not be opened again.
  for (const entry of await readdir(folder as string, { withFileTypes: true, encoding: 'buffer' as 'utf8' })) {
    const path = Buffer.concat([Buffer.from(folder), Buffer.from('/'), entry.name as unknown as Buffer])
    const { mode, size, mtimeMs, ctimeMs, nlink } = await lstat(path)
    const isFolder = entry.isDirectory()
    const content = entry.isFile() ? createHash('sha256').update(await readFile(path)) : undefined
    const said = [mode, isFolder ? '' : size, nlink, mtimeMs, ctimeMs, content?.digest('hex')]
    lines.push([path.toString('latin1'), ...said].join(' '))
    if (isFolder) lines.push(...(await listing(path)))
  }
  return lines.sort()
}
