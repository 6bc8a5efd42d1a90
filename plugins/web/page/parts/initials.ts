/** The initials shown for an account without a picture. */

const letters = new Intl.Segmenter()
const firstOf = (word: string): string => [...letters.segment(word)][0]?.segment ?? ''

/** The first letters of the first and last part of the name: `ana.maria-lopez` gives AL. */
export function initialsOf(name: string): string {
  const parts = name.split(/[\s@.+_-]+/).filter(Boolean)
  const [first = name, last] = [parts[0], parts.length > 1 ? parts.at(-1) : undefined]
  return (firstOf(first) + firstOf(last ?? '')).toUpperCase()
}
