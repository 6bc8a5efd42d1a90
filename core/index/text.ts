/**
 * Words: fold, split, segment, stem. All adapters and the marking of hits get their words here, so all find the same.
 */
import { stemmer } from 'stemmer'

/** A longer word is cut: nobody types it, and it would only swell the index. */
const LONGEST_WORD = 64
/** Words of one field of one document; the rest is not searched. */
const MOST_WORDS = 20_000
/** Words of one query. */
const MOST_QUERY_WORDS = 32
const STEMS_KEPT = 50_000
/** A shorter stem is near too many others: `running` would find `gun`. */
const SHORTEST_NEAR_STEM = 5

const ONLY_ASCII = /^[\0-\x7f]*$/
const ASCII_RUN = /[a-z0-9]+/gi
/**
 * Diacritics, invisible joiners, and what chooses among the forms of a sign. Not all of \p{M}: in Thai, Hindi or
 * Japanese marks make the letter another one.
 */
const MARKS =
  /[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\u180b-\u180f\ufe00-\ufe0f\ufe20-\ufe2f\u00ad\u200c\u200d\ufeff\u{e0100}-\u{e01ef}]/gu
/** Letters that Unicode does not decompose, though people type them without their mark. */
const LETTERS: Record<string, string> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ð: 'd',
  þ: 'th',
  ħ: 'h',
  ŧ: 't',
  ı: 'i',
  ς: 'σ',
}
const SPECIAL = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')
/** Begins with a letter or digit: a mark before it belongs to the sign that it stands behind. */
const RUN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\u00ad\u200c\u200d]*/gu
/** Written without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u
/** 東京タワー is one word to the segmenter; people ask for 東京. So scripts are parted first. */
const SCRIPT_RUN =
  /[\p{Script=Katakana}ー\uff70]+|[\p{Script=Han}\p{Script=Hiragana}]+|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+|[^\p{Script=Katakana}ー\uff70\p{Script=Han}\p{Script=Hiragana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu
/** Katakana of half width have their marks as letters. */
const HALF_WIDTH = /[\uff66-\uff9f]/
const LETTER = /[^\p{M}\uff9e\uff9f][\p{M}\uff9e\uff9f]*/gu
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

/** Lower case without diacritics, compatible forms made equal: `Crème ﬁne` → `creme fine`. Also the order of texts. */
export function fold(text: string): string {
  if (ONLY_ASCII.test(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(MARKS, '').toLowerCase()
  return plain.replace(SPECIAL, (letter) => LETTERS[letter] ?? letter).normalize('NFC')
}

interface Word {
  /** The folded word. */
  term: string
  /** Where it stands in the text as given, in UTF-16 units; end exclusive. */
  start: number
  end: number
}

/** The words of a text, in order, with their places. Syntax characters, signs and emoji separate. */
function* words(text: string): Generator<Word> {
  if (ONLY_ASCII.test(text)) {
    for (const { 0: word, index } of text.matchAll(ASCII_RUN))
      yield { term: cut(word.toLowerCase()), start: index, end: index + word.length }
    return
  }
  for (const run of text.matchAll(RUN)) {
    if (!UNSPACED.test(run[0])) {
      yield* termsOf(run[0], run.index)
      continue
    }
    const { plain, placeOf } = composed(run[0])
    for (const part of plain.matchAll(SCRIPT_RUN)) {
      for (const piece of segmenter.segment(part[0])) {
        const first = part.index + piece.index
        yield* termsOf(piece.segment, run.index + placeOf(first), run.index + placeOf(first + piece.segment.length))
      }
    }
  }
}

/**
 * A run with its letters as the segmenter's dictionary has them, composed and without marks; and where each of its
 * units stood.
 */
function composed(run: string): { plain: string; placeOf: (unit: number) => number } {
  if (!HALF_WIDTH.test(run) && run.normalize('NFC').replace(MARKS, '') === run)
    return { plain: run, placeOf: (unit) => unit }
  let plain = ''
  const places: number[] = []
  for (const { 0: letter, index } of run.matchAll(LETTER)) {
    const form = letter.normalize(HALF_WIDTH.test(letter) ? 'NFKC' : 'NFC').replace(MARKS, '')
    for (let unit = 0; unit < form.length; unit++) places.push(index)
    plain += form
  }
  return { plain, placeOf: (unit) => places[unit] ?? run.length }
}

function* termsOf(piece: string, start: number, end = start + piece.length): Generator<Word> {
  // Folding may bring separators in (½ becomes 1⁄2): split again; all parts stand where the piece stood.
  for (const match of fold(piece).matchAll(RUN)) yield { term: cut(match[0]), start, end }
}

function cut(term: string): string {
  if (term.length <= LONGEST_WORD) return term
  return term.slice(0, LONGEST_WORD).replace(/[\ud800-\udbff]$/, '')
}

/** The folded words of a text, in order, repetitions kept. */
export function tokens(text: string): string[] {
  if (ONLY_ASCII.test(text)) {
    const found = text.toLowerCase().match(ASCII_RUN) ?? []
    return found.slice(0, MOST_WORDS).map(cut)
  }
  const found: string[] = []
  for (const { term } of words(text)) {
    if (found.length === MOST_WORDS) break
    found.push(term)
  }
  return found
}

const stems = new Map<string, string>()

/** The English stem of a folded word (Porter); words with other letters, and short ones, are their own. */
export function stem(term: string): string {
  if (!/^[a-z]{3,}$/.test(term)) return term
  let found = stems.get(term)
  if (found === undefined) {
    found = stemmer(term)
    if (stems.size >= STEMS_KEPT) stems.clear()
    stems.set(term, found)
  }
  return found
}

/** Stemming takes letters away at the end: words with another beginning need no look. */
const hasStem = (word: string, root: string): boolean =>
  word.charCodeAt(0) === root.charCodeAt(0) && stem(word) === root

/** English words that tell nothing, the usual list of search servers. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with'.split(
    ' ',
  ),
)

interface WordOptions {
  /** The last word also matches as a prefix. */
  prefixLast?: boolean | undefined
  /** Edits per word: a number, or by length (`auto`). Default 0. */
  fuzziness?: 0 | 1 | 2 | 'auto' | undefined
  /** Leave English stop words out, unless there is nothing else. */
  dropStopWords?: boolean | undefined
}

/** One word that is asked for. */
export interface QueryWord {
  term: string
  stem: string
  isPrefix: boolean
  /** How many edits away a word may be and still match, after all exact hits. */
  edits: 0 | 1 | 2
  /** How many edits a word, or its stem, may be away from this word's stem. */
  stemEdits: 0 | 1 | 2
}

/** What a text query asks for: each word once. An empty list: nothing that could be found. */
export function queryWords(text: string, options: WordOptions = {}): QueryWord[] {
  const typed = tokens(text.slice(0, 2000))
  const last = typed.at(-1)
  const telling = options.dropStopWords ? typed.filter((term) => !STOP_WORDS.has(term)) : typed
  const asked = [...new Set(telling.length > 0 ? telling : typed)].slice(0, MOST_QUERY_WORDS)
  const { fuzziness = 0 } = options
  return asked.map((term) => {
    const root = stem(term)
    const edits = allowedEdits(term, fuzziness, term === last)
    return {
      term,
      stem: root,
      isPrefix: options.prefixLast === true && term === last,
      edits,
      stemEdits: edits > 0 && root.length >= SHORTEST_NEAR_STEM ? allowedEdits(root, fuzziness, false) : 0,
    }
  })
}

/**
 * How many edits a word may be away (contract 7): by length 1–2 none, 3–5 one, longer two; the last word only from four
 * letters on, as it may not be finished. Words of digits are taken literally.
 */
export function allowedEdits(term: string, fuzziness: 0 | 1 | 2 | 'auto', isLast: boolean): 0 | 1 | 2 {
  const length = [...term].length
  if (fuzziness === 0 || length < 3 || (isLast && length < 4) || !/\p{L}/u.test(term)) return 0
  if (fuzziness !== 'auto') return fuzziness
  return length <= 5 ? 1 : 2
}

/** Whether two words may stand for each other, one of them misspelt: by their letters, or by those of their stems. */
export function isNear(word: string, { term, edits, stem: root, stemEdits }: QueryWord, withStem = true): boolean {
  const isWithin = (form: string, asked: string, most: number) => most > 0 && editDistance(form, asked, most) <= most
  if (isWithin(word, term, edits)) return true
  return withStem && (isWithin(word, root, stemEdits) || isWithin(stem(word), root, stemEdits))
}

/**
 * Edits between two words, or more than `most`: insert, delete, replace, swap neighbours; each counts one (optimal
 * string alignment).
 */
export function editDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let [before, previous, row] = distanceRows
  for (let j = 0; j <= b.length; j++) previous[j] = j
  for (let i = 1; i <= a.length; i++) {
    // Further from the diagonal there is nothing within `most`.
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

/** Of the table of distances only three rows are needed, used again by each call. */
const distanceRows: [number[], number[], number[]] = [[], [], []]

export interface MarkOptions extends WordOptions {
  /** English endings are equal. Default true. */
  stem?: boolean
}

/**
 * Where the words of a query stand in a text: `[start, end]` in UTF-16 units of the text as given, end exclusive, in
 * order, never overlapping.
 * A word within the allowed edits is marked only where no exact, stemmed or prefix hit of that query word is in the
 * text.
 */
export function markedRanges(text: string, query: string, options: MarkOptions = {}): Array<[number, number]> {
  const present = [...words(text)]
  const marked = new Map<number, number>()
  const withStem = options.stem !== false
  for (const wanted of queryWords(query, options)) {
    const { term, stem: root, isPrefix } = wanted
    const mark = (matches: (word: string) => boolean): boolean => {
      const hits = present.filter((word) => matches(word.term))
      for (const { start, end } of hits) marked.set(start, end)
      return hits.length > 0
    }
    const isExact = (word: string) =>
      word === term || (isPrefix && word.startsWith(term)) || (withStem && hasStem(word, root))
    if (!mark(isExact)) mark((word) => isNear(word, wanted, withStem))
  }
  return [...marked].sort(([a], [b]) => a - b)
}

/**
 * The text with the words of a query wrapped in `before` and `after`; every piece goes through `escape` (such as
 * HTML's).
 */
export function highlight(
  text: string,
  query: string,
  options: MarkOptions & { before: string; after: string; escape?: (piece: string) => string },
): string {
  const escape = options.escape ?? ((piece) => piece)
  let done = 0
  let result = ''
  for (const [start, end] of markedRanges(text, query, options)) {
    result += escape(text.slice(done, start)) + options.before + escape(text.slice(start, end)) + options.after
    done = end
  }
  return result + escape(text.slice(done))
}
