/** File operations that distinguish a missing file from a failing disk, and survive a power cut. */
import type { Stats } from 'node:fs'
import { mkdir, open, readdir, rmdir, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type AppError, chunksOf, errors, inputPaths, say, type Words } from 'archivolt'

const TOGETHER = 16

/**
 * Works on several items concurrently, because each waits for the disk. Throws the first error after all have ended.
 */
export async function together<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  for (const some of chunksOf(items, TOGETHER))
    for (const ended of await Promise.allSettled(some.map(work))) if (ended.status === 'rejected') throw ended.reason
}

/** Whether an error of the file system has one of these codes. */
export const isOneOf = (thrown: unknown, ...codes: string[]): boolean =>
  codes.includes(String((thrown as NodeJS.ErrnoException | null)?.code))

/** The code of an error, for messages to people. */
export const codeOf = (thrown: unknown): string => (thrown as NodeJS.ErrnoException).code ?? 'unknown error'

/** Also true if a parent is a file, or a link leads to itself: no file can exist at such a path. */
export const isMissing = (thrown: unknown): boolean => isOneOf(thrown, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')
export const isExisting = (thrown: unknown): boolean => isOneOf(thrown, 'EEXIST', 'ENOTEMPTY')
export const isFull = (thrown: unknown): boolean => isOneOf(thrown, 'ENOSPC', 'EDQUOT')
/** The destination is on another file system, or the folder is a mount point. */
export const isElsewhere = (thrown: unknown): boolean => isOneOf(thrown, 'EXDEV', 'EBUSY')

/**
 * A disk that does not respond must not look empty: every error except "not found" is thrown.
 * @returns undefined: the file does not exist
 * @throws conflict: a link leads to itself
 */
export async function sizeOf(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).size
  } catch (thrown) {
    if (isOneOf(thrown, 'ENOENT', 'ENOTDIR')) return undefined
    if (isOneOf(thrown, 'ELOOP'))
      throw errors.conflict(
        say`A link in the library leads to itself: ${{ folder: basename(dirname(path)) }}, or ${{ name: basename(path) }} in it. Remove it`,
        { cause: thrown },
      )
    throw thrown
  }
}

/** Whether a program could not be started because it is missing. */
export const isNotInstalled = (thrown: unknown): boolean => isOneOf(thrown, 'ENOENT')

/** The disk as a whole fails, or lets nobody write. */
export const isRefusal = (thrown: unknown): boolean =>
  isFull(thrown) || isOneOf(thrown, 'EROFS', 'EACCES', 'EPERM', 'EIO', 'ESTALE')

/** How ffmpeg ends its lines about a full disk: in the words of the system, and in English everywhere. */
const NO_SPACE = /: (No space left on device|(Disk )?[Qq]uota exceeded)$/m

/** The error of a program that had no space for its output; undefined: it failed for another reason. */
export const lackOfSpace = (cause: unknown): AppError | undefined =>
  isFull(cause) || NO_SPACE.test((cause as Error).message)
    ? errors.unavailable('A disk of the server is full: free some space on it', { cause })
    : undefined

/**
 * The reason why ffmpeg or ffprobe failed. A missing input differs from a damaged one: its disk may be offline, and the
 * same work may succeed later.
 */
export async function programFailure(args: readonly string[], words: Words, cause: unknown): Promise<AppError> {
  for (const path of inputPaths(args))
    if ((await sizeOf(path)) === undefined) return errors.unavailable('The file is missing', { cause })
  return lackOfSpace(cause) ?? errors.unprocessable(words, { cause })
}

/** Syncs a file's content, or a folder's names, to disk. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** The names in a folder; none if the folder does not exist. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw thrown
  }
}

export const exists = async (path: string): Promise<boolean> => (await statsOf(path)) !== undefined

/** undefined: the file does not exist. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
}

/** Does not create missing parents, which could be on the wrong disk. */
export async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (thrown) {
    if (isExisting(thrown)) return false
    throw thrown
  }
}

export async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (thrown) {
    if (!isMissing(thrown) && !isExisting(thrown)) throw thrown
  }
}
