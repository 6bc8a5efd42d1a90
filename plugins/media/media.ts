/** The service `media`: the library, the pictures, and cleaning up after an interruption. */
import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DAY_MS, inEnglish, isAppError, isHiding, isId, openFolder, StartError } from 'archivolt'
import type { App } from './app.ts'
import { openArt } from './art.ts'
import { type Aside, openAside } from './aside.ts'
import { contentTypeOf, ENDINGS, isEnding, isFilm, isSound, OWN_ENDINGS, ownEndingOf } from './containers.ts'
import { asMp4, runFfmpeg } from './ffmpeg.ts'
import { sizeOf } from './files.ts'
import { askToPlay, isKept, isKnown, titleOf } from './known.ts'
import { type Library, openLibrary } from './library.ts'
import { openLibraryLock } from './library-lock.ts'
import { openLinks } from './links.ts'
import { openMissing } from './missing.ts'
import { type OwnFilms, openOwnFilms } from './own-films.ts'
import { isLanguage, jobOfTrash, openPaths } from './paths.ts'
import { openPlaces } from './places.ts'
import { openPresence } from './presence.ts'
import { isCutOff, jpegSize, probeMedia, streamHash, streamsIn, tagsIn } from './programs.ts'
import type { Media, WrittenFile } from './types.ts'

export interface MediaService extends Media {
  /** Creates the folders of a new installation. For an existing installation, only looks for the library. */
  begin(): Promise<void>
  /** Called when the server is ready; commands report it themselves, or accept the folder. */
  tellAbsence(): Promise<void>
  end(): Promise<void>
}

/** How long trash is stored if it is unknown whether its removal has ended. */
const DOUBTFUL_MS = 30 * DAY_MS

type MediaApp = Pick<App, 'settings' | 'platform' | 'log' | 'ledger' | 'hook' | 'jobs' | 'clock' | 'touch'>

export function openMedia(app: MediaApp): MediaService {
  const paths = openPaths(resolve(app.settings.mediaDir), resolve(app.settings.cacheDir))
  const library = openLibrary(paths)
  const lock = openLibraryLock(paths.mediaDir, app.log)
  const presence = openPresence(app, paths, lock, () => tidy(library, films, aside, app))
  const { absence, whileThere } = presence
  const films = openOwnFilms(paths, library, app)
  const aside = openAside(library, films.pathOf, whileThere, app)
  const places = openPlaces(app)
  const missing = openMissing(app)
  const written = async (files: readonly WrittenFile[]) => {
    for (const hear of app.hook('media.written')) await hear(files)
  }
  async function filmPath(channelId: string, videoId: string): Promise<string> {
    const film = places.filmOf(videoId)
    return film ? places.pathIn(film) : films.find(channelId, videoId)
  }
  const openMediaFolder = () => openFolder('library folder', paths.mediaDir, { setting: 'AV_MEDIA_DIR' })
  return {
    absence,
    accept: presence.accept,
    staging: whileThere(library.staging),
    adopt: whileThere(async (channelId, videoId, files) => {
      const isNew = files.mediaPath !== undefined && files.mediaPath !== films.pathOf(channelId, videoId)
      await films.adopt(channelId, videoId, files)
      if (files.mediaPath !== undefined) await missing.drop([videoId])
      await written([
        ...(isNew ? [{ kind: 'video' as const, id: videoId }] : []),
        ...files.subtitles.map(({ lang }) => ({ kind: 'subtitle' as const, id: videoId, part: lang })),
      ])
    }),
    moveInto: whileThere(library.moveInto),
    setAside: whileThere(aside.setAside),
    leaveHome: whileThere(aside.leave),
    trash: whileThere(async (jobId, what) => {
      // For a job that removes several batches: this batch is never restored together with an earlier one.
      if (aside.isReleased(jobId)) await aside.emptyNow(jobId)
      if ('channelFolder' in what) await places.trash.discard(jobId, { channelId: what.channelFolder })
      else if ('videos' in what) for (const { videoId } of what.videos) await places.trash.discard(jobId, { videoId })
      else if (what.film !== 'stays') await places.trash.discard(jobId, what)
      try {
        await library.trash(jobId, what)
      } catch (thrown) {
        await places.trash.putBack(jobId)
        throw thrown
      }
    }),
    putBack: whileThere(async (jobId) => {
      await places.trash.putBack(jobId)
      await library.putBack(jobId)
    }),
    async release(jobId) {
      await places.trash.settle(jobId, { isHeld: false })
      await aside.release(jobId)
    },
    emptyTrash: aside.emptyNow,
    binned: {
      async hold(trashId) {
        await places.trash.settle(trashId, { isHeld: true })
        await aside.hold(trashId)
      },
      leave: aside.hold,
      left: (hasEntries) =>
        aside.held().filter((id) => !hasEntries(id) && app.jobs.get(jobOfTrash(id))?.endedAt !== null),
      mustReach: whileThere(library.binned.mustReach),
      write: whileThere(library.binned.write),
      records: whileThere(library.binned.records),
      read: whileThere(library.binned.read),
      filmIn: whileThere(library.binned.filmIn),
      onLibraryDisk: whileThere(library.binned.onLibraryDisk),
      inTheWay: whileThere(library.binned.inTheWay),
      putBack: whileThere(library.binned.putBack),
      putBackRest: whileThere(library.binned.putBackRest),
      drop: whileThere(library.binned.drop),
      dropRecords: whileThere(library.binned.dropRecords),
    },
    async clearStaging(videoId) {
      // While the library is unavailable nothing is cleaned up; the next start does it.
      if ((await absence()) === undefined) await library.clearStaging(videoId)
    },
    async sweepStaging() {
      if ((await absence()) !== undefined) return
      await sweep(library, app).catch((err: unknown) =>
        app.log.warn({ err }, 'leftovers of unfinished downloads could not be removed; the next start tries again'),
      )
    },
    scratch: (work) => whileThere(() => library.scratch(work))(),
    space: library.space,
    ...openArt(app, paths, written),
    pathOf: films.pathOf,
    homeOf: films.homeOf,
    subtitlePathOf: paths.subtitlePathOf,
    isLanguage,
    places,
    missing,
    play: (play) => askToPlay(play, app),
    isKnown: (kind, id) => isKnown(kind, id, app),
    isKept: (kind, id) => isKept(kind, id, app),
    titleOf: (kind, id) => titleOf(kind, id, app),
    containers: {
      ...{ endings: ENDINGS, own: OWN_ENDINGS, isFilm, isSound },
      contentTypeOf: (ending) => (isEnding(ending) ? contentTypeOf(ending) : undefined),
    },
    recordedPath(channelId, videoId) {
      const film = places.filmOf(videoId)
      return film ? join(places.get(film.placeId).path, film.path) : films.pathOf(channelId, videoId)
    },
    filmPath,
    async isMissing(channelId, videoId) {
      const isOurs = places.filmOf(videoId) === undefined
      if (isOurs && (await absence()) !== undefined) return false
      try {
        return (await sizeOf(await filmPath(channelId, videoId))) === undefined
      } catch (thrown) {
        if (isAppError(thrown, 'not_found')) return true
        if (isAppError(thrown, 'unavailable')) return false
        throw thrown
      }
    },
    ...openLinks(app, films.pathOf),
    isOurs: (videoId) => places.filmOf(videoId) === undefined,
    mediaUrl: (channelId, videoId, said) =>
      paths.mediaUrl(
        channelId,
        videoId,
        places.filmOf(videoId)?.ending ?? films.endingOf(videoId) ?? ownEndingOf(said),
      ),
    subtitleUrl: paths.subtitleUrl,
    artUrl: paths.artUrl,
    showsArt: (kind, view) => kind !== 'playlist' || !isHiding(view),
    artPathOf: paths.artOf,
    sizeOf,
    isThere: async (path) => (await sizeOf(path)) !== undefined,
    probe: (path) => probeMedia(app.settings.ffprobe, path),
    jpegSize: (path) => jpegSize(app.settings.ffprobe, path),
    streamHash: (path, signal) => streamHash(app.settings.ffmpeg, path, signal),
    isCutOff: (path, durationSeconds) => isCutOff(app.settings.ffprobe, path, durationSeconds),
    tagsIn: (path, signal) => tagsIn(app.settings.ffprobe, path, signal),
    streamsIn: (path, signal) => streamsIn(app.settings.ffprobe, path, signal),
    ffmpeg: (args, options) => runFfmpeg(app, args, options),
    toMp4: (args, to, options) => runFfmpeg(app, [...args, ...asMp4(to)], options),

    async begin() {
      await openFolder('folder for pictures', paths.cacheDir, { setting: 'AV_CACHE_DIR' })
      await rm(paths.incomingDir, { recursive: true, force: true })
      if (await presence.isNew()) await openMediaFolder()
      if (await presence.isTaken())
        throw new StartError(
          `Another Archivolt is using the library ${paths.mediaDir}: stop it, or give this one a library of its own (AV_MEDIA_DIR)`,
        )
      if ((await absence()) === undefined) await openMediaFolder()
      places.begin()
    },
    async tellAbsence() {
      const reason = await absence()
      if (reason !== undefined) app.log.error({ folder: paths.mediaDir }, inEnglish(reason))
    },
    async end() {
      await places.end()
      await aside.close()
      lock.release()
    },
  }
}

async function knownAmong(videoIds: readonly string[], app: Pick<App, 'hook'>): Promise<Set<string>> {
  const known = new Set<string>()
  for (const id of videoIds) if (await isKnown('video', id, app)) known.add(id)
  return known
}

async function sweep(library: Library, app: Pick<App, 'hook'>): Promise<void> {
  const ids = await library.staged()
  if (ids.length === 0) return
  const wanted = await Promise.all(app.hook('media.staged').map((fill) => fill(ids)))
  for (const id of ids) if (!wanted.some((set) => set.has(id))) await library.clearStaging(id)
}

/** Cleans up after a crash: staging that is no longer needed, and the trash of removals that have ended. */
async function tidy(
  library: Library,
  films: OwnFilms,
  aside: Aside,
  app: Pick<App, 'log' | 'hook' | 'jobs'>,
): Promise<void> {
  await library
    .reserveRoom()
    .catch((err: unknown) =>
      app.log.warn({ err }, 'no space could be reserved in the library for removals on a full disk'),
    )
  await library.clearScratch()
  await sweep(library, app)

  await films.tidy((id, err) => app.log.warn({ err, id }, 'the old film of a video could not be removed'))
  const trashed = await library.trashed((channelId, err) =>
    app.log.warn({ err, channelId }, 'the folder of a channel cannot be read'),
  )
  for (const jobId of trashed.filter((id) => isId(id) && !aside.has(id))) {
    const job = app.jobs.get(jobOfTrash(jobId))
    if (job?.endedAt === null) continue // the removal continues by itself
    try {
      const isRemoved = job?.state === 'SUCCESS'
      const known = await knownAmong(await library.videosIn(jobId), app)
      if (known.size > 0) {
        app.log.warn({ jobId }, 'files of videos that are in the archive are put back from the trash into the library')
        // If the removal was completed, the known videos are only those that were restored or added again since.
        await library.putBack(jobId, isRemoved ? known : undefined)
      } else if (isRemoved) await aside.note(jobId, 0)
      else {
        app.log.warn({ jobId }, 'files of a removal whose videos are not in the archive stay in the trash for 30 days')
        await aside.note(jobId, DOUBTFUL_MS)
      }
    } catch (err) {
      app.log.error({ err, jobId }, 'the trash of a removal could not be cleared: its files stay until the next start')
    }
  }
  await aside.begin()
}
