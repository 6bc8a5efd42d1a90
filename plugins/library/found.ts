/**
 * A film that lies in the library and that no document knows: metadata from the platform, the right folder, then the one
 * way in.
 */
import { join } from 'node:path'
import type { JobContext } from 'archivolt'
import type { App } from './app.ts'
import { type FoundFilm, moveFilm, subtitlesIn } from './disk.ts'
import { faultOfSubtitle } from './sidecars.ts'

type Run = JobContext<object>

/** More than the platform has: it translates into every language that it knows. */
export const MOST_LANGUAGES = 300

/** @throws what the platform throws; unprocessable: it is no film, or cannot be moved. Then it lies where it lay. */
export async function takeIn(film: FoundFilm, job: Run, app: App): Promise<void> {
  const id = film.name
  const asked = { asker: job.id, signal: job.signal }
  const probe = await app.media.probe(film.path)
  const metadata = await app.platform.video(id, asked)
  const mediaPath = app.media.pathOf(metadata.channelId, id)
  const isKnown = await app.videos.exclusive(id, async () => {
    if (await app.videos.has(id)) return true // a download has just brought it in
    if (mediaPath !== film.path) await job.step('rescan.move', () => moveFilm(film, metadata.channelId, app))
    return false
  })
  if (isKnown) return
  await job.step('rescan.channel', () =>
    app.channels.ensure(metadata.channelId, { ...asked, name: metadata.channelName }),
  )
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
      },
      job.step,
    ),
  )
  await app.extras.fetch(id, job)
}

export const subtitleFile = (lang: string, path: string) => ({
  lang,
  name: nameOf(lang),
  source: 'file' as const,
  url: '',
  path,
})

const LANGUAGES = new Intl.DisplayNames(['en'], { type: 'language', fallback: 'code' })

function nameOf(lang: string): string {
  try {
    return LANGUAGES.of(lang) ?? lang
  } catch {
    return lang // not a tag of the standard
  }
}

/** Then its staging folder may hold part files of a download. */
export const isQueued = async (id: string, app: App): Promise<boolean> => (await app.queue.items.known([id])).has(id)
