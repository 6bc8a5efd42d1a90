/** The made-up library that the benches serve: built once into .cache/, copied for each run. */
import { existsSync } from 'node:fs'
import { constants, copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { systemClock } from '../../../core/clock.ts'
import type { BulkResult, IndexAdapter } from '../../../core/index/port.ts'
import { openLog } from '../../../core/log.ts'
import { channelIndex } from '../../../plugins/channel/schema.ts'
import { downloadIndex } from '../../../plugins/download/schema.ts'
import { playlistIndex } from '../../../plugins/playlist/schema.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'
import { subtitleIndex, videoIndex } from '../../../plugins/video/schema.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/sources.ts'
import { type Archive, generate } from '../generate.ts'
import { DEFINITIONS } from './questions.ts'
import type { Scope } from './report.ts'

/**
 * To be raised when other documents are made, or the index lays them out otherwise: a server would first rebuild them.
 */
const VERSION = 3
const BATCH = 1000
const FRAGMENTS_OF_A_VIDEO = 40

/** A tenth of the videos have subtitles, 40 fragments of five cues each: 2,000,000 cues for 100,000 videos. */
export const sizeOf = (videos: number) => ({
  videos,
  fragments: videos * 4,
  items: videos / 2,
  withSubtitles: videos / 10,
})

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
  const index = await openSqliteIndex({
    file: join(fresh, 'index.sqlite'),
    definitions: DEFINITIONS,
    log: openLog('warn'),
    clock: systemClock,
  })
  for (const batch of inBatches(archiveOf(videos).videos(), BATCH))
    assertAll(await index.collection(videoIndex).putMany(batch))
  await fillBeside(index, videos)
  await index.close()
  await rename(fresh, folder)
  return file
}

/** All of the library but its videos. */
export async function fillBeside(index: IndexAdapter, videos: number): Promise<void> {
  const archive = archiveOf(videos)
  const { withSubtitles, items } = sizeOf(videos)
  for (const batch of inBatches(archive.channels(), BATCH))
    assertAll(await index.collection(channelIndex).putMany(batch))
  for (const batch of inBatches(archive.subtitles(withSubtitles, FRAGMENTS_OF_A_VIDEO), BATCH))
    assertAll(await index.collection(subtitleIndex).putMany(batch))
  for (const batch of inBatches(archive.playlists(), BATCH))
    assertAll(await index.collection(playlistIndex).putMany(batch))
  for (const batch of inBatches(archive.queue(items), BATCH))
    assertAll(await index.collection(downloadIndex).putMany(batch))
}

function assertAll({ failed }: BulkResult): void {
  if (failed[0]) throw new Error(failed[0].reason)
}

export function* inBatches<Each>(docs: Iterable<Each>, size: number): Generator<Each[]> {
  let batch: Each[] = []
  for (const each of docs) {
    if (batch.push(each) < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** A data folder with the library's index, to be done with as one likes. */
export async function copyOfLibrary(scope: Scope, videos: number): Promise<string> {
  const file = await builtLibrary(videos)
  const folder = await temporaryFolder(scope)
  await copyFile(file, join(folder, 'index.sqlite'), constants.COPYFILE_FICLONE)
  return folder
}
