/**
 * Names of files that media servers, FAT, SMB and shells all read as meant. A server reads its numbers out of names:
 * whatever in a title or an id looks like another number, or a range of them, is broken up.
 */

/** Bytes of a name on all common file systems. */
const MOST_BYTES = 255
/** Kept free for what is put behind a base name: the longest is `.<language>.srt`. */
export const ENDING_BYTES = 44

/** What FAT and SMB refuse, and brackets, which shells and the id's own place need. */
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
/** Controls, turned directions, halves of characters: all but the joiner that emoji need. */
const UNSEEN = /(?!\u200d)[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu

/** A text as part of a name. '': nothing of it can be shown. */
export const cleaned = (text: string): string =>
  text
    .toWellFormed()
    .normalize('NFC')
    .replace(/\s+/g, ' ')
    .replace(UNSEEN, '')
    .replace(REFUSED, (sign) => LOOK_ALIKES[sign]!)
    .replace(/\s+/g, ' ')
    .replace(/^[\s.]+|[\s.]+$/g, '')

/** Kodi passes over files with this word of its own; in quotes it is none. */
const SAMPLE = /(?<![\p{L}\p{N}])sample(?![\p{L}\p{N}])/giu

/** Spaces between a letter that announces a number and its number: an id is found again without its spaces. */
export const brokenUp = (text: string): string =>
  text
    .replace(/(\d) ?[x×](?=\d)/gi, (_, digit: string) => `${digit} × `)
    .replace(/([sex])(?=\d)/gi, '$1 ')
    .replace(/(\d)(?=[sex] ?\d)/gi, '$1 ')

/** The same for an id, of which only spaces may be put in. */
export const brokenUpId = (id: string): string =>
  /s\d+[ ._-]*e\d|\dx\d/i.test(id) ? id.replace(/([sex])(?=\d)/gi, '$1 ') : id

/** What is first in a title comes right after our number, where servers look for more numbers. */
export const titleIn = (title: string): string =>
  brokenUp(cleaned(title))
    .replace(SAMPLE, '‘$&’')
    .replace(/^[-–—_+&.,\s]+/, '')

const bytesOf = (text: string): number => Buffer.byteLength(text)

/** The longest beginning of a text that fits into a number of bytes; characters that people see are not cut. */
export function cutTo(text: string, bytes: number): string {
  if (bytesOf(text) <= bytes) return text
  let kept = ''
  let size = 0
  for (const { segment } of new Intl.Segmenter('und', { granularity: 'grapheme' }).segment(text)) {
    size += bytesOf(segment)
    if (size > bytes) break
    kept += segment
  }
  return kept.replace(/(?<![\s.])[\s.]+$/, '')
}

/** `<before><middle><after>` as one name: where it is too long, the middle is cut. */
export function fitted(before: string, middle: string, after: string, room = MOST_BYTES): string {
  return `${before}${cutTo(middle, Math.max(0, room - bytesOf(before) - bytesOf(after)))}${after}`
}

/** `Name [id]`: never two alike, and never a name that a server keeps for something else. */
export function withId(before: string, text: string, id: string, room = MOST_BYTES): string {
  const name = titleIn(text)
  const gap = name === '' ? '' : ' '
  return fitted(before, name, `${gap}[${brokenUpId(id)}]`, room)
}
