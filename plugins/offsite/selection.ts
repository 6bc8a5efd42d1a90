/** The files that are copied to the second site, in stages: each is a separate backup, the most important files first. */
import { lstat, readdir, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errors, say, type Words } from 'archivolt'
import type { App } from './app.ts'

/** The parts of the data folder that are copied. Databases in use are not copied as files; copies of them are. */
const DATA = [
  'secret.key',
  'cookie.txt',
  'config.json',
  'ledger-copies',
  'snapshots',
  'backups',
  'sidecars',
  'history',
  'plugins',
]

/** Number of videos that are read together. */
const LOOKED_AT = 100

export interface Stage {
  name: 'records' | 'only_here' | 'kept' | 'all'
  paths: string[]
  /** The stage contains everything that is to be copied. */
  isWhole: boolean
  /** Broken links in the library that no video needs. */
  deadLinks: string[]
}

/**
 * Yields the stages, each of which contains the ones before it. @throws the reason of `signal`; unavailable: there are
 * films to copy, but the library (or after the last stage, the folder of a channel) is unavailable
 */
export async function* stagesOf(app: App, signal: AbortSignal): AsyncGenerator<Stage> {
  const { dataDir, cacheDir, mediaDir } = app.settings
  const data = DATA.map((name) => join(dataDir, name))
  const pictures = ['videos', 'channels', 'playlists'].map((kind) => join(cacheDir, kind))
  const records = (await Promise.all([...data, ...pictures].map(throughLink))).flatMap((paths) => paths ?? [])
  const { films } = app.preferences.section('offsite')
  yield { name: 'records', paths: records, isWhole: films === 'none', deadLinks: [] }
  if (films === 'none') return
  await mustBeThere(app)
  const library = await libraryPaths(mediaDir, app)
  const { lost, kept } = await chosenFilms(app, signal)
  const copied = [...records]
  for (const [name, more] of [
    ['only_here', lost],
    ['kept', kept],
    ['all', library.paths],
  ] as const) {
    const isLast = name === films
    // The library already contains the films of the earlier stages.
    const paths = name === 'all' ? [...records, ...more] : [...copied, ...more]
    copied.push(...more)
    if (more.length > 0 || isLast)
      yield { name, paths, isWhole: isLast && library.fault === undefined, deadLinks: library.deadLinks }
    if (isLast) break
  }
  if (library.fault !== undefined) throw errors.unavailable(library.fault)
}

/** @throws unavailable: the library is unavailable, and why */
export async function mustBeThere({ media }: Pick<App, 'media'>): Promise<void> {
  const absence = await media.absence()
  if (absence !== undefined) throw errors.unavailable(absence)
}

interface LibraryPaths extends Pick<Stage, 'deadLinks'> {
  /** The media folder and the contents of linked folders of channels. */
  paths: string[]
  /** Set if a link cannot be followed and the archive has videos behind it. */
  fault?: Words
}

async function libraryPaths(mediaDir: string, app: App): Promise<LibraryPaths> {
  const paths = (await throughLink(mediaDir)) ?? []
  const deadLinks: string[] = []
  let fault: Words | undefined
  for (const entry of await readdir(mediaDir, { withFileTypes: true })) {
    if (!entry.isSymbolicLink()) continue
    const inside = await throughLink(join(mediaDir, entry.name))
    if (inside) paths.push(...inside)
    else if (!(await hasFilms(entry.name, app))) deadLinks.push(entry.name)
    else
      fault = say`The folder ${{ name: entry.name }} in the library is a broken link: connect its disk, or remove the link`
  }
  return { paths, deadLinks, ...(fault && { fault }) }
}

/** Whether the archive has a film that should be in this folder of the library. */
async function hasFilms(channelId: string, { videos, media }: App): Promise<boolean> {
  const filter = { eq: ['channel_id', channelId] as ['channel_id', string] }
  for await (const batch of videos.collection.scan({ filter, batch: LOOKED_AT }))
    if (batch.some(({ id }) => media.isOurs(id))) return true
  return false
}

/**
 * The paths to copy for a path: restic copies a link as a link, so its target must be listed. @returns undefined:
 * nothing exists there
 */
async function throughLink(path: string): Promise<string[] | undefined> {
  try {
    if (!(await lstat(path)).isSymbolicLink()) return [path]
    if (!(await stat(path)).isDirectory()) return [path, await realpath(path)]
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
  return (await readdir(path)).map((name) => join(path, name))
}

const isMissing = (thrown: unknown): boolean =>
  ['ENOENT', 'ENOTDIR', 'ELOOP'].includes(String((thrown as NodeJS.ErrnoException).code))

/** Files of videos that the platform no longer has, and of videos with `keep`. */
async function chosenFilms(app: App, signal: AbortSignal): Promise<{ lost: string[]; kept: string[] }> {
  const chosen = { lost: new Map<string, Set<string>>(), kept: new Map<string, Set<string>>() }
  for await (const batch of app.videos.collection.parts({ paths: ['channel_id', 'active', 'keep'] })) {
    signal.throwIfAborted()
    for (const { id, values } of batch) {
      const [channelId, isActive, isKept] = values as [string, boolean, boolean | null]
      const into = isActive === false ? chosen.lost : isKept ? chosen.kept : undefined
      if (!into || !app.media.isOurs(id)) continue
      into.set(channelId, (into.get(channelId) ?? new Set()).add(id))
    }
  }
  return { lost: await filesOf(chosen.lost, app), kept: await filesOf(chosen.kept, app) }
}

/** All files of these videos, found by their names: film, subtitles, sidecar. */
async function filesOf(chosen: ReadonlyMap<string, ReadonlySet<string>>, { media }: App): Promise<string[]> {
  const paths: string[] = []
  for (const [channelId, ids] of chosen) {
    const [first] = ids
    const folder = dirname(media.pathOf(channelId, first!))
    try {
      for (const name of await readdir(folder)) if (ids.has(name.split('.', 1)[0]!)) paths.push(join(folder, name))
    } catch (thrown) {
      // restic counts files that it cannot read.
      if (!isMissing(thrown)) paths.push(folder)
    }
  }
  return paths
}

/** Files of the library that are not copied, because they are useless at another site. */
export const LEFT_OUT = ['.staging', '.trash', '.archivolt-lock', '.archivolt-room'] as const
