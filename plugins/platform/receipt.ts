/**
 * Makes the receipt of a download from yt-dlp's information: what was offered, what was downloaded, and warnings that
 * more may exist.
 */
import { forPeople } from './classify.ts'
import { count, line, rows } from './metadata.ts'
import type { Doubt, DownloadReceipt, QualityWish, VideoMetadata } from './types.ts'

type Raw = Record<string, unknown>

const MOST_WARNINGS = 10
const MOST_NAMES = 100
const LONGEST_WARNING = 300
const LONGEST_NAME = 40

/** Patterns of warnings after which formats may be missing. The first match counts. */
const DOUBTS: Array<[words: RegExp, doubt: Doubt]> = [
  [/po token|poToken/i, 'token'],
  [/challenge|javascript runtime|signature|nsig/i, 'challenge'],
  [/missing a url|sabr|formats have been skipped|formats may be missing|possibly damaged|http error 403/i, 'protocol'],
]
/** Warnings about subtitles do not concern picture or sound. */
const OF_SUBTITLES = /subtitle|caption/i

interface Format {
  id: string
  /** The shorter side: 1080 for 1080p, also for an upright film. 0: no picture. */
  height: number
  fps: number
  hdr: string
  videoCodec: string
  audioCodec: string
  language: string
  isOriginal: boolean
  client: string
}

function toFormat(raw: Raw): Format {
  const codec = (value: unknown) => (value === 'none' ? '' : family(line(value, LONGEST_NAME)))
  const videoCodec = codec(raw.vcodec)
  const range = line(raw.dynamic_range, LONGEST_NAME)
  const sides = [count(raw.width), count(raw.height)].filter(Boolean)
  return {
    id: line(raw.format_id, LONGEST_NAME),
    height: raw.vcodec === 'none' || sides.length === 0 ? 0 : Math.min(...sides),
    fps: Math.round(typeof raw.fps === 'number' && raw.fps > 0 ? raw.fps : 0),
    hdr: raw.vcodec === 'none' || range === 'SDR' ? '' : range,
    videoCodec,
    audioCodec: codec(raw.acodec),
    language: videoCodec !== '' && raw.acodec === 'none' ? '' : line(raw.language, LONGEST_NAME),
    isOriginal: raw.isOriginal === true,
    client: line(raw.client, LONGEST_NAME),
  }
}

/** `avc1.4D401F` → `h264`: the name that people and ffprobe use. */
function family(codec: string): string {
  const [name = ''] = codec.toLowerCase().split('.')
  if (/^(avc|h264|x264)/.test(name)) return 'h264'
  if (/^(hev|hvc|h265)/.test(name)) return 'hevc'
  if (/^av0?1/.test(name)) return 'av1'
  if (/^vp0?9/.test(name)) return 'vp9'
  return /^(mp4a|aac)/.test(name) ? 'aac' : name
}

const distinct = (values: Array<string>): string[] => [...new Set(values.filter(Boolean))].slice(0, MOST_NAMES)
const largest = (values: number[]): number => Math.max(0, ...values)
/** `en` and `en-US` count as the same language, and so do `iw` and `he`. */
const isSameLanguage = (one: string, other: string): boolean => baseOf(one) === baseOf(other)

function baseOf(language: string): string {
  try {
    const base = new Intl.Locale(language).language
    return base === 'nb' ? 'no' : base
  } catch {
    return language.toLowerCase() // not a language code
  }
}

/** @param wish  the quality setting; undefined: a custom format, whose limits are unknown */
export function toReceipt(
  raw: unknown,
  { subtitles }: VideoMetadata,
  warnings: readonly string[],
  wish: QualityWish | undefined,
): DownloadReceipt {
  const { offered: all, got: taken, downloader } = raw as Raw
  const offered = rows(all).map(toFormat)
  const got = rows(taken).map(toFormat)
  const original = offered.find(({ isOriginal, language }) => isOriginal && language)?.language
  const picture = (formats: Format[]) => {
    const height = largest(formats.map((one) => one.height))
    const fps = largest(formats.filter((one) => one.height === height).map((one) => one.fps))
    const hdr = distinct(formats.map((one) => one.hdr))[0]
    return { height, ...(fps && { fps }), ...(hdr !== undefined && { hdr }) }
  }
  const [videoCodec] = distinct(got.map((one) => one.videoCodec))
  const [audioCodec] = distinct(got.map((one) => one.audioCodec))
  const [audioLanguage] = distinct(got.map((one) => one.language))
  const allowedHeight = wish && allowedOf(offered, wish)
  return {
    downloader: line(downloader, LONGEST_NAME),
    offered: {
      ...picture(offered),
      videoCodecs: distinct(offered.map((one) => one.videoCodec)),
      audioCodecs: distinct(offered.map((one) => one.audioCodec)),
      audioLanguages: distinct(offered.map((one) => one.language)),
      ...(original !== undefined && { originalLanguage: original }),
      subtitles: subtitles.user.slice(0, MOST_NAMES),
      clients: distinct(offered.map((one) => one.client)),
    },
    got: {
      ...picture(got),
      ...(videoCodec !== undefined && { videoCodec }),
      ...(audioCodec !== undefined && { audioCodec }),
      ...(audioLanguage !== undefined && { audioLanguage }),
      formats: got.map((one) => one.id),
    },
    ...(allowedHeight !== undefined && { allowedHeight }),
    isForeign: wish !== undefined && isForeign(audioLanguage, offered, wish.language, original),
    warnings: distinct(warnings.map(withoutAddresses)).slice(0, MOST_WARNINGS),
    doubts: [...new Set(warnings.flatMap(doubtOf))],
  }
}

/** The best offered quality within the setting. */
function allowedOf(offered: Format[], { height: most, codec, hdr }: QualityWish): number {
  const narrowed = (formats: Format[], isMeant: (one: Format) => boolean) => {
    const meant = formats.filter(isMeant)
    return meant.length > 0 ? meant : formats
  }
  if (codec === 'sound') return 0
  let left = offered.filter(({ height }) => height > 0)
  if (!hdr) left = narrowed(left, (one) => one.hdr === '')
  if (codec === 'compatible') left = narrowed(left, ({ videoCodec }) => videoCodec === 'h264')
  const heights = left.map(({ height }) => height)
  const within = most === undefined ? heights : heights.filter((height) => height <= most)
  return within.length > 0 ? largest(within) : heights.length > 0 ? Math.min(...heights) : 0
}

function isForeign(
  got: string | undefined,
  offered: Format[],
  wished: string | undefined,
  original: string | undefined,
): boolean {
  const isOffered = (wish: string) => offered.some(({ language }) => language !== '' && isSameLanguage(language, wish))
  const due = wished !== undefined && isOffered(wished) ? wished : original
  return got !== undefined && due !== undefined && !isSameLanguage(got, due)
}

function doubtOf(warning: string): Doubt[] {
  const doubt = OF_SUBTITLES.test(warning) ? undefined : DOUBTS.find(([words]) => words.test(warning))?.[1]
  return doubt === undefined ? [] : [doubt]
}

/** Removes addresses, which may contain session data, because every account can read warnings. */
const withoutAddresses = (warning: string): string =>
  forPeople(warning)
    .replace(/\bhttps?:\/\/\S+/g, '…')
    .slice(0, LONGEST_WARNING)
