/** The forms of faces: the layout of files as a pure function of documents, without access to a disk. */
import { extname } from 'node:path'
import { errors, say } from 'archivolt'
import type { ChannelDoc } from '../channel/schema.ts'
import type { VideoDoc } from '../video/schema.ts'
import { markOf } from './mark.ts'
import { brokenUpId, cleaned, cutTo, ENDING_BYTES, titleIn, withId } from './names.ts'
import { type Aired, episodeNfo, seasonNfo, showNfo } from './nfo.ts'
import type { Form, WantedFile, WantedUnit } from './types.ts'

const NAME_BYTES = 255
const LONGEST_TEMPLATE = 500

/** A video with all data from which its files are made. */
export interface Source {
  video: VideoDoc
  channel: ChannelDoc
  /** The path of its film. */
  film: string
  /** Whether it is in a folder of another program, to which only symbolic links may lead. */
  isPlaced: boolean
  /** The number within show and year; 0: the form has no numbers. */
  number: number
  artOf(kind: 'video' | 'channel_thumb' | 'channel_banner' | 'channel_tvart', id: string): string
  subtitleOf(lang: string): string
}

export const seasonOf = ({ published }: Pick<VideoDoc, 'published'>): number => Number(published.slice(0, 4)) || 0

const text = (path: string, content: string): WantedFile => ({
  path,
  kind: 'text',
  mark: markOf(content),
  text: content,
})
const picture = (path: string, from: string): WantedFile => ({ path, kind: 'picture', mark: 'p', from })

/** The mark of a film: after another download, its size or time differs. */
const filmMark = ({ media_size: size, date_downloaded: at }: VideoDoc): string => `${size}:${at}`

const filmAt = (base: string, { video, film, isPlaced }: Source): WantedFile => ({
  path: `${base}${extname(film)}`,
  kind: 'film',
  mark: filmMark(video),
  from: film,
  isSoft: isPlaced,
})

const subtitlesAt = (base: string, { video, subtitleOf }: Source): WantedFile[] =>
  video.subtitles.map(({ lang }) => ({
    path: `${base}.${lang}.srt`,
    kind: 'subtitles',
    mark: 's',
    from: subtitleOf(lang),
  }))

/** The files of an episode. The film comes last, after all files that a media server reads with it. */
function episode(source: Source): WantedUnit {
  const { video, channel, number, artOf } = source
  const season = seasonOf(video)
  const name = withId(`S${season}E${number} - `, video.title, video.platform_id, NAME_BYTES - ENDING_BYTES)
  const base = `${showFolder(channel)}/Season ${season}/${name}`
  const files = [
    text(`${base}.nfo`, episodeNfo(video, channel, number)),
    picture(`${base}-thumb.jpg`, artOf('video', video.platform_id)),
    ...subtitlesAt(base, source),
    filmAt(base, source),
  ]
  return { unit: unitOf(video.platform_id), files }
}

const showFolder = (channel: ChannelDoc): string => withId('', channel.channel_name, channel.channel_id)

/** The name of a video's unit. The prefix separates videos from shows and seasons, because no id contains a space. */
export const unitOf = (videoId: string): string => `v ${videoId}`
/** @param unit  of a video */
export const videoOf = (unit: string): string => unit.slice(unitOf('').length)
const SHOW = 'show'
const seasonUnit = (season: number): string => `season ${season}`

/** The files of the show and its seasons. @param artOf  omitted: without pictures */
export function showUnits(channel: ChannelDoc, aired: Aired, artOf?: Source['artOf']): WantedUnit[] {
  const folder = showFolder(channel)
  const art = (name: string, kind: Parameters<Source['artOf']>[0]): WantedFile[] =>
    artOf ? [picture(`${folder}/${name}`, artOf(kind, channel.channel_id))] : []
  const show = {
    unit: SHOW,
    files: [
      text(`${folder}/tvshow.nfo`, showNfo(channel, aired)),
      ...art('poster.jpg', 'channel_thumb'),
      ...art('fanart.jpg', 'channel_tvart'),
      ...art('banner.jpg', 'channel_banner'),
    ],
  }
  const season = (year: number): WantedUnit => ({
    unit: seasonUnit(year),
    files: [
      text(`${folder}/Season ${year}/season.nfo`, seasonNfo(year)),
      // Jellyfin and Kodi use the first name, Plex uses the second.
      ...art(`season${year}-poster.jpg`, 'channel_thumb'),
      ...art(`Season ${year}/Season${year}.jpg`, 'channel_thumb'),
    ],
  })
  return [show, ...aired.years.map(season)]
}

const WORDS = ['title', 'id', 'channel', 'channel_id', 'year', 'month', 'day', 'date'] as const
type Word = (typeof WORDS)[number]
const WORD = /\{([^{}]*)\}/g

export const DEFAULT_TEMPLATE = '{channel}/{date} {title} [{id}]'

/** @throws bad_request: why the template is not valid */
export function checkTemplate(template: string): void {
  const refuse = (rule: Parameters<typeof errors.wrongField>[1]) => errors.wrongField('template', rule)
  if (template.length > LONGEST_TEMPLATE) throw refuse(say`must have at most ${{ most: LONGEST_TEMPLATE }} characters`)
  const unknown = [...template.matchAll(WORD)].map(([, word]) => word!).find((word) => !WORDS.includes(word as Word))
  if (unknown !== undefined)
    throw refuse(
      say`must contain only these words in braces, not ${{ word: `{${unknown}}` }}: ${{ words: WORDS.join(', ') }}`,
    )
  const segments = template.split('/')
  if (!segments.at(-1)!.includes('{id}'))
    throw refuse(
      say`must contain ${{ word: '{id}' }} in the name of the file: without it two videos could have the same path`,
    )
  const isEmpty = (segment: string) => cleaned(segment.replace(WORD, 'x')) === ''
  if (segments.some(isEmpty)) throw refuse('must have no empty folders, and none named . or ..')
  if (segments.some((segment) => Buffer.byteLength(cleaned(segment.replace(WORD, ''))) > 100))
    throw refuse('must have names of at most 100 bytes, apart from the words in braces')
}

function pathBy(template: string, { video, channel }: Pick<Source, 'video' | 'channel'>): string {
  const [year = '', month = '', day = ''] = video.published.split('-')
  const values: Record<Word, string> = {
    title: titleIn(video.title),
    id: brokenUpId(video.platform_id),
    channel: titleIn(channel.channel_name),
    channel_id: brokenUpId(channel.channel_id),
    ...{ year, month, day, date: video.published },
  }
  const segments = template.split('/')
  return segments.map((segment, at) => nameBy(segment, values, at === segments.length - 1 ? ENDING_BYTES : 0)).join('/')
}

/** One segment of a path. If it is too long, its longest placeholder other than the id is cut. */
function nameBy(segment: string, values: Record<Word, string>, reservedBytes: number): string {
  const fill = (given: Record<Word, string>): string =>
    // Brackets in the template are kept, because they enclose the id.
    segment
      .split(/(\{[^{}]*\}|[[\]])/)
      .map((part, at) => (at % 2 === 0 ? cleanedAround(part) : (given[part.slice(1, -1) as Word] ?? part)))
      .join('')
      .replace(/\s+/g, ' ')
      .replace(/^[\s.]+|[\s.]+$/g, '')
  const whole = fill(values)
  const excess = Buffer.byteLength(whole) - (NAME_BYTES - reservedBytes)
  if (excess <= 0) return whole === '' ? '_' : whole
  const longest = segment.includes('{title}') ? 'title' : 'channel'
  const cut = { ...values, [longest]: cutTo(values[longest], Math.max(0, Buffer.byteLength(values[longest]) - excess)) }
  return cutTo(fill(cut), NAME_BYTES - reservedBytes)
}

/** Like `cleaned`, but keeps the spaces at both ends. */
const cleanedAround = (part: string): string => cleaned(`x${part}x`).slice(1, -1)

function named(template: string, source: Source): WantedUnit {
  const { video, artOf } = source
  const base = pathBy(template, source)
  const files = [
    picture(`${base}.jpg`, artOf('video', video.platform_id)),
    ...subtitlesAt(base, source),
    filmAt(base, source),
  ]
  return { unit: unitOf(video.platform_id), files }
}

function sound(template: string, source: Source): WantedUnit {
  const { video, film } = source
  const path = `${pathBy(template, source)}.m4a`
  const codec = video.streams.find(({ type }) => type === 'audio')?.codec ?? ''
  const made: WantedFile =
    extname(film) === '.m4a'
      ? { ...filmAt('', source), path }
      : { path, kind: 'sound', mark: filmMark(video), from: film, codec }
  return { unit: unitOf(video.platform_id), files: codec === '' ? [] : [made] }
}

/** All files of one video in a face. */
export function unitFor(form: Form, template: string, source: Source): WantedUnit {
  if (form === 'shows') return episode(source)
  return form === 'files' ? named(template, source) : sound(template, source)
}

/** The path of its film or sound. */
export const mainPath = ({ files }: { files: ReadonlyArray<{ path: string }> }): string | undefined =>
  files.at(-1)?.path
