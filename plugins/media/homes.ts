/** The channels' folders in the library, and moving files into them. A folder may be a link to another disk. */
import { constants, copyFile, lstat, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { errors, say } from 'archivolt'
import { exists, isElsewhere, isFull, isMissing, isOneOf, makeFolder, removeEmpty, sync } from './files.ts'
import type { Paths } from './paths.ts'

export const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, resolve(path))
  return way !== '' && !way.startsWith(`..${sep}`) && way !== '..'
}

export type Homes = ReturnType<typeof openHomes>

export function openHomes(paths: Paths) {
  /** @returns the kind of the channel's folder, or a sentence about its fault */
  async function inspect(channelId: string): Promise<'none' | 'folder' | 'link' | { fault: string }> {
    const path = paths.channelFolder(channelId)
    const fault = (what: string) => ({ fault: `The folder of the channel ${channelId} in the library ${what}` })
    try {
      const found = await lstat(path)
      if (found.isDirectory()) return 'folder'
      if (!found.isSymbolicLink()) return fault('cannot be used: a file is in its place; move it away')
    } catch (thrown) {
      if (isMissing(thrown)) return 'none'
      throw thrown
    }
    try {
      return (await stat(path)).isDirectory() ? 'link' : fault('is a link to a file: make it a link to a folder')
    } catch (thrown) {
      if (isOneOf(thrown, 'ELOOP')) return fault('is a link that leads to itself: remove it')
      if (isMissing(thrown)) return fault('is a broken link: connect its disk, or remove the link')
      throw thrown
    }
  }

  /** @throws the fault of the folder: files that seem to be missing while a disk is offline may still exist */
  async function reach(channelId: string, raise = errors.unavailable): Promise<'none' | 'folder' | 'link'> {
    const found = await inspect(channelId)
    if (typeof found === 'object') throw raise(found.fault)
    return found
  }

  async function make(channelId: string, raise = errors.unavailable): Promise<string> {
    const home = paths.channelFolder(channelId)
    const found = await reach(channelId, raise)
    if (found === 'none' && (await makeFolder(home))) await sync(paths.mediaDir)
    return home
  }

  /**
   * Renames the file. If the destination is on another disk, makes a complete copy first, renames that, and removes the
   * source last.
   */
  async function move(from: string, channelId: string, name: string): Promise<void> {
    const to = join(paths.channelFolder(channelId), name)
    try {
      return await rename(from, to)
    } catch (thrown) {
      if (!isElsewhere(thrown)) throw thrown
    }
    const beside = paths.stagingIn(channelId)
    const copy = join(beside, name)
    await makeFolder(beside)
    try {
      await copyFile(from, copy, constants.COPYFILE_FICLONE)
      await sync(copy)
      await rename(copy, to)
      await sync(dirname(to))
    } catch (cause) {
      await rm(copy, { force: true })
      throw isFull(cause)
        ? errors.unavailable("There is not enough space on the disk of its channel's folder", { cause })
        : cause
    }
    await rm(from)
    await removeEmpty(beside)
  }

  /** Moves a file from staging into the library. A repeated call finds the file there. */
  async function adopt(from: string, channelId: string, name: string): Promise<void> {
    const to = join(paths.channelFolder(channelId), name)
    if (resolve(from) === to) {
      if (!(await exists(to))) throw errors.unprocessable(say`${{ name }} is not in the library`)
      return
    }
    // Allowed: staged files, and those that the bin holds.
    if (!isBelow(paths.mediaDir, from)) throw new Error('only files on the library’s disk are adopted')
    try {
      await sync(from)
    } catch (thrown) {
      if (isMissing(thrown) && (await exists(to))) return
      if (isMissing(thrown)) throw errors.unprocessable(say`${{ name }} is neither in staging nor in the library`)
      throw thrown
    }
    await move(from, channelId, name)
    await sync(dirname(from))
  }

  return { reach, make, move, adopt }
}
