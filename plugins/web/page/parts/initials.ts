/** The letters that stand for an account where it has no picture. */

const letters = new Intl.Segmenter()
const firstOf = (word: string): string => [...letters.segment(word)][0]?.segment ?? ''

/** Of the first and the last part of a name: `ana.maria-lopez` is AL. */
export function initialsOf(name: string): string {
  const parts = name.split(/[\s@.+_-]+/).filter(Boolean)
  const [first = name, last] = [parts[0], parts.length > 1 ? parts.at(-1) : undefined]
  return (firstOf(first) + firstOf(last ?? '')).toUpperCase()
}
