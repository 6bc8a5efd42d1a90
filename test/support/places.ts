/**
 * Folders of another program for tests: a root beside the data folder, places in it, and videos whose films lie there.
 */
import { createHash } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, extname, join } from 'node:path'
import { aChannel, aVideo, type TestApp, type TestOptions, testApp } from 'archivolt/testing'
import type { Ending } from '../../plugins/media/containers.ts'
import type { Scope } from './last-first.ts'
import { lay } from './lay.ts'

/** Of a plan, as far as tests look at it. */
export interface PlannedRow {
  outcome: string
  state: string
  code: string
  file: string
  platform_id: string
}

export interface PlacesApp extends TestApp {
  /** What `AV_LIBRARY_ROOTS` names. */
  root: string
  /** Writes a file below the root, with its folders. @returns its path */
  lay(path: string, content?: string | Uint8Array): Promise<string>
  /** A place below the root. @returns its id */
  place(path: string, label?: string): Promise<number>
  /** A video in the archive whose film lies in a place: `path` is from the place on. */
  placed(video: { id: string; placeId: number; path: string; channelId?: string; content?: string }): Promise<void>
}

/** With its one root. */
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

/** All that can be told of a folder from outside: names, kinds, sizes, times of both sorts, contents. */
export async function listing(folder: string | Buffer): Promise<string[]> {
  const lines: string[] = []
  // Some names are no UTF-8: as text they could not be opened again.
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
