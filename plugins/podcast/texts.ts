/** Prepares texts of the platform for feeds. */
import { xmlText } from 'archivolt'

export const oneLine = (text: string): string => xmlText(text).replace(/\s+/g, ' ').trim()

/** The beginning of a text, in whole characters. */
export function cut(text: string, mostBytes: number): string {
  // One UTF-16 unit has at most three bytes.
  if (text.length * 3 <= mostBytes) return text
  if (Buffer.byteLength(text) <= mostBytes) return text
  const bytes = Buffer.from(text.slice(0, mostBytes))
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytes - 3), { stream: true })}…`
}
