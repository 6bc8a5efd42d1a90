/** Groups the file names of a folder: films, the files that belong to each, and remains of unfinished downloads. */

import { posix } from 'node:path'

const HOUSEKEEPING = new Set([
  '@eadir',
  '@recycle',
  '@recently-snapshot',
  '#recycle',
  '#snapshot',
  '$recycle.bin',
  'lost+found',
  'system volume information',
  'network trash folder',
  'temporary items',
  '__macosx',
  'thumbs.db',
])

/** The path of a name relative to the scanned root; the folder '' is that root. */
export const pathIn = (folder: string, name: string): string => (folder === '' ? name : `${folder}/${name}`)
export const pathOf = ({ folder, name }: { folder: string; name: string }): string => pathIn(folder, name)

/** The path of a film's information file or NFO relative to the place; it may be in another folder than the film. */
export const sidecarPath = (folder: string, name: string): string => posix.join(folder, name)

/** Whether `inner` is the folder `outer` or inside it; both are absolute paths. */
export const isWithin = (outer: string, inner: string): boolean =>
  inner === outer || inner.startsWith(outer.endsWith('/') ? outer : `${outer}/`)

/** A line of a download archive of yt-dlp: `<extractor> <id>`. */
export const ARCHIVE_LINE = /^(\S{1,50}) (\S{1,100})$/

/** Whether a name is hidden, or was created by a file server for itself. */
export const isIgnored = (name: string): boolean => name.startsWith('.') || HOUSEKEEPING.has(name.toLowerCase())

/** Tartube's folders for files that belong to the films next to these folders. */
const ASIDE = new Set(['.data', '.thumbs'])
export const isAside = (name: string): boolean => ASIDE.has(name)

const ENDING = /^(.+)\.([A-Za-z0-9]{2,5})$/s
/**
 * The name of a stream before merging, which contains its format, or of a post-processor's file. If an information file
 * of the same name exists, it is the name of a film.
 */
const PIECE = /^(.+)\.(?:f\d{2,5}(?:-(?:\d+|drc|dashy|sr))*|f(?:hls|https?|dash)-[\w-]+|temp|uncut|orig)$/s
const UNFINISHED = /^(.+)\.(?:part(?:-Frag\d+)?|ytdl)$/s
const INFO = /^(.+)\.info\.json(?:\.gz)?$/is
const NFO = /^(.+)\.nfo$/is
const PICTURE = /^(.+?)(?:-thumb|-poster)?\.(?:jpe?g|png|webp)$/is
const SUBTITLE = /^(.+)\.([A-Za-z0-9_-]{2,35})\.(vtt|srt)$/is

interface FilmName {
  name: string
  /** The name without the ending, normalized to NFC, because some systems store names in another form. */
  base: string
  ending: string
  info?: string
  /** The NFO file, which describes the film to media servers. */
  nfo?: string
  picture?: string
  subtitles: Array<{ name: string; lang: string; isSubRip: boolean }>
}

interface Grouped {
  films: FilmName[]
  /** Files of unfinished downloads, by the name of the finished file. */
  unfinished: Map<string, string[]>
  /** Information files without a film of the same name. */
  lone: string[]
}

interface Beside {
  info?: string
  nfo?: string
  picture?: string
  subtitles: Map<string, { name: string; lang: string; isSubRip: boolean }>
}

/**
 * @param names  names of the files in one folder
 * @param endings  of films
 * @param aside  further names, with their folder: used only for films that have no such file in their own folder
 */
export function groupNames(
  names: readonly string[],
  endings: ReadonlySet<string>,
  aside: readonly string[] = [],
): Grouped {
  const beside = new Map<string, Beside>()
  const films: Array<{ name: string; base: string; ending: string }> = []
  const unfinished: Grouped['unfinished'] = new Map()
  const sidecarsOf = (base: string): Beside => {
    const found = beside.get(base) ?? { subtitles: new Map() }
    beside.set(base, found)
    return found
  }
  const all = new Set(names.map((name) => name.normalize('NFC')))
  const isTold = (base: string): boolean =>
    all.has(`${base}.info.json`) || all.has(`${base}.info.json.gz`) || all.has(`${base}.nfo`)
  for (const name of names) {
    const text = name.normalize('NFC')
    const [, part] = UNFINISHED.exec(text) ?? []
    const [, film, ending] = ENDING.exec(part ?? text) ?? []
    const isFilm = endings.has(ending?.toLowerCase() ?? '')
    const [, whole] = (isFilm && !isTold(film!) && PIECE.exec(film!)) || []
    if (part !== undefined || whole !== undefined) {
      const of = whole ?? (isFilm ? film! : part!)
      unfinished.set(of, [...(unfinished.get(of) ?? []), name])
      continue
    }
    if (isFilm) films.push({ name, base: film!, ending: ending!.toLowerCase() })
    else putSidecar(name, text, sidecarsOf)
  }
  const bases = new Set(films.map(({ base }) => base))
  const unused: Beside = { subtitles: new Map() }
  for (const name of aside)
    putSidecar(name, posix.basename(name).normalize('NFC'), (base) => (bases.has(base) ? sidecarsOf(base) : unused))
  return { ...withBeside(films, beside), unfinished }
}

function putSidecar(name: string, text: string, sidecarsOf: (base: string) => Beside): void {
  const [, info] = INFO.exec(text) ?? []
  const [, nfo] = NFO.exec(text) ?? []
  const [, picture] = PICTURE.exec(text) ?? []
  const [, subtitle, code = '', kind] = SUBTITLE.exec(text) ?? []
  if (info !== undefined) sidecarsOf(info).info ??= name
  if (nfo !== undefined) sidecarsOf(nfo).nfo ??= name
  if (picture !== undefined) sidecarsOf(picture).picture ??= name
  if (subtitle === undefined) return
  const { subtitles } = sidecarsOf(subtitle)
  const [lang, isSubRip] = [code.replaceAll('_', '-'), kind?.toLowerCase() === 'srt']
  if (!isSubRip || !subtitles.has(lang)) subtitles.set(lang, { name, lang, isSubRip })
}

function withBeside(
  films: ReadonlyArray<{ name: string; base: string; ending: string }>,
  beside: ReadonlyMap<string, Beside>,
): Pick<Grouped, 'films' | 'lone'> {
  const taken = new Set<string>()
  const found = films.map(({ name, base, ending }): FilmName => {
    const { info = beside.get(`${base}.${ending}`)?.info, nfo, picture, subtitles = new Map() } = beside.get(base) ?? {}
    if (info !== undefined) taken.add(info)
    return {
      name,
      base,
      ending,
      ...(info !== undefined && { info }),
      ...(nfo !== undefined && { nfo }),
      ...(picture !== undefined && { picture }),
      subtitles: [...subtitles.values()],
    }
  })
  const lone = [...beside.values()].flatMap(({ info }) => (info !== undefined && !taken.has(info) ? [info] : []))
  return { films: found, lone }
}
