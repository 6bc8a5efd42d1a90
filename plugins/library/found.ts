/**
 * Indexes a film of the library that has no document: gets its metadata, moves it to the correct folder, then ingests
 * it.
 */

import { isAbsolute, join } from 'node:path'
import { epochSeconds, errors, isAppError, type JobContext } from 'archivolt'
import { dayOfFilm } from '../film-kit/film-day.ts'
import { metadataIn } from '../film-kit/metadata.ts'
import { faultOfSubtitle, isPicture } from '../film-kit/sidecars.ts'
import { MOST_LANGUAGES, subtitleFile } from '../film-kit/subtitles.ts'
import type { Info } from '../film-kit/types.ts'
import type { VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { type FoundFilm, moveFilm, subtitlesIn } from './disk.ts'

type Run = Pick<JobContext<object>, 'id' | 'signal' | 'step'>

interface Given {
  /** Content of the information file next to the film, if that is preferred to the platform. */
  info?: Info | undefined
  /** Do not ask the platform: `info` must be sufficient. */
  isOffline?: true
}

/**
 * @returns whether its comments and other subtitles are to be downloaded
 * @throws errors of the platform; unprocessable: it is not a film, or cannot be moved. The film then stays where it is.
 */
export async function takeIn(film: FoundFilm, job: Run, app: App, { info, isOffline }: Given = {}): Promise<boolean> {
  const id = film.name
  const asked = { asker: job.id, signal: job.signal }
  const probe = await app.media.probe(film.path)
  const local = info && metadataIn(info, id, app)
  if (isOffline && !local) throw errors.unprocessable('neither the file nor the files next to it describe the video')
  const metadata = local ?? (await app.platform.video(id, asked))
  const mediaPath = app.media.homeOf(metadata.channelId, id, film.path)
  const isKnown = await app.videos.exclusive(id, async () => {
    if (await app.videos.get(id)) return true // a download has added it in the meantime
    if (mediaPath !== film.path) await job.step('rescan.move', () => moveFilm(film, metadata.channelId, app))
    return false
  })
  if (isKnown) return false
  await job.step('rescan.channel', async () => {
    if (isOffline) await app.channels.recordName(metadata.channelId, metadata.channelName)
    else if (local) await ensureChannel(local, true, job, app)
    else await app.channels.ensure(metadata.channelId, { ...asked, name: metadata.channelName })
  })
  const subtitles: Array<ReturnType<typeof subtitleFile>> = []
  for (const lang of (await subtitlesIn(join(mediaPath, '..'), id))
    .filter(app.media.isLanguage)
    .slice(0, MOST_LANGUAGES)) {
    const path = app.media.subtitlePathOf(metadata.channelId, id, lang)
    if ((await faultOfSubtitle(path)) === undefined) subtitles.push(subtitleFile(lang, path))
  }
  const downloaded = { metadata, mediaPath, subtitles }
  const thumbnailPath = isOffline ? await sidecarPicture(film) : undefined
  await job.step('rescan.ingest', () =>
    app.videos.ingest(
      {
        downloaded: isOffline
          ? { ...downloaded, metadata: { ...metadata, thumbnails: [] }, ...(thumbnailPath && { thumbnailPath }) }
          : downloaded,
        probe,
        isSubtitleIndexed: app.preferences.section('downloads').subtitle_index,
        publishedElse: dayOfFilm(film.file, epochSeconds(app.clock)),
      },
      job.step,
    ),
  )
  // With local information, nothing is downloaded now: comments are added by the first refresh.
  return !local
}

async function sidecarPicture({ folder, file: { picture } }: FoundFilm): Promise<string | undefined> {
  const path = picture === undefined || isAbsolute(picture) ? undefined : join(folder, picture)
  return path !== undefined && (await isPicture(path)) ? path : undefined
}

/** Adds the channel. If its details are not available, only its name is stored, because the video is more important. */
export async function ensureChannel(
  { channelId, channelName }: VideoMetadata,
  hasInfo: boolean,
  job: Pick<Run, 'id' | 'signal'>,
  app: App,
): Promise<void> {
  const [target] = app.platform.targetsIn(channelId)
  if (target?.type !== 'channel' || target.id !== channelId) return // ingest keeps it by its name
  try {
    await app.channels.ensure(channelId, { asker: job.id, signal: job.signal, name: channelName, isUrgent: hasInfo })
  } catch (thrown) {
    job.signal.throwIfAborted()
    if (!isAppError(thrown, 'unavailable')) throw thrown
  }
}

export const isQueued = (id: string, app: App): boolean => app.queue.known([id]).has(id)
