/**
 * The reason why something is not imported, for people: a sentence and its values, from the reading child and from
 * tasks.
 */
import type { Sentence, Words } from 'archivolt'

/** @param key  an English sentence with `{name}` for each value */
export const because = (key: string, params?: Sentence['params']): Words => (params ? { key, params } : key)

const IS_SENTENCE = '{"key":'

/** The form in which a row stores it. */
export const toColumn = (words: Words): string => (typeof words === 'string' ? words : JSON.stringify(words))

export function ofColumn(text: string): Words {
  if (!text.startsWith(IS_SENTENCE)) return text
  try {
    return JSON.parse(text) as Sentence
  } catch {
    return text
  }
}
