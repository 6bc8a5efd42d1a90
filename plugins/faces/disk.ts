/**
 * The file operations of a face, all synchronous, for its worker. Each file is written under a temporary name and
 * renamed, or linked in one step, so that a media server never finds an incomplete file. Only files that a face has
 * created are replaced or removed.
 */
import { randomUUID } from 'node:crypto'
import {
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { markOf } from './mark.ts'
import type { LinkKind } from './types.ts'

/** The prefix of temporary names; media servers ignore names that begin with a dot. */
const PART = '.archivolt-part-'
export const temporaryPart = (path: string): string => join(dirname(path), `${PART}${randomUUID()}`)

export const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code)
const isAbsent = (thrown: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(thrown))
/** Error codes after which another kind of link may work. */
const CANNOT = ['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL', 'ENOTTY', 'EBADF']

function orAbsent<Result>(work: () => Result): Result | undefined {
  try {
    return work()
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined
    throw thrown
  }
}

/**
 * The state of a path on disk: `inode:bytes:time`, or `@` and the target of a symbolic link; undefined: the path does
 * not exist.
 */
export function stateOf(path: string): string | undefined {
  const stats = orAbsent(() => lstatSync(path, { throwIfNoEntry: false }))
  if (!stats) return undefined
  return stats.isSymbolicLink() ? `@${readlinkSync(path)}` : `${stats.ino}:${stats.size}:${Math.floor(stats.mtimeMs)}`
}

const inodeOf = (seen: string): string => seen.split(':', 1)[0]!

/** Whether a file is still the same as before. @param isWritten  also compares size and time */
export const isSame = (now: string, seen: string, isWritten: boolean): boolean =>
  isWritten || now.startsWith('@') ? now === seen : inodeOf(now) === inodeOf(seen)

/** Whether a file contains this text. @param mark  the mark of the text */
export const hasText = (path: string, mark: string): boolean =>
  orAbsent(() => lstatSync(path).isFile() && markOf(readFileSync(path)) === mark) === true

/** Whether a path is already a link to this file. */
export function leadsTo(path: string, from: string): boolean {
  const [there, source] = [stateOf(path), stateOf(from)]
  return there !== undefined && source !== undefined && (there === `@${from}` || inodeOf(there) === inodeOf(source))
}

/** Calls `make` with a temporary name next to the path, and then removes that name. */
function beside(path: string, make: (part: string) => void): void {
  const part = temporaryPart(path)
  try {
    make(part)
    renameSync(part, path)
  } catch (thrown) {
    orAbsent(() => unlinkSync(part))
    throw thrown
  }
}

export const writeText = (path: string, text: string): void => beside(path, (part) => writeFileSync(part, text))

const WAYS: Record<LinkKind | 'copy', (from: string, to: string) => void> = {
  hard: linkSync,
  reflink: (from, to) => copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE),
  symbolic: (from, to) => symlinkSync(from, to),
  copy: (from, to) => copyFileSync(from, to, constants.COPYFILE_FICLONE),
}
/**
 * The kinds of links to try, in order. Pictures are small, and often in a folder that media servers cannot access, so
 * they are copied if they cannot be linked.
 */
const ORDERS = {
  film: ['hard', 'reflink', 'symbolic'],
  'film of a place': ['symbolic'],
  picture: ['hard', 'reflink', 'copy'],
} as const satisfies Record<string, ReadonlyArray<LinkKind | 'copy'>>
export type Linked = keyof typeof ORDERS

/** The error if no kind of link works. */
class NoLink extends Error {
  readonly code = 'NOLINK'
}

/** The kind of link that worked first, by source folder. */
const worked = new Map<string, LinkKind | 'copy'>()

/** @throws NoLink: no kind of link works; its message is the last error. Otherwise the error of the disk */
export function linkFile(from: string, path: string, what: Linked): LinkKind | 'copy' {
  const there = stateOf(path)
  const isFree = there === undefined
  // After a kill, the link may already exist. A rename onto a link to the same file would leave the temporary name.
  if (there !== undefined && what !== 'film of a place' && inodeOf(there) === inodeOf(stateOf(from) ?? ''))
    return 'hard'
  const key = `${what} ${dirname(from)}`
  const first = worked.get(key)
  let refusal = ''
  for (const way of ORDERS[what].toSorted((one, other) => Number(other === first) - Number(one === first))) {
    try {
      if (isFree && (way === 'hard' || way === 'symbolic')) WAYS[way](from, path)
      else beside(path, (part) => WAYS[way](from, part))
      worked.set(key, way)
      return way
    } catch (thrown) {
      refusal = codeOf(thrown)
      if (!CANNOT.includes(refusal)) throw thrown
    }
  }
  throw new NoLink(refusal)
}

const entriesOf = (folder: string): string[] => orAbsent(() => readdirSync(folder)) ?? []

export const namesIn = (folder: string): Set<string> => new Set(entriesOf(folder).map((name) => name.normalize('NFC')))

/** Removes temporary files of a render that was killed. Must not run while files are being created. */
export function sweep(folder: string): void {
  for (const name of entriesOf(folder)) if (name.startsWith(PART)) orAbsent(() => unlinkSync(join(folder, name)))
}

export const makeFolder = (folder: string): unknown => mkdirSync(folder, { recursive: true })

export const rename = (from: string, to: string): void => renameSync(from, to)

/**
 * @param seen  null: the file was about to be created
 * @param isWritten  another program may have changed the file; it is removed anyway, like the video that it describes
 * @returns false: the path has another file, which stays
 */
export function removeOwn(path: string, seen: string | null, isWritten: boolean): boolean {
  const now = stateOf(path)
  if (now === undefined) return true
  if (seen !== null && !isWritten && !isSame(now, seen, false)) return false
  orAbsent(() => unlinkSync(path))
  return true
}

/** Removes empty folders, from this one up to the root, which stays. */
export function removeEmpty(root: string, folder: string): void {
  for (let at = folder; at.length > root.length; at = dirname(at)) {
    try {
      rmdirSync(at)
    } catch (thrown) {
      if (!isAbsent(thrown)) return
    }
  }
}
