/** Lists file names in and beside a place, where catalogs are, often in hidden folders. */
import { readdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { orWhereAbsent } from '../../film-kit/disk-fault.ts'
import { CATALOG_KINDS } from './all.ts'
import { stampOf } from './files.ts'
import { allowed } from './notes.ts'

const DEEPEST = 2
const MOST_FOLDERS = 1000
const MOST_FILES = 20_000
const IS_INFO = /\.info\.json$/i
const HAS_ENDING = /\.(?:db|sqlite3?|json|zip|sql|list|rdb|ya?ml|tar\.gz|tgz)$/i
/** As Python names a shelf, and YTPTube its list of downloads. */
const WITHOUT_ENDING = new Set(['completed', 'completed.dat', 'completed.pag', 'archive.log'])
/** Possible names of catalogs: films and their information files are not listed. */
export const mayBeOne = (name: string): boolean =>
  (HAS_ENDING.test(name) && !IS_INFO.test(name)) || WITHOUT_ENDING.has(name)

/** Absolute paths, first those in the place. @param at  a catalog in another folder, if given */
export function filesNear(place: string, roots: readonly string[], at?: string): string[] {
  const outer = dirname(place)
  const isAllowed = allowed(roots)
  const found = new Set(filesBelow(place, isAllowed))
  const others = at === undefined ? [outer] : [outer, dirname(at)]
  for (const folder of others)
    if (folder !== place && isAllowed(folder)) for (const file of filesBelow(folder, isAllowed, place)) found.add(file)
  return [...found]
}

/** Sizes and times of all files that a catalog of the place would be read from. */
export function stampNear(place: string, roots: readonly string[]): string {
  const found = filesNear(place, roots)
  const files = new Set(CATALOG_KINDS.flatMap((kind) => [...kind.find(found), ...(kind.beside?.(found) ?? [])]))
  return [...files]
    .flatMap((path) => [path, `${path}-wal`])
    .map((path) => `${path} ${orWhereAbsent(() => stampOf(path), '')}`)
    .join('\n')
}

function filesBelow(top: string, isAllowed: (path: string) => boolean, but?: string): string[] {
  const files: string[] = []
  const folders = [{ path: top, depth: 0 }]
  for (let at = 0; at < folders.length && at < MOST_FOLDERS && files.length < MOST_FILES; at++) {
    const { path, depth } = folders[at]!
    // The scan of the place reports unreadable folders.
    for (const entry of orWhereAbsent(() => readdirSync(path, { withFileTypes: true }), [])) {
      const inner = `${path}/${entry.name}`
      if (entry.isFile() && mayBeOne(entry.name)) files.push(inner)
      else if (entry.isDirectory() && depth < DEEPEST && inner !== but && isAllowed(inner))
        folders.push({ path: inner, depth: depth + 1 })
    }
  }
  return files
}
