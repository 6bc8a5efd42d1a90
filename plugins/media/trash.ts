/**
 * Files that were removed, by rename, until their job has ended: then they go, or are put back. Those of a channel on
 * another disk lie in a hidden folder of the channel.
 */
import { randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { chunksOf, diskSpace, errors, isId } from 'archivolt'
import { exists, isElsewhere, isExisting, isFull, isMissing, namesIn, removeEmpty, sync } from './files.ts'
import type { Homes } from './homes.ts'
import type { Paths } from './paths.ts'
import type { Media } from './types.ts'

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

export type Trash = ReturnType<typeof openTrash>

export function openTrash(paths: Paths, homes: Homes) {
  const roomPath = join(paths.mediaDir, ROOM)
  /** Jobs whose trash lies in folders of channels: as this process has made or found it. */
  const trashedIn = new Map<string, Set<string>>()

  async function take(...[jobId, what]: Parameters<Media['trash']>): Promise<void> {
    const channelId = 'channelFolder' in what ? what.channelFolder : what.channelId
    const found = await homes.look(channelId)
    if (typeof found === 'object') throw errors.unavailable(found.fault)
    try {
      await withRoom(() =>
        'channelFolder' in what
          ? takeFolder(jobId, channelId, found === 'link')
          : // No id has a dot: whatever begins with the id and one is this video's.
            takeFiles(jobId, channelId, (name) => name.startsWith(`${what.videoId}.`)),
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
  }

  /** A second name for a film, or a copy; it stays where it is. */
  async function setAside(trashId: string, channelId: string, film: string): Promise<void> {
    try {
      const common = join(paths.trashOf(trashId), channelId)
      if (await keepBeside(film, common)) return
      await removeEmpty(common)
      await removeEmpty(paths.trashOf(trashId))
      note(trashId, channelId)
      await keepBeside(film, join(paths.trashIn(channelId), trashId), { byCopy: true })
    } catch (cause) {
      await empty(trashId)
      throw isFull(cause) ? errors.unavailable('There is no room to keep the old file for a day', { cause }) : cause
    }
  }

  async function putBack(jobId: string): Promise<void> {
    for (const { channelId, folder } of await foldersOf(jobId)) {
      const home = await homes.make(channelId)
      for (const name of await namesIn(folder)) {
        if (!(await exists(join(home, name))) && (await exists(join(folder, name))))
          await homes.place(join(folder, name), channelId, name)
      }
      await sync(home)
    }
    await empty(jobId)
  }

  async function empty(jobId: string): Promise<void> {
    for (const { channelId, folder } of await foldersOf(jobId)) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      if (folder.startsWith(paths.trashIn(channelId))) await removeEmpty(paths.trashIn(channelId))
    }
    await rm(paths.trashOf(jobId), { recursive: true, force: true, maxRetries: 3 })
    trashedIn.delete(jobId)
  }

  /**
   * Ids of the jobs that have some. Copies that were cut off are cleared away on the way.
   * @param skip  told of a channel's folder that cannot be looked into
   */
  async function jobs(skip: (channelId: string, err: unknown) => void): Promise<string[]> {
    const channels = (await namesIn(paths.mediaDir)).filter(isId)
    const lookInto = async (channelId: string) => {
      for (const jobId of (await namesIn(paths.trashIn(channelId))).filter(isId)) note(jobId, channelId)
      if (await exists(paths.stagingIn(channelId))) await rm(paths.stagingIn(channelId), { recursive: true })
    }
    for (const some of chunksOf(channels, STEP))
      await Promise.all(some.map((channelId) => lookInto(channelId).catch((err: unknown) => skip(channelId, err))))
    return [...new Set([...(await namesIn(paths.trashDir)), ...trashedIn.keys()])]
  }

  async function videosIn(jobId: string): Promise<string[]> {
    const names = await Promise.all((await foldersOf(jobId)).map(({ folder }) => namesIn(folder)))
    return [...new Set(names.flat().map((name) => name.split('.', 1)[0]!))].filter(isId)
  }

  /** Keeps the room that a removal needs where the disk is full; nothing where it is there, or is full already. */
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

  /** What a full disk does not take is tried once more with the room that was kept for it. */
  async function withRoom(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      // Making a folder with its parents says only that the parent is not there.
      if (!(isFull(thrown) || (await diskSpace(paths.mediaDir)).free < LITTLE_BYTES) || !(await exists(roomPath)))
        throw thrown
      await rm(roomPath, { force: true })
      await work()
    }
  }

  async function takeFiles(jobId: string, channelId: string, isMeant: (name: string) => boolean): Promise<void> {
    const home = paths.channelFolder(channelId)
    const own = join(paths.trashIn(channelId), jobId)
    const hasOwn = await exists(own) // made by an earlier run
    if (hasOwn) note(jobId, channelId)
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
        note(jobId, channelId)
        await move(join(home, name), join(trash, name))
      }
    }
    await sync(home)
  }

  async function takeFolder(jobId: string, channelId: string, isLink: boolean): Promise<void> {
    // What a link leads to is the channel's; the link itself, which people have set, stays for what comes later.
    if (isLink) return takeFiles(jobId, channelId, () => true)
    const trash = paths.trashOf(jobId)
    await mkdir(trash, { recursive: true })
    try {
      await move(paths.channelFolder(channelId), join(trash, channelId))
    } catch (thrown) {
      if (isElsewhere(thrown)) return takeFiles(jobId, channelId, () => true)
      // An interrupted run has trashed it before, and files have come since.
      if (!isExisting(thrown)) throw thrown
      await takeFiles(jobId, channelId, () => true)
      await rmdir(paths.channelFolder(channelId))
    }
    await sync(paths.mediaDir)
  }

  /** All trash of a job, each as the folder of one channel. */
  async function foldersOf(jobId: string): Promise<Array<{ channelId: string; folder: string }>> {
    // File servers put folders of their own beside those of channels.
    const common = (await namesIn(paths.trashOf(jobId))).filter(isId)
    const own = [...(trashedIn.get(jobId) ?? [])]
    return [
      ...common.map((channelId) => ({ channelId, folder: join(paths.trashOf(jobId), channelId) })),
      ...own.map((channelId) => ({ channelId, folder: join(paths.trashIn(channelId), jobId) })),
    ]
  }

  function note(jobId: string, channelId: string): void {
    trashedIn.set(jobId, (trashedIn.get(jobId) ?? new Set()).add(channelId))
  }

  return { take, setAside, putBack, empty, jobs, videosIn, keepRoom }
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
