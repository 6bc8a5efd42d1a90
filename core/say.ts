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
    if (typeof words === 'object') said[text] = mapped(words, shown)
    return text
  })
  return { texts, ...(Object.keys(said).length > 0 && { said }) }
}

/** @param change  for each text among the values */
function mapped({ key, params }: Sentence, change: (text: string) => string): Sentence {
  const changed = Object.entries(params).map(([name, value]): [string, Value] => [
    name,
    typeof value === 'string' ? change(value) : typeof value === 'object' ? mapped(value, change) : value,
  ])
  return { key, params: Object.fromEntries(changed) }
}
