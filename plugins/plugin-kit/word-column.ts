/** Makes a search column for short texts in plugins' tables, found by the same words as in an index. */
import { changedStems, indexTerms, queryWords, stem } from '../index-kit/text.ts'

/** Prefix of a stem that differs from its word; no term begins with it. */
const STEM = '~'

/** The words of a text, each between spaces, so that `instr` finds a whole word or its beginning. */
export function wordColumn(text: string): string {
  const terms = indexTerms(text)
  return ` ${[...terms, ...changedStems(terms).map((root) => STEM + root)].join(' ')} `
}

/**
 * The parts that a column must contain to match these words, the last of which may be unfinished: at least one text of
 * each list.
 * @returns undefined if the words are blank; an empty list if nothing can match
 */
export function partsAsked(words: string): string[][] | undefined {
  if (words.trim() === '') return undefined
  return queryWords(words, { prefixLast: true }).map(({ term, stem: root, isPrefix, rows }) => [
    isPrefix ? ` ${term}` : ` ${term} `,
    ...rows.map((row) => ` ${row.join(' ')} `),
    ` ${STEM}${root} `,
    ...(root !== term && stem(root) === root ? [` ${root} `] : []),
  ])
}
