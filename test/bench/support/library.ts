/** The generated library that the benches serve: built once in .cache/, copied for each run. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { constants, copyFile, link, mkdir, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { systemClock } from '../../../core/base/clock.ts'
import type { Collection, IndexAdapter } from '../../../core/index/port.ts'
import { openLedger } from '../../../core/ledger/sqlite.ts'
import { openLog } from '../../../core/log.ts'
import { channelIndex } from '../../../plugins/channel/schema.ts'
import download from '../../../plugins/download/plugin.ts'
import { openQueueTable } from '../../../plugins/download/queue-rows.ts'
import { definitionData } from '../../../plugins/index-kit/document.ts'
import { playlistIndex } from '../../../plugins/playlist/schema.ts'
import { layoutOf } from '../../../plugins/sqlite/layout.ts'
import { openSqliteIndex } from '../../../plugins/sqlite/open.ts'
import { subtitleIndex, videoIndex } from '../../../plugins/video/schema.ts'
import { temporaryFolder } from '../../support/folder.ts'
import { ROOT } from '../../support/sources.ts'
import { type Archive, generate } from '../generate.ts'
import { DEFINITIONS } from './questions.ts'
import type { Scope } from './report.ts'

/** Increase it whenever other documents are generated. */
const VERSION = 7
/** Identifies the layout of the index: a server would first rebuild documents that have another layout. */
const LAYOUT = createHash('sha256')
  .update(JSON.stringify(DEFINITIONS.map((each) => layoutOf(definitionData(each)).shape)))
  .digest('hex')
  .slice(0, 8)
const LEDGER = 'ledger.sqlite'
const BATCH = 1000
const FRAGMENTS_OF_A_VIDEO = 40

/** A tenth of the videos have subtitles, with 40 fragments of five cues each: 2,000,000 cues for 100,000 videos. */
export const sizeOf = (videos: number) => ({
  videos,
  fragments: videos * 4,
  items: videos / 2,
  withSubtitles: videos / 10,
})

export const archiveOf = (videos: number): Archive => generate({ videos })

type Content = 'whole' | 'videos'

/**
 * Resumes an interrupted build.
 * @returns the index file, which must not be changed
 */
async function builtLibrary(videos: number, content: Content = 'whole'): Promise<string> {
  const name = content === 'whole' ? String(videos) : `${videos}-${content}`
  const folder = join(ROOT, '.cache', `bench-${VERSION}-${LAYOUT}`, name)
  const file = join(folder, 'index.sqlite')
  if (existsSync(file)) return file
  process.stdout.write(`Making a library of ${videos} videos, once\n`)
  const fresh = `${folder}.new`
  await mkdir(fresh, { recursive: true })
  const index = await openSqliteIndex({
    file: join(fresh, 'index.sqlite'),
    definitions: DEFINITIONS,
    log: openLog('warn'),
    clock: systemClock,
  })
  await fill(index.collection(videoIndex), archiveOf(videos).videos())
  if (content === 'whole') await fillBeside(index, videos)
  await index.close()
  await fillQueue(fresh, videos)
  await rename(fresh, folder)
  return file
}

/** Fills the index with everything except videos. */
export async function fillBeside(index: IndexAdapter, videos: number): Promise<void> {
  const archive = archiveOf(videos)
  const { withSubtitles } = sizeOf(videos)
  await fill(index.collection(channelIndex), archive.channels())
  await fill(index.collection(subtitleIndex), archive.subtitles(withSubtitles, FRAGMENTS_OF_A_VIDEO))
  await fill(index.collection(playlistIndex), archive.playlists())
}

/** Fills the download queue. The ledger gets the tables of the queue alone; the server creates the others. */
async function fillQueue(folder: string, videos: number): Promise<void> {
  const log = openLog('warn')
  const plugins = [{ name: download.name, migrations: download.migrations ?? [] }]
  const ledger = await openLedger({ file: join(folder, LEDGER), log, clock: systemClock, plugins })
  const { write, commit } = await openQueueTable({ ledger, ...NEITHER_ASKED }).replacement()
  for (const batch of inBatches(archiveOf(videos).queue(sizeOf(videos).items), BATCH))
    await write(batch.map(({ doc }) => doc))
  await commit()
  await ledger.close()
}
/** What replaces the queue uses neither the index nor pictures. */
const NEITHER_ASKED = {} as Pick<Parameters<typeof openQueueTable>[0], 'index' | 'media'>

/** Skips what an earlier run has put: every batch is put as a whole, and in order. */
async function fill<Doc extends object>(
  collection: Pick<Collection<Doc>, 'count' | 'putMany'>,
  docs: Iterable<{ id: string; doc: Doc }>,
): Promise<void> {
  const known = await collection.count(undefined, Infinity)
  let at = 0
  for (const batch of inBatches(docs, BATCH)) {
    at += batch.length
    if (at <= known) continue
    const { failed } = await collection.putMany(batch)
    if (failed[0]) throw new Error(failed[0].reason)
  }
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

/** A data folder with a copy of the library's index and queue, which may be changed. */
export async function copyOfLibrary(scope: Scope, videos: number): Promise<string> {
  const file = await builtLibrary(videos)
  const folder = await temporaryFolder(scope)
  await copyFile(file, join(folder, 'index.sqlite'), constants.COPYFILE_FICLONE)
  await copyFile(join(dirname(file), LEDGER), join(folder, LEDGER))
  await mkdir(join(folder, 'media')) // without it a server says that its disk is away, and downloads nothing
  return folder
}

/**
 * A data folder with the videos alone. It links to the built file, which is too large to copy, so it must not be
 * changed.
 */
export async function folderOfVideos(scope: Scope, videos: number): Promise<string> {
  const file = await builtLibrary(videos, 'videos')
  const folder = await temporaryFolder(scope, dirname(file))
  await link(file, join(folder, 'index.sqlite'))
  return folder
}
