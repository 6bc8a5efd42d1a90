/** The words that are near a misspelt one: all words of a collection, packed, passed over in a millisecond or two. */
import { editDistance } from 'archivolt/index'

/** Beyond this many distinct words the rest is not looked at by fuzzy search. */
const MOST_TERMS = 1_000_000
const LONGEST_TERM = 24

export interface Near {
  term: string
  distance: number
}

export interface TermList {
  readonly size: number
  add(term: string): void
  /** All words at most `edits` away, the word itself left out, nearest first. */
  near(word: string, edits: number): Near[]
}

/**
 * Words as UTF-16 units in one array, with the letters each has as a bit mask: words whose letters differ in more than
 * 2 × edits places cannot be near, which leaves a few hundred to compare. 20 bytes a word, where strings in a Set would
 * take 80.
 */
export function openTermList(): TermList {
  let units = new Uint16Array(1 << 14)
  let ends = new Uint32Array(1 << 11)
  let masks = new Uint32Array(1 << 11)
  let size = 0
  const startOf = (at: number) => (at === 0 ? 0 : ends[at - 1]!)

  return {
    get size() {
      return size
    },
    add(term) {
      if (size >= MOST_TERMS || term.length < 2 || term.length > LONGEST_TERM) return
      const start = startOf(size)
      if (start + term.length > units.length) units = grown(units, new Uint16Array(units.length * 2))
      if (size === ends.length) {
        ends = grown(ends, new Uint32Array(size * 2))
        masks = grown(masks, new Uint32Array(size * 2))
      }
      for (let at = 0; at < term.length; at++) units[start + at] = term.charCodeAt(at)
      ends[size] = start + term.length
      masks[size] = maskOf(term)
      size++
    },
    near(word, edits) {
      const found: Near[] = []
      const seen = new Set([word])
      const mask = maskOf(word)
      const shortest = word.length - edits
      const longest = word.length + edits
      for (let at = 0, start = 0; at < size; at++) {
        const end = ends[at]!
        const length = end - start
        if (length >= shortest && length <= longest && bits(mask ^ masks[at]!) <= 2 * edits) {
          const term = String.fromCharCode(...units.subarray(start, end))
          const distance = editDistance(word, term, edits)
          if (distance <= edits && !seen.has(term)) {
            seen.add(term)
            found.push({ term, distance })
          }
        }
        start = end
      }
      return found.sort((a, b) => a.distance - b.distance)
    },
  }
}

function grown<List extends Uint16Array | Uint32Array>(from: List, to: List): List {
  to.set(from)
  return to
}

function maskOf(term: string): number {
  let mask = 0
  for (let at = 0; at < term.length; at++) mask |= 1 << (term.charCodeAt(at) & 31)
  return mask >>> 0
}

function bits(value: number): number {
  let rest = value - ((value >>> 1) & 0x55555555)
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333)
  return Math.imul((rest + (rest >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
