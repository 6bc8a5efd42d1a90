/** Sentences for people: plain English, or a template with separate values that can be translated. */

/** `{ key: 'The shelf {name} is full', params: { name: 'Boats' } }` */
export interface Sentence {
  /** The English template, with names in braces for the values. */
  key: string
  params: Record<string, Value>
}

type Value = string | number | Sentence

/** A text without values is its own template. */
export type Words = string | Sentence

/** English sentence → its template and values. Sentences without values are left out. */
export type Said = Record<string, Sentence>

type Named = Record<string, Value>

/** `` say`The shelf ${{ name }} is full` ``. Without values it returns the text alone. */
export function say(texts: TemplateStringsArray): string
export function say(texts: TemplateStringsArray, ...values: [Named, ...Named[]]): Sentence
export function say(texts: TemplateStringsArray, ...values: Named[]): Words {
  const key = texts.map((text, at) => text + (values[at] ? `{${Object.keys(values[at])[0]}}` : '')).join('')
  return values.length === 0 ? key : { key, params: Object.assign({}, ...values) }
}

/** Converts words to a sentence, so that they are translated when used as a value in another sentence. */
export const sentenceOf = (words: Words): Sentence => (typeof words === 'string' ? { key: words, params: {} } : words)

/** Says what is wrong at a path of the input: `page must be an integer`. */
export const atPath = (path: string, rule: Words): Sentence => say`${{ place: path }} ${{ rule: sentenceOf(rule) }}`

export function inEnglish(words: Words): string {
  if (typeof words === 'string') return words
  return words.key.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = words.params[name] ?? ''
    return typeof value === 'object' ? inEnglish(value) : String(value)
  })
}

/** The English texts; and `said` for the wire, if a sentence has values. @param shown  applied to each text */
export function saidOf(
  all: readonly Words[],
  shown: (text: string) => string = (text) => text,
): { texts: string[]; said?: Said } {
  const said: Said = {}
  const texts = all.map((words) => {
    const text = shown(inEnglish(words))
    if (typeof words === 'object') said[text] = changed(words, shown)
    return text
  })
  return { texts, ...(Object.keys(said).length > 0 && { said }) }
}

/** @param change  applied to each text among the values, or to the text itself */
export function changed(words: Sentence, change: (text: string) => string): Sentence
export function changed(words: Words, change: (text: string) => string): Words
export function changed(words: Words, change: (text: string) => string): Words {
  if (typeof words === 'string') return change(words)
  const params = Object.entries(words.params).map(([name, value]): [string, Value] => [
    name,
    typeof value === 'number' ? value : changed(value as Sentence, change),
  ])
  return { key: words.key, params: Object.fromEntries(params) }
}

export const joined = ([first = '', ...rest]: readonly Words[], between: ', ' | '; ' | ' '): Words =>
  rest.length === 0
    ? first
    : { key: `{first}${between}{rest}`, params: { first: sentenceOf(first), rest: sentenceOf(joined(rest, between)) } }

/** The form of words in a row: the English text, and the sentence if it has values. */
interface StoredWords {
  text: string
  said: Sentence | null
}

const LONGEST_STORED = 8000

/** @param shorten  applied to each text. A sentence that is still too long is stored as English text only. */
export function stored(words: Words, shorten: (text: string) => string): StoredWords {
  const said = typeof words === 'object' ? changed(words, shorten) : null
  return { text: shorten(inEnglish(words)), said: JSON.stringify(said).length > LONGEST_STORED ? null : said }
}
