/** Containers of films and audio that are served unchanged, recognized by the file extension and by the first bytes. */

interface Container {
  contentType: string
  isSound?: true
}

/** Containers that every browser plays come first: of two files of one video, the earlier kind is used. */
const CONTAINERS = {
  mp4: { contentType: 'video/mp4' },
  m4v: { contentType: 'video/mp4' },
  webm: { contentType: 'video/webm' },
  mov: { contentType: 'video/quicktime' },
  mkv: { contentType: 'video/x-matroska' },
  ogv: { contentType: 'video/ogg' },
  '3gp': { contentType: 'video/3gpp' },
  avi: { contentType: 'video/x-msvideo' },
  flv: { contentType: 'video/x-flv' },
  wmv: { contentType: 'video/x-ms-wmv' },
  mpg: { contentType: 'video/mpeg' },
  mpeg: { contentType: 'video/mpeg' },
  ts: { contentType: 'video/mp2t' },
  m2ts: { contentType: 'video/mp2t' },
  m4a: { contentType: 'audio/mp4', isSound: true },
  mp3: { contentType: 'audio/mpeg', isSound: true },
  opus: { contentType: 'audio/ogg', isSound: true },
  ogg: { contentType: 'audio/ogg', isSound: true },
  flac: { contentType: 'audio/flac', isSound: true },
  aac: { contentType: 'audio/aac', isSound: true },
  wav: { contentType: 'audio/wav', isSound: true },
  mka: { contentType: 'audio/x-matroska', isSound: true },
} as const satisfies Record<string, Container>

export type Ending = keyof typeof CONTAINERS

/** Extensions of films in the library itself. */
export const OWN_ENDINGS = ['mp4', 'm4a'] as const satisfies readonly Ending[]
export type OwnEnding = (typeof OWN_ENDINGS)[number]
/** The usual extension; audio downloads have the other one. */
export const OWN_ENDING: OwnEnding = 'mp4'

/** @param name  name or path of a file; any other extension counts as the usual one */
export const ownEndingOf = (name = ''): OwnEnding =>
  OWN_ENDINGS.find((ending) => name.endsWith(`.${ending}`)) ?? OWN_ENDING

export const ENDINGS = Object.keys(CONTAINERS) as readonly Ending[]

export const isEnding = (text: string): text is Ending => Object.hasOwn(CONTAINERS, text)

export const contentTypeOf = (ending: Ending): string => CONTAINERS[ending].contentType

export const isSound = (ending: Ending): boolean => 'isSound' in CONTAINERS[ending]

const ascii = (head: Uint8Array, at: number, text: string): boolean =>
  [...text].every((letter, index) => head[at + index] === letter.charCodeAt(0))

/**
 * Whether the first bytes are those of one of these containers: a playlist or text with a film's extension would make
 * other programs open other files. Any container is accepted, because people rename files.
 * @param head  the first bytes: 12 or more, unless the file is shorter
 */
export function isFilm(head: Uint8Array): boolean {
  const number = head.slice(0, 4).reduce((all, byte) => all * 256 + byte, 0)
  return (
    ascii(head, 4, 'ftyp') || // ISO 14496-12, 4.3
    ['moov', 'mdat', 'wide', 'free', 'skip'].some((box) => ascii(head, 4, box)) || // QuickTime before ftyp existed
    number === 0x1a45dfa3 || // EBML: Matroska, WebM
    ascii(head, 0, 'OggS') ||
    ascii(head, 0, 'fLaC') ||
    ascii(head, 0, 'ID3') ||
    ascii(head, 0, 'FLV') ||
    (ascii(head, 0, 'RIFF') && (ascii(head, 8, 'AVI ') || ascii(head, 8, 'WAVE'))) ||
    number === 0x3026b275 || // ASF
    number === 0x000001ba || // MPEG program stream
    number === 0x000001b3 || // MPEG video
    head[0] === 0x47 || // MPEG transport stream
    (head[4] === 0x47 && head[0] === 0) || // transport stream with a timecode before each packet
    (head[0] === 0xff && ((head[1] ?? 0) & 0xe0) === 0xe0) // MPEG audio, AAC
  )
}
