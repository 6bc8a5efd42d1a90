/** Finds words near a misspelled one: scans all words of a collection, packed, in a fraction of a millisecond. */
import { stem } from 'archivolt/index'

/** Fuzzy search ignores distinct words beyond this number. */
const MOST_TERMS = 1_000_000
const SHORTEST_TERM = 2
const LONGEST_TERM = 24

export interface Near {
  term: string
  distance: number
}

export type Vocabulary = ReturnType<typeof openVocabulary>

/**
 * The words of a collection, and the stems that differ from their words.
 * @param hasStems  whether some fields are searched by stems
 */
export function openVocabulary(hasStems: boolean) {
  const [words, stems] = [openTermList(), openTermList()]
  let last = ''
  return {
    words,
    stems,
    add(term: string): void {
      words.add(term)
      if (!hasStems) return
      const root = stem(term)
      // Words are read in order, so most words with the same stem follow each other.
      if (root === term || root === last) return
      last = root
      stems.add(root)
    },
  }
}

/** Words of one length. */
interface Group {
  size: number
  units: Uint16Array
  /** For each 32 words, a bit mask per letter: which of these words contain it. */
  letters: Int32Array
}

/** Units with the same last five bits count as the same letter. */
const LETTERS = 32

/**
 * Words as UTF-16 units in one array per length, with the letters of 32 words side by side: words with more different
 * letters than edits cannot be near, which leaves a hundred to compare. Takes 20 bytes per word; strings in a Set take
 * 80.
 */
function openTermList() {
  const groups = new Map<number, Group>()
  let size = 0
  return {
    get size(): number {
      return size
    },
    add(term: string): void {
      const { length } = term
      if (size >= MOST_TERMS || length < SHORTEST_TERM || length > LONGEST_TERM) return
      let group = groups.get(length)
      if (!group)
        groups.set(length, (group = { size: 0, units: new Uint16Array(64 * length), letters: new Int32Array(64) }))
      const at = group.size++
      if (at === group.letters.length) {
        group.units = grown(group.units, new Uint16Array(at * 2 * length))
        group.letters = grown(group.letters, new Int32Array(at * 2))
      }
      const first = at & -LETTERS
      for (let unit = 0; unit < length; unit++) {
        const code = term.charCodeAt(unit)
        group.units[at * length + unit] = code
        group.letters[first + (code % LETTERS)]! |= 1 << (at - first)
      }
      size++
    },
    /** All words within `edits` edits of the word, without the word itself. */
    near(word: string, edits: number): Near[] {
      const found = new Map<string, Near>()
      begin(word)
      for (let length = word.length - edits; length <= word.length + edits; length++) {
        const { size: count, units, letters } = groups.get(length) ?? NONE
        // An edit removes at most one letter and adds at most one; those that change the length do only one of both.
        const mostRemoved = edits - Math.max(0, length - word.length)
        const mostAdded = edits - Math.max(0, word.length - length)
        for (let first = 0; first < count; first += LETTERS) {
          let far = withMore(mostRemoved, letters, first, 0, ownLetters, -1)
          if (far !== -1) far |= withMore(mostAdded, letters, first, ownLetters, LETTERS, 0)
          for (let left = ~far; left !== 0; left &= left - 1) {
            const at = first + 31 - Math.clz32(left & -left)
            if (at >= count) break
            const from = at * length
            const distance = distanceTo(units, from, length, edits)
            if (distance === 0 || distance > edits) continue
            const term = String.fromCharCode(...units.subarray(from, from + length))
            found.set(term, { term, distance })
          }
        }
      }
      end(word)
      return [...found.values()]
    },
  }
}

/**
 * For each UTF-16 unit, a bit mask of its positions in the searched word: 32 bits suffice for words of `LONGEST_TERM`.
 */
const positions = new Int32Array(1 << 16)
let wordLength = 0
/** All letters, those of the searched word first. */
const order = new Int32Array(LETTERS)
let ownLetters = 0

function begin(word: string): void {
  wordLength = word.length
  let own = 0
  for (let at = 0; at < wordLength; at++) {
    positions[word.charCodeAt(at)]! |= 1 << at
    own |= 1 << (word.charCodeAt(at) % LETTERS)
  }
  ownLetters = 0
  for (let letter = 0; letter < LETTERS; letter++) if ((own >> letter) & 1) order[ownLetters++] = letter
  let at = ownLetters
  for (let letter = 0; letter < LETTERS; letter++) if (!((own >> letter) & 1)) order[at++] = letter
}

function end(word: string): void {
  for (let at = 0; at < word.length; at++) positions[word.charCodeAt(at)] = 0
}

/**
 * Which of 32 words contain (`flip` 0) or lack (`flip` -1) more than `most` of the letters `order[from]` to `order[to]`,
 * as a bit for each word.
 */
function withMore(most: number, letters: Int32Array, first: number, from: number, to: number, flip: 0 | -1): number {
  let one = 0
  let two = 0
  let three = 0
  for (let at = from; at < to; at++) {
    const here = letters[first + order[at]!]! ^ flip
    three |= two & here
    two |= one & here
    one |= here
  }
  return most === 0 ? one : most === 1 ? two : three
}

/**
 * The same distance as `editDistance`, computed one column of its table at a time, with the differences of neighboring
 * cells as bits (H. Hyyrö, “A bit-vector algorithm for computing Levenshtein and Damerau edit distances”, 2003).
 * Returns any number above `most` if the distance is greater.
 */
function distanceTo(units: Uint16Array, from: number, length: number, most: number): number {
  const last = 1 << (wordLength - 1)
  let [above, below, equal, before] = [-1, 0, 0, 0]
  let distance = wordLength
  for (let at = 0; at < length; at++) {
    const here = positions[units[from + at]!]!
    const swapped = ((~equal & here) << 1) & before
    equal = ((((here & above) >>> 0) + (above >>> 0)) ^ above) | here | below | swapped
    let more = below | ~(equal | above)
    let less = equal & above
    if (more & last) distance++
    else if (less & last) distance--
    if (distance - (length - 1 - at) > most) return most + 1
    more = (more << 1) | 1
    less <<= 1
    above = less | ~(equal | more)
    below = more & equal
    before = here
  }
  return distance
}

const NONE: Group = { size: 0, units: new Uint16Array(), letters: new Int32Array() }

function grown<List extends Uint16Array | Int32Array>(from: List, to: List): List {
  to.set(from)
  return to
}
