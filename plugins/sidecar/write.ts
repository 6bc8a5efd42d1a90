/** Writes sidecars that are due and have changed, in small batches, each under a temporary name that is renamed. */
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { chunksOf, epochSeconds, errors, isAppError, type JobContext, makeFolders, say, writeWhole } from 'archivolt'
import type { App } from './app.ts'
import { archiveText, channelText, playlistText, type SidecarText, videoTexts } from './gather.ts'
import { folderOf, nextToFilm, ofPlaced, pathOf, placedFolder } from './paths.ts'
import { ARCHIVE } from './records.ts'
import type { Due, Rows } from './rows.ts'

/** Number of videos whose comments are in memory at once. */
const VIDEOS = 25
/** Number of files that are written concurrently, because each waits for the disk. */
const TOGETHER = 8
const NOTED = 500
/** Maximum number of errors that a run logs: a faulty disk has one for each sidecar. */
const LOGGED = 20
const FULL = ['ENOSPC', 'EDQUOT']
/** Errors if a folder or a link has the name of a sidecar. */
const IN_THE_WAY = ['EISDIR', 'ELOOP', 'EEXIST', 'ENOTEMPTY']
/** Errors of a missing folder, or of a link that leads to itself or to a file. */
const NO_FOLDER = ['ENOENT', 'ENOTDIR', 'ELOOP']

export type Run = Pick<JobContext<object>, 'signal' | 'stopSignal' | 'isStopping' | 'progress'>

interface Work {
  app: App
  rows: Rows
  run: Run
  written: number
  failed: number
  done: number
  total: number
}

/** The number of written files, and of files that could not be written and stay due. */
export type Written = Pick<Work, 'written' | 'failed'>

export async function writeDue(run: Run, rows: Rows, app: App): Promise<Written> {
  const work: Work = { app, rows, run, written: 0, failed: 0, done: 0, total: 0 }
  const absence = await app.media.absence()
  if (absence !== undefined) throw errors.unavailable(absence)
  await makeOwnFolders(app)
  await noteAll(work)
  work.total = rows.count()
  for (const due of rows.all('archive'))
    await settle([due], work, () => put(pathOf('archive', '', app), archiveText(app), work))
  for (const [kind, textOf] of [
    ['channel', channelText],
    ['playlist', playlistText],
  ] as const)
    for await (const due of each(kind, 1, work))
      await settle(due, work, async () => put(pathOf(kind, due[0]!.id, app), await textOf(due[0]!.id, app), work))
  for await (const due of each('video', VIDEOS, work)) await settle(due, work, (some) => writeVideos(some, work))
  return work
}

async function makeOwnFolders(app: App): Promise<void> {
  // Parents are not created: the disk of the library may just have been disconnected.
  for (const kind of ['archive', 'channel', 'playlist'] as const)
    await mkdir(folderOf(kind, app), { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  await makeFolders(placedFolder(app), 0o700)
}

/** Marks everything for comparison: after an update, after a restore, and regularly. */
async function noteAll({ app, rows, run }: Work): Promise<void> {
  const [all] = rows.all('all')
  if (!all) return
  for (const [kind, collection] of [
    ['channel', app.channels.collection],
    ['playlist', app.playlists.collection],
    ['video', app.videos.collection],
  ] as const)
    for await (const batch of collection.scan({ batch: NOTED })) {
      run.signal.throwIfAborted()
      await rows.note(
        kind,
        batch.map(({ id }) => id),
      )
    }
  for (let after = ''; ; ) {
    const ids = app.playlists.customAfter(after, NOTED)
    if (ids.length === 0) break
    await rows.note('playlist', ids)
    after = ids.at(-1)!
  }
  await rows.note('archive', [ARCHIVE])
  await rows.noteCompared(epochSeconds(app.clock))
  await rows.done([all])
}

/** Sidecars that become due again meanwhile are left to the next run, so that this one ends. */
async function* each(kind: Due['kind'], size: number, { rows, run, app }: Work): AsyncGenerator<Due[]> {
  for (let after = ''; !run.isStopping(); ) {
    run.signal.throwIfAborted()
    const due = rows.after(kind, after, size)
    if (due.length === 0) return
    yield due
    after = due.at(-1)!.id
    if (!app.preferences.section('sidecars').beside_films) return
  }
}

/** A sidecar that cannot be written is logged and stays due; the others are written. */
async function settle(due: readonly Due[], work: Work, write: (some: readonly Due[]) => Promise<void>): Promise<void> {
  try {
    await write(due)
    await work.rows.done(due)
    work.done += due.length
  } catch (err) {
    work.run.signal.throwIfAborted()
    if (isAppError(err, 'unavailable')) throw err
    if (due.length > 1) for (const one of due) await settle([one], work, write)
    else if (++work.failed <= LOGGED) work.app.log.error({ err, due: due[0] }, 'a sidecar cannot be written')
    return
  }
  work.run.progress(
    work.done / Math.max(1, work.total),
    say`Sidecars compared: ${{ done: work.done }}, written: ${{ written: work.written }}`,
  )
}

async function writeVideos(due: readonly Due[], work: Work): Promise<void> {
  const { app } = work
  const texts = await videoTexts(
    due.map(({ id }) => id),
    app,
  )
  // Other sidecars of removed videos were removed with their films.
  for (const { id } of due) if (!texts.get(id)?.isPlaced) await rm(ofPlaced(id, app), { force: true })
  for (const some of chunksOf([...texts], TOGETHER))
    await Promise.all(some.map(([id, text]) => writeVideo(id, text, work)))
}

async function writeVideo(id: string, { text, channelId, isPlaced }: SidecarText, work: Work): Promise<void> {
  const { app } = work
  if (isPlaced) return put(ofPlaced(id, app), text, work)
  const path = nextToFilm(channelId, id, app)
  const write = async () => {
    // The film may have been moved to the bin or to another channel meanwhile: a sidecar left here would block its
    // return.
    if ((await app.videos.get(id))?.channel_id !== channelId) return
    // If the film's folder does not exist, the sidecar is not written.
    if (await isFolder(dirname(path))) await put(path, text, work)
  }
  await app.videos.exclusive(id, write, channelId)
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory()
  } catch (error) {
    if (NO_FOLDER.includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}

/** @param text  undefined: remove the sidecar */
async function put(path: string, text: string | undefined, work: Work): Promise<void> {
  if (text === undefined) return rm(path, { force: true })
  if (await isSame(path, text)) return
  try {
    await writeWhole(path, text)
    work.written++
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    if (FULL.includes(code)) throw errors.unavailable('The disk is full: free some space for sidecars', { cause })
    if (!IN_THE_WAY.includes(code)) throw cause
    work.app.log.warn({ err: cause, path }, 'a sidecar cannot be written: a folder or link has its name')
  }
}

async function isSame(path: string, text: string): Promise<boolean> {
  const bytes = Buffer.from(text)
  try {
    return (await stat(path)).size === bytes.length && (await readFile(path)).equals(bytes)
  } catch (error) {
    if (['ENOENT', 'ELOOP', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return false
    throw error
  }
}
