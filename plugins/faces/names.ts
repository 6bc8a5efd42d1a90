/**
 * File names that media servers, FAT, SMB and shells all read correctly. A media server reads numbers from names, so
 * anything in a title or an id that looks like another number, or a range of numbers, is broken up.
 */

/** Maximum length of a name on all common file systems, in bytes. */
const MOST_BYTES = 255
/** Bytes reserved for the suffix after a base name: the longest is `.<language>.srt`. */
export const ENDING_BYTES = 44

/** Characters that FAT and SMB refuse, and brackets, which are special to shells and enclose the id. */
const LOOK_ALIKES: Record<string, string> = {
  '<': '‹',
  '>': '›',
  ':': '꞉',
  '"': '”',
  '/': '⁄',
  '\\': '⧵',
  '|': '¦',
  '?': '？',
  '*': '∗',
  '[': '(',
  ']': ')',
}
const REFUSED = /[<>:"/\\|?*[\]]/g
/** Control characters, direction marks and lone surrogates, but not the joiner that emoji need. */
const UNSEEN = /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** A text as part of a name; '': it has no printable characters. */
export const cleaned = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\s+/g, ' ')
    .replace(UNSEEN, '')
    .replace(REFUSED, (sign) => LOOK_ALIKES[sign]!)
    .replace(/\s+/g, ' ')
    .replace(/^[\s.]+|[\s.]+$/g, '')

/** Kodi ignores files whose name contains this word, unless it is in quotes. */
const SAMPLE = /(?<![\p{L}\p{N}])sample(?![\p{L}\p{N}])/giu

/** Inserts a space between a letter that announces a number and the number, and replaces an x between numbers. */
const brokenUp = (text: string): string =>
  text
    .replace(/(\d) ?[x×](?=\d)/gi, (_, digit: string) => `${digit} × `)
    .replace(/([sex])(?=\d)/gi, '$1 ')
    .replace(/(\d)(?=[sex] ?\d)/gi, '$1 ')

/** The same for an id, into which only spaces may be inserted. */
export const brokenUpId = (id: string): string =>
  /s\d+[ ._-]*e\d|\dx\d/i.test(id) ? id.replace(/([sex])(?=\d)/gi, '$1 ') : id

/** A title after the episode number, where media servers look for more numbers. */
export const titleIn = (title: string): string =>
  brokenUp(cleaned(title))
    .replace(SAMPLE, '‘$&’')
    .replace(/^[-–—_+&.,\s]+/, '')

const bytesOf = (text: string): number => Buffer.byteLength(text)

/** The longest beginning of a text within a number of bytes; does not split a visible character. */
export function cutTo(text: string, bytes: number): string {
  if (bytesOf(text) <= bytes) return text
  let beginning = ''
  let size = 0
  for (const { segment } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) {
    size += bytesOf(segment)
    if (size > bytes) break
    beginning += segment
  }
  return beginning.replace(/(?<![\s.])[\s.]+$/, '')
}

/** `<before><middle><after>` as one name; if it is too long, the middle is cut. */
function fitted(before: string, middle: string, after: string, room = MOST_BYTES): string {
  return `${before}${cutTo(middle, Math.max(0, room - bytesOf(before) - bytesOf(after)))}${after}`
}

/** `Name [id]`, which is unique, and never a name that a media server reserves. */
export function withId(before: string, text: string, id: string, room = MOST_BYTES): string {
  const name = titleIn(text)
  const gap = name === '' ? '' : ' '
  return fitted(before, name, `${gap}[${brokenUpId(id)}]`, room)
}
