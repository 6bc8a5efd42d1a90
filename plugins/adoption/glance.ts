/**
 * Lists quickly, in the reading child, the contents below a root: folders with films, some of their names, and possible
 * catalogs. Upper folders come first. It stops after a number of names or some seconds and returns what it has.
 */
import { type Dirent, opendirSync } from 'node:fs'
import { join } from 'node:path'
import { isDiskFault } from '../film-kit/disk-fault.ts'
import { reportAlive } from '../film-kit/heartbeat.ts'
import { groupNames, isIgnored } from '../film-kit/names.ts'
import { CATALOG_KINDS } from './catalogs/all.ts'
import { mayBeOne } from './catalogs/find-files.ts'

const DEEPEST = 6
const MOST_FOLDERS = 20_000
const MOST_NAMES = 300_000
/** Maximum number of entries of one folder, because upper folders are more informative than the rest of a long one. */
const MOST_IN_FOLDER = 20_000
const MOST_CATALOGS = 1000
/** Number of names that is enough to recognize the kind of a folder. */
const SAMPLE = 10
const LONGEST_MS = 8000

export interface GlanceArgs {
  root: string
  /** Absolute paths of folders that are skipped. */
  leaveOut: readonly string[]
  endings: readonly string[]
}

interface GlancedFolder {
  path: string
  /** Number of films directly in it. */
  films: number
  names: string[]
}

export interface Glance {
  folders: GlancedFolder[]
  /** Possible catalogs, by file name. */
  catalogs: Array<{ path: string; kind: string }>
  /** Skipped folders that exist. */
  leftOut: string[]
  /** Whether everything was read. */
  isWhole: boolean
}

interface Waiting {
  path: string
  depth: number
  /** Whether it is a hidden folder, in which only catalogs count. */
  isHidden: boolean
}

/** @throws the error of a failing disk */
export function glanceBelow({ root, leaveOut, endings }: GlanceArgs): Glance {
  const glance: Glance = {
    folders: [],
    catalogs: [],
    leftOut: [],
    isWhole: true,
  }
  const until = performance.now() + LONGEST_MS
  const waiting: Waiting[] = [{ path: root, depth: 0, isHidden: false }]
  const known = { endings: new Set(endings), leaveOut: new Set(leaveOut) }
  let names = 0
  for (let at = 0; at < waiting.length; at++) {
    if (at >= MOST_FOLDERS || names >= MOST_NAMES || performance.now() > until) {
      glance.isWhole = false
      break
    }
    reportAlive()
    const { path, depth, isHidden } = waiting[at]!
    if (known.leaveOut.has(path)) {
      glance.leftOut.push(path)
      continue
    }
    const { files, folders, isWhole } = entriesOf(path)
    names += files.length + folders.length
    if (!isWhole) glance.isWhole = false
    takeCatalogs(path, files, glance)
    if (!isHidden) takeFilms(path, files, known.endings, glance)
    for (const name of folders) {
      const isInnerHidden = name.startsWith('.')
      if (isHidden || (isIgnored(name) && !isInnerHidden)) continue
      if (depth < DEEPEST)
        waiting.push({
          path: `${path}/${name}`,
          depth: depth + 1,
          isHidden: isInnerHidden,
        })
      else glance.isWhole = false
    }
  }
  return glance
}

/** Does not follow links. Returns nothing for an unreadable folder. */
function entriesOf(path: string): {
  files: string[]
  folders: string[]
  isWhole: boolean
} {
  const found = {
    files: [] as string[],
    folders: [] as string[],
    isWhole: true,
  }
  try {
    const folder = opendirSync(path, { bufferSize: 256 })
    try {
      for (let left = MOST_IN_FOLDER; ; left--) {
        const entry: Dirent | null = folder.readSync()
        if (!entry) break
        if (left === 0) {
          found.isWhole = false
          break
        }
        if (entry.isFile()) found.files.push(entry.name)
        else if (entry.isDirectory()) found.folders.push(entry.name)
      }
    } finally {
      folder.closeSync()
    }
  } catch (thrown) {
    if (isDiskFault(thrown)) throw thrown
  }
  return found
}

function takeCatalogs(folder: string, files: readonly string[], { catalogs }: Glance): void {
  for (const name of files) {
    if (!mayBeOne(name) || catalogs.length >= MOST_CATALOGS) continue
    const path = join(folder, name)
    const kind = CATALOG_KINDS.find((one) => one.find([path]).length > 0 && one.isOne?.(path) !== false)
    if (kind) catalogs.push({ path, kind: kind.name })
  }
}

function takeFilms(path: string, files: readonly string[], endings: ReadonlySet<string>, { folders }: Glance): void {
  const { films } = groupNames(
    files.filter((name) => !isIgnored(name)),
    endings,
  )
  if (films.length === 0) return
  const names = films.slice(0, SAMPLE).flatMap(({ name, info }) => (info === undefined ? [name] : [name, info]))
  folders.push({ path, films: films.length, names })
}
