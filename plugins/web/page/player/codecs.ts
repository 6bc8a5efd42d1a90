/** What formats are called, by people and by browsers. */
import type { Stream } from '../server/records.ts'

/** As files name them → as people do. */
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
/** As browsers are asked for them. What is not here is played, or is not: nobody is told before. */
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

export const nameOf = (codec: string): string => NAMES[codec] ?? codec

/** @returns the names of what is in a file, such as `HEVC, AAC` */
export const namesOf = (streams: readonly Stream[]): string =>
  [...new Set(streams.map(({ codec }) => nameOf(codec)))].join(', ')

/**
 * The sound's format, where this browser plays none of the file's sounds: the film runs without it, and without a word.
 */
export function unheard(streams: readonly Stream[]): string | undefined {
  const sounds = streams.filter(({ type }) => type === 'audio').map(({ codec }) => codec)
  const isUnknown = (codec: string): boolean =>
    codec in SOUNDS && document.createElement('audio').canPlayType(`audio/mp4; codecs="${SOUNDS[codec]}"`) === ''
  return sounds.length > 0 && sounds.every(isUnknown) ? nameOf(sounds[0]!) : undefined
}
