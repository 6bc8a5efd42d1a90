/**
 * Combines the data about a video from the files next to its film, its folders and its tags; more detailed sources have
 * priority.
 */
import { channelInFolders, isLikeId } from '../film-kit/ids.ts'
import type { FoundFile, Info, Look, Nfo } from '../film-kit/types.ts'
import { given, textOf } from '../film-kit/values.ts'
import type { PlaceTools } from '../library/reader.ts'

type FilmLook = Extract<Look, { isFilm: true }>

export const isPlaylist = (info: Info): boolean => info._type === 'playlist'

/** The video id in an NFO, under any name that its program or Jellyfin's plugin uses for the platform. */
export function idInNfo(nfo: Nfo | undefined, tools: PlaceTools): string | undefined {
  if (!nfo) return undefined
  const { extractor, videoIn } = tools
  for (const key of [extractor, `${extractor}metadata`, 'tubearchivist', 'yt-dlp', 'ytdl', 'yt']) {
    const id = nfo.ids[key]
    if (id !== undefined) return videoIn(id)
  }
  // An id without a type may be that of a film database.
  const untold = ['', 'default', 'unknown'].flatMap((key) => nfo.ids[key] ?? []).find(isLikeId)
  if (untold !== undefined && videoIn(untold) === untold) return untold
  // The id is at the beginning of the text, where ytdl-sub writes it.
  const [word = ''] = textOf(nfo.info['description']).split(/\s/, 1)
  return word.startsWith('http') ? videoIn(word) : undefined
}

/** All data about a film, except its tags. @param id  of its video @returns undefined: nothing is known */
export function toldOf(file: FoundFile, look: FilmLook, id: string, tools: PlaceTools): Info | undefined {
  const { info, nfo, show, listed } = look
  const byNfo = idInNfo(nfo, tools)
  const told = {
    ...channelInFolders(file.folder),
    ...show,
    ...((byNfo ?? id) === id && nfo?.info),
    ...(info?.id === id && given(info)),
    ...(listed?.id === id && listed.info),
  }
  return Object.keys(told).length > 0 ? { ...told, id } : undefined
}

/** The title of a film without a description: its name without id and date. */
export function titleIn(base: string, id: string): string {
  const title = base
    .replace(new RegExp(`[\\s_.-]{0,9}[[({]?(?:youtube[ -])?${id}[\\])}]?`, 'i'), ' ')
    .replace(/^\s*(?:19|20)\d\d[-._]?\d\d[-._]?\d\d[\s_-]*/, '')
    .replace(/\s+/g, ' ')
    .trim()
  return title === '' ? base : title
}

const LEAST_TITLE = 4
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '')

/** Whether a name contains the title, which yt-dlp may have shortened and cleaned. */
export function hasTitle(base: string, title: unknown): boolean {
  const [name, whole] = [folded(base), folded(textOf(title)).slice(0, 40)]
  return whole.length >= LEAST_TITLE ? name.includes(whole) || whole.includes(name) : name === whole
}
