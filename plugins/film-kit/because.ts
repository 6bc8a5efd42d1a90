/** Why something is not taken in, for people: as words and values, by the reading child and tasks alike. */
import type { Sentence, Words } from 'archivolt'

/** @param key  in English, with names in braces where the values stand */
export const because = (key: string, params?: Sentence['params']): Words => (params ? { key, params } : key)

const IS_SENTENCE = '{"key":'

/** As a row keeps it. */
export const toColumn = (words: Words): string => (typeof words === 'string' ? words : JSON.stringify(words))

export function ofColumn(text: string): Words {
  if (!text.startsWith(IS_SENTENCE)) return text
  try {
    return JSON.parse(text) as Sentence
  } catch {
    return text
  }
}
