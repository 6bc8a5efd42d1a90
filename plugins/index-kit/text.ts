/**
 * Words: folds, splits, segments and stems them. All adapters and the highlighter use this module, so that all find the
 * same words.
 */
import { stemmer } from 'stemmer'
import { allowedEdits, editDistance } from './edit-distance.ts'

/** Maximum length of a word; a longer one is cut, because nobody types it and it would only enlarge the index. */
const LONGEST_WORD = 64
/** Maximum number of words of one field of one document; the rest is not searchable. */
const MOST_WORDS = 20_000
/** Maximum number of words of one query. */
const MOST_QUERY_WORDS = 32
const STEMS_KEPT = 10_000
/**
 * Minimum length of a stem for near matches: a shorter one is near too many others, so that `running` would find `gun`.
 */
const SHORTEST_NEAR_STEM = 5

const ONLY_ASCII = /^[\0-\x7f]*$/
const ASCII_RUN = /[a-z0-9]+/gi
/**
 * Diacritics, invisible joiners and variation selectors. Not all of \p{M}: in Thai, Hindi or Japanese a mark changes
 * the letter.
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
/** A word begins with a letter or digit: a mark before it belongs to the preceding sign. */
const RUN = /[\p{L}\p{N}][\p{L}\p{N}\p{M}\u00ad\u200c\u200d]*/gu
/** Letters of scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Katakana}\p{Script=Han}\p{Script=Hiragana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Yi}]/u
/** The range of all unspaced scripts and few others: a fast first test. */
const MAYBE_UNSPACED = /[\u0e00-\u1fff\u2e80-\uffff]/
/** The segmenter takes 東京タワー for one word, but people search for 東京. So the text is first split by script. */
const SCRIPT_RUN =
  /[\p{Script=Katakana}ー\uff70]+|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Bopomofo}]+|[\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Yi}]+|[^\p{Script=Katakana}ー\uff70\p{Script=Han}\p{Script=Hiragana}\p{Script=Bopomofo}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tai_Le}\p{Script=New_Tai_Lue}\p{Script=Tai_Tham}\p{Script=Tai_Viet}\p{Script=Javanese}\p{Script=Balinese}\p{Script=Yi}]+/gu
/**
 * People type `T.N.T.`, `AC/DC`, `M*A*S*H`, `e-mail` and `don’t` with or without the signs. Some signs end a word:
 * `C++`, `C#`.
 */
const SIGN_IN_WORD = /[-.·/&*'’‐‑+#＋＃]/g
const ENDS_WORD = '+#＋＃'
const IN_WORD = /[\p{L}\p{N}\p{M}]/u
const SIGNS = /\S+/gu
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}]/gu
/** ASCII signs separate words in the full-text table, so they are stored in their full-width form. */
const ASCII_SIGN = /[!-/:-@[-`{-~]/g
const TO_FULL_WIDTH = 0xfee0
/** Half-width katakana encode their marks as separate letters. */
const HALF_WIDTH = /[\uff66-\uff9f]/
const LETTER = /[^\p{M}\uff9e\uff9f][\p{M}\uff9e\uff9f]*/gu
const segmenter = new Intl.Segmenter('en', { granularity: 'word' })

/** Lower case without diacritics, with compatible forms unified: `Crème ﬁne` → `creme fine`. Also used as sort key. */
export function fold(text: string): string {
  if (ONLY_ASCII.test(text)) return text.toLowerCase()
  const plain = text.normalize('NFKD').replace(MARKS, '').toLowerCase()
  return plain.replace(SPECIAL, (letter) => LETTERS[letter] ?? letter).normalize('NFC')
}

interface Word {
  /** The folded word. */
  term: string
  /** Offset in the original text, in UTF-16 units; the end is exclusive. */
  start: number
  end: number
}

/** The words of a text, in order, with their offsets. Signs and emoji are separators. */
const words = (text: string): Iterable<Word> => (ONLY_ASCII.test(text) ? asciiWords(text) : otherWords(text))

/** Without a generator, which takes twice as long. */
function asciiWords(text: string): Word[] {
  const found: Word[] = []
  const lower = text.toLowerCase()
  let start = 0
  for (let at = 0; at <= lower.length; at++) {
    if (isAsciiWord(lower.charCodeAt(at))) continue
    if (start < at) found.push({ term: cut(lower.slice(start, at)), start, end: at })
    start = at + 1
  }
  return found
}

/** A lower-case letter or a digit. */
const isAsciiWord = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

function* otherWords(text: string): Generator<Word> {
  for (const run of text.matchAll(RUN)) {
    if (!MAYBE_UNSPACED.test(run[0]) || !UNSPACED.test(run[0])) {
      yield* termsOf(run[0], run.index)
      continue
    }
    for (const { part, offsetOf } of scriptRuns(run)) {
      for (const { segment, index } of segmenter.segment(part))
        yield* termsOf(segment, offsetOf(index), offsetOf(index + segment.length))
    }
  }
}

interface ScriptRun {
  part: string
  /** The offset in the whole text of a unit of the part. */
  offsetOf: (unit: number) => number
}

/** The parts of a run that are written in one script each. */
function* scriptRuns(run: RegExpExecArray): Generator<ScriptRun> {
  const { plain, offsetOf } = composed(run[0])
  for (const { 0: part, index } of plain.matchAll(SCRIPT_RUN))
    yield { part, offsetOf: (unit) => run.index + offsetOf(index + unit) }
}

/**
 * Additional terms by which a text is found: words with their signs removed or retained; in scripts without spaces,
 * every two neighboring letters, because the segmenter may cut differently in a query; and signs, if the text has no
 * words.
 */
function* furtherTerms(text: string): Generator<Word> {
  yield* signedWords(text)
  if (ONLY_ASCII.test(text) ? /[a-z0-9]/i.test(text) : /[\p{L}\p{N}]/u.test(text)) yield* neighbours(text)
  else yield* signs(text)
}

interface SignedWord extends Word {
  /** true: the signs end the word and are retained (`c++`). false: they are inside the word and removed (`acdc`). */
  isEnd: boolean
}

/** Visits each sign once, with a bounded search around it, because texts may be hostile. */
function* signedWords(text: string): Generator<SignedWord> {
  let end = 0
  for (const { 0: sign, index } of text.matchAll(SIGN_IN_WORD)) {
    if (index < end) continue
    const start = wordStart(text, index)
    if (start === index) continue
    const isEnd = ENDS_WORD.includes(sign)
    end = isEnd ? signsEnd(text, index) : partsEnd(text, index, sign)
    if (end === index || end - start > LONGEST_WORD) continue
    const word = text.slice(start, end)
    if (isEnd) yield { term: withSigns(word), start, end, isEnd }
    // Skips dates and times. Other scripts are covered by `neighbours`.
    else if (/\p{L}/u.test(word) && !(MAYBE_UNSPACED.test(word) && UNSPACED.test(word)))
      yield { term: fold(word).replace(/[^\p{L}\p{N}\p{M}]/gu, ''), start, end, isEnd }
  }
}

const ASCII_IN_WORD = Uint8Array.from({ length: 128 }, (_, code) => Number(IN_WORD.test(String.fromCharCode(code))))

function isInWord(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code < 128 ? ASCII_IN_WORD[code] === 1 : IN_WORD.test(text.charAt(at))
}

/** The start of the word before this offset; the offset itself if there is no word or it is too long. */
function wordStart(text: string, at: number): number {
  let start = at
  while (start > 0 && isInWord(text, start - 1)) if (at - --start > LONGEST_WORD) return at
  return start
}

/** The end of the signs at this offset; the offset itself if the word continues after them. */
function signsEnd(text: string, at: number): number {
  let end = at
  while (end < text.length && ENDS_WORD.includes(text.charAt(end)) && end - at < LONGEST_WORD) end++
  return isInWord(text, end) ? at : end
}

/** The end of the last part joined by this sign; the offset itself if no part follows. */
function partsEnd(text: string, at: number, sign: string): number {
  let end = at
  while (text.charAt(end) === sign && isInWord(text, end + 1) && end - at < LONGEST_WORD) {
    end++
    while (isInWord(text, end) && end - at <= LONGEST_WORD) end++
  }
  return end
}

/** The signs of a text without words: `?!`, `***`, `🌊🌊`. */
function* signs(text: string): Generator<Word> {
  for (const { 0: chunk, index } of text.matchAll(SIGNS)) {
    const term = cut(withSigns(chunk.replace(UNSEEN, '')))
    if (term !== '') yield { term, start: index, end: index + chunk.length }
  }
}

const withSigns = (text: string): string =>
  fold(text).replace(ASCII_SIGN, (sign) => String.fromCharCode(sign.charCodeAt(0) + TO_FULL_WIDTH))

/** Every two neighboring letters, and the last letter alone, so that a prefix search finds every letter. */
function* neighbours(text: string): Generator<Word> {
  if (!MAYBE_UNSPACED.test(text)) return
  for (const run of text.matchAll(RUN)) {
    if (!MAYBE_UNSPACED.test(run[0]) || !UNSPACED.test(run[0])) continue
    for (const { part, offsetOf } of scriptRuns(run)) {
      if (!UNSPACED.test(part)) continue
      let before: Word | undefined
      for (const letter of letters(part, offsetOf)) {
        if (before) yield { term: before.term + letter.term, start: before.start, end: letter.end }
        before = letter
      }
      if (before) yield before
    }
  }
}

function* letters(part: string, offsetOf: ScriptRun['offsetOf']): Generator<Word> {
  let unit = 0
  for (const letter of part) {
    const [start, end] = [offsetOf(unit), offsetOf(unit + letter.length)]
    for (const term of fold(letter)) yield { term, start, end }
    unit += letter.length
  }
}

/**
 * A run with its letters in the form of the segmenter's dictionary, composed and without marks, and the original offset
 * of each unit.
 */
function composed(run: string): { plain: string; offsetOf: (unit: number) => number } {
  if (!HALF_WIDTH.test(run) && run.normalize('NFC').replace(MARKS, '') === run)
    return { plain: run, offsetOf: (unit) => unit }
  let plain = ''
  const offsets: number[] = []
  for (const { 0: letter, index } of run.matchAll(LETTER)) {
    const form = letter.normalize(HALF_WIDTH.test(letter) ? 'NFKC' : 'NFC').replace(MARKS, '')
    for (let unit = 0; unit < form.length; unit++) offsets.push(index)
    plain += form
  }
  return { plain, offsetOf: (unit) => offsets[unit] ?? run.length }
}

function* termsOf(piece: string, start: number, end = start + piece.length): Generator<Word> {
  // Folding may introduce separators (½ becomes 1⁄2): split again; all parts get the offsets of the piece.
  for (const match of fold(piece).matchAll(RUN)) yield { term: cut(match[0]), start, end }
}

function cut(term: string): string {
  if (term.length <= LONGEST_WORD) return term
  return term.slice(0, LONGEST_WORD).replace(/[\ud800-\udbff]$/, '')
}

/** The folded words of a text, in order, including repetitions. */
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

/** All terms by which a text is found: its words, then the additional terms. */
export function indexTerms(text: string): string[] {
  const found = tokens(text)
  let left = MOST_WORDS
  for (const { term } of furtherTerms(text)) {
    if (left-- === 0) break
    found.push(term)
  }
  return found
}

const stems = new Map<string, string>()

/** The English stem of a folded word (Porter). A short word, or one with other letters, is its own stem. */
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

/** Stemming changes only the end of a word, so the first letter is compared before the stem is computed. */
const hasStem = (word: string, root: string): boolean =>
  word.charCodeAt(0) === root.charCodeAt(0) && stem(word) === root

/** English stop words: the usual list of search servers. */
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
  /** Drop English stop words, unless the query has no other words. */
  dropStopWords?: boolean | undefined
}

/** One word of a query. */
export interface QueryWord {
  term: string
  stem: string
  isPrefix: boolean
  /** Maximum distance, in edits, of a matching word. Such hits rank after all exact ones. */
  edits: 0 | 1 | 2
  /** Maximum distance, in edits, of a word, or its stem, from this word's stem. */
  stemEdits: 0 | 1 | 2
  /** Sequences of terms that match this word if they follow one another in the text. */
  rows: string[][]
}

/** A word as it was typed. */
type TypedWord = Pick<QueryWord, 'term' | 'rows'>

function typedWords(text: string): TypedWord[] {
  const signed = [...signedWords(text)]
  const found = [...words(text)].map(({ term, start, end }): TypedWord => {
    const over = signed.filter((word) => word.start <= start && end <= word.end)
    const withItsSigns = over.find(({ isEnd }) => isEnd)
    // A single letter is not specific enough: a search for `C++` does not mean everything that begins with c.
    if (withItsSigns && [...term].length === 1) return { term: withItsSigns.term, rows: [] }
    return { term, rows: [...over.map((word) => [word.term]), ...rowOf(term)] }
  })
  return found.length > 0 ? found : [...signs(text)].map(({ term }) => ({ term, rows: [] }))
}

/** The letter pairs of an unspaced word, because the segmenter may have split it differently in the text. */
function rowOf(term: string): string[][] {
  const letters = [...term]
  if (letters.length < 3 || !UNSPACED.test(term)) return []
  return [letters.slice(1).map((letter, at) => letters[at]! + letter)]
}

/** The words of a query, each once. An empty list: the query can match nothing. */
export function queryWords(text: string, options: WordOptions = {}): QueryWord[] {
  const typed = typedWords(text.slice(0, 2000))
  const last = typed.at(-1)?.term
  const telling = options.dropStopWords ? typed.filter(({ term }) => !STOP_WORDS.has(term)) : typed
  const asked = new Map<string, TypedWord>()
  for (const word of telling.length > 0 ? telling : typed) if (!asked.has(word.term)) asked.set(word.term, word)
  const { fuzziness = 0 } = options
  return [...asked.values()].slice(0, MOST_QUERY_WORDS).map(({ term, rows }) => {
    const root = stem(term)
    const edits = allowedEdits(term, fuzziness, term === last)
    return {
      term,
      rows,
      stem: root,
      isPrefix: isUnspacedLetter(term) || (options.prefixLast === true && term === last),
      edits,
      stemEdits: edits > 0 && root.length >= SHORTEST_NEAR_STEM ? allowedEdits(root, fuzziness, false) : 0,
    }
  })
}

/** A single unspaced letter is also found inside words, as the beginning of a letter pair. */
const isUnspacedLetter = (term: string): boolean => UNSPACED.test(term) && [...term].length === 1

/** Whether a word is within the allowed edits of a query word, by itself or by their stems. */
export function isNear(
  word: string,
  { term, edits, stem: root, stemEdits }: Omit<QueryWord, 'rows'>,
  withStem = true,
): boolean {
  const isWithin = (form: string, asked: string, most: number) => most > 0 && editDistance(form, asked, most) <= most
  if (isWithin(word, term, edits)) return true
  return withStem && (isWithin(word, root, stemEdits) || isWithin(stem(word), root, stemEdits))
}

export interface MarkOptions extends WordOptions {
  /** Whether words with the same English stem match. Default true. */
  stem?: boolean
}

/**
 * The ranges of a query's words in a text: `[start, end]` in UTF-16 units of the original text, end exclusive, in
 * order, never overlapping. A word within the allowed edits is marked only if the text has no exact, stemmed or prefix
 * hit of that query word.
 */
export const markedRanges = (text: string, query: string, options: MarkOptions = {}): Array<[number, number]> =>
  rangesOf(text, queryWords(query, options), options.stem !== false)

function rangesOf(text: string, asked: readonly QueryWord[], withStem: boolean): Array<[number, number]> {
  const plain = [...words(text)]
  const present = [...plain, ...furtherTerms(text)]
  const marked: Array<[start: number, end: number]> = []
  for (const wanted of asked) {
    const { term, stem: root, isPrefix, rows } = wanted
    const mark = (among: readonly Word[], matches: (word: string) => boolean): boolean => {
      const hits = among.filter((word) => matches(word.term))
      for (const { start, end } of hits) marked.push([start, isUnspacedLetter(term) ? start + term.length : end])
      return hits.length > 0
    }
    const inRows = rows.flatMap((row) =>
      present.flatMap(
        ({ start }, at): Array<[number, number]> =>
          row.every((each, further) => present[at + further]?.term === each)
            ? [[start, present[at + row.length - 1]!.end]]
            : [],
      ),
    )
    marked.push(...inRows)
    const isExact = (word: string) =>
      word === term || (isPrefix && word.startsWith(term)) || (withStem && hasStem(word, root))
    if (!mark(present, isExact) && inRows.length === 0) mark(plain, (word) => isNear(word, wanted, withStem))
  }
  return joinedRanges(marked)
}

function joinedRanges(ranges: Array<[start: number, end: number]>): Array<[number, number]> {
  const joined: Array<[number, number]> = []
  for (const [start, end] of ranges.sort(([a], [b]) => a - b)) {
    const last = joined.at(-1)
    if (last && start < last[1]) last[1] = Math.max(last[1], end)
    else joined.push([start, end])
  }
  return joined
}

export interface HighlightOptions extends MarkOptions {
  before: string
  after: string
  /** Applied to every piece of the text, for example to escape HTML. */
  escape?: (piece: string) => string
}

/** Wraps the words of a query in `before` and `after`, in any number of texts. */
export function highlighter(
  query: string,
  { before, after, escape = (piece) => piece, ...options }: HighlightOptions,
): (text: string) => string {
  const asked = queryWords(query, options)
  return (text) => {
    let done = 0
    let result = ''
    for (const [start, end] of rangesOf(text, asked, options.stem !== false)) {
      result += escape(text.slice(done, start)) + before + escape(text.slice(start, end)) + after
      done = end
    }
    return result + escape(text.slice(done))
  }
}

export const highlight = (text: string, query: string, options: HighlightOptions): string =>
  highlighter(query, options)(text)

/** The stems that differ from their words, each once. */
export function changedStems(terms: readonly string[]): string[] {
  const distinct = new Set<string>()
  for (const term of terms) {
    const root = stem(term)
    if (root !== term) distinct.add(root)
  }
  return [...distinct]
}
