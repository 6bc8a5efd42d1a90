/** The form in which a row stores words: plain text, or a sentence as JSON. */
import type { Sentence, Words } from 'archivolt'

const IS_SENTENCE = '{"key":'

export const toColumn = (words: Words): string => (typeof words === 'string' ? words : JSON.stringify(words))

export function ofColumn(text: string): Words {
  if (!text.startsWith(IS_SENTENCE)) return text
  try {
    return JSON.parse(text) as Sentence
  } catch {
    return text
  }
}
