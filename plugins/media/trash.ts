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

export class Trash {
  readonly #paths: Paths
  readonly #homes: Homes
  readonly #roomPath: string
  /** Jobs whose trash lies in folders of channels: as this process has made or found it. */
  readonly #trashedIn = new Map<string, Set<string>>()

  constructor(paths: Paths, homes: Homes) {
    this.#paths = paths
    this.#homes = homes
    this.#roomPath = join(paths.mediaDir, ROOM)
  }

  async take(...[jobId, what]: Parameters<Media['trash']>): Promise<void> {
    const channelId = 'channelFolder' in what ? what.channelFolder : what.channelId
    const found = await this.#homes.look(channelId)
    if (typeof found === 'object') throw errors.unavailable(found.fault)
    try {
      await this.#withRoom(() =>
        'channelFolder' in what
          ? this.#takeFolder(jobId, channelId, found === 'link')
          : // No id has a dot: whatever begins with the id and one is this video's.
            this.#takeFiles(jobId, channelId, (name) => name.startsWith(`${what.videoId}.`)),
      )
    } catch (thrown) {
      // What cannot be put back either stays in the trash of a job that failed: the next start puts it back.
      const cause = await this.putBack(jobId).then(
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
  async setAside(trashId: string, channelId: string, film: string): Promise<void> {
    try {
      const common = join(this.#paths.trashOf(trashId), channelId)
      if (await keepBeside(film, common)) return
      await removeEmpty(common)
      await removeEmpty(this.#paths.trashOf(trashId))
      this.#note(trashId, channelId)
      await keepBeside(film, join(this.#paths.trashIn(channelId), trashId), { byCopy: true })
    } catch (cause) {
      await this.empty(trashId)
      throw isFull(cause) ? errors.unavailable('There is no room to keep the old file for a day', { cause }) : cause
    }
  }

  async putBack(jobId: string): Promise<void> {
    for (const { channelId, folder } of await this.#foldersOf(jobId)) {
      const home = await this.#homes.make(channelId)
      for (const name of await namesIn(folder)) {
        if (!(await exists(join(home, name))) && (await exists(join(folder, name))))
          await this.#homes.place(join(folder, name), channelId, name)
      }
      await sync(home)
    }
    await this.empty(jobId)
  }

  async empty(jobId: string): Promise<void> {
    for (const { channelId, folder } of await this.#foldersOf(jobId)) {
      await rm(folder, { recursive: true, force: true, maxRetries: 3 })
      if (folder.startsWith(this.#paths.trashIn(channelId))) await removeEmpty(this.#paths.trashIn(channelId))
    }
    await rm(this.#paths.trashOf(jobId), { recursive: true, force: true, maxRetries: 3 })
    this.#trashedIn.delete(jobId)
  }

  /**
   * Ids of the jobs that have some. Copies that were cut off are cleared away on the way.
   * @param skip  told of a channel's folder that cannot be looked into
   */
  async jobs(skip: (channelId: string, err: unknown) => void): Promise<string[]> {
    const channels = (await namesIn(this.#paths.mediaDir)).filter(isId)
    const lookInto = async (channelId: string) => {
      for (const jobId of (await namesIn(this.#paths.trashIn(channelId))).filter(isId)) this.#note(jobId, channelId)
      if (await exists(this.#paths.stagingIn(channelId)))
        await rm(this.#paths.stagingIn(channelId), { recursive: true })
    }
    for (const some of chunksOf(channels, STEP))
      await Promise.all(some.map((channelId) => lookInto(channelId).catch((err: unknown) => skip(channelId, err))))
    return [...new Set([...(await namesIn(this.#paths.trashDir)), ...this.#trashedIn.keys()])]
  }

  async videosIn(jobId: string): Promise<string[]> {
    const names = await Promise.all((await this.#foldersOf(jobId)).map(({ folder }) => namesIn(folder)))
    return [...new Set(names.flat().map((name) => name.split('.', 1)[0]!))].filter(isId)
  }

  /** Keeps the room that a removal needs where the disk is full; nothing where it is there, or is full already. */
  async keepRoom(): Promise<void> {
    if (await exists(this.#roomPath)) return
    try {
      // Random: a disk that compresses would keep no room for zeros.
      await writeFile(this.#roomPath, randomBytes(ROOM_BYTES), { flag: 'wx' })
    } catch (thrown) {
      await rm(this.#roomPath, { force: true })
      if (!isFull(thrown)) throw thrown
    }
  }

  /** What a full disk does not take is tried once more with the room that was kept for it. */
  async #withRoom(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      // Making a folder with its parents says only that the parent is not there.
      if (
        !(isFull(thrown) || (await diskSpace(this.#paths.mediaDir)).free < LITTLE_BYTES) ||
        !(await exists(this.#roomPath))
      )
        throw thrown
      await rm(this.#roomPath, { force: true })
      await work()
    }
  }

  async #takeFiles(jobId: string, channelId: string, isMeant: (name: string) => boolean): Promise<void> {
    const home = this.#paths.channelFolder(channelId)
    const own = join(this.#paths.trashIn(channelId), jobId)
    const hasOwn = await exists(own) // made by an earlier run
    if (hasOwn) this.#note(jobId, channelId)
    const names = (await namesIn(home)).filter((name) => !OURS.has(name) && isMeant(name))
    if (names.length === 0) return
    let trash = hasOwn ? own : join(this.#paths.trashOf(jobId), channelId)
    await mkdir(trash, { recursive: true })
    for (const name of names) {
      try {
        await move(join(home, name), join(trash, name))
      } catch (thrown) {
        if (!isElsewhere(thrown) || trash === own) throw thrown
        trash = own
        await mkdir(trash, { recursive: true })
        this.#note(jobId, channelId)
        await move(join(home, name), join(trash, name))
      }
    }
    await sync(home)
  }

  async #takeFolder(jobId: string, channelId: string, isLink: boolean): Promise<void> {
    // What a link leads to is the channel's; the link itself, which people have set, stays for what comes later.
    if (isLink) return this.#takeFiles(jobId, channelId, () => true)
    const trash = this.#paths.trashOf(jobId)
    await mkdir(trash, { recursive: true })
    try {
      await move(this.#paths.channelFolder(channelId), join(trash, channelId))
    } catch (thrown) {
      if (isElsewhere(thrown)) return this.#takeFiles(jobId, channelId, () => true)
      // An interrupted run has trashed it before, and files have come since.
      if (!isExisting(thrown)) throw thrown
      await this.#takeFiles(jobId, channelId, () => true)
      await rmdir(this.#paths.channelFolder(channelId))
    }
    await sync(this.#paths.mediaDir)
  }

  /** All trash of a job, each as the folder of one channel. */
  async #foldersOf(jobId: string): Promise<Array<{ channelId: string; folder: string }>> {
    // File servers put folders of their own beside those of channels.
    const common = (await namesIn(this.#paths.trashOf(jobId))).filter(isId)
    const own = [...(this.#trashedIn.get(jobId) ?? [])]
    return [
      ...common.map((channelId) => ({ channelId, folder: join(this.#paths.trashOf(jobId), channelId) })),
      ...own.map((channelId) => ({ channelId, folder: join(this.#paths.trashIn(channelId), jobId) })),
    ]
  }

  #note(jobId: string, channelId: string): void {
    this.#trashedIn.set(jobId, (this.#trashedIn.get(jobId) ?? new Set()).add(channelId))
  }
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
