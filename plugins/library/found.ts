/**
 * Indexes a film of the library that has no document: gets its metadata, moves it to the right folder, then ingests it.
 */

import { join } from 'node:path'
import { epochSeconds, isAppError, type JobContext } from 'archivolt'
import { dayOfFilm } from '../film-kit/film-day.ts'
import { metadataIn } from '../film-kit/metadata.ts'
import { faultOfSubtitle } from '../film-kit/sidecars.ts'
import { MOST_LANGUAGES, subtitleFile } from '../film-kit/subtitles.ts'
import type { Info } from '../film-kit/types.ts'
import type { VideoMetadata } from '../platform/types.ts'
import type { App } from './app.ts'
import { type FoundFilm, moveFilm, subtitlesIn } from './disk.ts'

type Run = JobContext<object>

/**
 * @param info  from the file beside it, if that is preferred to the platform
 * @throws what the platform throws; unprocessable: it is no film, or cannot be moved. The film then stays where it is.
 */
export async function takeIn(film: FoundFilm, job: Run, app: App, info?: Info): Promise<void> {
  const id = film.name
  const asked = { asker: job.id, signal: job.signal }
  const probe = await app.media.probe(film.path)
  const local = info && metadataIn(info, id, app)
  const metadata = local ?? (await app.platform.video(id, asked))
  const mediaPath = app.media.homeOf(metadata.channelId, id, film.path)
  const isKnown = await app.videos.exclusive(id, async () => {
    if (await app.videos.get(id)) return true // a download has just brought it in
    if (mediaPath !== film.path) await job.step('rescan.move', () => moveFilm(film, metadata.channelId, app))
    return false
  })
  if (isKnown) return
  await job.step('rescan.channel', async () => {
    if (local) await ensureChannel(local, true, job, app)
    else await app.channels.ensure(metadata.channelId, { ...asked, name: metadata.channelName })
  })
  const subtitles: Array<ReturnType<typeof subtitleFile>> = []
  for (const lang of (await subtitlesIn(join(mediaPath, '..'), id))
    .filter(app.media.isLanguage)
    .slice(0, MOST_LANGUAGES)) {
    const path = app.media.subtitlePathOf(metadata.channelId, id, lang)
    if ((await faultOfSubtitle(path)) === undefined) subtitles.push(subtitleFile(lang, path))
  }
  await job.step('rescan.ingest', () =>
    app.videos.ingest(
      {
        downloaded: { metadata, mediaPath, subtitles },
        probe,
        isSubtitleIndexed: app.preferences.section('downloads').subtitle_index,
        publishedElse: dayOfFilm(film.file, epochSeconds(app.clock)),
      },
      job.step,
    ),
  )
  // With local information nothing is fetched now: comments come with the first refresh.
  if (!local) await app.extras.fetch(id, job)
}

/** If the channel's details cannot be had, it is kept by its name: the video matters more. */
export async function ensureChannel(
  { channelId, channelName }: VideoMetadata,
  hasInfo: boolean,
  job: Run,
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
