/**
 * Sentences for people: in English as they are, or as words and values apart, for whoever says them in another
 * language.
 */
import { Type } from 'typebox'

/** `{ key: 'The shelf {name} is full', params: { name: 'Boats' } }` */
export interface Sentence {
  /** The English words, with names in braces where the values stand. */
  key: string
  params: Record<string, Value>
}

type Value = string | number | Sentence

/** A text without values is its own key. */
export type Words = string | Sentence

/** As a payload or a row keeps them. */
export const Words = Type.Unsafe<Words>(
  Type.Union([Type.String(), Type.Object({ key: Type.String(), params: Type.Record(Type.String(), Type.Unknown()) })]),
)

/** By the English sentence: how it is made. Those without values are not among them. */
export type Said = Record<string, Sentence>

/** As a reply has it, contract 2.3. */
export const Said = Type.Unsafe<Said>(
  Type.Record(Type.String(), Type.Object({ key: Type.String(), params: Type.Record(Type.String(), Type.Unknown()) }), {
    description: 'By the sentence: of which words and values it is made. Those without values are not among them.',
  }),
)

type Named = Record<string, Value>

/** `` say`The shelf ${{ name }} is full` ``. Without values it is the text alone. */
export function say(texts: TemplateStringsArray): string
export function say(texts: TemplateStringsArray, ...values: [Named, ...Named[]]): Sentence
export function say(texts: TemplateStringsArray, ...values: Named[]): Words {
  const key = texts.map((text, at) => text + (values[at] ? `{${Object.keys(values[at])[0]}}` : '')).join('')
  return values.length === 0 ? key : { key, params: Object.assign({}, ...values) }
}

/** As a value within another sentence, where a text would be taken as it is. */
export const sentenceOf = (words: Words): Sentence => (typeof words === 'string' ? { key: words, params: {} } : words)

/** What is wrong at one place of what was given: `page must be an integer`. */
export const atPlace = (place: string, rule: Words): Sentence => say`${{ place }} ${{ rule: sentenceOf(rule) }}`

export function inEnglish(words: Words): string {
  if (typeof words === 'string') return words
  return words.key.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = words.params[name] ?? ''
    return typeof value === 'object' ? inEnglish(value) : String(value)
  })
}

/**
 * What stands beside English sentences on the wire; undefined where none has values.
 * @param shown  what becomes of each text before others may read it
 */
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

/** @param change  for each text among the values, or for a text alone */
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

/** Several sentences as one, in their order. */
export const joined = ([first = '', ...rest]: readonly Words[], between: ', ' | '; ' | ' '): Words =>
  rest.length === 0
    ? first
    : { key: `{first}${between}{rest}`, params: { first: sentenceOf(first), rest: sentenceOf(joined(rest, between)) } }

/** How a row keeps words: in English, and with words and values apart where it has values. */
interface KeptWords {
  text: string
  said: Sentence | null
}

const MOST_KEPT = 8000

/** @param shorten  what becomes of each text. What would still be too long is kept in English alone. */
export function kept(words: Words, shorten: (text: string) => string): KeptWords {
  const said = typeof words === 'object' ? changed(words, shorten) : null
  return { text: shorten(inEnglish(words)), said: JSON.stringify(said).length > MOST_KEPT ? null : said }
}
