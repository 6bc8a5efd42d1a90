/** How many edits a misspelled word may be away from a word of a text, and how many it is. */

/**
 * How many edits a word may be away (contract 7): none for 1–2 letters, one for 3–5, two for longer words. The last
 * word needs at least four letters, because it may be unfinished. Digits must match exactly.
 */
export function allowedEdits(term: string, fuzziness: 0 | 1 | 2 | 'auto', isLast: boolean): 0 | 1 | 2 {
  const length = [...term].length
  if (fuzziness === 0 || length < 3 || (isLast && length < 4) || !/\p{L}/u.test(term)) return 0
  if (fuzziness !== 'auto') return fuzziness
  return length <= 5 ? 1 : 2
}

/**
 * The number of edits between two words, or any number above `most`. Insertion, deletion, replacement and swapping two
 * neighbors count one each (optimal string alignment).
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, previous, row] = distanceRows
  for (let j = 0; j <= b.length; j++) previous[j] = j
  for (let i = 1; i <= a.length; i++) {
    // Cells further from the diagonal exceed `most`.
    const from = Math.max(1, i - most)
    const to = Math.min(b.length, i + most)
    row[from - 1] = from === 1 ? i : most + 1
    row[to + 1] = most + 1
    let least = row[from - 1]!
    for (let j = from; j <= to; j++) {
      const isEqual = a.charCodeAt(i - 1) === b.charCodeAt(j - 1)
      let cost = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (isEqual ? 0 : 1))
      if (
        i > 1 &&
        j > 1 &&
        a.charCodeAt(i - 1) === b.charCodeAt(j - 2) &&
        a.charCodeAt(i - 2) === b.charCodeAt(j - 1)
      ) {
        cost = Math.min(cost, before[j - 2]! + 1)
      }
      row[j] = cost
      if (cost < least) least = cost
    }
    if (least > most) return most + 1
    ;[before, previous, row] = [previous, row, before]
  }
  return previous[b.length]!
}

/** The distance table needs only three rows, which all calls share. */
const distanceRows: [number[], number[], number[]] = [[], [], []]
