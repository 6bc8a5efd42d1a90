/**
 * Trash that the bin holds: the files of removed videos, each with a record of what belonged to its video. A row keeps
 * it from being put back or emptied by anybody else.
 */
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { chunksOf, errors, isId, say } from 'archivolt'
import { exists, isMissing, makeFolder, namesIn, removeEmpty, sync } from './files.ts'
import type { Homes } from './homes.ts'
import { CHANNEL_RECORD, isRecord, type Paths, recordOf } from './paths.ts'
import type { Trash } from './trash.ts'
import type { Binned } from './types.ts'

/** Comments are most of a record; whatever is larger was not written by the bin. */
const MOST_BYTES = 64 << 20
/** Files that are written or moved at the same time, because each waits for the disk. */
const TOGETHER = 16

const videoIn = (name: string): string => name.split('.', 1)[0]!

export type BinnedFiles = Omit<Binned, 'hold'>

export function openBinned(paths: Paths, homes: Homes, trash: Trash): BinnedFiles {
  const folderOf = (trashId: string, channelId: string) => join(paths.trashOf(trashId), channelId)

  async function filesOf(trashId: string, channelId: string, isMeant: (name: string) => boolean) {
    const folders = (await trash.foldersOf(trashId)).filter((one) => one.channelId === channelId)
    const names = await Promise.all(folders.map(({ folder }) => namesIn(folder)))
    return folders.flatMap(({ folder }, at) =>
      names[at]!.filter((name) => !isRecord(name) && !name.endsWith('.part') && isMeant(name)).map((name) => ({
        folder,
        name,
      })),
    )
  }

  return {
    async write(trashId, channelId, records) {
      const folder = folderOf(trashId, channelId)
      await trash.withRoom(async () => {
        for (const path of [paths.trashDir, paths.trashOf(trashId), folder]) await makeFolder(path)
        for (const some of chunksOf([...records], TOGETHER))
          await Promise.all(some.map(([videoId, text]) => writeRecord(join(folder, recordOf(videoId)), text)))
        await sync(folder)
        await sync(paths.trashOf(trashId))
      })
    },

    async records(trashId) {
      const found: Array<{ channelId: string; videoId?: string }> = []
      for (const channelId of (await namesIn(paths.trashOf(trashId))).filter(isId))
        for (const name of await namesIn(folderOf(trashId, channelId))) {
          if (name === CHANNEL_RECORD) found.push({ channelId })
          else if (isId(videoIn(name)) && name === recordOf(videoIn(name)))
            found.push({ channelId, videoId: videoIn(name) })
        }
      return found
    },

    async read(trashId, channelId, videoId) {
      const path = join(folderOf(trashId, channelId), recordOf(videoId))
      try {
        if ((await stat(path)).size > MOST_BYTES) return undefined
        return await readFile(path, 'utf8')
      } catch (thrown) {
        if (isMissing(thrown)) return undefined
        throw thrown
      }
    },

    async inTheWay(trashId, channelId, videoIds) {
      const meant = new Set(videoIds)
      const files = await filesOf(trashId, channelId, (name) => meant.has(videoIn(name)))
      const there = new Set(await namesIn(paths.channelFolder(channelId)))
      return new Map(files.filter(({ name }) => there.has(name)).map(({ name }) => [videoIn(name), name]))
    },

    async putBack(trashId, channelId, videoIds) {
      const meant = new Set(videoIds)
      // Without ids: all that belongs to no video of the bin, such as what people have put there.
      const names = videoIds ? [] : await namesIn(folderOf(trashId, channelId))
      const others = new Set(names.filter((name) => name !== CHANNEL_RECORD && isRecord(name)).map(videoIn))
      const files = await filesOf(trashId, channelId, (name) =>
        videoIds ? meant.has(videoIn(name)) : !others.has(videoIn(name)),
      )
      if (files.length === 0) return
      const home = await homes.make(channelId)
      const there = new Set(await namesIn(home))
      for (const some of chunksOf(
        files.filter(({ name }) => !there.has(name)),
        TOGETHER,
      ))
        await Promise.all(some.map(({ folder, name }) => homes.place(join(folder, name), channelId, name)))
      await sync(home)
    },

    async drop(trashId, channelId, videoIds) {
      const meant = new Set(videoIds)
      const files = await filesOf(trashId, channelId, (name) => meant.has(videoIn(name)))
      for (const some of chunksOf(files, TOGETHER))
        await Promise.all(some.map(({ folder, name }) => rm(join(folder, name), { recursive: true, force: true })))
    },

    async dropRecords(trashId, channelId, videoIds) {
      const folder = folderOf(trashId, channelId)
      for (const some of chunksOf(videoIds, TOGETHER))
        await Promise.all(some.map((videoId) => rm(join(folder, recordOf(videoId)), { force: true })))
      if (await exists(folder)) await removeEmpty(folder)
    },
  }
}

/** One that is there is whole, and tells of an earlier time, before anything of the video went: it stays. */
async function writeRecord(path: string, text: string): Promise<void> {
  if (await exists(path)) return
  if (Buffer.byteLength(text) > MOST_BYTES)
    throw errors.unavailable(say`It has too many comments and subtitles for the bin: nothing was removed`)
  const part = `${path}.part`
  const file = await open(part, 'w')
  try {
    await file.writeFile(text)
    await file.datasync()
  } finally {
    await file.close()
  }
  await rename(part, path)
}
