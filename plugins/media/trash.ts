/**
 * The trash: removed files are renamed into it until their job ends, and are then deleted or put back. If a channel's
 * folder is on another disk, its trash is a hidden folder inside it.
 */
import { randomBytes } from 'node:crypto'
import { constants, copyFile, link, mkdir, rename, rm, rmdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { chunksOf, diskSpace, errors, isId } from 'archivolt'
import { exists, isElsewhere, isExisting, isFull, isMissing, namesIn, removeEmpty, sync, together } from './files.ts'
import type { Homes } from './homes.ts'
import { isRecord, type Paths } from './paths.ts'
import type { Homed, Media } from './types.ts'

/** Hidden folders of the program in a channel's folder. */
const OURS = new Set(['.staging', '.trash'])
/**
 * A reserve file in the library's folder. On a full disk not even the folders of the trash can be made, so a removal,
 * which frees space, may use this reserve.
 */
const ROOM = '.archivolt-room'
const ROOM_BYTES = 1 << 20
const LITTLE_BYTES = 1 << 16
/** Number of channel folders that are read concurrently. */
const STEP = 50

export type Trash = ReturnType<typeof openTrash>

export function openTrash(paths: Paths, homes: Homes) {
  const roomPath = join(paths.mediaDir, ROOM)
  /** The channels whose folders have trash, by job, as far as this process has created or found it. */
  const trashedIn = new Map<string, Set<string>>()

  async function take(...[jobId, what]: Parameters<Media['trash']>): Promise<void> {
    const channelIds = channelsOf(what)
    const isLink = new Map<string, boolean>()
    await together(channelIds, async (channelId) => {
      isLink.set(channelId, (await homes.reach(channelId)) === 'link')
    })
    try {
      await withRoom(() =>
        together(channelIds, (channelId) =>
          'channelFolder' in what
            ? takeFolder(jobId, channelId, isLink.get(channelId)!)
            : takeFiles(jobId, channelId, isOfAny(videosOf(what), channelId)),
        ),
      )
    } catch (thrown) {
      // Files that cannot be put back stay in the trash of the failed job, and the next start puts them back.
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

  /** Puts a film into the trash under a hard link, or as a copy. The film itself stays. */
  async function setAside(trashId: string, channelId: string, film: string): Promise<void> {
    try {
      const common = join(paths.trashOf(trashId), channelId)
      if (await linkBeside(film, common)) return
      await removeEmpty(common)
      await removeEmpty(paths.trashOf(trashId))
      note(trashId, channelId)
      await linkBeside(film, join(paths.trashIn(channelId), trashId), { byCopy: true })
    } catch (cause) {
      await empty(trashId)
      throw isFull(cause)
        ? errors.unavailable('There is not enough space to keep the old file for a day', { cause })
        : cause
    }
  }

  /** @param only  the videos whose files are put back; the others are deleted */
  async function putBack(jobId: string, only?: ReadonlySet<string>): Promise<void> {
    const isMeant = (name: string) => !isRecord(name) && (only?.has(name.split('.', 1)[0]!) ?? true)
    for (const { channelId, folder } of await foldersOf(jobId)) {
      const names = (await namesIn(folder)).filter(isMeant)
      if (names.length === 0) continue
      const home = await homes.make(channelId)
      for (const name of names) {
        if (!(await exists(join(home, name))) && (await exists(join(folder, name))))
          await homes.move(join(folder, name), channelId, name)
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
   * The ids of jobs that have trash. It also removes incomplete copies.
   * @param skip  called for a channel's folder that cannot be read
   */
  async function jobs(skip: (channelId: string, err: unknown) => void): Promise<string[]> {
    const channels = (await namesIn(paths.mediaDir)).filter(isId)
    const inspect = async (channelId: string) => {
      for (const jobId of (await namesIn(paths.trashIn(channelId))).filter(isId)) note(jobId, channelId)
      if (await exists(paths.stagingIn(channelId))) await rm(paths.stagingIn(channelId), { recursive: true })
    }
    for (const some of chunksOf(channels, STEP))
      await Promise.all(some.map((channelId) => inspect(channelId).catch((err: unknown) => skip(channelId, err))))
    return [...new Set([...(await namesIn(paths.trashDir)), ...trashedIn.keys()])]
  }

  async function videosIn(jobId: string): Promise<string[]> {
    const names = await Promise.all((await foldersOf(jobId)).map(({ folder }) => namesIn(folder)))
    return [...new Set(names.flat().map((name) => name.split('.', 1)[0]!))].filter(isId)
  }

  /** Writes the reserve for removals on a full disk, unless it exists or the disk is already full. */
  async function reserveRoom(): Promise<void> {
    if (await exists(roomPath)) return
    try {
      // Random bytes, because a compressing file system would reserve no space for zeros.
      await writeFile(roomPath, randomBytes(ROOM_BYTES), { flag: 'wx' })
    } catch (thrown) {
      await rm(roomPath, { force: true })
      if (!isFull(thrown)) throw thrown
    }
  }

  /** If the disk is full, releases the reserve and tries once more. */
  async function withRoom(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      // On a full disk, making a folder with its parents only reports a missing parent: check the free space too.
      if (!(isFull(thrown) || (await diskSpace(paths.mediaDir)).free < LITTLE_BYTES) || !(await exists(roomPath)))
        throw thrown
      await rm(roomPath, { force: true })
      await work()
    }
  }

  async function takeFiles(jobId: string, channelId: string, isMeant: (name: string) => boolean): Promise<void> {
    const home = paths.channelFolder(channelId)
    const own = join(paths.trashIn(channelId), jobId)
    const hasOwn = await exists(own) // from an earlier run
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
    // The target of a link belongs to the channel; the link itself was created by people, and stays.
    if (isLink) return takeFiles(jobId, channelId, () => true)
    const trash = paths.trashOf(jobId)
    await mkdir(trash, { recursive: true })
    try {
      await move(paths.channelFolder(channelId), join(trash, channelId))
    } catch (thrown) {
      if (isElsewhere(thrown)) return takeFiles(jobId, channelId, () => true)
      // An interrupted run has already moved the folder to the trash, and new files have been added since.
      if (!isExisting(thrown)) throw thrown
      await takeFiles(jobId, channelId, () => true)
      await rmdir(paths.channelFolder(channelId))
    }
    await sync(paths.mediaDir)
  }

  /** All trash folders of a job, one for each channel and disk. */
  async function foldersOf(jobId: string): Promise<Array<{ channelId: string; folder: string }>> {
    // File servers create their own folders next to those of channels.
    const common = (await namesIn(paths.trashOf(jobId))).filter(isId)
    const folders = common.map((channelId) => ({ channelId, folder: join(paths.trashOf(jobId), channelId) }))
    // The disk of a channel with a record in the trash may have come back since the start.
    for (const channelId of new Set([...common, ...(trashedIn.get(jobId) ?? [])])) {
      const folder = join(paths.trashIn(channelId), jobId)
      if (await exists(folder)) folders.push({ channelId, folder })
    }
    return folders
  }

  function note(jobId: string, channelId: string): void {
    trashedIn.set(jobId, (trashedIn.get(jobId) ?? new Set()).add(channelId))
  }

  return { take, setAside, putBack, empty, jobs, videosIn, reserveRoom, foldersOf, withRoom }
}

type Taken = Parameters<Media['trash']>[1]
type TakenVideos = Exclude<Taken, { channelFolder: string }>

const videosOf = (what: TakenVideos): readonly Homed[] => ('videos' in what ? what.videos : [what])
const channelsOf = (what: Taken): string[] =>
  'channelFolder' in what ? [what.channelFolder] : [...new Set(videosOf(what).map(({ channelId }) => channelId))]

/** Ids have no dot: a name that begins with an id and a dot belongs to this video. */
function isOfAny(videos: readonly Homed[], channelId: string): (name: string) => boolean {
  const meant = new Set(videos.flatMap((one) => (one.channelId === channelId ? [one.videoId] : [])))
  return (name) => name.includes('.') && meant.has(name.split('.', 1)[0]!)
}

/** @returns false: the folder is on another disk. With `byCopy` it is always on the film's disk, so never false */
async function linkBeside(film: string, folder: string, { byCopy = false } = {}): Promise<boolean> {
  await mkdir(folder, { recursive: true })
  const copy = join(folder, basename(film))
  try {
    await link(film, copy)
  } catch (thrown) {
    if (isMissing(thrown) || isExisting(thrown)) return true
    if (isElsewhere(thrown) && !byCopy) return false
    // Without hard links, make a copy, under another name until it is complete.
    await copyFile(film, `${copy}.part`, constants.COPYFILE_FICLONE)
    await rename(`${copy}.part`, copy)
  }
  await sync(folder)
  return true
}

/** Moves one file or folder. @returns false: it does not exist */
async function move(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (thrown) {
    if (isMissing(thrown) && !(await exists(from))) return false
    throw thrown
  }
}
