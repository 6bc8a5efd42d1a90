/** Prepares texts of the platform for feeds. */
import { xmlText } from 'archivolt'

export const oneLine = (text: string): string => xmlText(text).replace(/\s+/g, ' ').trim()

const encoder = new TextEncoder()
/**
 * ASCII, because a single character beyond Latin-1 doubles the memory of the whole feed, which then takes longer to
 * encode.
 */
const ELLIPSIS = '...'

/** The beginning of a text, in whole characters. */
export function cut(text: string, mostBytes: number): string {
  // One UTF-16 unit has at most three bytes.
  if (text.length * 3 <= mostBytes || Buffer.byteLength(text) <= mostBytes) return text
  const { read } = encoder.encodeInto(text, new Uint8Array(mostBytes - ELLIPSIS.length))
  return text.slice(0, read) + ELLIPSIS
}
