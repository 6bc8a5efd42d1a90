/** What is on a disk that may not answer, or may lose its power. */
import type { Stats } from 'node:fs'
import { mkdir, open, readdir, rmdir, stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { errors, say } from 'archivolt'

/** Whether an error of the file system has one of these codes. */
export const isOneOf = (thrown: unknown, ...codes: string[]): boolean =>
  codes.includes(String((thrown as NodeJS.ErrnoException | null)?.code))

/** Also where a file stands in the place of a folder, or a link leads to itself: no file can be at such a path. */
export const isMissing = (thrown: unknown): boolean => isOneOf(thrown, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')
export const isExisting = (thrown: unknown): boolean => isOneOf(thrown, 'EEXIST', 'ENOTEMPTY')
export const isFull = (thrown: unknown): boolean => isOneOf(thrown, 'ENOSPC', 'EDQUOT')
/** Another file system; or the folder is where one begins. */
export const isElsewhere = (thrown: unknown): boolean => isOneOf(thrown, 'EXDEV', 'EBUSY')

/**
 * A disk that does not answer is no disk without files: every error but "there is no such thing" is thrown.
 * @returns undefined: not there
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

/** Makes a file's bytes, or a folder's names, survive a power cut. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Names in a folder; none where the folder is not there. */
export async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw thrown
  }
}

export const exists = async (path: string): Promise<boolean> => (await statsOf(path)) !== undefined

/** undefined: there is nothing. */
export async function statsOf(path: string): Promise<Stats | undefined> {
  try {
    return await stat(path)
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
}

/** Where its parent is not there, nothing is made: it would be made on the wrong disk. */
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
