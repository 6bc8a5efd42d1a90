/** Lists file names in and next to a place, where catalogs are stored, often in hidden folders. */
import { readdirSync } from 'node:fs'
import { basename, dirname, extname, join } from 'node:path'
import { orWhereAbsent } from '../../film-kit/disk-fault.ts'
import { CATALOG_KINDS } from './all.ts'
import { stampOf } from './files.ts'
import { allowed } from './notes.ts'

const DEEPEST = 2
/** Depth of the films, as in `downloads/Channel/Season/film.mkv`. */
const DEEPEST_FILM = 3
const MOST_FOLDERS = 1000
const MOST_FILES = 20_000
const IS_INFO = /\.info\.json$/i
const HAS_ENDING = /\.(?:db|sqlite3?|json|zip|sql|list|rdb|ya?ml|tar\.gz|tgz)$/i
/** File names of a Python shelf, and of YTPTube's list of downloads. */
const WITHOUT_ENDING = new Set(['completed', 'completed.dat', 'completed.pag', 'archive.log'])
/** Whether the name may be that of a catalog; names of films and their information files are not. */
export const mayBeOne = (name: string): boolean =>
  (HAS_ENDING.test(name) && !IS_INFO.test(name)) || WITHOUT_ENDING.has(name)

/** Absolute paths, those in the place first. @param at  a catalog in another folder, if given */
export function filesNear(place: string, roots: readonly string[], at?: string): string[] {
  const outer = dirname(place)
  const isAllowed = allowed(roots)
  const found = new Set(filesBelow(place, isAllowed))
  const others = at === undefined ? [outer] : [outer, dirname(at)]
  for (const folder of others)
    if (folder !== place && isAllowed(folder)) for (const file of filesBelow(folder, isAllowed, place)) found.add(file)
  return [...found]
}

/** Sizes and times of all files from which a catalog of the place would be read. */
export function stampNear(place: string, roots: readonly string[]): string {
  const found = filesNear(place, roots)
  const files = new Set(CATALOG_KINDS.flatMap((kind) => [...kind.find(found), ...(kind.beside?.(found) ?? [])]))
  return [...files]
    .flatMap((path) => [path, `${path}-wal`])
    .map((path) => `${path} ${orWhereAbsent(() => stampOf(path), '')}`)
    .join('\n')
}

/**
 * Whether a catalog next to the place belongs to a neighbor, because the sibling folder that contains it has films of
 * its own.
 * @param endings  of films
 */
export function isOfNeighbour(catalog: string, place: string, endings: ReadonlySet<string>): boolean {
  const outer = dirname(place)
  const [folder = '', ...inner] = catalog.slice(outer.length + 1).split('/')
  if (inner.length === 0) return false
  for (const path of filesIn(join(outer, folder), () => true, DEEPEST_FILM))
    if (endings.has(extname(path).slice(1).toLowerCase())) return true
  return false
}

function filesBelow(top: string, isAllowed: (path: string) => boolean, but?: string): string[] {
  const files: string[] = []
  for (const path of filesIn(top, (folder) => folder !== but && isAllowed(folder), DEEPEST)) {
    if (mayBeOne(basename(path))) files.push(path)
    if (files.length >= MOST_FILES) break
  }
  return files
}

/** Yields upper folders first. Unreadable folders are skipped, because the scan of the place reports them. */
function* filesIn(top: string, isEntered: (folder: string) => boolean, deepest: number): Generator<string> {
  const folders = [{ path: top, depth: 0 }]
  for (let at = 0; at < folders.length && at < MOST_FOLDERS; at++) {
    const { path, depth } = folders[at]!
    for (const entry of orWhereAbsent(() => readdirSync(path, { withFileTypes: true }), [])) {
      const inner = `${path}/${entry.name}`
      if (entry.isFile()) yield inner
      else if (entry.isDirectory() && depth < deepest && isEntered(inner))
        folders.push({ path: inner, depth: depth + 1 })
    }
  }
}
