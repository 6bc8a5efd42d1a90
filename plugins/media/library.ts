/** The library on disk: moves files from staging by rename, and removed files to the trash by rename. */
import { access, constants, mkdtemp, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { diskSpace, errors, isId } from 'archivolt'
import { type BinnedFiles, openBinned } from './binned.ts'
import { ownEndingOf } from './containers.ts'
import { exists, makeFolder, namesIn, sync } from './files.ts'
import { isBelow, openHomes } from './homes.ts'
import { mediaName, type Paths, subtitleName } from './paths.ts'
import { openTrash } from './trash.ts'
import type { Media } from './types.ts'

export type Library = { readonly binned: BinnedFiles } & Pick<
  Media,
  'staging' | 'clearStaging' | 'scratch' | 'adopt' | 'moveInto' | 'trash' | 'emptyTrash' | 'space'
> & {
    /** Puts a film into the trash under a second name, or as a copy; the film itself stays. */
    setAside(trashId: string, channelId: string, film: string): Promise<void>
    /**
     * Puts the trash of a job back into the library.
     * @param only  the videos whose files are put back; the others are deleted
     */
    putBack(jobId: string, only?: ReadonlySet<string>): Promise<void>
    /** Ids of the videos that have a folder in staging. */
    staged(): Promise<string[]>
    /** Removes temporary folders that a crash has left. */
    clearScratch(): Promise<void>
    /**
     * Ids of the jobs that have a trash, in the library or in a channel's own folder. Also removes incomplete copies.
     * @param skip  called for a channel's folder that cannot be read
     */
    trashed(skip: (channelId: string, err: unknown) => void): Promise<string[]>
    /** Ids of the videos whose files are in the trash of a job. */
    videosIn(jobId: string): Promise<string[]>
    /**
     * Reserves the space that a removal needs on a full disk; does nothing if it is reserved, or the disk is already
     * full.
     */
    reserveRoom(): Promise<void>
  }

/** Prefix of temporary folders. No id begins with a dot. */
const SCRATCH = '.scratch-'

export function openLibrary(paths: Paths): Library {
  const { mediaDir, stagingDir } = paths
  const homes = openHomes(paths)
  const trash = openTrash(paths, homes)
  return {
    async staging(videoId) {
      await makeFolder(stagingDir)
      await makeFolder(paths.stagingOf(videoId))
      // A download that continues would fail with an error of yt-dlp, as if its video were at fault.
      await access(paths.stagingOf(videoId), constants.W_OK)
      return paths.stagingOf(videoId)
    },

    async clearStaging(videoId) {
      await rm(paths.stagingOf(videoId), { recursive: true, force: true })
    },

    async scratch(work) {
      await makeFolder(stagingDir)
      const folder = await mkdtemp(join(stagingDir, SCRATCH))
      try {
        return await work(folder)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },

    async clearScratch() {
      for (const name of await namesIn(stagingDir))
        if (name.startsWith(SCRATCH)) await rm(join(stagingDir, name), { recursive: true, force: true })
    },

    async adopt(channelId, videoId, files) {
      const home = await homes.make(channelId)
      // The film first: after an interruption, a rescan finds it. Subtitles without a film would never be found.
      if (files.mediaPath !== undefined)
        await homes.adopt(files.mediaPath, channelId, mediaName(videoId, ownEndingOf(files.mediaPath)))
      for (const { lang, path } of files.subtitles) await homes.adopt(path, channelId, subtitleName(videoId, lang))
      await sync(home)
    },

    async moveInto(channelId, from) {
      if (!isBelow(mediaDir, from)) throw new Error('only files of the library are moved in it')
      const home = await homes.make(channelId, errors.unprocessable)
      await sync(from)
      await homes.move(from, channelId, basename(from))
      await sync(home)
      await sync(dirname(from))
    },

    binned: openBinned(paths, homes, trash),
    trash: trash.take,
    setAside: trash.setAside,
    putBack: trash.putBack,
    async emptyTrash(jobId) {
      await trash.empty(jobId)
      await trash.reserveRoom()
    },
    reserveRoom: trash.reserveRoom,

    async space(channelId) {
      const isOther = channelId !== undefined && (await exists(paths.channelFolder(channelId)))
      return diskSpace(isOther ? paths.channelFolder(channelId) : mediaDir)
    },

    staged: async () => (await namesIn(stagingDir)).filter(isId),

    trashed: trash.jobs,
    videosIn: trash.videosIn,
  }
}
