/**
 * The library on disk: staged files adopted by rename, removed files trashed by rename and put back when a removal
 * fails.
 * A channel's folder may lie on another disk: then files come by a copy, and its trash is a hidden folder in it.
 */
import { randomBytes } from 'node:crypto'
import {
  constants,
  copyFile,
  link,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  stat,
  writeFile,
} from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { diskSpace, errors, isId, say } from 'archivolt'
import { ownEndingOf } from './containers.ts'
import { isOneOf } from './files.ts'
import { mediaName, type Paths, subtitleName } from './paths.ts'
import type { Media } from './types.ts'

export type Library = Pick<
  Media,
  'staging' | 'clearStaging' | 'adopt' | 'moveInto' | 'trash' | 'putBack' | 'emptyTrash' | 'space'
> & {
  /** A second name in the trash for a film, or a copy; it stays where it is. */
  setAside(trashId: string, channelId: string, film: string): Promise<void>
  /** Names of the folders in staging: video ids. */
  staged(): Promise<string[]>
  /**
   * Ids of the jobs that have a trash, in the library's or in a channel's own. Copies that were cut off are cleared
   * away on the way.
   * @param skip  told of a channel's folder that cannot be looked into
   */
  trashed(skip: (channelId: string, err: unknown) => void): Promise<string[]>
  /** Keeps the room that a removal needs where the disk is full; nothing where it is there, or is full already. */
  keepRoom(): Promise<void>
}

/** Also where a file stands in the place of a folder, or a link leads to itself: no file can be at such a path. */
export const isMissing = (thrown: unknown): boolean => isOneOf(thrown, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')
const isExisting = (thrown: unknown): boolean => isOneOf(thrown, 'EEXIST', 'ENOTEMPTY')
const isFull = (thrown: unknown): boolean => isOneOf(thrown, 'ENOSPC', 'EDQUOT')
/** Another file system; or the folder is where one begins. */
const isElsewhere = (thrown: unknown): boolean => isOneOf(thrown, 'EXDEV', 'EBUSY')
/** Hidden in a channel's folder, and no part of it. */
const OURS = new Set(['.staging', '.trash'])
/**
 * In the library's folder. A full disk takes not even the folders of the trash: removals, which make room, are given
 * this.
 */
const ROOM = '.archivolt-room'
const ROOM_BYTES = 1 << 20
const LITTLE_BYTES = 1 << 16
/** So many folders of channels are looked into at once. */
const STEP = 50

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
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder)
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw thrown
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (thrown) {
    if (isMissing(thrown)) return false
    throw thrown
  }
}

/** Where its parent is not there, nothing is made: it would be made on the wrong disk. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path)
    return true
  } catch (thrown) {
    if (isExisting(thrown)) return false
    throw thrown
  }
}

async function removeEmpty(folder: string): Promise<void> {
  try {
    await rmdir(folder)
  } catch (thrown) {
    if (!isMissing(thrown) && !isExisting(thrown)) throw thrown
  }
}

/** Moves one name; false: it is not there (any more). */
async function move(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (thrown) {
    if (isMissing(thrown) && !(await exists(from))) return false
    throw thrown
  }
}

const isBelow = (folder: string, path: string): boolean => {
  const way = relative(folder, resolve(path))
  return way !== '' && !way.startsWith(`..${sep}`) && way !== '..'
}

export function openLibrary(paths: Paths): Library {
  const { mediaDir, stagingDir, trashDir } = paths
  const roomPath = join(mediaDir, ROOM)
  /** Jobs whose trash lies in folders of channels: as this process has made or found it. */
  const trashedIn = new Map<string, Set<string>>()

  /** @returns what stands there, or what is wrong with it, for people */
  async function folderOf(channelId: string): Promise<'none' | 'folder' | 'link' | { fault: string }> {
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
      return (await stat(path)).isDirectory()
        ? 'link'
        : fault('is a link that leads to a file: let it lead to a folder')
    } catch (thrown) {
      if (isOneOf(thrown, 'ELOOP')) return fault('is a link that leads to itself: remove it')
      if (isMissing(thrown)) return fault('is a link that leads nowhere: connect its disk, or remove the link')
      throw thrown
    }
  }

  async function makeHome(channelId: string, raise = errors.unavailable): Promise<string> {
    const home = paths.channelFolder(channelId)
    const found = await folderOf(channelId)
    if (typeof found === 'object') throw raise(found.fault)
    if (found === 'none' && (await makeFolder(home))) await sync(mediaDir)
    return home
  }

  /** By rename; to another disk by a whole copy beside, and the source goes last. */
  async function place(from: string, channelId: string, name: string): Promise<void> {
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
        ? errors.unavailable("There is not enough room on the disk of its channel's folder", { cause })
        : cause
    }
    await rm(from)
    await removeEmpty(beside)
  }

  /** From staging into the library; a second time it finds the file in its place. */
  async function adoptFile(from: string, channelId: string, name: string): Promise<void> {
    const to = join(paths.channelFolder(channelId), name)
    if (resolve(from) === to) {
      if (!(await exists(to))) throw errors.unprocessable(say`${{ name }} is not in the library`)
      return
    }
    if (!isBelow(stagingDir, from)) throw new Error('only staged files are adopted')
    try {
      await sync(from)
    } catch (thrown) {
      if (isMissing(thrown) && (await exists(to))) return
      if (isMissing(thrown))
        throw errors.unprocessable(say`${{ name }} has been neither downloaded nor moved into the library`)
      throw thrown
    }
    await place(from, channelId, name)
    await sync(dirname(from))
  }

  /** All trash of a job, each as the folder of one channel. */
  async function trashesOf(jobId: string): Promise<Array<{ channelId: string; folder: string }>> {
    // File servers put folders of their own beside those of channels.
    const common = (await namesIn(paths.trashOf(jobId))).filter(isId)
    const own = [...(trashedIn.get(jobId) ?? [])]
    return [
      ...common.map((channelId) => ({ channelId, folder: join(paths.trashOf(jobId), channelId) })),
      ...own.map((channelId) => ({ channelId, folder: join(paths.trashIn(channelId), jobId) })),
    ]
  }

  async function putBack(jobId: string): Promise<void> {
    for (const { channelId, folder } of await trashesOf(jobId)) {
      const home = await makeHome(channelId)
      for (const name of await namesIn(folder)) {
        if (!(await exists(join(home, name))) && (await exists(join(folder, name))))
          await place(join(folder, name), channelId, name)
      }
      await sync(home)
    }
    await emptyTrash(jobId)
  }

  /** What a full disk does not take is tried once more with the room that was kept for it. */
  async function withRoom(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      // Making a folder with its parents says only that the parent is not there.
      if (!(isFull(thrown) || (await diskSpace(mediaDir)).free < LITTLE_BYTES) || !(await exists(roomPath)))
        throw thrown
      await rm(roomPath, { force: true })
      await work()
    }
  }

  async function keepRoom(): Promise<void> {
    if (await exists(roomPath)) return
    try {
      // Random: a disk that compresses would keep no room for zeros.
      await writeFile(roomPath, randomBytes(ROOM_BYTES), { flag: 'wx' })
    } catch (thrown) {
      await rm(roomPath, { force: true })
      if (!isFull(thrown)) throw thrown
    }
  }

  async function emptyTrash(jobId: string): Promise<void> {
    for (const { channelId, folder } of await trashesOf(jobId)) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      if (folder.startsWith(paths.trashIn(channelId))) await removeEmpty(paths.trashIn(channelId))
    }
    await rm(paths.trashOf(jobId), { recursive: true, force: true, maxRetries: 3 })
    trashedIn.delete(jobId)
  }

  /** @returns false: the folder lies on another disk. Never with `byCopy`: then it is on the film's own disk */
  async function keepBeside(film: string, folder: string, { byCopy = false } = {}): Promise<boolean> {
    await mkdir(folder, { recursive: true })
    const kept = join(folder, basename(film))
    try {
      await link(film, kept)
    } catch (thrown) {
      if (isMissing(thrown) || isExisting(thrown)) return true
      if (isElsewhere(thrown) && !byCopy) return false
      // The file system has no second names: half a copy is no film.
      await copyFile(film, `${kept}.part`, constants.COPYFILE_FICLONE)
      await rename(`${kept}.part`, kept)
    }
    await sync(folder)
    return true
  }

  const noteTrash = (jobId: string, channelId: string) =>
    trashedIn.set(jobId, (trashedIn.get(jobId) ?? new Set()).add(channelId))

  async function trashFiles(jobId: string, channelId: string, isMeant: (name: string) => boolean): Promise<void> {
    const home = paths.channelFolder(channelId)
    const own = join(paths.trashIn(channelId), jobId)
    const hasOwn = await exists(own) // made by an earlier run
    if (hasOwn) noteTrash(jobId, channelId)
    const names = (await namesIn(home)).filter((name) => !OURS.has(name) && isMeant(name))
    if (names.length === 0) return
    let trash = hasOwn ? own : join(paths.trashOf(jobId), channelId)
    await mkdir(trash, { recursive: true })
    for (const name of names) {
      try {
        await move(join(home, name), join(trash, name))
      } catch (thrown) {
        if (!isElsewhere(thrown) || trash === own) throw thrown
        trash = own
        await mkdir(trash, { recursive: true })
        noteTrash(jobId, channelId)
        await move(join(home, name), join(trash, name))
      }
    }
    await sync(home)
  }

  async function trashFolder(jobId: string, channelId: string, isLink: boolean): Promise<void> {
    // What a link leads to is the channel's; the link itself, which people have set, stays for what comes later.
    if (isLink) return trashFiles(jobId, channelId, () => true)
    const trash = paths.trashOf(jobId)
    await mkdir(trash, { recursive: true })
    try {
      await move(paths.channelFolder(channelId), join(trash, channelId))
    } catch (thrown) {
      if (isElsewhere(thrown)) return trashFiles(jobId, channelId, () => true)
      // An interrupted run has trashed it before, and files have come since.
      if (!isExisting(thrown)) throw thrown
      await trashFiles(jobId, channelId, () => true)
      await rmdir(paths.channelFolder(channelId))
    }
    await sync(mediaDir)
  }

  return {
    async staging(videoId) {
      await makeFolder(stagingDir)
      await makeFolder(paths.stagingOf(videoId))
      return paths.stagingOf(videoId)
    },

    async clearStaging(videoId) {
      await rm(paths.stagingOf(videoId), { recursive: true, force: true })
    },

    async adopt(channelId, videoId, files) {
      const home = await makeHome(channelId)
      // The film first: cut off in between, it is found by a rescan, and subtitles without a film would lie there for
      // ever.
      if (files.mediaPath !== undefined)
        await adoptFile(files.mediaPath, channelId, mediaName(videoId, ownEndingOf(files.mediaPath)))
      for (const { lang, path } of files.subtitles) await adoptFile(path, channelId, subtitleName(videoId, lang))
      await sync(home)
    },

    async setAside(trashId, channelId, film) {
      try {
        const common = join(paths.trashOf(trashId), channelId)
        if (await keepBeside(film, common)) return
        await removeEmpty(common)
        await removeEmpty(paths.trashOf(trashId))
        noteTrash(trashId, channelId)
        await keepBeside(film, join(paths.trashIn(channelId), trashId), { byCopy: true })
      } catch (cause) {
        await emptyTrash(trashId)
        throw isFull(cause) ? errors.unavailable('There is no room to keep the old file for a day', { cause }) : cause
      }
    },

    async moveInto(channelId, from) {
      if (!isBelow(mediaDir, from)) throw new Error('only files of the library are moved in it')
      const home = await makeHome(channelId, errors.unprocessable)
      await sync(from)
      await place(from, channelId, basename(from))
      await sync(home)
      await sync(dirname(from))
    },

    async trash(jobId, what) {
      const channelId = 'channelFolder' in what ? what.channelFolder : what.channelId
      const found = await folderOf(channelId)
      if (typeof found === 'object') throw errors.unavailable(found.fault)
      try {
        await withRoom(() =>
          'channelFolder' in what
            ? trashFolder(jobId, channelId, found === 'link')
            : // No id has a dot: whatever begins with the id and one is this video's.
              trashFiles(jobId, channelId, (name) => name.startsWith(`${what.videoId}.`)),
        )
      } catch (thrown) {
        // What cannot be put back either stays in the trash of a job that failed: the next start puts it back.
        const cause = await putBack(jobId).then(
          () => thrown,
          (second: unknown) => new AggregateError([thrown, second]),
        )
        throw errors.unavailable(
          'A media file could not be moved; check the permissions of the media folder and try again',
          { cause },
        )
      }
    },

    putBack,
    keepRoom,

    async emptyTrash(jobId) {
      await emptyTrash(jobId)
      await keepRoom()
    },

    async space(channelId) {
      const isOther = channelId !== undefined && (await exists(paths.channelFolder(channelId)))
      return diskSpace(isOther ? paths.channelFolder(channelId) : mediaDir)
    },

    staged: () => namesIn(stagingDir),

    async trashed(skip) {
      const channels = (await namesIn(mediaDir)).filter(isId)
      const lookInto = async (channelId: string) => {
        for (const jobId of (await namesIn(paths.trashIn(channelId))).filter(isId)) noteTrash(jobId, channelId)
        if (await exists(paths.stagingIn(channelId))) await rm(paths.stagingIn(channelId), { recursive: true })
      }
      for (let from = 0; from < channels.length; from += STEP) {
        await Promise.all(
          channels
            .slice(from, from + STEP)
            .map((channelId) => lookInto(channelId).catch((err: unknown) => skip(channelId, err))),
        )
      }
      return [...new Set([...(await namesIn(trashDir)), ...trashedIn.keys()])]
    },
  }
}
