/** JSON in an export, which holds no more values than a process can. */
import { overloadOf } from 'archivolt'
import { Unusable } from './found.ts'

/** About fifteen for each video of a history, so all that fits into an upload; twice as many fill the reader's memory. */
const MOST_VALUES = 3_000_000

/** @throws Unusable: it has too many values; SyntaxError */
export function jsonOf(text: string): unknown {
  refuseTooMany(text)
  return JSON.parse(text) as unknown
}

/** Of lines of JSON too, which are all kept. @throws Unusable */
export function refuseTooMany(text: string): void {
  if (overloadOf(text, { values: MOST_VALUES })) throw new Unusable('It has too many values')
}
