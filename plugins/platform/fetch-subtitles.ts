/** Fetches the subtitles of an archived video, in the same form as a download brings them. */
import { join } from 'node:path'
import type { AskOptions, DownloadedSubtitle, Platform } from './types.ts'
import { checkId, LONG_QUIET_MS, ofVideo, type YtDlp } from './ytdlp.ts'

/** @param ending  aborts all waiting when the server closes */
export const openSubtitles = (ytdlp: YtDlp, ending: AbortSignal): Pick<Platform, 'subtitles' | 'untilSubtitles'> => ({
  subtitles: (id, wanted, options) => fetchSubtitles(id, wanted, options, ytdlp),
  untilSubtitles: (signal) => ytdlp.subtitles.open(AbortSignal.any([signal, ending])),
})

async function fetchSubtitles(
  id: string,
  { folder, languages, source, except = [] }: Parameters<Platform['subtitles']>[1],
  options: AskOptions,
  ytdlp: YtDlp,
): ReturnType<Platform['subtitles']> {
  checkId(id, 'video')
  if (ytdlp.subtitles.isClosed()) return { subtitles: [], arePutOff: true }
  const request = {
    op: 'subtitles',
    videoId: id,
    folder,
    subtitleLanguages: languages.slice(0, 500),
    subtitleSource: source,
    except: except.slice(0, 500),
  }
  return ytdlp.ask({ ...ofVideo(id, LONG_QUIET_MS), folder }, options, async (child) => {
    const { result, warnings } = await ytdlp.shared.ask(request, child)
    leftOut(id, result, warnings, ytdlp)
    const arePutOff = noteSubtitles(result, ytdlp)
    return { subtitles: toSubtitles(result.subtitles, folder), arePutOff }
  })
}

export const toSubtitles = (value: unknown, folder: string): DownloadedSubtitle[] =>
  (value as Array<{ lang: string; name: string; source: 'user' | 'auto'; url: string; file: string }>).map(
    ({ file, ...subtitle }) => ({ ...subtitle, path: join(folder, file) }),
  )

/** The languages that could not be fetched; also logs them. */
export function leftOut(id: string, result: Record<string, unknown>, warnings: string[], { log }: YtDlp): string[] {
  const languages = result.leftOut as string[]
  if (languages.length > 0)
    log.warn({ id, languages, warnings }, 'subtitles could not be fetched or converted and are left out')
  return languages
}

/** @returns whether the platform refused subtitles: then it refuses all of them for a while */
export function noteSubtitles(result: Record<string, unknown>, { subtitles }: YtDlp): boolean {
  const areRefused = result.areSubtitlesRefused === true
  if (areRefused || (result.subtitles as unknown[]).length > 0) subtitles.hear(areRefused)
  return areRefused
}
