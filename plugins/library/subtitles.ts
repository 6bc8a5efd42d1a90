/**
 * Indexes subtitle files in the library that are not in any document: people added them, or an older server lost them.
 */
import { batchesOf, isAppError, type JobContext, say, type Words } from 'archivolt'
import { faultOfSubtitle } from '../film-kit/sidecars.ts'
import { MOST_LANGUAGES, subtitleFile } from '../film-kit/subtitles.ts'
import type { App } from './app.ts'
import { type FoundSubtitle, mediaDirOf, subtitlesOf } from './disk.ts'
import type { Report } from './report.ts'

/** Number of files that are checked together. */
const STEP = 50

/** The parts of a rescan that this module needs. */
interface Run {
  job: JobContext<object>
  app: App
  report: Report
}
type Found = ReturnType<typeof subtitleFile>

/** Adds unlisted subtitles. Files that are not subtitles are reported and stay. May be repeated. */
export async function takeInSubtitles(run: Run): Promise<void> {
  const { job, app } = run
  let seen = 0
  for await (const batch of batchesOf(subtitlesOf(mediaDirOf(app)), STEP)) {
    job.signal.throwIfAborted()
    job.progress(0.95, say`Checking ${{ count: (seen += batch.length) }} subtitle files`)
    for (const [id, found] of await unlisted(batch, run)) {
      try {
        await job.step('rescan.subtitles', () =>
          app.videos.setSubtitles(id, found, {
            isIndexed: app.preferences.section('downloads').subtitle_index,
            onlyMissing: true,
          }),
        )
      } catch (thrown) {
        // the film or the file no longer exists: the next rescan tries again
        if (!isAppError(thrown, 'unprocessable')) throw thrown
        job.log.info({ id, err: thrown }, 'subtitle files next to a video could not be added')
      }
    }
  }
}

/** Languages that are not in the document yet, by video. */
async function unlisted(batch: FoundSubtitle[], { app, report }: Run): Promise<Map<string, Found[]>> {
  const docs = await app.videos.collection.getMany([...new Set(batch.map(({ film }) => film))])
  const fresh = new Map<string, Found[]>()
  for (const { channelId, film, lang } of batch) {
    const doc = docs.get(film)
    if (doc?.channel_id !== channelId || doc.subtitles.some((one) => one.lang === lang)) continue
    const found = fresh.get(film) ?? []
    const fault = await faultOf(channelId, film, lang, doc.subtitles.length + found.length, app)
    if (fault === undefined)
      fresh.set(film, [...found, subtitleFile(lang, app.media.subtitlePathOf(channelId, film, lang))])
    else report.add(`${channelId}/${film}.${lang}.vtt`, fault)
  }
  return fresh
}

async function faultOf(
  channelId: string,
  id: string,
  lang: string,
  known: number,
  app: App,
): Promise<Words | undefined> {
  if (!app.media.isLanguage(lang)) return say`the part of its name before .vtt is not a language code`
  if (known >= MOST_LANGUAGES) return say`its video already has subtitles in ${{ count: MOST_LANGUAGES }} languages`
  return faultOfSubtitle(app.media.subtitlePathOf(channelId, id, lang))
}
