/** Names of files in a place and beside it: catalogs lie there, often in hidden folders. */
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
/** What a catalog may be called: films are not listed, nor the information file that each of them may have. */
export const mayBeOne = (name: string): boolean => HAS_ENDING.test(name) && !IS_INFO.test(name)

/** Absolute paths; those in the place come first. @param at  a catalog that lies elsewhere, perhaps */
export function filesNear(place: string, roots: readonly string[], at?: string): string[] {
  const outer = dirname(place)
  const isAllowed = allowed(roots)
  const found = new Set(filesBelow(place, isAllowed))
  const others = at === undefined ? [outer] : [outer, dirname(at)]
  for (const folder of others)
    if (folder !== place && isAllowed(folder)) for (const file of filesBelow(folder, isAllowed, place)) found.add(file)
  return [...found]
}

/** Sizes and times of all that a catalog of the place would be read from. */
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
    // The walk of the place tells of folders that cannot be read.
    for (const entry of orWhereAbsent(() => readdirSync(path, { withFileTypes: true }), [])) {
      const inner = `${path}/${entry.name}`
      if (entry.isFile() && mayBeOne(entry.name)) files.push(inner)
      else if (entry.isDirectory() && depth < DEEPEST && inner !== but && isAllowed(inner))
        folders.push({ path: inner, depth: depth + 1 })
    }
  }
  return files
}
