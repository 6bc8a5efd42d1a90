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
  await fetchMore(id, job, app)
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

/** Subtitles and comments as they are configured for downloads. Without them the video is as good as before. */
async function fetchMore(id: string, job: Run, app: App): Promise<void> {
  const {
    subtitle,
    subtitle_source,
    subtitle_index,
    comment_max: max,
    comment_sort: sort,
  } = app.preferences.section('downloads')
  const asked = { asker: job.id, signal: job.signal }
  if (subtitle && !(await isQueued(id, app))) {
    await orLog('subtitles', async () => {
      const folder = await app.media.staging(id)
      try {
        const staged = await app.platform.subtitles(
          id,
          { folder, languages: subtitle, source: subtitle_source || 'user' },
          asked,
        )
        if (staged.length > 0) await app.videos.setSubtitles(id, staged, { isIndexed: subtitle_index })
      } finally {
        await app.media.clearStaging(id)
      }
    })
  }
  if (max)
    await orLog('comments', async () =>
      app.videos.setComments(id, await app.platform.comments(id, { max, sort }, asked)),
    )

  async function orLog(what: string, work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (thrown) {
      const failure = app.platform.failureOf(thrown)
      if (!failure) throw thrown
      job.log.warn({ id, failure: failure.failure }, `no ${what}: ${failure.message}`)
    }
  }
}

/** Then its staging folder may hold part files of a download. */
export const isQueued = async (id: string, app: App): Promise<boolean> => (await app.queue.items.known([id])).has(id)
