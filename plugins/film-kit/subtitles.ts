/** Handles subtitle files next to films: their record, and their conversion to WebVTT. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { inputOf } from 'archivolt'
import type { Media } from '../media/types.ts'
import { readSubtitle, withCues } from './sidecars.ts'
import type { FoundFile } from './types.ts'

/** Maximum number of languages, more than the platform offers, including all automatic translations. */
export const MOST_LANGUAGES = 300

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

/** Writes a subtitle file as WebVTT. @throws unprocessable: it cannot be read, or has no cue */
export async function stageSubtitle(
  folder: string,
  { name, lang, isSubRip }: FoundFile['subtitles'][number],
  to: string,
  { signal }: { signal: AbortSignal },
  { media }: { media: Pick<Media, 'ffmpeg'> },
): Promise<void> {
  const text = await readSubtitle(join(folder, name), lang)
  if (!isSubRip) return writeFile(to, text)
  const subRip = `${to}.srt`
  await writeFile(subRip, text)
  await media.ffmpeg([...inputOf('srt', subRip), '-map', '0:s:0', '-f', 'webvtt', '-y', `file:${to}`], { signal })
  withCues(await readFile(to, 'utf8'))
}
