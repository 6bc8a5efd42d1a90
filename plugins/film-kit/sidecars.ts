/** Checks whether pictures and subtitles next to films have the content that their names promise. */
import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { errors } from 'archivolt'
import { plainFile } from './plain-file.ts'

const MOST_SUBTITLE_BYTES = 32 << 20
const MOST_PICTURE_BYTES = 20 << 20
const TOO_LARGE = 'it is too large for subtitles, or no longer a file'

/** Whether the file is a picture; false if it is missing, empty, too large or a link. */
export async function isPicture(path: string): Promise<boolean> {
  const found = await plainFile(path)
  return found !== undefined && found.sizeBytes > 0 && found.sizeBytes <= MOST_PICTURE_BYTES
}

/** @throws unprocessable: the file is not text, or has no cue */
export async function readSubtitle(path: string, lang: string): Promise<string> {
  const found = await plainFile(path)
  if (!found || found.sizeBytes > MOST_SUBTITLE_BYTES) throw errors.unprocessable(TOO_LARGE)
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  try {
    return withCues(toText(await handle.readFile(), lang))
  } finally {
    await handle.close()
  }
}

/**
 * Checks a subtitle file of the library, read in pieces.
 * @returns the fault; undefined: none
 */
export async function faultOfSubtitle(path: string): Promise<string | undefined> {
  const found = await plainFile(path)
  if (!found || found.sizeBytes > MOST_SUBTITLE_BYTES) return TOO_LARGE
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  let before = ''
  try {
    for await (const piece of handle.createReadStream({
      encoding: 'latin1',
      end: MOST_SUBTITLE_BYTES - 1,
      autoClose: false,
    })) {
      if (`${before}${piece}`.includes(ARROW)) return undefined
      before = String(piece).slice(1 - ARROW.length)
    }
  } finally {
    await handle.close()
  }
  return NO_CUES
}

const ARROW = '-->'
const NO_CUES = 'it has no subtitles'

/** @throws unprocessable */
export function withCues(text: string): string {
  if (!text.includes(ARROW)) throw errors.unprocessable(NO_CUES)
  return text
}

/** Languages whose letters are all in Windows-1252. */
const WESTERN = new Set(
  'af ca da de en es eu fi fo fr fy ga gd gl id is it lb ms nb nl nn no pt rm sq sv sw'.split(' '),
)

/**
 * @throws unprocessable: the text is neither Unicode nor Windows-1252 in a western language; a wrong guess would
 * corrupt it permanently
 */
function toText(bytes: Buffer, lang: string): string {
  const mark = bytes.toString('hex', 0, 2)
  if (mark === 'fffe' || mark === 'feff')
    return new TextDecoder(mark === 'fffe' ? 'utf-16le' : 'utf-16be').decode(bytes)
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (WESTERN.has(languageOf(lang))) return new TextDecoder('windows-1252').decode(bytes)
    throw errors.unprocessable('its text encoding is unknown; save it as UTF-8', { cause })
  }
}

function languageOf(lang: string): string {
  try {
    return new Intl.Locale(lang).language
  } catch {
    return lang // not a tag of the standard
  }
}
