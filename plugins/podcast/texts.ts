/** Texts of strangers as feeds show them. */
import { xmlText } from 'archivolt'

export const oneLine = (text: string): string => xmlText(text).replace(/\s+/g, ' ').trim()

/** Its beginning, in whole characters. */
export function cut(text: string, mostBytes: number): string {
  // No character of a string takes more than three bytes.
  if (text.length * 3 <= mostBytes) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= mostBytes) return text
  return `${new TextDecoder().decode(bytes.subarray(0, mostBytes - 3), { stream: true })}…`
}
