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
  masks: Uint32Array
}

/**
 * Words as UTF-16 units in one array per length, with a bit mask of the letters of each: words with more different
 * letters than edits cannot be near, which leaves a few hundred to compare. Takes 20 bytes per word; strings in a
 * Set take 80.
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
        groups.set(length, (group = { size: 0, units: new Uint16Array(64 * length), masks: new Uint32Array(64) }))
      const at = group.size++
      if (at === group.masks.length) {
        group.units = grown(group.units, new Uint16Array(at * 2 * length))
        group.masks = grown(group.masks, new Uint32Array(at * 2))
      }
      for (let unit = 0; unit < length; unit++) group.units[at * length + unit] = term.charCodeAt(unit)
      group.masks[at] = maskOf(term)
      size++
    },
    /** All words within `edits` edits of the word, without the word itself. */
    near(word: string, edits: number): Near[] {
      const found = new Map<string, Near>()
      const mask = maskOf(word)
      begin(word)
      for (let length = word.length - edits; length <= word.length + edits; length++) {
        const { size: count, units, masks } = groups.get(length) ?? NONE
        for (let at = 0; at < count; at++) {
          if (isFar(mask, masks[at]!, edits)) continue
          const from = at * length
          const distance = distanceTo(units, from, length, edits)
          if (distance === 0 || distance > edits) continue
          const term = String.fromCharCode(...units.subarray(from, from + length))
          found.set(term, { term, distance })
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

function begin(word: string): void {
  wordLength = word.length
  for (let at = 0; at < wordLength; at++) positions[word.charCodeAt(at)]! |= 1 << at
}

function end(word: string): void {
  for (let at = 0; at < word.length; at++) positions[word.charCodeAt(at)] = 0
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

const NONE: Group = { size: 0, units: new Uint16Array(), masks: new Uint32Array() }

function grown<List extends Uint16Array | Uint32Array>(from: List, to: List): List {
  to.set(from)
  return to
}

function maskOf(term: string): number {
  let mask = 0
  for (let at = 0; at < term.length; at++) mask |= 1 << (term.charCodeAt(at) & 31)
  return mask >>> 0
}

/** Compares letters only: each edit removes at most one letter and adds at most one. */
function isFar(mask: number, other: number, edits: number): boolean {
  let [taken, added] = [mask & ~other, other & ~mask]
  for (let at = 0; at < edits; at++) {
    taken &= taken - 1 // clears its lowest bit
    added &= added - 1
  }
  return (taken | added) !== 0
}
