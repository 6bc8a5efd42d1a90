/** Parses JSON as other programs write it, and refuses JSON that would not fit into memory. */
import { overloadOf } from 'archivolt'

/**
 * Maximum number of values: they take many times the memory of their bytes, and a larger text would crash the reading
 * child.
 */
const MOST_VALUES = 1_500_000

/** Whether parsing would fill the memory, whatever the size in bytes. */
export const isTooMany = (json: Uint8Array): boolean =>
  json.length > MOST_VALUES && overloadOf(json, { values: MOST_VALUES }) !== undefined

/** A string, or a number that Python writes although JSON does not allow it. */
const TEXT_OR_NO_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g
const [LITTLE_ENDIAN, BIG_ENDIAN] = ['fffe', 'feff']

/**
 * Parses JSON as other programs write it: with a byte-order mark, in UTF-16 (PowerShell), with `NaN`.
 * @throws SyntaxError
 */
export function looseJson(bytes: Uint8Array): unknown {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  const encoding = mark === LITTLE_ENDIAN ? 'utf-16le' : mark === BIG_ENDIAN ? 'utf-16be' : 'utf-8'
  const text = new TextDecoder(encoding).decode(bytes)
  // The caller has checked the bytes as UTF-8.
  if (encoding !== 'utf-8' && isTooMany(Buffer.from(text))) throw new SyntaxError('It contains too many values')
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse(text.replace(TEXT_OR_NO_NUMBER, (found) => (found.startsWith('"') ? found : 'null')))
  }
}
