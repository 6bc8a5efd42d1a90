/**
 * The trash that the bin holds: the files of removed videos, each with a record of the video's belongings. A row in the
 * ledger prevents others from restoring or emptying it.
 */
import { open, readFile, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { errors, isId, say } from 'archivolt'
import { OWN_ENDINGS } from './containers.ts'
import { exists, isMissing, makeFolder, namesIn, removeEmpty, sync, together } from './files.ts'
import type { Homes } from './homes.ts'
import { CHANNEL_RECORD, isRecord, type Paths, recordOf } from './paths.ts'
import type { Trash } from './trash.ts'
import type { Binned, Homed, Recorded } from './types.ts'

/** Maximum size of a record, which consists mostly of comments: a larger file was not written by the bin. */
const MOST_BYTES = 64 << 20

const videoIn = (name: string): string => name.split('.', 1)[0]!
const isFilm = (name: string, videoId: string): boolean => OWN_ENDINGS.some((ending) => name === `${videoId}.${ending}`)

/** A file in the trash of a channel. */
interface TrashFile {
  channelId: string
  folder: string
  name: string
}

export type BinnedFiles = Omit<Binned, 'hold' | 'leave' | 'left'>

export function openBinned(paths: Paths, homes: Homes, trash: Trash): BinnedFiles {
  const folderOf = (trashId: string, channelId: string) => join(paths.trashOf(trashId), channelId)
  const pathOf = (trashId: string, { channelId, videoId }: Recorded) =>
    join(folderOf(trashId, channelId), recordOf(videoId))

  async function filesIn(trashId: string, channelIds: ReadonlySet<string>): Promise<TrashFile[]> {
    const files: TrashFile[] = []
    const folders = (await trash.foldersOf(trashId)).filter(({ channelId }) => channelIds.has(channelId))
    await together(folders, async ({ channelId, folder }) => {
      for (const name of await namesIn(folder))
        if (!isRecord(name) && !name.endsWith('.part')) files.push({ channelId, folder, name })
    })
    return files
  }

  async function filesOf(trashId: string, videos: readonly Homed[]): Promise<TrashFile[]> {
    const meant = new Set(videos.map(({ channelId, videoId }) => `${channelId}/${videoId}`))
    const files = await filesIn(trashId, channelsOf(videos))
    return files.filter(({ channelId, name }) => meant.has(`${channelId}/${videoIn(name)}`))
  }

  /** If a file of the same name exists now, both that file and the one in the trash stay where they are. */
  async function moveBack(files: readonly TrashFile[]): Promise<void> {
    const channelIds = [...channelsOf(files)]
    const there = new Set<string>()
    await together(channelIds, async (channelId) => {
      const home = await homes.make(channelId)
      for (const name of await namesIn(home)) there.add(join(channelId, name))
    })
    const moving = files.filter(({ channelId, name }) => !there.has(join(channelId, name)))
    await together(moving, ({ folder, channelId, name }) => homes.move(join(folder, name), channelId, name))
    await together(channelIds, (channelId) => sync(paths.channelFolder(channelId)))
  }

  return {
    mustReach: async (channelId) => void (await homes.reach(channelId)),

    async write(trashId, records) {
      const folders = [...channelsOf(records.map(({ of }) => of))].map((channelId) => folderOf(trashId, channelId))
      await trash.withRoom(async () => {
        for (const path of [paths.trashDir, paths.trashOf(trashId), ...folders]) await makeFolder(path)
        await together(records, ({ of, text }) => writeRecord(pathOf(trashId, of), text))
        await together([...folders, paths.trashOf(trashId)], sync)
      })
    },

    async records(trashId) {
      const found: Recorded[] = []
      for (const channelId of (await namesIn(paths.trashOf(trashId))).filter(isId))
        for (const name of await namesIn(folderOf(trashId, channelId))) {
          if (name === CHANNEL_RECORD) found.push({ channelId })
          else if (isId(videoIn(name)) && name === recordOf(videoIn(name)))
            found.push({ channelId, videoId: videoIn(name) })
        }
      return found
    },

    async read(trashId, of) {
      const texts: Array<string | undefined> = new Array(of.length)
      await together([...of.entries()], async ([at, one]) => {
        const path = pathOf(trashId, one)
        try {
          if ((await stat(path)).size <= MOST_BYTES) texts[at] = await readFile(path, 'utf8')
        } catch (thrown) {
          if (!isMissing(thrown)) throw thrown
        }
      })
      return texts
    },

    async filmIn(trashId, video) {
      await homes.reach(video.channelId)
      const film = (await filesOf(trashId, [video])).find(({ name }) => isFilm(name, video.videoId))
      return film && join(film.folder, film.name)
    },

    async onLibraryDisk(trashId, videos) {
      const files = await filesOf(trashId, videos)
      return new Set(
        files
          .filter(
            ({ channelId, folder, name }) => folder === folderOf(trashId, channelId) && isFilm(name, videoIn(name)),
          )
          .map(({ name }) => videoIn(name)),
      )
    },

    async inTheWay(trashId, videos) {
      const there = new Set<string>()
      await together([...channelsOf(videos)], async (channelId) => {
        for (const name of await namesIn(paths.channelFolder(channelId))) there.add(join(channelId, name))
      })
      const files = await filesOf(trashId, videos)
      return new Map(
        files
          .filter(({ channelId, name }) => there.has(join(channelId, name)))
          .map(({ name }) => [videoIn(name), name]),
      )
    },

    async putBack(trashId, videos) {
      await together([...channelsOf(videos)], async (channelId) => void (await homes.reach(channelId)))
      await moveBack(await filesOf(trashId, videos))
    },

    async putBackRest(trashId, channelId) {
      await homes.reach(channelId)
      const names = await namesIn(folderOf(trashId, channelId))
      const others = new Set(names.filter((name) => name !== CHANNEL_RECORD && isRecord(name)).map(videoIn))
      const files = await filesIn(trashId, new Set([channelId]))
      await moveBack(files.filter(({ name }) => !others.has(videoIn(name))))
    },

    async drop(trashId, videos) {
      await together(await filesOf(trashId, videos), ({ folder, name }) =>
        rm(join(folder, name), { recursive: true, force: true }),
      )
    },

    async dropRecords(trashId, of) {
      await together(of, (one) => rm(pathOf(trashId, one), { force: true }))
      await together([...channelsOf(of)], async (channelId) => {
        const folder = folderOf(trashId, channelId)
        if (await exists(folder)) await removeEmpty(folder)
      })
    },
  }
}

const channelsOf = (all: ReadonlyArray<{ channelId: string }>): Set<string> =>
  new Set(all.map(({ channelId }) => channelId))

/** Leaves an existing record unchanged: it is complete, and describes the video before anything of it was removed. */
async function writeRecord(path: string, text: string): Promise<void> {
  if (await exists(path)) return
  if (Buffer.byteLength(text) > MOST_BYTES)
    throw errors.unavailable(say`There are too many comments and subtitles for the bin: nothing was removed`)
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
