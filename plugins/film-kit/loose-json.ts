/** JSON as other programs write it, and only as much of it as memory holds. */
import { overloadOf } from 'archivolt'

/** Each takes much more memory than it takes bytes: with twice as many the reading child ends. */
const MOST_VALUES = 1_500_000

/** Whether JSON has so many values that it would fill the memory of its reader, whatever its size. */
export const isTooMany = (json: Uint8Array): boolean =>
  json.length > MOST_VALUES && overloadOf(json, { values: MOST_VALUES }) !== undefined

/** A text, or a number that JSON does not have and Python writes all the same. */
const TEXT_OR_NO_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\b(?:NaN|Infinity)\b/g
const [LITTLE_ENDIAN, BIG_ENDIAN] = ['fffe', 'feff']

/**
 * JSON as other programs write it: with a byte-order mark, in UTF-16 (PowerShell), with `NaN`.
 * @throws SyntaxError
 */
export function looseJson(bytes: Uint8Array): unknown {
  const mark = Buffer.from(bytes.subarray(0, 2)).toString('hex')
  const encoding = mark === LITTLE_ENDIAN ? 'utf-16le' : mark === BIG_ENDIAN ? 'utf-16be' : 'utf-8'
  const text = new TextDecoder(encoding).decode(bytes)
  // Its caller has counted the values by bytes.
  if (encoding !== 'utf-8' && isTooMany(Buffer.from(text))) throw new SyntaxError('It has too many values')
  try {
    return JSON.parse(text)
  } catch {
    return JSON.parse(text.replace(TEXT_OR_NO_NUMBER, (found) => (found.startsWith('"') ? found : 'null')))
  }
}
