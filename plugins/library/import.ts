/** manual_import: moves films from the import folder into the library. A file is removed once its video is indexed. */

import { constants } from 'node:fs'
import { copyFile, link, lstat, realpath, rm, stat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import {
  defineTask,
  epochSeconds,
  errors,
  isAppError,
  isId,
  type JobContext,
  makeFolders,
  say,
  Type,
  type Words,
  wordsOf,
} from 'archivolt'
import { codeOf } from '../film-kit/disk-fault.ts'
import { dayOfFilm } from '../film-kit/film-day.ts'
import { videoIn, wordsIn } from '../film-kit/ids.ts'
import { metadataIn } from '../film-kit/metadata.ts'
import { pathIn, pathOf } from '../film-kit/names.ts'
import { plainFile } from '../film-kit/plain-file.ts'
import type { Reading } from '../film-kit/reading.ts'
import { isPicture } from '../film-kit/sidecars.ts'
import { stageSubtitle, subtitleFile } from '../film-kit/subtitles.ts'
import type { FoundFile, Info, ProblemCode } from '../film-kit/types.ts'
import type { VideoMetadata } from '../platform/types.ts'
import type { Ingest } from '../video/types.ts'
import type { App } from './app.ts'
import { mediaDirOf, mustBeThere } from './disk.ts'
import { isMp4, toMp4 } from './film.ts'
import { ensureChannel } from './found.ts'
import { openReading } from './reading.ts'
import { openReport, type Report, reasonOf } from './report.ts'

/** Maximum depth of nested folders. */
const DEEPEST = 5
const ROOM_TO_SPARE_BYTES = 200 << 20

export const manualImport = defineTask({
  name: 'manual_import',
  title: 'Manual video import',
  group: 'setting:import',
  payload: Type.Object({
    /** Prefer the information file to the platform, if it contains enough. */
    preferLocal: Type.Optional(Type.Boolean()),
  }),
  lane: 'library',
  apiStart: true,
  unique: true,
  async run(job, app: App) {
    const report = openReport(manualImport, job, app)
    await mustBeThere(app)
    const importDir = resolve(app.settings.importDir)
    await makeFolders(importDir)
    await refuseLibrary(importDir, mediaDirOf(app))
    const leaveOut = await placesIn(importDir, app)
    const run: ImportRun = { job, app, importDir, done: new Set(), reading: openReading(job, app), report }
    // Films without an information file come last, because they may have to wait for the platform.
    try {
      for (const hasInfo of [true, false]) {
        for await (const { files, problems } of run.reading.walk({
          path: importDir,
          leaveOut,
          deepest: DEEPEST,
        })) {
          await importFiles(
            filmsFirst(
              files.filter(({ info }) => (info !== undefined) === hasInfo),
              app,
            ),
            run,
          )
          if (hasInfo) for (const { code, path = '', why } of problems) if (REPORTED.has(code)) report.add(path, why)
        }
      }
    } finally {
      await run.reading.end()
    }
    const { done } = run
    await report.show()
    job.progress(1, say`${{ done: done.size }} imported, ${{ left: report.count }} skipped`)
    return null
  },
})

/** The state of a run. */
interface ImportRun {
  job: JobContext<{ preferLocal?: boolean }>
  app: App
  importDir: string
  /** Ids of imported videos. */
  done: Set<string>
  reading: Reading
  report: Report
}

/** Sorts films before sound files, so that a sound file next to a film does not replace it. */
const filmsFirst = (files: readonly FoundFile[], { media: { containers } }: App): FoundFile[] =>
  [...files].sort((a, b) => Number(containers.isSound(a.ending)) - Number(containers.isSound(b.ending)))

/** Problems that people should see. */
const REPORTED = new Set<string>(['unreadable_file', 'unreadable_name', 'too_deep'] satisfies ProblemCode[])

async function importFiles(files: readonly FoundFile[], run: ImportRun): Promise<void> {
  const { job, app, importDir, done, reading, report } = run
  for (const file of files) {
    job.signal.throwIfAborted()
    job.progress(0, say`Importing ${{ name: file.name }} (${{ number: done.size + 1 }})`)
    const inFolder = { ...file, folder: join(importDir, file.folder) }
    try {
      const [look] = await reading.look(importDir, [file])
      if (!look?.isFilm) throw errors.unprocessable(look?.why ?? 'the file is empty or missing')
      for (const { name, why } of await importFile(inFolder, look.info, run)) report.add(pathIn(file.folder, name), why)
    } catch (thrown) {
      report.add(pathOf(file), reasonOf(thrown, app))
    }
  }
}

/** Refuses an import folder that overlaps the library, because an import removes its sources. */
async function refuseLibrary(importDir: string, mediaDir: string): Promise<void> {
  const [from, to] = (await Promise.all([realpath(importDir), realpath(mediaDir)])).map(folded)
  const isWithin = (outer: string, inner: string) => !/^\.\.(?:[\\/]|$)/.test(relative(outer, inner))
  const [a, b] = await Promise.all([stat(importDir), stat(mediaDir)])
  if (isWithin(from!, to!) || isWithin(to!, from!) || (a.dev === b.dev && a.ino === b.ino)) {
    throw errors.conflict('The import folder and the library overlap: set AV_IMPORT_DIR to a separate folder')
  }
}

/**
 * Compares names instead of inodes: some case-insensitive disks give a folder another inode number for each spelling.
 */
const folded = (path: string): string => path.normalize('NFC').toLowerCase()

/** Places inside the import folder. They are skipped, because an import would remove their files. */
async function placesIn(importDir: string, { media }: App): Promise<string[]> {
  const real = await realpath(importDir)
  const paths = media.places.list().map(({ path }) => path)
  if (paths.some((path) => path === real || real.startsWith(`${path}/`)))
    throw errors.conflict(
      'The import folder belongs to another program, so its files must stay: import from another folder',
    )
  return paths.map((path) => join(importDir, relative(real, path)))
}

/** A file next to a film that could not be used: it stays, so that people can inspect it. */
interface Leftover {
  name: string
  why: Words
}

/** One film of the run. */
interface ImportedFilm extends ImportRun {
  file: FoundFile
  left: Leftover[]
}

/** @throws unprocessable, or errors of the platform: the file stays where it is */
async function importFile(file: FoundFile, info: Info | undefined, run: ImportRun): Promise<Leftover[]> {
  const { job, app, done } = run
  const id = await idOf(file, info, app)
  if (done.has(id)) throw errors.unprocessable(say`another file was imported as ${{ id }}`)
  const metadata = await metadataOf(id, info, run)
  const left: Leftover[] = []
  const film: ImportedFilm = { ...run, file, left }
  if (file.info !== undefined && info?.id !== id)
    left.push({
      name: file.info,
      why: info ? say`it is about another video` : say`it cannot be read as an information file`,
    })
  await app.media.scratch(async (folder) => {
    const downloaded = await job.step('import.prepare', () => prepare(metadata, folder, film))
    await job.step('import.channel', () => ensureChannel(metadata, info !== undefined, job, app))
    await job.step('import.ingest', () =>
      app.videos.ingest(
        {
          downloaded,
          isSubtitleIndexed: app.preferences.section('downloads').subtitle_index,
          publishedElse: dayOfFilm(file, epochSeconds(app.clock)),
        },
        job.step,
      ),
    )
    const [{ picture }, { thumbnailPath }] = [file, downloaded]
    if (picture !== undefined && thumbnailPath !== undefined)
      await job.step('import.picture', () => storePicture(id, picture, thumbnailPath, film))
  })
  await job.step('import.remove', () => removeSources(file, left))
  done.add(id)
  return left
}

/** The id from `Title [id].mp4`, `id.mp4`, or the information file. */
async function idOf({ base }: FoundFile, info: Info | undefined, app: App): Promise<string> {
  const words = wordsIn(base).filter(isId)
  if (typeof info?.id === 'string' && words.includes(info.id)) return info.id
  const known = await app.videos.known(words)
  const id = words.find((word) => known.has(word) || videoIn(word, app) === word) ?? info?.id
  if (typeof id !== 'string' || !isId(id))
    throw errors.unprocessable(
      'its name has no video id, as in `Title [id].mp4`, and there is no information file beside it',
    )
  return id
}

/**
 * The metadata from the platform, or from the information file if the platform does not have the video or cannot be
 * asked now. With `preferLocal`, the information file comes first.
 */
async function metadataOf(id: string, info: Info | undefined, { job, app }: ImportRun): Promise<VideoMetadata> {
  const asked = { asker: job.id, signal: job.signal }
  if (!info) return app.platform.video(id, asked)
  const local = job.payload.preferLocal ? metadataIn(info, id, app) : undefined
  if (local) return local
  try {
    // Urgent: do not wait while the platform refuses us, because the information file can answer, too.
    return await app.platform.video(id, { ...asked, isUrgent: true })
  } catch (thrown) {
    job.signal.throwIfAborted()
    if (!app.platform.failureOf(thrown) && !isAppError(thrown, 'unavailable')) throw thrown
    job.log.info(
      { id, reason: (thrown as Error).message },
      'the platform did not provide metadata: the information file is used',
    )
    return app.platform.metadataOf(info, id)
  }
}

/** Prepares all files in a temporary folder; the sources stay unchanged. */
async function prepare(metadata: VideoMetadata, folder: string, film: ImportedFilm): Promise<Ingest['downloaded']> {
  const { file, left, job, app } = film
  const mediaPath = await stageFilm(metadata, folder, film)
  const subtitles: Ingest['downloaded']['subtitles'] = []
  for (const subtitle of file.subtitles) {
    const to = join(folder, `${metadata.id}.${subtitle.lang}.vtt`)
    try {
      await stageSubtitle(file.folder, subtitle, to, job, app)
      subtitles.push(subtitleFile(subtitle.lang, to))
    } catch (thrown) {
      if (!isAppError(thrown, 'unprocessable')) throw thrown
      job.log.warn({ err: thrown.cause, file: subtitle.name }, 'subtitles cannot be read and are left out')
      left.push({ name: subtitle.name, why: wordsOf(thrown) })
    }
  }
  const picture = file.picture === undefined ? undefined : join(file.folder, file.picture)
  const thumbnailPath = join(folder, 'picture')
  const hasPicture = picture !== undefined && (await isPicture(picture))
  if (hasPicture) await copyPlain(picture, thumbnailPath)
  else if (file.picture !== undefined)
    left.push({ name: file.picture, why: say`it is empty, or too large for a picture` })
  return { metadata, mediaPath, subtitles, ...(hasPicture && { thumbnailPath }) }
}

/** Checks the picture here to report a bad one, because an ingest ignores it. */
async function storePicture(id: string, name: string, staged: string, { left, app }: ImportedFilm): Promise<void> {
  try {
    await app.media.keepArt('video', id, staged)
  } catch (thrown) {
    if (!isAppError(thrown, 'unprocessable')) throw thrown
    left.push({ name, why: wordsOf(thrown) })
  }
}

async function stageFilm(metadata: VideoMetadata, folder: string, { file, job, app }: ImportedFilm): Promise<string> {
  const from = join(file.folder, file.name)
  const before = await plainFile(from)
  if (!before || before.sizeBytes === 0) throw errors.unprocessable('the file is empty or missing')
  if ((await app.media.space()).free < before.sizeBytes + ROOM_TO_SPARE_BYTES)
    throw errors.unavailable("There is not enough space on the library's disk")
  const probe = await app.media.probe(from)
  const isSound = probe.streams.every(({ type }) => type === 'audio')
  const to = join(folder, `${metadata.id}.${isSound ? 'm4a' : 'mp4'}`)
  if (await isMp4(from)) await stageAsIs(from, to)
  else {
    const total = Math.max(1, probe.durationSeconds)
    await toMp4(app, from, to, probe, {
      signal: job.signal,
      onSeconds: (seconds) => job.progress(Math.min(1, seconds / total), say`Converting ${{ name: file.name }}`),
    })
  }
  const after = await plainFile(from)
  if (after?.sizeBytes !== before.sizeBytes || after.changedMs !== before.changedMs)
    throw errors.unprocessable('it is still being written; import it when it is complete')
  return to
}

/** Hard-links the file, or copies it if the disk does not support links. */
async function stageAsIs(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (thrown) {
    if (!['EXDEV', 'EPERM', 'EACCES', 'EMLINK', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(codeOf(thrown)))
      throw thrown
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
  await checkPlain(to)
}

async function copyPlain(from: string, to: string): Promise<void> {
  if (!(await plainFile(from))) throw errors.unprocessable('it is no longer a file')
  await copyFile(from, to, constants.COPYFILE_FICLONE)
}

/** Refuses symbolic links, because a hard link to one is itself a symbolic link. */
async function checkPlain(path: string): Promise<void> {
  if (!(await lstat(path)).isFile()) throw errors.unprocessable('it is a link, and links are not followed')
}

/** Removes the film first, so that after an interruption no file next to it is mistaken for a film. */
async function removeSources(
  { folder, name, info, picture, subtitles }: FoundFile,
  left: readonly Leftover[],
): Promise<void> {
  const names = [name, info, picture, ...subtitles.map((one) => one.name)]
  try {
    for (const one of names)
      if (one !== undefined && !left.some((other) => other.name === one)) await rm(join(folder, one), { force: true })
  } catch (cause) {
    throw errors.unprocessable(
      'it is in the library now, but cannot be removed from the import folder; check the permissions',
      { cause },
    )
  }
}
