/** The difference between two texts, word by word. */

export interface Piece {
  is: 'same' | 'gone' | 'new'
  text: string
}

/**
 * Limit for the product of the numbers of words. Beyond it, both texts are shown as a whole, because time and memory
 * for the comparison grow with this product.
 */
const MOST_PAIRS = 1_000_000

const words = new Intl.Segmenter(undefined, { granularity: 'word' })
const wordsOf = (text: string): string[] => [...words.segment(text)].map(({ segment }) => segment)

export function wordDiff(before: string, after: string): Piece[] {
  const [old, now] = [wordsOf(before), wordsOf(after)]
  let start = 0
  while (start < old.length && start < now.length && old[start] === now[start]) start++
  let end = 0
  while (end < old.length - start && end < now.length - start && old.at(-1 - end) === now.at(-1 - end)) end++
  const [left, right] = [old.slice(start, old.length - end), now.slice(start, now.length - end)]
  const between: Array<[Piece['is'], string]> =
    left.length * right.length > MOST_PAIRS
      ? [
          ['gone', left.join('')],
          ['new', right.join('')],
        ]
      : commonOf(left, right)
  return joined([
    ...old.slice(0, start).map((word): [Piece['is'], string] => ['same', word]),
    ...between,
    ...old.slice(old.length - end).map((word): [Piece['is'], string] => ['same', word]),
  ])
}

/** The words in common, by the longest common subsequence. */
function commonOf(left: readonly string[], right: readonly string[]): Array<[Piece['is'], string]> {
  const width = right.length + 1
  // The length of the longest common subsequence of the rests of both texts, by position.
  const longest = new Uint16Array((left.length + 1) * width)
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      longest[row * width + column] =
        left[row] === right[column]
          ? longest[(row + 1) * width + column + 1]! + 1
          : Math.max(longest[(row + 1) * width + column]!, longest[row * width + column + 1]!)
  const pieces: Array<[Piece['is'], string]> = []
  let [row, column] = [0, 0]
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      pieces.push(['same', left[row++]!])
      column++
    } else if (
      column === right.length ||
      (row < left.length && longest[(row + 1) * width + column]! >= longest[row * width + column + 1]!)
    )
      pieces.push(['gone', left[row++]!])
    else pieces.push(['new', right[column++]!])
  }
  return pieces
}

/** Joins neighbors of the same kind into one piece. */
function joined(pieces: ReadonlyArray<[Piece['is'], string]>): Piece[] {
  const all: Piece[] = []
  for (const [is, text] of pieces) {
    const last = all.at(-1)
    if (last?.is === is) last.text += text
    else if (text !== '') all.push({ is, text })
  }
  return all
}
