/** The service `media`: the library, the art beside it, and the cleaning up after an interruption. */
import { rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { openFolder, type App, type Settings } from 'archivolt'
import { openArt } from './art.ts'
import { openLibrary } from './library.ts'
import { isId, isLanguage, openPaths } from './paths.ts'
import { isCutOff, probeMedia } from './programs.ts'
import type { Media } from './types.ts'

const pathsOf = (settings: Settings) => openPaths(resolve(settings.mediaDir), resolve(settings.cacheDir))

export function openMedia(app: Pick<App, 'settings' | 'platform' | 'log'>): Media {
  const paths = pathsOf(app.settings)
  const { staged, trashed, ...library } = openLibrary(paths)
  return {
    ...library,
    ...openArt(app, paths),
    pathOf: paths.pathOf,
    subtitlePathOf: paths.subtitlePathOf,
    isLanguage,
    mediaUrl: paths.mediaUrl,
    subtitleUrl: paths.subtitleUrl,
    artUrl: paths.artUrl,
    artPathOf: paths.artOf,
    probe: (path) => probeMedia(app.settings.ffprobe, path),
    isCutOff: (path, durationSeconds) => isCutOff(app.settings.ffprobe, path, durationSeconds),
  }
}

/** Clears away what a crash has left: staging that nobody goes on with, and the trash of removals that have ended. */
export async function tidyMedia(app: Pick<App, 'settings' | 'log' | 'slot' | 'jobs'>): Promise<void> {
  const paths = pathsOf(app.settings)
  const library = openLibrary(paths)
  await openFolder('library folder', paths.mediaDir, { setting: 'AV_MEDIA_DIR' })
  await openFolder('folder for pictures', paths.cacheDir, { setting: 'AV_CACHE_DIR' })
  await rm(paths.incomingDir, { recursive: true, force: true })

  const ids = (await library.staged()).filter(isId)
  const wanted = await Promise.all(app.slot('media.staged').map((fill) => fill(ids)))
  for (const id of ids) if (!wanted.some((set) => set.has(id))) await library.clearStaging(id)

  for (const jobId of (await library.trashed()).filter(isId)) {
    const state = app.jobs.get(jobId)?.state
    if (state === 'PENDING' || state === 'STARTED' || state === 'RETRY') continue // the removal goes on by itself
    try {
      if (state === 'SUCCESS') {
        await library.emptyTrash(jobId)
        continue
      }
      // A removal that did not reach its end may still have its document: its files are worth more than the room.
      app.log.warn({ jobId }, 'files of an unfinished removal are put back into the library')
      await library.putBack(jobId)
    } catch (err) {
      app.log.error({ err, jobId }, 'the trash of a removal could not be cleared: what is in it stays until the next start')
    }
  }
}
