/** Names of formats, for people and for browsers. */
import type { Stream } from '../server/records.ts'

/** Codec names: as in files → as shown. */
const NAMES: Record<string, string> = {
  hevc: 'HEVC',
  h264: 'H.264',
  av1: 'AV1',
  vp9: 'VP9',
  mpeg4: 'MPEG-4',
  ac3: 'AC-3',
  eac3: 'E-AC-3',
  dts: 'DTS',
  opus: 'Opus',
  flac: 'FLAC',
  aac: 'AAC',
}
/** Audio codecs: as in files → as in browser APIs. Unknown ones are simply tried. */
const SOUNDS: Record<string, string> = {
  aac: 'mp4a.40.2',
  mp3: 'mp3',
  opus: 'opus',
  flac: 'flac',
  alac: 'alac',
  ac3: 'ac-3',
  eac3: 'ec-3',
  dts: 'dtsc',
  truehd: 'mlpa',
}

const PICTURES: Record<string, string> = {
  h264: 'video/mp4; codecs="avc1.640028"',
  hevc: 'video/mp4; codecs="hvc1.1.6.L120.90"',
  av1: 'video/mp4; codecs="av01.0.08M.08"',
  vp8: 'video/webm; codecs="vp8"',
  vp9: 'video/webm; codecs="vp09.00.40.08"',
  mpeg4: 'video/mp4; codecs="mp4v.20.9"',
  theora: 'video/ogg; codecs="theora"',
}
/** Container formats that a browser either opens or not, whatever they contain. */
const CONTAINERS: Record<string, string> = {
  avi: 'video/x-msvideo',
  flv: 'video/x-flv',
  wmv: 'video/x-ms-wmv',
  mpg: 'video/mpeg',
  mpeg: 'video/mpeg',
  ts: 'video/mp2t',
  m2ts: 'video/mp2t',
}

const nameOf = (codec: string): string => NAMES[codec] ?? codec

/** @returns the names of the codecs in a file, such as `HEVC, AAC` */
export const namesOf = (streams: readonly Stream[]): string =>
  [...new Set(streams.map(({ codec }) => nameOf(codec)))].join(', ')

/**
 * The audio codec, if this browser supports none of the file's audio tracks: the film would play silently, without an
 * error.
 */
export function unheard(streams: readonly Stream[]): string | undefined {
  const sounds = streams.filter(({ type }) => type === 'audio').map(({ codec }) => codec)
  const isUnknown = (codec: string): boolean =>
    codec in SOUNDS && document.createElement('audio').canPlayType(`audio/mp4; codecs="${SOUNDS[codec]}"`) === ''
  return sounds.length > 0 && sounds.every(isUnknown) ? nameOf(sounds[0]!) : undefined
}

/** A configuration for `MediaCapabilities`; unknown values are replaced by ordinary ones. */
const pictureOf = (
  contentType: string,
  { width = 1280, height = 720, bitrate }: Stream,
): MediaDecodingConfiguration => ({
  type: 'file',
  video: {
    contentType,
    width: width || 1280,
    height: height || 720,
    bitrate: bitrate || 1_000_000,
    framerate: 30,
  },
})

/**
 * What this browser declares that it cannot play; undefined: it can, or only trying shows it.
 * @param url  the URL of the film, whose extension names the container
 */
export async function foreseen(url: string, streams: readonly Stream[]): Promise<'format' | 'picture' | undefined> {
  const container = CONTAINERS[url.split('.').at(-1)!]
  if (container !== undefined && document.createElement('video').canPlayType(container) === '') return 'format'
  const pictures = streams.filter(({ type }) => type === 'video')
  if (pictures.length === 0 || !('mediaCapabilities' in navigator)) return undefined
  const answers = pictures.map(async (stream) => {
    const contentType = PICTURES[stream.codec]
    if (contentType === undefined) return true
    return (await navigator.mediaCapabilities.decodingInfo(pictureOf(contentType, stream))).supported
  })
  if ((await Promise.all(answers)).some((isShown) => isShown)) return undefined
  return pictures.length < streams.length ? 'picture' : 'format'
}
