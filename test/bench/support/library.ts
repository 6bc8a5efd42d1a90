/** The made-up library that the benches serve: built once into .cache/, copied for each run. */
import { existsSync } from 'node:fs'
import { constants, copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../core/clock.ts'
import { openSqliteIndex } from '../../../core/index/sqlite/open.ts'
import { openLog } from '../../../core/log.ts'
import { channelIndex } from '../../../plugins/channel/schema.ts'
import { downloadIndex } from '../../../plugins/download/schema.ts'
import { playlistIndex } from '../../../plugins/playlist/schema.ts'
import { subtitleIndex, videoIndex } from '../../../plugins/video/schema.ts'
import { temporaryFolder } from '../../support/server.ts'
import { ROOT } from '../../support/sources.ts'
import { generate, type Archive } from '../generate.ts'
import type { Scope } from './report.ts'

/** To be raised when other documents are made. */
const VERSION = 1
const BATCH = 1000
const FRAGMENTS_OF_A_VIDEO = 40

/** A tenth of the videos have subtitles, 40 fragments of five cues each: 2,000,000 cues for 100,000 videos. */
export const sizeOf = (videos: number) => ({ videos, fragments: videos * 4, items: videos / 2, withSubtitles: videos / 10 })

export const archiveOf = (videos: number): Archive => generate({ videos })

/** @returns the index file; not to be written to */
async function builtLibrary(videos: number): Promise<string> {
  const folder = join(ROOT, '.cache', `bench-${VERSION}`, String(videos))
  const file = join(folder, 'index.sqlite')
  if (existsSync(file)) return file
  process.stdout.write(`Making a library of ${videos} videos, once\n`)
  const fresh = `${folder}.new`
  await rm(fresh, { recursive: true, force: true })
  await mkdir(fresh, { recursive: true })
  const definitions = [channelIndex, videoIndex, subtitleIndex, playlistIndex, downloadIndex]
  const index = await openSqliteIndex({ file: join(fresh, 'index.sqlite'), definitions, log: openLog('warn'), clock: systemClock, prefix: 'av' })
  const archive = archiveOf(videos)
  const { withSubtitles, items } = sizeOf(videos)
  await fill(archive.channels(), (batch) => index.collection(channelIndex).putMany(batch))
  await fill(archive.videos(), (batch) => index.collection(videoIndex).putMany(batch))
  await fill(archive.subtitles(withSubtitles, FRAGMENTS_OF_A_VIDEO), (batch) => index.collection(subtitleIndex).putMany(batch))
  await fill(archive.playlists(), (batch) => index.collection(playlistIndex).putMany(batch))
  await fill(archive.queue(items), (batch) => index.collection(downloadIndex).putMany(batch))
  await index.close()
  await rename(fresh, folder)
  return file
}

async function fill<Each>(docs: Iterable<Each>, put: (batch: Each[]) => Promise<{ failed: Array<{ reason: string }> }>): Promise<void> {
  let batch: Each[] = []
  const flush = async () => {
    const { failed } = await put(batch)
    if (failed[0]) throw new Error(failed[0].reason)
    batch = []
  }
  for (const each of docs) if (batch.push(each) === BATCH) await flush()
  await flush()
}

/** A data folder with the library's index, to be done with as one likes. */
export async function copyOfLibrary(scope: Scope, videos: number): Promise<string> {
  const file = await builtLibrary(videos)
  const folder = await temporaryFolder(scope)
  await copyFile(file, join(folder, 'index.sqlite'), constants.COPYFILE_FICLONE)
  return folder
}
