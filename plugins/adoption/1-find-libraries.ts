/**
 * Finds libraries of other programs below the permitted folders, so that people can choose one. A child process reads
 * only the names of files. Which files are a program's database: `find` in `catalogs/<program>.ts`; where they are
 * looked for: `catalogs/find-files.ts`.
 */
import { realpath } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type App as CoreApp, isAppError } from 'archivolt'
import { isWithin } from '../film-kit/names.ts'
import type { PlaceReader } from '../library/reader.ts'
import type { App } from './app.ts'
import { CATALOG_KINDS } from './catalogs/all.ts'
import type { Glance } from './glance.ts'
import { readersOf } from './readers.ts'
import { startReading } from './reading.ts'

interface FoundLibrary {
  path: string
  source: string
  title: string
  /** The number of films that were found. */
  films: number
}

export interface FoundLibraries {
  libraries: FoundLibrary[]
  /** Whether everything was read. */
  isWhole: boolean
  /** Folders whose disk does not respond. */
  unread: string[]
}

/** How long the result is cached. */
const CACHED_MS = 60_000
const SILENT_MS = 10_000
const MOST_FOUND = 50
/** The minimum certainty with which a reader must recognize a folder. */
const SURE = 0.5
/** If this share of subfolders is of one kind, the folder is a library of that kind. */
const MOSTLY = 0.8
/** Folders in which programs keep their own data. The films are next to the outermost of them. */
const OF_PROGRAM = new Set(
  'appdata backup backups cache config data database db info jobs redis snapshot state'.split(' '),
)

/** Caches the last result. */
export function openFound({ clock }: Pick<CoreApp, 'clock'>) {
  let last: { atMs: number; found: Promise<FoundLibraries> } | undefined
  return {
    librariesBelowRoots(app: App): Promise<FoundLibraries> {
      if (last && clock.steady() - last.atMs < CACHED_MS) return last.found
      const now = { atMs: clock.steady(), found: findLibraries(app) }
      last = now
      now.found.catch(() => last === now && (last = undefined))
      return now.found
    },
    /** Called when places change: drops the cached result. */
    dropCached: (): void => void (last = undefined),
  }
}

async function findLibraries(app: App): Promise<FoundLibraries> {
  const { endings } = app.media.containers
  const leaveOut = await ownFolders(app)
  const all: FoundLibraries = { libraries: [], isWhole: true, unread: [] }
  for (const root of await outerRoots(leaveOut, app)) {
    const child = startReading({ limitMs: SILENT_MS })
    try {
      const glance = await child.ask('glance', { root, leaveOut, endings })
      all.isWhole &&= glance.isWhole
      all.libraries.push(...librariesIn(root, glance, readersOf(app)))
    } catch (thrown) {
      if (!isAppError(thrown)) throw thrown
      app.log.warn({ err: thrown, folder: root }, 'a folder that may be read does not respond')
      all.unread.push(root)
    } finally {
      // A child process that hangs in a system call ends once that call returns, so it is not awaited.
      void child.end()
    }
  }
  const libraries = all.libraries.sort((a, b) => b.films - a.films)
  return {
    ...all,
    libraries: libraries.slice(0, MOST_FOUND),
    isWhole: all.isWhole && libraries.length <= MOST_FOUND,
  }
}

/** Folders to leave out: the library, the cache, and folders that are places already. */
async function ownFolders({ media, settings }: App): Promise<string[]> {
  const own = [settings.mediaDir, settings.cacheDir].map((folder) => realpath(folder).catch(() => undefined))
  const there = (await Promise.all(own)).filter((folder) => folder !== undefined)
  return [...there, ...media.places.list().map(({ path }) => path)]
}

/** Roots that are neither in a place nor in another root. */
async function outerRoots(leaveOut: readonly string[], { media }: App): Promise<string[]> {
  const roots = [...new Set(await media.places.realRoots())]
  return roots.filter(
    (root) =>
      !leaveOut.some((folder) => isWithin(folder, root)) &&
      !roots.some((other) => other !== root && isWithin(other, root)),
  )
}

/** A folder above films, a catalog, or a skipped folder. */
interface Node {
  path: string
  films: number
  names: string[]
  /** Number of films in it and in all subfolders. */
  total: number
  children: Node[]
  /** The kind of the catalog that lists its films. */
  claimed?: string
  isLeftOut: boolean
  /** Whether it or a subfolder is claimed or skipped. */
  isCut: boolean
}

/** @param readers  by priority */
function librariesIn(root: string, glance: Glance, readers: readonly PlaceReader[]): FoundLibrary[] {
  const nodes = treeOf(root, glance)
  for (const { path, kind } of glance.catalogs) claim(path, kind, nodes)
  const titleOf = (source: string) => readers.find(({ name }) => name === source)?.title ?? source
  return decide(nodes.get(root)!, readers).map(({ node, source }) => ({
    path: node.path,
    source,
    title: titleOf(source),
    films: node.total,
  }))
}

function treeOf(root: string, { folders, leftOut }: Glance): Map<string, Node> {
  const nodes = new Map<string, Node>()
  const nodeAt = (path: string): Node => {
    const known = nodes.get(path)
    if (known) return known
    const node: Node = {
      path,
      films: 0,
      names: [],
      total: 0,
      children: [],
      isLeftOut: false,
      isCut: false,
    }
    nodes.set(path, node)
    if (path !== root) nodeAt(dirname(path)).children.push(node)
    return node
  }
  nodeAt(root)
  for (const { path, films, names } of folders) Object.assign(nodeAt(path), { films, names } satisfies Partial<Node>)
  for (const path of leftOut)
    Object.assign(nodeAt(path), {
      isLeftOut: true,
      isCut: true,
    } satisfies Partial<Node>)
  for (const node of nodes.values()) if (node.films > 0) forEachAbove(node, nodes, (one) => (one.total += node.films))
  for (const path of leftOut) forEachAbove(nodes.get(path)!, nodes, (one) => (one.isCut = true))
  return nodes
}

function forEachAbove(node: Node, nodes: ReadonlyMap<string, Node>, work: (node: Node) => void): void {
  for (let one: Node | undefined = node; one; one = nodes.get(dirname(one.path))) {
    work(one)
    if (dirname(one.path) === one.path) return
  }
}

/** The folder of the program that wrote this catalog; anything next to that folder belongs to another program. */
function homeOf(catalog: string): string {
  let folder = dirname(catalog)
  const isOfProgram = (name: string) => name.startsWith('.') || OF_PROGRAM.has(name.toLowerCase())
  while (isOfProgram(basename(folder))) folder = dirname(folder)
  return folder
}

/**
 * Assigns a catalog to the folder of its films: the catalog's own folder, or, if only one folder with films is in the
 * folder of its program, that one. A hidden catalog is in the folder of its films.
 */
function claim(catalog: string, kind: string, nodes: ReadonlyMap<string, Node>): void {
  const own = nodes.get(dirname(catalog))
  const node = own && own.total > 0 ? own : nodes.get(homeOf(catalog))
  if (!node || node.total === 0) return
  const [only, ...others] = node.films > 0 ? [] : node.children.filter(({ total }) => total > 0)
  const isWithFilms = basename(catalog).startsWith('.') || CATALOG_KINDS.find(({ name }) => name === kind)?.isWithFilms
  const isBeside = only && others.length === 0 && !isWithin(only.path, catalog) && !isWithFilms
  const home = isBeside ? only : node
  if (home.isCut) return
  home.claimed = kind
  forEachAbove(home, nodes, (one) => (one.isCut = true))
}

type Decided = { node: Node; source: string }

function decide(node: Node, readers: readonly PlaceReader[]): Decided[] {
  if (node.total === 0 || node.isLeftOut) return []
  if (node.claimed !== undefined) return [{ node, source: node.claimed }]
  const withFilms = node.children.filter(({ total }) => total > 0)
  if (!node.isCut) {
    const source = mostly(sourcesIn(node, withFilms, readers))
    if (source !== undefined) return [{ node, source }]
  }
  const inner = withFilms.map((child) => decide(child, readers))
  const found = inner.flat()
  // Subfolders of one kind form one library; in a group of channels there may be only one subfolder.
  const hasAll = ({ node: { total } }: Decided, at: number) => total === withFilms[at]!.total
  const source = mostly([
    ...inner.map(([own], at) => (own && hasAll(own, at) ? own.source : undefined)),
    ...(node.films > 0 ? [undefined] : []),
  ])
  const isOne = source !== undefined && found.length > 1 && found.every((one) => one.source === source)
  return isOne && !node.children.some(hasLeftOut) ? [{ node, source }] : found
}

const hasLeftOut = (node: Node): boolean => node.isLeftOut || (node.isCut && node.children.some(hasLeftOut))

/** The kinds of the folder's own films and of those in its subfolders. */
function sourcesIn(node: Node, withFilms: readonly Node[], readers: readonly PlaceReader[]): Array<string | undefined> {
  const own = node.films > 0 ? [sourceOf(node.names, readers)] : []
  const inner = withFilms.map(({ path, films, names }) => {
    const folder = path.slice(dirname(path).length).replace(/^\//, '')
    return films > 0
      ? sourceOf(
          names.map((name) => `${folder}/${name}`),
          readers,
        )
      : undefined
  })
  return [...own, ...inner]
}

function sourceOf(names: readonly string[], readers: readonly PlaceReader[]): string | undefined {
  let best: { source: string; sure: number } | undefined
  for (const { name, recognise } of readers) {
    const sure = recognise(names)
    if (sure >= SURE && sure > (best?.sure ?? 0)) best = { source: name, sure }
  }
  return best?.source
}

/** The kind of most of these; undefined: several kinds, or none. */
function mostly(sources: ReadonlyArray<string | undefined>): string | undefined {
  const counts = new Map<string, number>()
  for (const source of sources) if (source !== undefined) counts.set(source, (counts.get(source) ?? 0) + 1)
  const [best] = [...counts].sort(([, a], [, b]) => b - a)
  return best && best[1] >= sources.length * MOSTLY ? best[0] : undefined
}
