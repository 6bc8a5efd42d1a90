/**
 * Files of a face on its disk. Whatever is made is made beside and renamed, or linked in one step: a server never finds
 * half a file. Only what a face has made itself is ever replaced or removed.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import {
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { errors, say } from 'archivolt'
import type { LinkKind } from './types.ts'

/** Beside what it becomes; servers pass over names that begin with a dot. */
const PART = '.archivolt-part-'
const isPart = (name: string): boolean => name.startsWith(PART)

export const codeOf = (thrown: unknown): string => String((thrown as NodeJS.ErrnoException | null)?.code)
const isAbsent = (thrown: unknown): boolean => ['ENOENT', 'ENOTDIR'].includes(codeOf(thrown))
/** This kind of link does not work here: another one may. */
const CANNOT = ['EXDEV', 'EPERM', 'EACCES', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK', 'EINVAL', 'ENOTTY', 'EBADF']

async function orAbsent<Result>(work: Promise<Result>): Promise<Result | undefined> {
  try {
    return await work
  } catch (thrown) {
    if (isAbsent(thrown)) return undefined
    throw thrown
  }
}

const seenOf = ({ ino, size, mtimeMs }: Stats): string => `${ino}:${size}:${Math.floor(mtimeMs)}`
/** Bytes and time of a film are its own business: it is the same file as in the library. */
const inodeOf = (seen: string): string => seen.split(':')[0]!

/** What the disk has at a path, in the form of `seen`; undefined: nothing. */
export async function look(path: string): Promise<string | undefined> {
  const stats = await orAbsent(lstat(path))
  if (!stats) return undefined
  return stats.isSymbolicLink() ? `@${await readlink(path)}` : seenOf(stats)
}

/** Whether what lies there is what was left there. @param isText  also its bytes, as far as size and time tell */
export const isSame = (now: string, seen: string, isText: boolean): boolean =>
  isText || now.startsWith('@') ? now === seen : inodeOf(now) === inodeOf(seen)

export async function isText(path: string, text: string): Promise<boolean> {
  const stats = await orAbsent(lstat(path))
  return stats?.isFile() === true && stats.size === Buffer.byteLength(text) && (await readFile(path, 'utf8')) === text
}

/** Whether a path is a link to this film already. */
export async function leadsTo(path: string, from: string): Promise<boolean> {
  const [there, film] = await Promise.all([look(path), orAbsent(lstat(from))])
  return there !== undefined && film !== undefined && (there === `@${from}` || inodeOf(there) === String(film.ino))
}

/** A name beside, gone again when the work is done. */
async function beside(path: string, make: (part: string) => Promise<void>): Promise<void> {
  const part = join(dirname(path), `${PART}${randomUUID()}`)
  try {
    await make(part)
    await rename(part, path)
  } finally {
    await orAbsent(unlink(part))
  }
}

export const writeText = (path: string, text: string): Promise<void> => beside(path, (part) => writeFile(part, text))

/** @param make  is given a path with this ending to write to */
export const writeMade = (path: string, make: (part: string) => Promise<void>): Promise<void> => beside(path, make)

const WAYS: Record<LinkKind | 'copy', (from: string, to: string) => Promise<void>> = {
  hard: link,
  reflink: (from, to) => copyFile(from, to, constants.COPYFILE_FICLONE_FORCE),
  symbolic: (from, to) => symlink(from, to),
  copy: (from, to) => copyFile(from, to, constants.COPYFILE_FICLONE),
}

/** By the first way that works here, kept for the folder that the film comes from. */
export function openLinks() {
  const known = new Map<string, LinkKind | 'copy'>()

  /** @throws unprocessable: no way works, and why; the disk's own error */
  async function place<Way extends LinkKind | 'copy'>(from: string, path: string, ways: readonly Way[]): Promise<Way> {
    const isFree = (await look(path)) === undefined
    const key = `${dirname(from)} ${ways[0]}`
    const first = known.get(key)
    const order = [...ways].sort((one, other) => Number(other === first) - Number(one === first))
    let refusal: unknown
    for (const way of order) {
      try {
        const isOneStep = way === 'hard' || way === 'symbolic'
        if (isFree && isOneStep) await WAYS[way](from, path)
        else await beside(path, (part) => WAYS[way](from, part))
        known.set(key, way)
        return way
      } catch (thrown) {
        if (!CANNOT.includes(codeOf(thrown))) throw thrown
        refusal = thrown
      }
    }
    throw errors.unprocessable(
      say`The file system of this folder takes no links to the library (${{ code: codeOf(refusal) }}): choose a folder on the library’s disk`,
      { cause: refusal },
    )
  }

  return {
    film: (from: string, path: string, isSoft: boolean): Promise<LinkKind> =>
      place(from, path, isSoft ? ['symbolic'] : ['hard', 'reflink', 'symbolic']),
    /** Small, and in a folder that servers often cannot see: copied where it cannot be linked. */
    picture: (from: string, path: string): Promise<LinkKind | 'copy'> => place(from, path, ['hard', 'reflink', 'copy']),
  }
}
export type Links = ReturnType<typeof openLinks>

/** Names in folders, read once each; leftovers of a killed render go on the way. */
export function openListings() {
  const listed = new Map<string, Promise<Set<string>>>()
  async function list(folder: string): Promise<Set<string>> {
    const names = (await orAbsent(readdir(folder))) ?? []
    for (const name of names.filter(isPart)) await orAbsent(unlink(join(folder, name)))
    return new Set(names.map((name) => name.normalize('NFC')))
  }
  return {
    async has(path: string): Promise<boolean> {
      const folder = dirname(path)
      const found = listed.get(folder) ?? list(folder)
      listed.set(folder, found)
      return (await found).has(path.slice(folder.length + 1))
    },
  }
}
export type Listings = ReturnType<typeof openListings>

export const makeFolder = (folder: string): Promise<unknown> => mkdir(folder, { recursive: true })

/** @returns false: something else lies there, and stays */
export async function removeOwn(path: string, seen: string | null, isOfText: boolean): Promise<boolean> {
  const now = await look(path)
  if (now === undefined) return true
  // A server may have written into a text of ours; it goes all the same, as what it describes goes.
  if (seen !== null && !isSame(now, seen, false) && !isOfText) return false
  await orAbsent(unlink(path))
  return true
}

/** Folders that are empty now go, up to the root. */
export async function removeEmpty(root: string, folder: string): Promise<void> {
  for (let at = folder; at.length > root.length; at = dirname(at)) {
    try {
      await rmdir(at)
    } catch (thrown) {
      if (!isAbsent(thrown)) return
    }
  }
}
