/** The library on disk: staged files adopted by rename, removed files trashed by rename and put back when a removal fails. */
import { mkdir, open, readdir, rename, rm, rmdir, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'
import { errors } from 'archivolt'
import { isId, mediaName, subtitleName, type Paths } from './paths.ts'
import type { Media } from './types.ts'

type Library = Pick<Media, 'staging' | 'clearStaging' | 'adopt' | 'trash' | 'putBack' | 'emptyTrash' | 'space'> & {
  /** Names of the folders in staging and in the trash: video ids, and job ids. */
  staged(): Promise<string[]>
  trashed(): Promise<string[]>
}

const isOneOf = (thrown: unknown, ...codes: string[]): boolean => codes.includes(String((thrown as NodeJS.ErrnoException | null)?.code))
/** Also where a file stands in the place of a folder, or a link leads to itself: no file can be at such a path. */
export const isMissing = (thrown: unknown): boolean => isOneOf(thrown, 'ENOENT', 'ENOTDIR', 'ELOOP', 'ENAMETOOLONG')
const isExisting = (thrown: unknown): boolean => isOneOf(thrown, 'EEXIST', 'ENOTEMPTY')

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

  /** From staging into the library; a second time it finds the file in its place. */
  async function adoptFile(from: string, to: string): Promise<void> {
    if (resolve(from) === to) {
      if (!(await exists(to))) throw errors.unprocessable(`${basename(to)} is not in the library`)
      return
    }
    if (!isBelow(stagingDir, from)) throw new Error('only staged files are adopted')
    try {
      await sync(from)
    } catch (thrown) {
      if (isMissing(thrown) && (await exists(to))) return
      if (isMissing(thrown)) throw errors.unprocessable(`${basename(to)} is neither in staging nor in the library`)
      throw thrown
    }
    await rename(from, to)
    await sync(dirname(from))
  }

  async function putBack(jobId: string): Promise<void> {
    const trash = paths.trashOf(jobId)
    // File servers put folders of their own beside those of channels.
    for (const channelId of (await namesIn(trash)).filter(isId)) {
      const home = paths.channelFolder(channelId)
      await mkdir(home, { recursive: true })
      for (const name of await namesIn(join(trash, channelId))) {
        if (!(await exists(join(home, name)))) await move(join(trash, channelId, name), join(home, name))
      }
      await sync(home)
    }
    await rm(trash, { recursive: true, force: true })
  }

  async function trashFiles(trash: string, channelId: string, isMeant: (name: string) => boolean): Promise<void> {
    const home = paths.channelFolder(channelId)
    const names = (await namesIn(home)).filter(isMeant)
    if (names.length === 0) return
    await mkdir(join(trash, channelId), { recursive: true })
    for (const name of names) await move(join(home, name), join(trash, channelId, name))
    await sync(home)
  }

  async function trashFolder(trash: string, channelId: string): Promise<void> {
    await mkdir(trash, { recursive: true })
    try {
      await move(paths.channelFolder(channelId), join(trash, channelId))
    } catch (thrown) {
      // An interrupted run has trashed it before, and files have come since.
      if (!isExisting(thrown)) throw thrown
      await trashFiles(trash, channelId, () => true)
      await rmdir(paths.channelFolder(channelId))
    }
    await sync(mediaDir)
  }

  return {
    async staging(videoId) {
      const folder = paths.stagingOf(videoId)
      await mkdir(folder, { recursive: true })
      return folder
    },

    async clearStaging(videoId) {
      await rm(paths.stagingOf(videoId), { recursive: true, force: true })
    },

    async adopt(channelId, videoId, files) {
      const home = paths.channelFolder(channelId)
      if ((await mkdir(home, { recursive: true })) !== undefined) await sync(mediaDir)
      // The film first: cut off in between, it is found by a rescan, and subtitles without a film would lie there for ever.
      await adoptFile(files.mediaPath, join(home, mediaName(videoId)))
      for (const { lang, path } of files.subtitles) await adoptFile(path, join(home, subtitleName(videoId, lang)))
      await sync(home)
    },

    async trash(jobId, what) {
      const trash = paths.trashOf(jobId)
      try {
        if ('channelFolder' in what) await trashFolder(trash, what.channelFolder)
        // No id has a dot: whatever begins with the id and one is this video's.
        else await trashFiles(trash, what.channelId, (name) => name.startsWith(`${what.videoId}.`))
      } catch (thrown) {
        // What cannot be put back either stays in the trash of a job that failed: the next start puts it back.
        const cause = await putBack(jobId).then(() => thrown, (second: unknown) => new AggregateError([thrown, second]))
        throw errors.unavailable('A media file could not be moved; check the permissions of the media folder and try again', { cause })
      }
    },

    putBack,

    async emptyTrash(jobId) {
      await rm(paths.trashOf(jobId), { recursive: true, force: true, maxRetries: 3 })
    },

    async space() {
      const disk = await statfs(mediaDir)
      return { free: disk.bavail * disk.bsize, total: disk.blocks * disk.bsize }
    },

    staged: () => namesIn(stagingDir),
    trashed: () => namesIn(trashDir),
  }
}
