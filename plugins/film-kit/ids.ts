/** Finds the video id of a file in its name, or in a text such as a URL. */
import type { Platform } from '../platform/types.ts'
import type { Info } from './types.ts'

const IN_BRACKETS = /\[([^[\]]+)\]/g
/** Names as TubeArchivist (until 0.4) and plugins of media servers write them. */
const SURE = [/^\d{8}_([A-Za-z0-9_-]{11})_/, /\[youtube[ -]([A-Za-z0-9_-]{11})\]/]
/** Positions where other programs and people put the id, which may itself contain `-` and `_`. */
const UNSURE = [
  /[({]([A-Za-z0-9_-]{11})[)}]/g,
  // Names as TubeSync writes them: id, height and codecs, or codecs alone.
  /_([A-Za-z0-9_-]{11})_(?:\d{3,4}p|audio|opus|mp4a|vorbis)(?=[-_]|$)/g,
  /^([A-Za-z0-9_-]{11}) - /g,
  /(?: - |[_. ])([A-Za-z0-9_-]{11})$/g,
]
/** Names as youtube-dl writes them. */
const AT_END = /-([A-Za-z0-9_-]{11})$/
/** An id is 64 bits in 11 characters, so the last one has only sixteen possible values. */
const LAST_OF_ID = /[AEIMQUYcgkosw048]$/
/** Words, dates and numbers, which may also have eleven characters. */
const NO_ID =
  /^(?=.{11}$)(?:[A-Za-z]?[a-z]+|[A-Z]+|[\d._-]+)(?:[-_](?:[A-Za-z]?[a-z]+|[\d.]+))*$|^\d{4}[-_.]\d\d[-_.]\d\d/

/**
 * The words in brackets, then the bare name. The last brackets come first, because titles contain brackets too.
 * @param base  without its ending
 */
export const wordsIn = (base: string): string[] => [...bracketsIn(base), base]

export const bracketsIn = (base: string): string[] =>
  [...base.matchAll(IN_BRACKETS)].map(([, word = '']) => word).reverse()

/** Possible ids at other positions in a name. */
export function furtherWordsIn(base: string): string[] {
  const unsure = UNSURE.flatMap((form) => [...base.matchAll(form)].map(([, word = '']) => word).reverse())
  const first = (form: RegExp) => form.exec(base)?.[1] ?? []
  return [
    ...SURE.flatMap(first),
    ...[...unsure.filter((word) => LAST_OF_ID.test(word)), ...[AT_END].flatMap(first)].filter(
      (word) => !NO_ID.test(word),
    ),
  ]
}

/** Whether a word looks like an id, and not like a word, a date or a number of eleven characters. */
export const isLikeId = (word: string): boolean => LAST_OF_ID.test(word) && !NO_ID.test(word)

const CHANNEL_IN_NAME = /(?<![A-Za-z0-9_-])(UC[A-Za-z0-9_-]{22})(?![A-Za-z0-9_-])/

/** The channel in the name of the nearest folder above a film: `Harbour [UC…]`. With yt-dlp's keys. */
export function channelInFolders(folder: string): Info | undefined {
  for (const name of folder.split('/').reverse()) {
    const id = CHANNEL_IN_NAME.exec(name)?.[1]
    if (id === undefined) continue
    const rest = name.replace(id, '').replace(/[[({](?:youtube[ -]?)?[\])}]/i, '')
    const channel = rest.replace(/^[\s_-]+|[\s_-]+$/g, '')
    return { channel_id: id, ...(channel !== '' && { channel }) }
  }
  return undefined
}

/** The video in a text, if the text consists of exactly one id or URL of the platform. */
export function videoIn(text: string, { platform }: { platform: Pick<Platform, 'targetsIn'> }): string | undefined {
  const [target, ...others] = platform.targetsIn(text)
  return target?.type === 'video' && others.length === 0 ? target.id : undefined
}
